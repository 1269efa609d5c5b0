"""EW801 to EW803: tasks that are in a dataset which the model may know, or must not.

A match is a pair: a task, and a row of the dataset with the text that they share.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from envwright.dataset import Row
from envwright.environment import Task
from envwright.finding import Severity, TaskCitation
from envwright.probe.data.text import normalised, words
from envwright.probe.found import Hit, Place, quote, report, skipped
from envwright.probe.likeness import bands, jaccard, shingles
from envwright.probe.rule import Check, Report, Rule

EXACT = Rule(
    id="EW801",
    name="contaminated",
    defect="contaminated",
    check=Check.CONTAMINATION,
    severity=Severity.FAIL,
    tries="Every prompt is looked up in the dataset, but for case, white space and closing "
    "punctuation.",
    hit="A row of the dataset holds the prompt.",
    why="A score on a task that was trained on measures memory.",
    exempt="Prompts of fewer than four words.",
)
NGRAM = Rule(
    id="EW802",
    name="shared-passages",
    defect="contaminated",
    check=Check.CONTAMINATION,
    severity=Severity.WARN,
    tries="Runs of 13 words of every prompt (of 8 in short ones) are looked up in the dataset.",
    hit="A row shares such a run, which is not the environment's own template.",
    why="A long passage in common is rarely chance.",
    exempt="Runs that stand in several of the environment's own prompts.",
)
NEAR = Rule(
    id="EW803",
    name="near-contaminated",
    defect="contaminated",
    check=Check.CONTAMINATION,
    severity=Severity.WARN,
    tries="Prompts are compared with the dataset's texts by the words that they share (MinHash).",
    hit="A row agrees with a prompt in four fifths of its word triples.",
    why="A paraphrase in a few words is the same task.",
    exempt="Short prompts, and words of the environment's own template.",
)
RULES = (EXACT, NGRAM, NEAR)
LONG, SHORT = 13, 8
FEWEST_WORDS = 4
TEMPLATE = 3
"""Prompts: a run that stands in more of them is the environment's own."""
ALIKE = 0.8
FAILS = 0.1
"""The share of tasks from which copies fail the check."""
SHOWN = 5


@dataclass(frozen=True, slots=True)
class Match:
    task: Task
    row: Row
    shared: str


def contamination_reports(
    tasks: Sequence[Task], rows: Iterable[Row], place: Place, *, total: int | None = None
) -> list[Report]:
    """Needs the tasks that were read, and the rows of every dataset that `--against` names.

    Rows are read once, so they may be a stream.
    """
    if not tasks:
        return [skipped(rule, "there are no tasks") for rule in RULES]
    against = Against(tasks)
    count = 0
    for row in rows:
        count += 1
        against.look(row)
    if not count:
        return [skipped(rule, "the datasets are empty") for rule in RULES]
    found = [(EXACT, against.exact), (NGRAM, against.passages()), (NEAR, against.near())]
    return [
        report(
            rule, hits(rule, matches, len(tasks), count), place, tried=len(tasks), unit="tasks"
        ).model_copy(update={"of": total if total is not None else len(tasks)})
        for rule, matches in found
    ]


def hits(rule: Rule, matches: dict[int, Match], tasks: int, rows: int) -> Iterator[Hit]:
    if not matches:
        return
    shown = list(matches.values())[:SHOWN]
    pairs = "; ".join(
        f"task {m.task.key[:12]} = {m.row.source} row {m.row.number} ({quote(m.shared)[:60]!r})"
        for m in shown
    )
    share = len(matches) / tasks
    how = {
        EXACT.id: "are copies of",
        NGRAM.id: "share long passages with",
        NEAR.id: "nearly repeat",
    }
    yield Hit(
        f"{len(matches)} of {tasks} tasks ({share:.0%}) {how[rule.id]} rows of the datasets "
        f"({rows} rows): {pairs}",
        [TaskCitation(key=m.task.key, field="prompt", quote=quote(m.task.prompt)) for m in shown],
        Severity.WARN if rule is EXACT and share < FAILS else None,
    )


class Against:
    """The tasks, ready to be looked up: by text, by runs of words, by likeness."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self.tasks = tasks
        self.prompts = [normalised(task.prompt) for task in tasks]
        self.by_text: dict[str, list[int]] = defaultdict(list)
        self.by_run: dict[str, set[int]] = defaultdict(set)
        self.sizes: set[int] = set()
        for place, text in enumerate(self.prompts):
            if len(words(text)) >= FEWEST_WORDS:
                self.by_text[text].append(place)
        self.exact: dict[int, Match] = {}
        self.runs: dict[int, Match] = {}
        self.alike: dict[int, Match] = {}
        self.index_shingles()
        self.index_runs()

    def index_runs(self) -> None:
        runs: list[set[str]] = []
        for text in self.prompts:
            said = words(text)
            size = LONG if len(said) >= 2 * LONG else SHORT
            runs.append({" ".join(said[i : i + size]) for i in range(len(said) - size + 1)})
            self.sizes.add(size)
        common = Counter(run for each in runs for run in each)
        most = max(TEMPLATE, len(self.tasks) // 20)
        for place, each in enumerate(runs):
            for run in each:
                if common[run] <= most and not is_trivial(run) and not self.is_template(run):
                    self.by_run[run].add(place)

    def is_template(self, run: str) -> bool:
        """Whether most of it stands in many of the prompts, though not all of it."""
        parts = shingles(run)
        return 2 * len(parts & self.template) > len(parts)

    def index_shingles(self) -> None:
        sets = [shingles(text) for text in self.prompts]
        common = Counter(s for each in sets for s in each)
        most = max(TEMPLATE, len(self.tasks) // 20)
        self.template = {s for s, n in common.items() if n > most}
        self.sets = [each - self.template for each in sets]
        self.buckets: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for place, each in enumerate(self.sets):
            if len(each) >= SHORT:
                for band in bands(sorted(each)):
                    self.buckets[band].append(place)

    def look(self, row: Row) -> None:
        for text in row.texts:
            plain = normalised(text)
            for place in self.by_text.get(plain, ()):
                self.exact.setdefault(place, Match(self.tasks[place], row, text))
            self.look_for_copies_inside(row, plain)
            self.look_for_runs(row, plain)
            self.look_for_likeness(row, plain)

    def look_for_copies_inside(self, row: Row, plain: str) -> None:
        """A prompt that stands whole in a longer text, such as a chat or a template."""
        if len(plain) > 100_000:
            return
        said = words(plain)
        for size in self.sizes:
            for i in range(len(said) - size + 1):
                for place in self.by_run.get(" ".join(said[i : i + size]), ()):
                    if place not in self.exact and self.prompts[place] in plain:
                        self.exact[place] = Match(self.tasks[place], row, self.tasks[place].prompt)

    def look_for_runs(self, row: Row, plain: str) -> None:
        said = words(plain)
        for size in self.sizes:
            for i in range(len(said) - size + 1):
                run = " ".join(said[i : i + size])
                for place in self.by_run.get(run, ()):
                    if place not in self.exact and place not in self.runs:
                        self.runs[place] = Match(self.tasks[place], row, run)

    def look_for_likeness(self, row: Row, plain: str) -> None:
        if not self.buckets:
            return
        own = shingles(plain) - self.template
        if len(own) < SHORT:
            return
        seen: set[int] = set()
        for band in bands(sorted(own)):
            for place in self.buckets.get(band, ()):
                if place in seen or place in self.exact or place in self.alike:
                    continue
                seen.add(place)
                if jaccard(own, self.sets[place]) >= ALIKE:
                    self.alike[place] = Match(self.tasks[place], row, plain)

    def passages(self) -> dict[int, Match]:
        return {p: m for p, m in self.runs.items() if p not in self.exact and p not in self.alike}

    def near(self) -> dict[int, Match]:
        return {p: m for p, m in self.alike.items() if p not in self.exact}


def is_trivial(run: str) -> bool:
    """Numbers and letters alone: a run of them stands in any table."""
    return sum(len(word) > 2 and not word.isdigit() for word in run.split()) < 4
