"""The architecture contract, read off the source: nothing is imported to check what may be imported.

Every module is parsed, and imports count wherever they stand: at module level, inside functions, under
`TYPE_CHECKING`, or as a literal name given to `import_module`. What the contract demands:

* A package imports only its own layer and those below it, in the order of `LAYERS`.
* What is not `harness.cli` reaches `tabular_bench` through its front door, and concrete domains not at all:
  those are found through entry points.
* No cycle between modules, nor between the parts of a package taken as wholes.
* Every folder with code is a package.
* Language-model libraries stay out of the lower layers; heavy libraries are imported where they are used,
  never at module level.
* Nothing happens at import time: no I/O, no look at the environment or the clock, no registration.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.architecture.cycles import Edges, describe, find_cycles

LAYERS = ("tabular_bench", "domains", "harness", "judges", "harness.cli")
PACKAGES = ("tabular_bench", "domains", "harness", "judges")

HEAVY = frozenset(
    "litellm torch xgboost onnxruntime sentence_transformers shap matplotlib pandas sklearn scipy faiss ray".split()
)
LANGUAGE_MODEL = frozenset("litellm openai transformers sentence_transformers".split())
LANGUAGE_MODEL_FREE = ("tabular_bench", "domains")

# Recognised by their last names: `Path("x").read_text` and `path.read_text` are both `read_text`.
ACTS_AT_IMPORT = frozenset(
    """
    open read_text read_bytes write_text write_bytes mkdir iterdir glob rglob
    connect create_engine urlopen Popen check_output subprocess.run
    getenv load_dotenv basicConfig entry_points import_module register listens_for
    now utcnow today time.time perf_counter monotonic urandom random.seed
    """.split()
)
ENVIRONMENT = frozenset({"environ", "environb"})

_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One breach of the contract."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


@dataclass(frozen=True, slots=True)
class Import:
    """One module that another imports; `at_import` says whether that happens when the importer is loaded."""

    target: str
    line: int
    at_import: bool


@dataclass(frozen=True, slots=True)
class Module:
    """One parsed file. `path` is relative to the root, for messages."""

    name: str
    path: str
    is_package: bool
    tree: ast.Module


def read_modules(root: Path, packages: Iterable[str] = PACKAGES) -> dict[str, Module]:
    """Parse every Python file of the packages under `root`, by dotted name.

    Raises
    ------
    FileNotFoundError
        If a package has no `__init__.py`: a misspelt name must not pass as an empty package.
    """
    modules = {}
    for package in packages:
        if not (root / package / "__init__.py").is_file():
            raise FileNotFoundError(f"no package {package} in {root}")
        for path in sorted((root / package).rglob("*.py")):
            relative = path.relative_to(root)
            is_package = path.name == "__init__.py"
            parts = relative.parent.parts if is_package else relative.with_suffix("").parts
            name = ".".join(parts)
            tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(relative))
            modules[name] = Module(name, relative.as_posix(), is_package, tree)
    return modules


def nodes_run_at_import(tree: ast.AST) -> Iterator[ast.AST]:
    """Walk what runs on loading: class bodies, decorators and defaults too, but no function bodies."""
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, _Scope):
            pending += [*node.args.defaults, *(default for default in node.args.kw_defaults if default)]
            pending += getattr(node, "decorator_list", [])
        elif isinstance(node, ast.If) and _never_runs_at_import(node.test):
            pending += node.orelse
        else:
            pending += ast.iter_child_nodes(node)


def _never_runs_at_import(test: ast.expr) -> bool:
    return ast.unparse(test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING", "__name__ == '__main__'"}


def imports_of(module: Module, modules: Mapping[str, Module]) -> list[Import]:
    """List what a module imports; `from package import name` is the module `name` where there is one."""
    at_import = {id(node) for node in nodes_run_at_import(module.tree)}
    return [
        Import(target, node.lineno, id(node) in at_import)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.stmt | ast.expr)
        for target in _targets(node, module, modules)
    ]


def _targets(node: ast.AST, module: Module, modules: Mapping[str, Module]) -> list[str]:
    match node:
        case ast.Import():
            return [alias.name for alias in node.names]
        case ast.ImportFrom():
            base = _absolute(node, module)
            names = [f"{base}.{alias.name}" for alias in node.names]
            return list(dict.fromkeys(name if name in modules else base for name in names))
        case ast.Call(func=function, args=[ast.Constant(value=str(name)), *_]) if _names_one_of(
            function, ("import_module", "__import__")
        ):
            return [name]
    return []


def _absolute(node: ast.ImportFrom, module: Module) -> str:
    if not node.level:
        return node.module or ""
    climbs = node.level - 1 if module.is_package else node.level
    parts = module.name.split(".")
    return ".".join([*parts[: len(parts) - climbs], *([node.module] if node.module else [])])


def _names_one_of(node: ast.expr, names: Collection[str]) -> bool:
    text = ast.unparse(node)
    return any(text == name or text.endswith(f".{name}") for name in names)


def is_within(name: str, package: str) -> bool:
    """Tell whether a dotted name is the package or lies inside it."""
    return name == package or name.startswith(f"{package}.")


def layer_of(name: str) -> int | None:
    """Return the index of a module's layer, that of the longest matching name; None for what is not ours."""
    matching = [layer for layer in LAYERS if is_within(name, layer)]
    return LAYERS.index(max(matching, key=len)) if matching else None


def check(root: Path, packages: Iterable[str] = PACKAGES) -> list[Fault]:
    """Return every breach of the contract under `root`, in the order of files and lines."""
    modules = read_modules(root, packages)
    imports = {name: imports_of(module, modules) for name, module in modules.items()}
    faults = []
    for name, module in modules.items():
        for found in imports[name]:
            faults += [Fault(module.path, found.line, problem) for problem in _import_problems(name, found)]
        faults += _acts_at_import(module)
        folder = name.rpartition(".")[0]
        if folder and folder not in modules:
            faults.append(Fault(module.path, 1, f"{folder.replace('.', '/')} has no __init__.py"))
    faults += _cycles(modules, imports)
    return sorted(set(faults))


def _import_problems(importer: str, found: Import) -> Iterator[str]:
    target, top = found.target, found.target.partition(".")[0]
    importer_layer, target_layer = layer_of(importer), layer_of(target)
    assert importer_layer is not None
    if top in HEAVY and found.at_import:
        yield f"{importer} imports {top} at module level; import it inside the function that needs it"
    if top in LANGUAGE_MODEL and any(is_within(importer, layer) for layer in LANGUAGE_MODEL_FREE):
        yield f"{importer} imports {top}; this layer knows no language model"
    if top == "tests":
        yield f"{importer} imports {target}; tests are not shipped"
    if target_layer is None:
        return
    if target_layer > importer_layer:
        yield f"{importer} imports {target}; the order of layers is {' < '.join(LAYERS)}"
    if is_within(importer, "harness.cli"):
        return
    if target.startswith("tabular_bench.") and not is_within(importer, "tabular_bench"):
        yield f"{importer} imports {target}; import from tabular_bench itself, its front door"
    if target.startswith("domains.") and not any(is_within(target, home) for home in _domain_homes(importer)):
        yield f"{importer} imports {target}; a concrete domain is found through its entry point"


def _domain_homes(importer: str) -> list[str]:
    """Name what of `domains` a module may import: the kit, and for a domain's own modules that domain."""
    parts = importer.split(".")
    own = [".".join(parts[:2])] if parts[0] == "domains" and len(parts) > 1 else []
    return ["domains.kit", *own]


def _acts_at_import(module: Module) -> Iterator[Fault]:
    for node in nodes_run_at_import(module.tree):
        if isinstance(node, ast.Call) and _names_one_of(node.func, ACTS_AT_IMPORT):
            yield Fault(module.path, node.lineno, f"{module.name} calls {ast.unparse(node.func)}() when imported")
        elif isinstance(node, ast.Name | ast.Attribute) and _names_one_of(node, ENVIRONMENT):
            yield Fault(module.path, node.lineno, f"{module.name} reads {ast.unparse(node)} when imported")


def _cycles(modules: Mapping[str, Module], imports: Mapping[str, list[Import]]) -> Iterator[Fault]:
    def edges(place: Callable[[str], str | None]) -> Edges:
        """Draw the imports between the places that modules belong to; a module at no place does not count."""
        drawn: dict[str, dict[str, tuple[str, int]]] = defaultdict(dict)
        for name, module in modules.items():
            for found in imports[name]:
                source, target = place(name), place(found.target)
                if source and target and (source != target or name == found.target):
                    drawn[source].setdefault(target, (module.path, found.line))
        return drawn

    def report(kind: str, drawn: Edges) -> Iterator[Fault]:
        for cycle in find_cycles(drawn):
            path, line = drawn[cycle[0]][cycle[1]]
            yield Fault(path, line, f"import cycle between {kind}: {describe(cycle, drawn)}")

    yield from report("modules", edges(lambda name: name if name in modules else None))
    for package in (name for name, module in modules.items() if module.is_package):
        yield from report(f"the parts of {package}", edges(partial(_part, package)))


def _part(package: str, name: str) -> str | None:
    """Name the part of a package that a module lies in. `harness.cli`, a layer of its own, is no part."""
    if not name.startswith(f"{package}.") or (is_within(name, "harness.cli") and package == "harness"):
        return None
    return f"{package}.{name[len(package) + 1 :].partition('.')[0]}"
