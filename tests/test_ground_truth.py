"""The environments with a known truth are complete, and what they name is in the taxonomy."""

import re
import tomllib
from pathlib import Path

import pytest

DEFECTS = Path(__file__).parent / "defects"
CLASSES = set(re.findall(r"^## (\S+)$", (DEFECTS / "TAXONOMY.md").read_text(), re.MULTILINE))
PARTS = [DEFECTS / part for part in ("first", "second", "third", "fourth")]
FOLDERS = [folder for part in PARTS for folder in sorted(part.iterdir()) if folder.is_dir()]


def truth_of(folder: Path) -> dict[str, str]:
    return tomllib.loads((folder / "truth.toml").read_text())


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_an_environment_says_what_is_true_of_it(folder: Path) -> None:
    truth = truth_of(folder)
    assert truth["class"] in {*CLASSES, "sound"}
    assert {"class", "goal", "why"} <= truth.keys() <= {"class", "goal", "why", "gold_field"}
    assert "\n" not in truth["goal"].strip() and len(truth["why"]) > 40
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    assert project["name"].replace("-", "_") == folder.name
    assert (folder / folder.name / "__init__.py").is_file()
    if truth["class"] != "missing-metadata":
        assert project["tags"] and len(project["description"].split()) > 3
        words = (folder / "README.md").read_text().lower()
        assert "reward" in words or "weight" in words


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_an_environment_does_not_tell_its_truth(folder: Path) -> None:
    told = {folder.name, *(p.read_text() for p in folder.rglob("*.py"))}
    told |= {p.read_text() for p in folder.glob("*.md")}
    for text in told:
        assert "truth.toml" not in text
        assert not [name for name in CLASSES if "-" in name and name in text.replace("_", "-")]


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_each_part_knows_enough_of_both(part: Path) -> None:
    classes = [truth_of(folder)["class"] for folder in part.iterdir()]
    assert len([name for name in classes if name != "sound"]) >= 22
    assert classes.count("sound") >= 11
