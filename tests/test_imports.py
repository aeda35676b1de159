"""Imports point one way, heavy libraries wait until they are used, and the public names are all there."""

import ast
import importlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import toolgate

PACKAGE = Path(toolgate.__file__).parent

KINDS = {"executors", "exporters", "extensions", "loaders", "stores"}
# A module may import from its own row and the rows below it; a kind only from the last two.
ROWS: tuple[set[str], ...] = (
    {"__init__", "__main__"},
    {"doors"},
    {"gateway"},
    {"dispatch"},
    {"registry", "chain", "journal", "running"},
    {"config", "mistakes", "specfile"},
    KINDS,
    {
        "upstreams",
        "egress",
        "reading",
        "strictjson",
        "schema",
        "defaults",
        "explaining",
        "secrets",
        "names",
        "index",
        "kinds",
        "loopthread",
    },
    {"spec", "context", "result", "events", "errors", "places"},
)
ROW_OF = {part: row for row, parts in enumerate(ROWS) for part in parts}
LAST_TWO = ROWS[-2] | ROWS[-1]
KIND_ALSO = {"loaders": {"config", "mistakes", "specfile"}, "extensions": {"chain"}}

HEAVY = ("httpx", "jsonschema", "mcp", "sqlalchemy", "starlette")


def module_name(file: Path) -> str:
    """Return the dotted name of `file` below the package: `executors.python`, `executors` for its `__init__`."""
    parts = file.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


MODULES = {module_name(file): file for file in sorted(PACKAGE.rglob("*.py"))}


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}


def running_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield every node below `node` that exists when the program runs, function bodies included."""
    for child in ast.iter_child_nodes(node):
        if is_type_checking(child):
            continue
        yield child
        yield from running_nodes(child)


def absolute(node: ast.ImportFrom, package: list[str]) -> str:
    """Return the full dotted name that `from ... import` names, seen from `package`."""
    if not node.level:
        return node.module or ""
    base = ["toolgate", *package][: 1 + len(package) - (node.level - 1)]
    return ".".join([*base, *([node.module] if node.module else [])])


def imported(source: str, package: list[str]) -> set[str]:
    """Return what `source` imports from toolgate, as names below the package; the package itself is `__init__`."""
    found: set[str] = set()
    for node in running_nodes(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            origin = absolute(node, package)
            names = {f"{origin}.{alias.name}" for alias in node.names if not alias.name.startswith("__")}
            found |= {name if name.removeprefix("toolgate.") in MODULES else origin for name in names}
    ours = {name for name in found if part(name) == "toolgate"}
    return {name.removeprefix("toolgate.") if name != "toolgate" else "__init__" for name in ours}


def part(module: str) -> str:
    """Return the file or folder of the package that `module` is in."""
    return module.partition(".")[0]


def unit(module: str) -> str:
    """Return the kind that `module` belongs to (`executors.python`), or for the spine its part."""
    return ".".join(module.split(".")[:2]) if part(module) in KINDS else part(module)


def allowed(importer: str, target: str) -> bool:
    """Say whether `importer` may import `target`."""
    ours, theirs = part(importer), part(target)
    if unit(importer) == unit(target):
        return True
    if ours in KINDS:
        return theirs in LAST_TWO | KIND_ALSO.get(ours, set()) or target == ours
    if theirs in KINDS:
        # Beyond a kind's own table the spine knows only strings.
        return target == theirs and ROW_OF[ours] < ROW_OF[theirs]
    return ROW_OF[ours] <= ROW_OF[theirs]


def wrong_imports(module: str, source: str, package: list[str]) -> list[str]:
    targets = sorted(imported(source, package))
    return [f"{module} -> {target}" for target in targets if not allowed(module, target)]


def package_of(module: str, file: Path) -> list[str]:
    parts = module.split(".")
    return parts if file.name == "__init__.py" and module != "__init__" else parts[:-1]


def test_every_module_has_its_place_in_the_order_of_imports() -> None:
    assert {part(name) for name in MODULES} <= set(ROW_OF)


def test_imports_point_one_way() -> None:
    wrong = [
        line
        for module, file in MODULES.items()
        for line in wrong_imports(module, file.read_text("utf-8"), package_of(module, file))
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("registry", "from toolgate.dispatch import UnifiedToolExecutor"),
        ("registry", "def late():\n    import toolgate.gateway"),
        ("errors", "from . import registry"),
        ("spec", "from toolgate import ToolContext"),
        ("executors.python", "from toolgate.executors.shell import ShellExecutor"),
        ("executors.python", "from ..registry import ToolSpecRegistry"),
        ("executors.python", "from toolgate.loaders import KINDS"),
        ("dispatch", "from toolgate.executors.python import PythonExecutor"),
    ],
)
def test_an_import_against_the_direction_is_found(module: str, source: str) -> None:
    assert len(wrong_imports(module, source, module.split(".")[:-1])) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("dispatch", "from toolgate.registry import ToolSpecRegistry\nfrom toolgate.executors import KINDS"),
        ("executors.python", "from toolgate.executors import Executor\nfrom toolgate.errors import ToolError"),
        ("loaders.file", "from toolgate import __version__\nfrom ..config import file_schema"),
        ("extensions.auth", "from toolgate.chain import Extension"),
        ("errors", "if TYPE_CHECKING:\n    from toolgate.registry import ToolSpecRegistry"),
    ],
)
def test_an_import_along_the_direction_is_free(module: str, source: str) -> None:
    assert wrong_imports(module, source, module.split(".")[:-1]) == []


TOOLS_YAML = """\
tools:
  - name: calculate_sum
    description: Add two numbers.
    tool_type: python
    input_schema: {type: object, properties: {a: {type: number}, b: {type: number}}, required: [a, b]}
    implementation_config: {module: sums, function_name: add}
"""
RUN_CLI = """
import sys
from toolgate.doors.cli import main
assert main(sys.argv[1:]) == 0
"""
LOAD = """
import asyncio
from toolgate import ToolSpecRegistry
assert asyncio.run(ToolSpecRegistry().load_all()).specs == 1
"""


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param([], "import toolgate", id="import"),
        pytest.param([], LOAD, id="load"),
        pytest.param(["--version"], RUN_CLI, id="version"),
        pytest.param(["--help"], RUN_CLI, id="help"),
        pytest.param(["list"], RUN_CLI, id="list"),
        pytest.param(["call", "calculate_sum", "a=1", "b=2"], RUN_CLI, id="call"),
    ],
)
def test_heavy_libraries_are_left_out_until_they_are_used(tmp_path: Path, arguments: list[str], code: str) -> None:
    (tmp_path / "tools.yaml").write_text(TOOLS_YAML, "utf-8")
    (tmp_path / "sums.py").write_text("def add(a, b):\n    return a + b\n", "utf-8")
    report = f"import json, sys\nprint(json.dumps([name for name in {HEAVY} if name in sys.modules]), file=sys.stderr)"

    ran = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}", *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stderr.splitlines()[-1]) == []


def named_files(walk: str) -> Iterator[tuple[str, list[Path]]]:
    """Yield each path `walk` names and the places it may mean: in the package, or in the folder its line opens with."""
    for line in walk.splitlines():
        names = re.findall(r"(?<![\w/.`])[\w/]+(?:\.py\b|/(?=[\s,;:)]|$))", line)
        for name in names:
            yield name, [PACKAGE / name, PACKAGE / names[0] / name]


def test_the_house_walk_names_only_files_that_exist() -> None:
    walk = ast.get_docstring(ast.parse((PACKAGE / "__init__.py").read_text("utf-8")))
    assert walk is not None
    named = list(named_files(walk))

    assert "dispatch.py" in [name for name, _ in named]
    assert [name for name, places in named if not any(place.exists() for place in places)] == []


def test_every_public_name_is_importable_and_every_importable_name_is_public() -> None:
    resolved = {name: getattr(toolgate, name) for name in toolgate.__all__}
    loaded = {
        name
        for name, value in vars(toolgate).items()
        if not name.startswith("_") and getattr(value, "__module__", "").startswith("toolgate.")
    }

    assert len(resolved) == len(toolgate.__all__)
    assert not any(isinstance(value, ModuleType) for value in resolved.values())
    assert loaded <= set(toolgate.__all__) <= set(dir(toolgate))
    assert not hasattr(toolgate, "no_such_name")


def test_a_public_name_is_the_same_object_where_it_is_defined() -> None:
    classes = [value for value in (getattr(toolgate, name) for name in toolgate.__all__) if isinstance(value, type)]
    homes = {value: importlib.import_module(value.__module__) for value in classes}

    assert [value for value, home in homes.items() if getattr(home, value.__name__) is not value] == []


def test_type_checkers_see_every_public_name() -> None:
    tree = ast.parse((PACKAGE / "__init__.pyi").read_text("utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    seen = {alias.asname or alias.name for node in imports for alias in node.names}

    assert seen == {name for name in toolgate.__all__ if not name.startswith("__")}
