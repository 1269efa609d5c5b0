"""EW105: hosts on the internet that loading or scoring reaches for."""

import ast
import re
from collections.abc import Iterator

from envwright.environment.egress import Egress, Mode
from envwright.finding import Severity
from envwright.probe.code import Code, Method, Module
from envwright.probe.found import Hit, Place, report, skipped
from envwright.probe.package.package import Package
from envwright.probe.rule import Check, Report, Rule

NETWORK = Rule(
    id="EW105",
    name="undeclared-network",
    defect="undeclared-network",
    check=Check.INTEGRITY,
    severity=Severity.WARN,
    tries="Calls that open connections or download are looked for in the source.",
    hit="A call reaches for a host, and neither README nor the settings say so.",
    why="It breaks where there is no network, changes with the page, and may tell replies.",
    exempt="The model's own endpoint, this machine, data that lies in the package, and "
    "whatever README, the package's description or a declared egress or prepare names.",
)
CALLS = {
    *(f"requests.{verb}" for verb in ("get", "post", "put", "request", "head", "Session")),
    *(f"httpx.{verb}" for verb in ("get", "post", "put", "request", "stream", "head")),
    *("httpx.Client", "httpx.AsyncClient", "aiohttp.ClientSession", "aiohttp.request"),
    *("urllib.request.urlopen", "urllib.request.urlretrieve", "urllib.request.build_opener"),
    *("urllib3.PoolManager", "urllib3.request", "http.client.HTTPSConnection"),
    *("http.client.HTTPConnection", "socket.create_connection", "socket.socket"),
    *("websockets.connect", "ftplib.FTP", "smtplib.SMTP", "nltk.download", "wget.download"),
    *("gdown.download", "kagglehub.dataset_download", "boto3.client", "boto3.resource"),
    *("huggingface_hub.hf_hub_download", "huggingface_hub.snapshot_download"),
    *("datasets.load_dataset", "datasets.load_dataset_builder", "wikipedia.page"),
    *("wikipedia.summary", "torch.hub.load", "torchvision.datasets.MNIST"),
    *("transformers.AutoTokenizer.from_pretrained", "transformers.AutoModel.from_pretrained"),
    *("sentence_transformers.SentenceTransformer", "tiktoken.get_encoding"),
    *("tiktoken.encoding_for_model", "sklearn.datasets.fetch_openml"),
    *("sklearn.datasets.fetch_20newsgroups", "socket.gethostbyname", "socket.getaddrinfo"),
}
READERS = re.compile(r"^(pandas|polars|pyarrow|numpy)\..*\b(read|scan|load|DataSource)\w*$")
BUILDERS = {
    "json",
    "csv",
    "parquet",
    "text",
    "arrow",
    "pandas",
    "xml",
    "imagefolder",
    "audiofolder",
}
PROGRAMS = {"curl", "wget", "git clone", "pip install", "apt-get"}
URL = re.compile(r"\b(?:https?|wss?|ftp)://([^\s/:'\"{}?#]+)|\bhf://|\bs3://|\bgs://")
HERE = re.compile(r"^(localhost|127\.|0\.0\.0\.0|\[?::1|host\.docker|.*\.local$)")
MODEL = re.compile(r"chat/completions|/v1/(messages|responses|embeddings)|/completions", re.I)
SAYS = re.compile(
    r"\b(network|internet|downloads?|downloaded|fetch(es|ed)?|online|web|egress|remote|https?"
    r"|hugging ?face|load_dataset|\bAPI\b)\b",
    re.I,
)
DENIES = re.compile(r"\b(no|not|without|never|offline|needn't|nothing|none|neither|nor)\b", re.I)


def network_reports(
    package: Package, place: Place, egress: Egress, prepare: Egress | None
) -> list[Report]:
    """`egress` and `prepare` are what the settings declare for this environment."""
    if egress.mode is not Mode.NONE or (prepare is not None and prepare.mode is not Mode.NONE):
        return [skipped(NETWORK, "the settings declare a network for it")]
    hits = list(network_hits(package))
    return [report(NETWORK, hits, place, tried=len(package.code.modules), unit="modules")]


def network_hits(package: Package) -> Iterator[Hit]:
    code = package.code
    if says_so(package):
        return
    used = names_used(code)
    for module in code.modules:
        for method, call in calls_of(code, module):
            what = reaches(code, module, call)
            if what is None or (method is not None and not is_used(method, used)):
                continue
            if names_it(package, what):
                continue
            yield Hit(
                f"{what} is reached for, and neither README nor the settings declare a network",
                [module.cite(call)],
            )


def reaches(code: Code, module: Module, call: ast.Call) -> str | None:
    """What a call wants of the network, in words; None when it wants nothing."""
    name = module.dotted(call.func) or ""
    texts = [t for t in texts_in(code, module, call) if t]
    urls = [found.group(1) or found.group() for t in texts for found in URL.finditer(t)]
    away = [host for host in urls if not HERE.match(host)]
    if any(MODEL.search(text) for text in texts):
        return None
    if name in CALLS:
        if away:
            return away[0]
        if urls or any(HERE.match(text) for text in texts):
            return None
        if name.startswith("datasets.load_dataset"):
            return dataset_of(code, module, call)
        if name == "socket.socket" and (
            "AF_UNIX" in ast.dump(call) or "connect" not in module.text
        ):
            return None
        return f"a host (through {name})"
    if away and (READERS.match(name) or is_download(call)):
        return away[0]
    if name.startswith(("subprocess.", "os.system", "os.popen", "asyncio.create_subprocess")):
        words = " ".join(texts)
        program = next((p for p in PROGRAMS if re.search(rf"\b{re.escape(p)}\b", words)), None)
        return f"a host (with {program})" if program else None
    return None


def is_download(call: ast.Call) -> bool:
    """A method whose name alone says that it fetches what its URL names."""
    match call.func:
        case ast.Attribute(attr="get" | "post" | "urlopen" | "urlretrieve" | "download" | "fetch"):
            return True
        case ast.Name(id="fetch" | "download" | "urlopen" | "urlretrieve"):
            return True
        case _:
            return False


def dataset_of(code: Code, module: Module, call: ast.Call) -> str | None:
    """The dataset on a hub that is loaded; None for files that lie at hand."""
    first = call.args[0] if call.args else None
    first = first or next((k.value for k in call.keywords if k.arg == "path"), None)
    said = code.text_of(module, first) if first is not None else None
    if said is None:
        # A path that is put together, or an argument of the environment's own.
        return None if first is not None and "__file__" in ast.dump(first) else "a dataset"
    if said in BUILDERS or said.startswith((".", "/", "~")) or said.endswith((".json", ".csv")):
        return None
    return f"the dataset {said}"


def texts_in(code: Code, module: Module, call: ast.Call) -> Iterator[str]:
    for node in ast.walk(call):
        if isinstance(node, ast.Constant | ast.Name):
            text = code.text_of(module, node)
            if text is not None:
                yield text


def calls_of(code: Code, module: Module) -> Iterator[tuple[Method | None, ast.Call]]:
    """Each call with the innermost function that it stands in."""

    def visit(node: ast.AST, method: Method | None) -> Iterator[tuple[Method | None, ast.Call]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Call):
                yield method, child
            yield from visit(child, code.by_node.get(id(child), method))

    return visit(module.tree, None)


def names_used(code: Code) -> set[str]:
    """Every name that the package mentions, other than where it defines it."""
    used: set[str] = set()
    for module in code.modules:
        for node in module.nodes:
            match node:
                case ast.Name(id=name) | ast.Attribute(attr=name):
                    used.add(name)
                case ast.Constant(value=str(name)):
                    used.add(name)
                case ast.ImportFrom(names=names):
                    used.update(alias.name for alias in names)
                case _:
                    pass
    return used


def is_used(method: Method, used: set[str]) -> bool:
    """Whether anything can call it: a plain function that nobody names is dead."""
    hook = method.owner is not None or bool(method.node.decorator_list)
    return hook or method.node.name in used or method.node.name == "load_environment"


def says_so(package: Package) -> bool:
    """Whether README or the package's description speaks of a network that is needed."""
    said = f"{package.readme}\n{package.project.get('description') or ''}"
    text = re.sub(r"https?://\S+", " ", said)
    for sentence in re.split(r"(?<=[.!?])\s+|\n\s*\n|\n\s*[-*|#]", text):
        if SAYS.search(sentence) and not DENIES.search(sentence):
            return True
    return False


def names_it(package: Package, what: str) -> bool:
    """Whether README names the very host or dataset."""
    last = what.split()[-1].strip("()")
    named = len(last) > 3 and ("." in last or "/" in last)
    return named and last.lower() in package.readme.lower()
