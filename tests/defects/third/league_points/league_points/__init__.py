"""Points in a league table."""

import verifiers as vf
from datasets import Dataset

from league_points.records import FOOTBALL, HOCKEY, POINTS_FOR_A_WIN


def unbox(text: str) -> str:
    """What stands in the reply's only box; nothing if there are several or none."""
    if text.count("\\boxed{") != 1:
        return ""
    inside = text.partition("\\boxed{")[2][:60].replace("\\text{", "").replace("\\,", "")
    return inside.partition("}")[0].replace("points", "").strip(" $.")


def points_right(completion, answer, parser) -> float:
    """1.0 if the box holds the number of points."""
    said = parser.parse_answer(completion) or ""
    return float(said.removesuffix(".0") == answer)


def boxed(completion, parser) -> float:
    """1.0 if there is exactly one box with something in it."""
    return float(bool(parser.parse_answer(completion)))


def football() -> list[dict]:
    rows = []
    for team, season, wins, draws, defeats in FOOTBALL:
        per_win = POINTS_FOR_A_WIN[season]
        rows.append(
            {
                "question": f"In the football league, {team} finished with {wins} wins, {draws} draws and "
                f"{defeats} defeats. How many points did the team have? End with \\boxed{{points}}.",
                "answer": str(per_win * wins + draws),
                "info": {"sport": "football", "season": season, "points_for_a_win": per_win},
            }
        )
    return rows


def hockey() -> list[dict]:
    rows = []
    for team, wins, overtime, defeats in HOCKEY:
        rows.append(
            {
                "question": f"In the ice hockey league, a win is worth 2 points and a defeat in overtime 1 "
                f"point. {team} has {wins} wins, {overtime} defeats in overtime and {defeats} other "
                "defeats. How many points does the team have? End with \\boxed{points}.",
                "answer": str(2 * wins + overtime),
                "info": {"sport": "hockey", "season": "2018/19", "points_for_a_win": 2},
            }
        )
    return rows


def load_environment() -> vf.Environment:
    parser = vf.MaybeThinkParser(extract_fn=unbox)
    return vf.SingleTurnEnv(
        eval_dataset=Dataset.from_list(football() + hockey()),
        parser=parser,
        rubric=vf.Rubric(funcs=[points_right, boxed], weights=[1.0, 0.0], parser=parser),
    )
