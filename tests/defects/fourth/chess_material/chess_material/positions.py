"""Random positions as piece placements in Forsyth-Edwards notation, and their material balance."""

import random
import re

import verifiers as vf
from datasets import Dataset

VALUES = {"p": 1, "n": 3, "b": 3, "r": 5, "q": 9, "k": 0}
MOST = {"p": 8, "n": 2, "b": 2, "r": 2, "q": 1}
LAST_LINE = re.compile(r"(?:balance|answer)?\W{0,6}?([+\u2212-]?[0-9]{1,3})\W{0,6}", re.IGNORECASE)


def placement(rng: random.Random) -> str:
    """A board with both kings and a random choice of the other pieces; pawns off the end ranks."""
    squares = [(rank, file) for rank in range(8) for file in range(8)]
    rng.shuffle(squares)
    board: dict[tuple[int, int], str] = {}
    for colour in (str.upper, str.lower):
        for piece, most in (("k", 1), *MOST.items()):
            count = 1 if piece == "k" else rng.randint(0, most)
            for _ in range(count):
                spot = next(s for s in squares if piece != "p" or 0 < s[0] < 7)
                squares.remove(spot)
                board[spot] = colour(piece)
    ranks = []
    for rank in range(8):
        row = "".join(board.get((rank, file), " ") for file in range(8))
        ranks.append(re.sub(" +", lambda gap: str(len(gap[0])), row))
    return "/".join(ranks)


def balance(fen: str) -> int:
    """White's material less Black's."""
    return sum(
        VALUES[piece.lower()] * (1 if piece.isupper() else -1) for piece in fen if piece.isalpha()
    )


def right_balance(completion: vf.Messages, answer: str) -> float:
    """1.0 if the last line of the reply is the balance, else 0.0; a plus sign is optional."""
    reply = str(completion[-1]["content"] or "") if completion else ""
    lines = [line.strip() for line in reply.splitlines() if line.strip()]
    if not lines or len(lines[-1]) > 60:
        return 0.0
    found = LAST_LINE.fullmatch(lines[-1])
    return float(found is not None and int(found[1].replace("\u2212", "-")) == int(answer))


def load_environment(num_train: int = 30, num_eval: int = 30, seed: int = 64) -> vf.Environment:
    rng = random.Random(seed)
    boards: dict[str, int] = {}
    while len(boards) < num_train + num_eval:
        fen = placement(rng)
        boards[fen] = balance(fen)
    rows = [
        {
            "question": (
                f"The pieces stand like this (Forsyth-Edwards notation): {fen}\n"
                "Count a pawn as 1, knights and bishops as 3, rooks as 5 and queens as 9. What is "
                "White's material minus Black's? Work it out as you like; the last line of your "
                "reply is only the number, with a minus sign if Black is ahead."
            ),
            "answer": str(value),
        }
        for fen, value in boards.items()
    ]
    return vf.SingleTurnEnv(
        dataset=Dataset.from_list(rows[:num_train]),
        eval_dataset=Dataset.from_list(rows[num_train:]),
        rubric=vf.Rubric(funcs=[right_balance], weights=[1.0]),
    )
