# ruff: noqa: E501 - tables of sources and rows, one to a line
import random
import time
from collections.abc import Sequence

import pytest

from envwright.environment import Argument, Environment, Kind, Task, TaskCount
from envwright.finding import Severity, TaskCitation, check_citation
from envwright.probe.case import Case
from envwright.probe.code import read_code
from envwright.probe.data import RULES, data_reports, data_tries, split_values
from envwright.probe.found import Place
from envwright.probe.rule import Extent
from envwright.probe.scoring import Told, Tried, Try
from envwright.record import digest

PLACE = Place("birds", "birds")

NAMES = ["Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ivo", "Jana", "Kim", "Lea"]
CITIES = ["Rome", "Oslo", "Bern", "Lima", "Cairo", "Paris", "Delhi", "Tokyo", "Quito", "Sofia"]


def case(index: int, prompt: str, gold: str | None, **row: object) -> Case:
    full = {"prompt": prompt, **({"answer": gold} if gold is not None else {}), **row}
    task = Task(index=index, key=digest(full), prompt=prompt, row=full)
    return Case(task, gold=gold if (gold or "").strip() else None, said=gold, best=1.0)


def cases(pairs: Sequence[tuple[str, str | None]]) -> list[Case]:
    return [case(i, prompt, gold) for i, (prompt, gold) in enumerate(pairs)]


def found(
    given: list[Case], *, least: Severity = Severity.WARN, told: Told | None = None
) -> list[str]:
    defects = {rule.id: rule.defect for rule in RULES}
    order = list(Severity)
    texts = {each.task.key: each.task for each in given}
    defects_found: list[str] = []
    for report in data_reports(given, PLACE, total=len(given), told=told):
        for finding in report.findings:
            for citation in finding.citations:
                assert isinstance(citation, TaskCitation)
                if citation.quote != "(empty)":
                    row = texts[citation.key].row
                    assert check_citation(citation, str(row.get(citation.field, "")))
            if order.index(finding.severity) >= order.index(least):
                defects_found.append(defects[finding.rule])
    return sorted(set(defects_found))


SUMS = cases([(f"What is {a} + {b}?", str(a + b)) for a in range(2, 9) for b in range(11, 18)])


def test_distinct_sums_are_sound():
    assert found(SUMS) == []


# Copies


def again(one: Case, index: int, prompt: str | None = None, gold: str | None = None) -> Case:
    return case(index, prompt or one.task.prompt, gold if gold is not None else one.gold)


def test_rows_that_repeat_are_duplicates():
    assert found([*SUMS, *(again(c, 100 + i) for i, c in enumerate(SUMS[:10]))]) == [
        "duplicate-tasks"
    ]


@pytest.mark.parametrize(
    "change",
    [str.upper, lambda t: t + " ", lambda t: t.replace(" ", "  "), lambda t: t.rstrip("?")],
)
def test_copies_but_for_spelling_are_duplicates(change):
    copies = [again(c, 100 + i, change(c.task.prompt)) for i, c in enumerate(SUMS[:10])]
    assert found([*SUMS, *copies]) == ["duplicate-tasks"]


def test_copies_that_differ_in_an_id_are_duplicates():
    rows = [
        case(i, f"Name the capital of country {i % 10}.", CITIES[i % 10], id=f"q{i}")
        for i in range(40)
    ]
    assert found(rows) == ["duplicate-tasks"]


RIVERS = [
    ("Egypt", "Nile"),
    ("London", "Thames"),
    ("Paris", "Seine"),
    ("Rome", "Tiber"),
    ("Vienna", "Danube"),
    ("Cologne", "Rhine"),
]


@pytest.mark.parametrize(
    "frame",
    [
        "({i}) Which river runs through {place}?",
        "Question {i}: Which river runs through {place}?",
        "Task {i} of 24. Which river runs through {place}?",
        "You have 3 tries. #{i} Which river runs through {place}? Reply in 1 word.",
        "Which river runs through {place}? [id: {h}]",
        "Ticket T-{r}: Which river runs through {place}?",
        "Session {h}\n\nWhich river runs through {place}?",
        "Item {i:03d} | Which river runs through {place}?",
    ],
)
def test_copies_that_differ_in_a_serial_that_the_prompt_shows_are_duplicates(frame: str):
    rng = random.Random(4)
    given: list[tuple[str, str | None]] = []
    for i in range(24):
        place, river = rng.choice(RIVERS)
        serial = f"{rng.randrange(16**8):08x}"
        text = frame.format(i=i + 1, h=f"{serial[:7]}7", r=rng.randint(1000, 9999), place=place)
        given.append((text, river))
    assert found(cases(given)) == ["duplicate-tasks"]


@pytest.mark.parametrize(
    "pairs",
    [
        [(f"Is {n} even?", "yes" if n % 2 == 0 else "no") for n in range(1, 41)],
        [(f"Task {n}: how many tens has {n}?", str(n // 10)) for n in range(1, 61)],
        [(f"Add {n % 3} to {n}.", str(n + n % 3)) for n in range(30)],
        [(f"Case {n}: guilty or not?", "guilty" if n % 3 else "not guilty") for n in range(30)],
        [
            (f"Is {n} greater than {m}?", "yes" if n > m else "no")
            for n, m in zip(range(40), [20, 5] * 20, strict=True)
        ],
        [(f"Floor {n}: which river runs through {p}?", r) for n, (p, r) in enumerate(RIVERS)],
    ],
)
def test_a_number_that_the_gold_depends_on_is_no_serial(pairs: list[tuple[str, str | None]]):
    assert "duplicate-tasks" not in found(cases(pairs))


def test_copies_beside_tools_are_duplicates_where_the_prompt_tells_the_gold():
    tools = Environment(
        kind=Kind.VERIFIERS,
        name="birds",
        revision="0" * 64,
        tasks=TaskCount(count=24, infinite=False),
        tools=("look",),
    )

    def copies(given: list[Case]) -> list[str]:
        reports = data_reports(given, PLACE, environment=tools)
        return [f.rule for r in reports for f in r.findings if f.severity is not Severity.INFO]

    rivers = [
        case(i, f"Which river runs through {p}?", r, id=i) for i, (p, r) in enumerate(RIVERS * 4)
    ]
    assert copies(rivers) == ["EW201"]
    hidden = [case(i, f"Feed the {('cat', 'dog')[i % 2]}.", str(i), id=i) for i in range(24)]
    assert copies(hidden) == []


def test_one_copy_in_many_is_a_note():
    given = [*SUMS, again(SUMS[0], 100)]
    assert found(given) == []
    assert found(given, least=Severity.INFO) == ["duplicate-tasks"]


@pytest.mark.parametrize(
    "pairs",
    [
        [
            (f"What is {a} {op} {b}?", str(eval(f"{a}{op}{b}")))
            for a in (7, 8, 9)
            for b in (2, 3)
            for op in "+-*"
        ],
        [
            (
                f"Is {n} prime? Reply yes or no.",
                "yes" if n in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29) else "no",
            )
            for n in range(2, 24)
        ],
        [
            (f"{a} has {n} apples and gives away 2. How many are left?", str(n - 2))
            for a in NAMES
            for n in (5, 9)
        ],
        [(f"Round {n / 10} to a whole number.", str(round(n / 10))) for n in range(11, 60, 2)],
        [(f"Write '{w}' in upper case.", w.upper()) for w in ("ab", "cd", "ef", "gh", "ij", "kl")],
    ],
)
def test_templates_that_ask_different_things_are_sound(pairs: list[tuple[str, str]]):
    assert found(cases(pairs)) == []


def test_a_hidden_answer_behind_one_prompt_is_sound():
    given = [case(i, "Guess my number between 1 and 50.", str(i)) for i in range(50)]
    assert found(given) == []


def test_near_repeats_are_a_note():
    long = "A farmer walks to the market in the village at dawn with a basket of {} eggs, sells half of them to the baker, gives one to a child who asks for it, drops two on the way back home, and sits down by the river to count what is left in it"
    given = [*SUMS, case(70, long.format(30), "12"), case(71, long.format(30) + " now", "12")]
    assert found(given) == []
    assert "duplicate-tasks" in found(given, least=Severity.INFO)


# Contradictions


def test_one_question_with_two_golds_contradicts_itself():
    assert found([*SUMS, again(SUMS[0], 100, gold="99")]) == ["contradictory-tasks"]
    months = [
        case(90, "Which month has 30 days?", "April"),
        case(91, "Which month has 30 days? ", "June"),
    ]
    assert found([*SUMS, *months]) == ["contradictory-tasks"]


@pytest.mark.parametrize(
    ("one", "other"), [("4", "4.0"), ("Paris", "paris"), ("1,000", "1000"), ("yes", "Yes.")]
)
def test_the_same_gold_in_another_spelling_is_no_contradiction(one: str, other: str):
    pair = [case(90, "Which one is it, then?", one), case(91, "Which one is it, then?", other)]
    assert "contradictory-tasks" not in found([*SUMS, *pair], least=Severity.INFO)


def test_several_valid_answers_are_no_contradiction():
    both = ["April", "June"]
    given = [case(90 + i, "Name a month of 30 days.", m, accepted=both) for i, m in enumerate(both)]
    assert found([*SUMS, *given]) == []


def test_a_gold_that_the_other_task_pays_is_no_contradiction():
    pair = [
        case(90, "Name a month of 30 days.", "April"),
        case(91, "Name a month of 30 days.", "June"),
    ]
    given = [*SUMS, *pair]
    tries = data_tries(given)
    assert Try(90, "June") in tries
    paid = {each: Tried(reward=1.0) for each in tries}
    assert found(given, told=paid) == []
    refused = {each: Tried(reward=0.0) for each in tries}
    assert found(given, told=refused) == ["contradictory-tasks"]


def test_case_may_carry_the_question():
    pair = [
        case(90, "Count the capitals in 'aB'.", "1"),
        case(91, "Count the capitals in 'AB'.", "2"),
    ]
    assert found([*SUMS, *pair]) == []


# Golds


@pytest.mark.parametrize("gold", ["", "  ", None, "N/A", "n/a", "TODO", "???", "nan", "-"])
def test_a_gold_that_is_not_there_is_missing(gold: str | None):
    given = [c if i % 10 else case(i, c.task.prompt, gold) for i, c in enumerate(SUMS)]
    assert found(given) == ["missing-gold"]


def test_no_gold_at_all_is_no_defect():
    given = [case(i, f"Write a poem about {name}.", None) for i, name in enumerate(NAMES)]
    assert found(given) == []
    reports = {r.rule: r.extent for r in data_reports(given, PLACE)}
    assert reports["EW204"] is Extent.NO_GOLD


def test_silence_that_is_asked_for_is_sound():
    given = [
        case(i, f"Reply with the vowels of '{w}', or with nothing if there are none.", v)
        for i, (w, v) in enumerate(
            [("cat", "a"), ("sky", ""), ("dog", "o"), ("try", ""), ("sun", "u")]
        )
    ]
    assert found(given) == []


def test_silence_that_is_paid_is_sound():
    given = [
        case(i, f"Which vowels are in {w}?", v)
        for i, (w, v) in enumerate([("cat", "a"), ("sky", ""), ("dog", "o")])
    ]
    assert found(given) == ["missing-gold"]
    assert found(given, told={Try(1, ""): Tried(reward=1.0)}) == []
    assert found(given, told={Try(1, ""): Tried(reward=0.0)}) == ["missing-gold"]


def test_a_placeholder_that_the_question_names_is_an_answer():
    prompts = [
        f"When was {n} born? Reply N/A if the text does not say. {n} lives here." for n in NAMES
    ]
    given = cases([(p, "N/A" if i % 4 == 0 else str(1900 + i)) for i, p in enumerate(prompts)])
    assert found(given) == []


@pytest.mark.parametrize(
    ("golds", "placeholder"),
    [
        (["H", "He", "Li", "Mg", "Na", "Al", "Si", "Cl", "Ar", "Ca", "Fe"], False),
        (["II", "IX", "XXX", "XL", "LXI", "CV", "MD", "VI", "XC", "XXI", "DC"], False),
        (["-", "..", "...", ".-", "--", "-.-", ".--.", "..-", "-..", ".", "-.."], False),
        (["DE", "FR", "NA", "IT", "ES", "PL", "SE", "NO", "FI", "DK", "AT"], False),
        (["12", "7", "N/A", "31", "8", "90", "14", "3", "55", "61", "20"], True),
        (["Paris", "Rome", "None", "Madrid", "Vienna", "Oslo", "Cairo", "Lima"], True),
        (["fig", "plum", "tbd", "pear", "cherry", "apple", "quince", "lime"], True),
    ],
)
def test_what_is_spelled_as_the_others_are_is_an_answer(golds, placeholder):
    given = cases([(f"Which sign stands for item {n}?", gold) for n, gold in enumerate(golds)])
    assert found(given) == (["missing-gold"] if placeholder else [])


def choice(index: int, gold: str, options: int = 4) -> tuple[str, str]:
    drawn = random.Random(index).sample(CITIES, options)
    listed = "\n".join(f"{letter}) {city}" for letter, city in zip("ABCD", drawn, strict=False))
    return f"Which city is number {index} of the list?\n{listed}\nReply with the letter.", gold


def test_a_letter_beyond_the_options_is_missing():
    sound = [choice(i, "ABCD"[i % 4]) for i in range(24)]
    assert found(cases(sound)) == []
    assert found(cases([*sound, choice(50, "E"), choice(51, "E")])) == ["missing-gold"]


def test_a_label_that_is_not_offered_is_missing():
    texts = [
        f"Is the review by {n} about the {c} hotel good? Choose one of: good, bad, mixed."
        for n in NAMES
        for c in CITIES[:3]
    ]
    sound = [(t, ("good", "bad", "mixed")[i % 3]) for i, t in enumerate(texts)]
    assert found(cases(sound)) == []
    broken = [(t, "neutral" if i % 12 == 0 else g) for i, (t, g) in enumerate(sound)]
    assert found(cases(broken)) == ["missing-gold"]


def test_an_option_that_the_row_does_not_list_is_missing():
    given = [case(i, f"Pick number {i}.", CITIES[i % 4], choices=CITIES[:4]) for i in range(20)]
    assert found(given) == []
    assert found([*given, case(30, "Pick number 30.", "Berlin", choices=CITIES[:4])]) == [
        "missing-gold"
    ]


def test_a_few_answers_that_are_not_in_the_text_are_missing_where_all_others_are():
    given = [
        (f"{n} went to {c} with {m}. Where did {n} go?", c)
        for n, m in zip(NAMES, NAMES[::-1], strict=True)
        for c in CITIES[:4]
    ]
    assert found(cases(given)) == []
    broken = [(p, "Atlantis" if i in (5, 25) else g) for i, (p, g) in enumerate(given)]
    assert found(cases(broken)) == ["missing-gold"]


def test_another_kind_of_task_among_extractions_is_sound():
    given = [(f"{n} went to {c} today. Where did {n} go?", c) for n in NAMES for c in CITIES[:4]]
    given += [
        (f"What is the opposite of word {i}?", w) for i, w in enumerate(["cold", "low", "dry"])
    ]
    assert found(cases(given)) == []


# Leaks


def test_an_answer_that_is_labelled_leaks():
    for label in (
        "Answer: {}",
        "(answer: {})",
        "Correct answer = {}",
        "The answer is {}.",
        "[ans: {}]",
    ):
        given = cases([(f"{c.task.prompt}\n{label.format(c.gold)}", c.gold) for c in SUMS])
        assert found(given) == ["answer-in-prompt"], label


@pytest.mark.parametrize(
    "left",
    [
        " Soln: s = v t = {a} m/s x {b} s = {gold} m.",
        " Sol. s = {a} m/s x {b} s = {gold} m",
        " Worked solution: multiply, and you have {gold}.",
        " s = v t = {a} m/s * {b} s = {gold} m.",
        " {a} x {b} ≈ {gold}, so it is far.",
        " Multiply {a} by {b} and you get {gold}.",
        "\n#### {gold}",
        "\nThe speed times the time is \\boxed{{{gold}}}.",
        '\n{{"id": 4, "answer": "{gold}", "unit": "m"}}',
        "\n{{'speed': {a}, 'target': {gold}}}",
        "\nCorrect value: {gold}",
    ],
)
def test_a_solution_that_the_loader_left_in_some_prompts_leaks(left: str):
    pairs = [(a, b) for a in (3, 4, 7, 11) for b in (13, 17, 19, 26, 29)]
    asks = "A tram moves at {} m/s for {} s. How far does it get, in metres?"
    given = [
        (asks.format(a, b) + (left.format(a=a, b=b, gold=a * b) if a > 4 else ""), str(a * b))
        for a, b in pairs
    ]
    framed = [(f"{p}\n\nPut the final number in \\boxed{{}}.", gold) for p, gold in given]
    assert found(cases(given)) == ["answer-in-prompt"]
    assert found(cases(framed)) == ["answer-in-prompt"]


@pytest.mark.parametrize(
    "asks",
    [
        "Given that {a} + {b} = {s}, what is {s} - {a}?",
        "If {a} x = {p}, what is x? Write x = <number>.",
        "Is {a} * {b} = {p} right? What is {b} * {b}? Put it in \\boxed{{}}.",
        "Sol: {s} coins. Luna: {p} coins. How many coins has Sol more than {a}?",
        "A box that equals {p} in weight has {a} parts. How heavy is one?",
        "Rewrite {a} + {b} + 1 = {s} + 1 with one number less. What is left of it: the {b}?",
    ],
)
def test_a_calculation_that_the_question_needs_is_no_leak(asks: str):
    given = [
        (asks.format(a=a, b=b, s=a + b, p=a * b), str(b)) for a in (3, 5, 8) for b in range(13, 20)
    ]
    assert found(cases(given)) == []


@pytest.mark.parametrize(
    "frame",
    [
        "Spell {} backwards. (answer {})",
        "Spell {} backwards. Expected -> {}",
        "Spell {} backwards.\nReference: {}",
        "Q: Spell {} backwards.\nA: {}",
        "user: Spell {} backwards.\nassistant: {}",
        "Spell it backwards.\nInput: {}\nOutput: {}",
        "Q: Spell ab backwards.\nA: ba\n\nQ: Spell {} backwards.\nA: {}",
    ],
)
def test_a_turn_that_is_filled_in_leaks(frame: str):
    given = [
        (frame.format(name.lower(), name.lower()[::-1]), name.lower()[::-1])
        for name in [*NAMES[1:4], *CITIES]
    ]
    assert found(cases(given)) == ["answer-in-prompt"]
    empty = [(text.removesuffix(f" {gold}"), gold) for text, gold in given]
    if "Output" in frame or frame.endswith("A: {}"):
        assert found(cases(empty)) == []


def test_options_and_outputs_that_are_asked_about_are_no_leak():
    given = [
        (f"Question: What is the capital? \nA: {a}\nB: {b}\nC: {c}", a if i % 3 else b)
        for i, (a, b, c) in enumerate(zip(CITIES, CITIES[1:], CITIES[2:], strict=False))
    ]
    assert found(cases(given)) == []
    asked = [
        (f"Input: {n}\nOutput: {n * n}\nWhich output does it give?", str(n * n))
        for n in range(2, 20)
    ]
    assert found(cases(asked)) == []


def test_a_solution_left_below_leaks():
    given = cases(
        [
            (f"{c.task.prompt}\n\nSolution: count up step by step and you reach {c.gold}.", c.gold)
            for c in SUMS
        ]
    )
    assert found(given) == ["answer-in-prompt"]


def test_a_result_that_is_worked_out_leaks():
    for note in ("Note: {} + {} = {}", "Adding {} and {} gives {}.", "({} + {} = {})"):
        given = cases(
            [
                (f"Add {a} and {b}.\n\n{note.format(a, b, a + b)}", str(a + b))
                for a in range(2, 9)
                for b in range(11, 15)
            ]
        )
        assert found(given) == ["answer-in-prompt"], note


def test_a_calculation_that_is_asked_about_is_no_leak():
    gaps = cases(
        [(f"Fill the gap: {a} + _ = {a + b}", str(b)) for a in range(2, 9) for b in range(11, 15)]
    )
    assert found(gaps) == []
    solve = cases(
        [(f"Solve x + {a} = {b} for x.", str(b - a)) for a in range(2, 9) for b in range(11, 15)]
    )
    assert found(solve) == []


def test_a_field_that_explains_leaks():
    given = [
        case(
            i,
            f"{c.task.prompt}\n\nYou count on and arrive at {c.gold}",
            c.gold,
            rationale=f"You count on and arrive at {c.gold}",
        )
        for i, c in enumerate(SUMS)
    ]
    assert found(given) == ["answer-in-prompt"]


def test_a_comment_leaks():
    given = cases([(f"{c.task.prompt} <!-- grader: {c.gold} -->", c.gold) for c in SUMS])
    assert found(given) == ["answer-in-prompt"]


def test_an_example_that_is_the_question_leaks():
    shots = "Q: {0}\nA: {1}\n\nQ: {0}\nA:"
    given = cases([(shots.format(c.task.prompt, c.gold), c.gold) for c in SUMS])
    assert found(given) == ["answer-in-prompt"]


def test_one_fixed_example_that_is_one_of_the_tasks_leaks():
    given = cases(
        [
            (
                f"Example:\n{SUMS[3].task.prompt}\nAnswer: {SUMS[3].gold}\n\n{c.task.prompt}\nAnswer:",
                c.gold,
            )
            for c in SUMS
        ]
    )
    assert found(given) == ["answer-in-prompt"]


def test_a_file_name_that_spells_the_label_leaks():
    rng = random.Random(0)
    labels = ["spam", "ham"] * 15
    given = [
        (
            f"File: {label}_{rng.randint(100, 999)}.txt\nText: win {i} euros now, call {n}\nIs this junk mail or a letter?",
            label,
        )
        for i, (label, n) in enumerate(zip(labels, NAMES * 3, strict=False))
    ]
    assert found(cases(given)) == ["answer-in-prompt"]


def test_a_mark_beside_the_right_option_leaks():
    given = []
    for i in range(24):
        prompt, _ = choice(i, "A")
        lines = prompt.splitlines()
        gold = lines[1 + i % 4][3:]
        lines[1 + i % 4] += " (correct)"
        given.append(("\n".join(lines), gold))
    assert found(cases(given)) == ["answer-in-prompt"]


def codes(frame: str) -> list[tuple[str, str]]:
    """A number in two parts, and what is left of it open."""
    made = [(f"{(7919 * i) % 900000 + 100000}", str(i * i % 10)) for i in range(1, 25)]
    return [(frame.format(code=c, head=c[:3], tail=c[3:], gold=g), g) for c, g in made]


@pytest.mark.parametrize(
    "frame",
    [
        "Scan: {code}{gold} ok\nNumber: {code}-?\n\nWhat is the check digit?",
        "Compute the missing digit of {head} {tail}-[?].\n(file {code}{gold}.pdf)",
        "Complete AB{code}_ by its check digit.\nref=ab-{code}-{gold}",
        "Fill in the open digit: {head}?{tail}. Booked as {head}{gold}{tail}.",
        "The part {head}.{tail}.□ has lost its last digit. Tag <{head}.{tail}.{gold}>",
    ],
)
def test_a_code_with_a_gap_leaks_where_it_stands_whole(frame: str):
    assert found(cases(codes(frame))) == ["answer-in-prompt"]


@pytest.mark.parametrize(
    "frame",
    [
        # Nothing is left open: the number of a part is looked up.
        "Ticket {code}: the photo {code}-{gold} is blurred. Which photo is it of ticket {code}?",
        # One of several is to be chosen.
        "Stock: {code}{gold}, 4711009, 3141592, {tail}{head}5.\nThe label says {code}-?. Which digit is torn off?",
        "According to the list, {code}{gold} is there. Which digit is missing in {code}-?",
        # A gap that nothing fills.
        "Number: {code}-?\nLot: {head}\nWhat is the check digit?",
    ],
)
def test_a_code_that_is_looked_up_is_no_leak(frame: str):
    assert found(cases(codes(frame))) == []


def test_a_system_prompt_that_tells_leaks():
    given = [
        case(i, c.task.prompt, c.gold, system_prompt=f"You are a tutor. Answer: {c.gold}")
        for i, c in enumerate(SUMS)
    ]
    reports = data_reports(given, PLACE)
    assert any(f.rule == "EW205" for r in reports for f in r.findings)


@pytest.mark.parametrize(
    "pairs",
    [
        # Extraction.
        [(f"Name: {n}\nCity: {c}\n\nWhat is the city?", c) for n in NAMES for c in CITIES[:3]],
        [
            (f"Extract the final answer from this text: 'Adding up, the answer is {i}.'", str(i))
            for i in range(30)
        ],
        [
            (f"From the following log, copy the label.\nLabel: {c}\nUser: {n}", c)
            for n in NAMES
            for c in CITIES[:2]
        ],
        # Choice.
        [
            (
                f"Is {n} from {c} older than 30? Age: {i}. Answer: yes or no.",
                "yes" if i > 30 else "no",
            )
            for i, (n, c) in enumerate([(n, c) for n in NAMES for c in CITIES[:5]])
        ],
        [
            (
                f"Options: red, blue, green. Pick the {i}th colour of the wheel. Answer: one word.",
                ("red", "blue", "green")[i % 3],
            )
            for i in range(30)
        ],
        # Formats.
        [(f"What is {a} + 11? End with 'Answer: <number>'.", str(a + 11)) for a in range(30)],
        [
            (
                f"Example:\nQ: What is 1 + 1?\nAnswer: 2\n\nQ: What is {a} - 11?\nAnswer:",
                str(a - 11),
            )
            for a in range(13, 45)
        ],
        # Copying and sorting.
        [(f"Repeat this: {n} of {c}", f"{n} of {c}") for n in NAMES for c in CITIES[:2]],
        [(f"Sort: {c} {n}", " ".join(sorted([c, n]))) for n in NAMES for c in CITIES[:2]],
        # Ids that are asked for.
        [
            (
                f"What is the file name without its extension: {n.lower()}_2021.pdf?",
                f"{n.lower()}_2021",
            )
            for n in NAMES
        ],
        [
            (f"Which extension does {n}_{i}.{e} have?", e)
            for i, (n, e) in enumerate(zip(NAMES * 2, ["pdf", "txt", "csv"] * 8, strict=True))
        ],
        # Grading other answers.
        [
            (
                f"Question: 2 + {i}? Student's answer: {2 + i + i % 2}. Is it right?",
                "wrong" if i % 2 else "right",
            )
            for i in range(30)
        ],
        [
            (f"Answer A: {n}\nAnswer B: {c}\nWhich of them is a city?", "B")
            if i % 2
            else (f"Answer A: {c}\nAnswer B: {n}\nWhich of them is a city?", "A")
            for i, (n, c) in enumerate(zip(NAMES * 2, CITIES * 3, strict=False))
        ],
    ],
)
def test_an_answer_that_stands_rightly_in_the_prompt_is_no_leak(pairs: list[tuple[str, str]]):
    assert found(cases(pairs)) == []


# Balance


def labelled(yes: int, no: int) -> list[Case]:
    labels = ["ham"] * yes + ["spam"] * no
    return cases(
        [
            (f"Message {i} from {NAMES[i % 12]}: spam or ham?", label)
            for i, label in enumerate(labels)
        ]
    )


@pytest.mark.parametrize(("yes", "no"), [(45, 5), (18, 2), (80, 20), (130, 70)])
def test_one_answer_for_most_dominates(yes: int, no: int):
    assert found(labelled(yes, no)) == ["one-answer-dominates"]


@pytest.mark.parametrize(("yes", "no"), [(25, 25), (13, 7), (28, 22), (9, 1), (58, 42)])
def test_a_balance_that_chance_explains_is_sound(yes: int, no: int):
    assert found(labelled(yes, no)) == []


def test_few_tasks_that_call_themselves_endless():
    given = [case(i, f"What is {i % 4} + 2?", str(i % 4 + 2)) for i in range(40)]
    rules = {f.rule for r in data_reports(given, PLACE, total=None) for f in r.findings}
    assert "EW207" in rules
    rules = {f.rule for r in data_reports(SUMS, PLACE, total=None) for f in r.findings}
    assert "EW207" not in rules


# Splits


def overlap(splits: dict[str, list[Task]]) -> list[str]:
    reports = data_reports(SUMS, PLACE, splits=splits)
    return [f"{f.severity}" for r in reports for f in r.findings if f.rule == "EW208"]


def test_splits_that_share_tasks_overlap():
    tasks = [c.task for c in SUMS]
    assert overlap({"train": tasks[:30], "test": tasks[20:40]}) == ["fail"]
    assert overlap({"train": tasks[:30], "test": tasks[29:]}) == ["warn"]
    assert overlap({"train": tasks[:30], "test": tasks[30:]}) == []
    assert overlap({"train": tasks[:30], "test": tasks[30:], "all": tasks}) == []
    assert overlap({"train": tasks}) == []


def test_the_values_of_a_split_are_read_from_type_and_source():
    code = read_code(
        {"x.py": "def load(self):\n    if self.config.split == 'test':\n        return 1\n"}
    )
    named = [Argument(name="split", type="str", default="train")]
    assert split_values(named, code) == {"split": ["train", "test"]}
    typed = [Argument(name="split", type="Literal['train', 'eval']", default="train")]
    assert split_values(typed, read_code({})) == {"split": ["train", "eval"]}
    assert split_values([Argument(name="seed", type="int", default=0)], code) == {}
    assert split_values([Argument(name="split", type="str", default="train")], read_code({})) == {}


ENUM = "class Part(StrEnum):\n    TRAIN = 'train'\n    HELD = 'held_out'\n"
TABLE = "POOLS = {'train': 1, 'test': 2}\ndef load(subset):\n    return POOLS.get(subset)\n"
OPENED = "def load(split):\n    return open(HERE / f'{split}.jsonl')\n"
FILES = {"x/data/train.jsonl": "", "x/data/eval.jsonl": "", "README.md": ""}


@pytest.mark.parametrize(
    ("argument", "files", "expected"),
    [
        (("portion", "Part", "train"), {"x.py": ENUM}, ["train", "held_out"]),
        (("subset", "str", "train"), {"x.py": TABLE}, ["train", "test"]),
        (("split", "str", "train"), {"x.py": OPENED, **FILES}, ["train", "eval"]),
        (("mode", "str", "fast"), {"x.py": OPENED, **FILES}, None),
        (("is_train", "bool", True), {}, [False, True]),
        (("eval_mode", "bool", False), {}, [False, True]),
        (("test_mode", "bool", False), {}, None),
        (("train", "str", "words.txt"), {}, None),
    ],
)
def test_a_split_is_an_enumeration_a_table_s_key_a_file_s_name_or_a_switch(
    argument, files, expected
):
    name, kind, default = argument
    given = [Argument(name=name, type=kind, default=default)]
    assert split_values(given, read_code(files)) == ({name: expected} if expected else {})


def test_a_text_is_asked_before_a_switch_and_an_idle_switch_is_none():
    given = [
        Argument(name="train", type="bool", default=True),
        Argument(name="split", type="Literal['eval', 'train']", default="eval"),
    ]
    assert [*split_values(given, read_code({}))] == ["split", "train"]
    tasks = [c.task for c in SUMS]
    assert overlap({"train=false": tasks, "train=true": tasks[::-1]}) == []
    assert overlap({"train=false": tasks, "train=true": tasks[1:]}) == ["fail"]
    assert overlap({"train": tasks, "eval": tasks}) == ["fail"]


@pytest.mark.parametrize(
    "noise", ["1x" * 50_000, "<!--" * 25_000, "a_" * 50_000, "answer: " * 12_000, "\n" * 100_000]
)
def test_a_hostile_prompt_is_read_in_time(noise: str):
    given = [case(i, f"{noise} {i}?", str(i)) for i in range(6)]
    start = time.process_time()
    data_reports(given, PLACE)
    assert time.process_time() - start < 5
