import csv
import json
import random
from pathlib import Path

import polars
import pytest

from envwright.dataset import Row, read_rows
from envwright.environment import Task
from envwright.errors import UsageError
from envwright.finding import check_citation
from envwright.probe.contamination import contamination_reports
from envwright.probe.found import Place
from envwright.record import digest

PLACE = Place("env", "env")

WORDS = [
    "river",
    "stone",
    "lamp",
    "garden",
    "window",
    "paper",
    "bridge",
    "winter",
    "candle",
    "market",
    "silver",
    "forest",
    "ladder",
    "engine",
    "harbour",
    "thunder",
    "violin",
    "carpet",
    "meadow",
    "anchor",
]


def story(seed: int, length: int = 40) -> str:
    rng = random.Random(seed)
    return " ".join(rng.choice(WORDS) + rng.choice(["", "s", "ed"]) for _ in range(length))


def task(index: int, prompt: str) -> Task:
    row = {"prompt": prompt}
    return Task(index=index, key=digest([index, prompt]), prompt=prompt, row=row)


TEMPLATE = (
    "Read the story below with care, answer in one word, and do not explain anything at all: {}"
)
TASKS = [task(i, TEMPLATE.format(story(i))) for i in range(30)]


def rows(*texts: str) -> list[Row]:
    return [Row("known.jsonl", number, (text,)) for number, text in enumerate(texts, 1)]


def found(*texts: str) -> dict[str, str]:
    reports = contamination_reports(TASKS, rows(*texts), PLACE)
    prompts = {each.key: each.prompt for each in TASKS}
    for report in reports:
        for finding in report.findings:
            if report.rule == "EW801":
                assert all(check_citation(c, prompts[c.key]) for c in finding.citations)
    return {f.rule: f"{f.severity}: {f.statement}" for r in reports for f in r.findings}


def test_other_texts_do_not_match():
    assert found(*(story(1000 + i) for i in range(50))) == {}


def test_the_environments_own_template_does_not_match():
    assert found(*(TEMPLATE.format(story(1000 + i)) for i in range(50))) == {}


@pytest.mark.parametrize(
    "change", [str, str.upper, lambda t: t + "!", lambda t: t.replace(" ", "  ")]
)
def test_a_copy_matches_exactly_whatever_its_spelling(change):
    said = found(story(1000), change(TASKS[3].prompt))
    assert set(said) == {"EW801"}
    assert said["EW801"].startswith("warn: 1 of 30 tasks (3%)")
    assert f"task {TASKS[3].key[:12]} = known.jsonl row 2" in said["EW801"]


def test_many_copies_fail():
    assert found(*(t.prompt for t in TASKS[:10]))["EW801"].startswith("fail: 10 of 30")


def test_a_prompt_inside_of_a_longer_text_matches():
    assert set(found(f"user: {TASKS[5].prompt} assistant: lamp")) == {"EW801"}


def test_a_passage_in_common_matches():
    part = " ".join(TASKS[5].prompt.split()[-20:])
    assert set(found(f"{story(2000)} {part} {story(2001)}")) == {"EW802"}


def test_a_paraphrase_in_a_few_words_is_near():
    words = TASKS[7].prompt.split()
    words[30] = "umbrella"
    assert set(found(" ".join(words))) == {"EW803"}


def test_short_questions_match_only_as_a_whole():
    tasks = [task(i, f"What is {i} + 3?") for i in range(20)]
    read = contamination_reports(tasks, rows("What is 4 + 3?", "What is 99 + 3?"), PLACE)
    assert [f.statement.partition(" tasks")[0] for r in read for f in r.findings] == ["1 of 20"]


def test_every_format_is_read(tmp_path: Path):
    text = TASKS[0].prompt
    nested = {"messages": [{"role": "user", "content": text}], "id": 1}
    (tmp_path / "a.jsonl").write_text(json.dumps({"x": 1}) + "\n\n" + json.dumps(nested) + "\n")
    (tmp_path / "b.json").write_text(json.dumps({"rows": [{"q": text}]}))
    with (tmp_path / "c.csv").open("w") as file:
        csv.writer(file).writerows([["id", "q"], ["1", text]])
    polars.DataFrame({"q": [text], "n": [1]}).write_parquet(tmp_path / "d.parquet")
    for name, number in (("a.jsonl", 3), ("b.json", 1), ("c.csv", 1), ("d.parquet", 1)):
        read = [row for row in read_rows(str(tmp_path / name)) if row.texts]
        assert [(row.number, row.texts) for row in read] == [(number, (text,))], name


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("no.jsonl", None, "no such file"),
        ("bad.jsonl", "{", "line 1 is no JSON"),
        ("bad.parquet", "not parquet", "cannot be read"),
        ("bad.txt", "x", "does not say what it is"),
        ("bad.json", "[", "is no JSON"),
    ],
)
def test_a_dataset_that_cannot_be_read_is_refused(tmp_path: Path, name: str, content, said: str):
    path = tmp_path / name
    if content is not None:
        path.write_text(content)
    with pytest.raises(UsageError, match=said):
        list(read_rows(str(path)))


def test_a_hub_id_that_is_none_is_refused():
    with pytest.raises(UsageError, match="hf:OWNER/NAME"):
        list(read_rows("hf:gsm8k"))


def test_an_empty_dataset_is_not_called_clean():
    reports = contamination_reports(TASKS, [], PLACE)
    assert {r.extent for r in reports} == {"not applicable"}
