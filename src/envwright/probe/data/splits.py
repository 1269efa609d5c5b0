"""EW208: tasks to train on that are among the tasks to evaluate on."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from envwright.environment import Argument, Task
from envwright.finding import Severity, TaskCitation
from envwright.probe.code import Code
from envwright.probe.data.text import asked, normalised
from envwright.probe.found import Hit, quote
from envwright.probe.rule import Check, Rule

OVERLAP = Rule(
    id="EW208",
    name="split-overlap",
    defect="split-overlap",
    check=Check.INTEGRITY,
    severity=Severity.FAIL,
    tries="The tasks of every split are loaded and compared, by key and by prompt.",
    hit="A task of one split is in another.",
    why="The evaluation measures memory.",
    exempt="Environments with one split; a split that is said to be all of them; prompts that "
    "are the same by design.",
)
SPLIT = re.compile(r"(^|_)(split|subset|partition|fold|mode|phase|stage|portion|part|set)$")
TRAINS = re.compile(r"^(train|learn|fit|practi[cs]e)", re.I)
TESTS = re.compile(r"^(eval|test|val|dev|held|hold|hidden|exam|score|bench)", re.I)
SWITCH = re.compile(
    r"^(is_|for_)?(train(ing)?|eval(uation)?|held_?out|hold_?out)(_(mode|set|split))?$"
)
WHOLE = {"all", "full", "both", "any", "everything", "total"}

SplitValue = str | bool


def split_values(args: Sequence[Argument], code: Code) -> dict[str, list[SplitValue]]:
    """Arguments that choose a split, with the values that type, source or files name for them."""
    found: dict[str, list[SplitValue]] = {}
    for argument in args:
        name = argument.name.rpartition(".")[2]
        if SWITCH.match(name) and isinstance(argument.default, bool):
            found[argument.name] = [False, True]
        if not SPLIT.search(name):
            continue
        default = [argument.default] if isinstance(argument.default, str) else []
        named = [*default, *re.findall(r"['\"]([\w-]+)['\"]", argument.type)]
        named += [*members(code, argument.type), *compared_with(code, name)]
        named += file_stems(code) if names_a_file(code, name) else ()
        values = list(dict.fromkeys(named))
        if any(map(TRAINS.match, values)) and any(map(TESTS.match, values)):
            found[argument.name] = [v for v in values if TRAINS.match(v) or TESTS.match(v)]
    # A switch may mean something else: it is the last to be tried.
    return dict(sorted(found.items(), key=lambda each: isinstance(each[1][0], bool)))


def members(code: Code, kind: str) -> Iterator[str]:
    """The values of an enumeration of the package that is the argument's type."""
    for _, node in code.classes_named(kind.rpartition(".")[2]):
        for each in node.body:
            if isinstance(each, ast.Assign):
                yield from texts(each.value)


def names_a_file(code: Code, name: str) -> bool:
    """Whether it is written into a text, such as `f"{split}.jsonl"`."""
    holes = (
        n for module in code.modules for n in module.nodes if isinstance(n, ast.FormattedValue)
    )
    return any(speaks_of(hole.value, name) for hole in holes)


def file_stems(code: Code) -> Iterator[str]:
    """`train` of `data/train.jsonl`: a split may be the name of a file."""
    for path in code.files:
        if re.search(r"\.(jsonl?|csv|tsv|txt|toml|ya?ml)$", path):
            yield path.rpartition("/")[2].partition(".")[0]


def compared_with(code: Code, name: str) -> Iterator[str]:
    """The texts that the source compares it with, or keeps under such keys."""
    for module in code.modules:
        for node in module.nodes:
            match node:
                case ast.Compare(left=left, comparators=[right]) if speaks_of(left, name):
                    yield from texts(right)
                case ast.Compare(left=left, comparators=[right]) if speaks_of(right, name):
                    yield from texts(left)
                case ast.Subscript(value=value, slice=key) if speaks_of(key, name):
                    constants = module.constants
                    known = constants.get(value.id) if isinstance(value, ast.Name) else value
                    yield from texts(known) if known is not None else ()
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id=table), attr="get"), args=[key, *_]
                ) if speaks_of(key, name) and table in module.constants:
                    yield from texts(module.constants[table])
                case ast.match_case(pattern=ast.MatchValue(value=value)):
                    yield from texts(value)
                case _:
                    pass


def speaks_of(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Name(id=said) | ast.Attribute(attr=said):
            return said == name
        case _:
            return False


def texts(node: ast.AST) -> Iterator[str]:
    kept = node.keys if isinstance(node, ast.Dict) else [node]
    for each in kept:
        for inner in ast.walk(each) if each is not None else ():
            if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                yield inner.value


def is_idle(splits: Mapping[str, Sequence[Task]]) -> bool:
    """Whether a switch chooses something else: the same tasks come whether it is on or off."""
    if not all("=" in name for name in splits):
        return False
    return len({frozenset(task.key for task in tasks) for tasks in splits.values()}) < 2


def overlap_hits(splits: Mapping[str, Sequence[Task]]) -> Iterator[Hit]:
    names = [name for name in splits if name.lower() not in WHOLE]
    for i, one in enumerate(names):
        for other in names[i + 1 :]:
            yield from overlap_of(one, splits[one], other, splits[other])


def overlap_of(one: str, train: Sequence[Task], other: str, test: Sequence[Task]) -> Iterator[Hit]:
    keys = {task.key for task in train}
    prompts: dict[str, Task] = {}
    if not same_by_design([*train, *test]):
        prompts = {normalised(asked(task)): task for task in train}
    shared = [t for t in test if t.key in keys or normalised(asked(t)) in prompts]
    if not shared:
        return
    share = len(shared) / len(test)
    cited = [
        TaskCitation(key=t.key, field="prompt", quote=quote(t.prompt) or "(empty)")
        for t in shared[:3]
    ]
    yield Hit(
        f"{len(shared)} of {len(test)} tasks of {other!r} ({share:.0%}) are among the "
        f"{len(train)} of {one!r}",
        cited,
        Severity.WARN if share < 0.1 else None,
    )


def same_by_design(tasks: Sequence[Task]) -> bool:
    prompts = {normalised(asked(task)) for task in tasks}
    keys = {task.key for task in tasks}
    return 5 * len(prompts) <= len(keys)
