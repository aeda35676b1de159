"""A kind is found by its name: built in, in a plug-in folder, or installed."""

import sys
from pathlib import Path

import pytest

from toolgate.errors import ConfigError, Place
from toolgate.executors import KINDS, BaseExecutor
from toolgate.executors.python import PythonExecutor
from toolgate.kinds import Kinds, imported, make_importable

PLUGIN = """\
from toolgate.executors import BaseExecutor

class {name}Executor(BaseExecutor):
    async def execute(self, spec, args, context):
        return "{name}"
"""


def kinds(*folders: Path) -> Kinds:
    return Kinds("executors", KINDS, BaseExecutor, folders)


def a_plugin(folder: Path, name: str, text: str | None = None) -> Path:
    folder.mkdir(exist_ok=True)
    file = folder / f"{name}.py"
    file.write_text(PLUGIN.format(name=name.title()) if text is None else text, "utf-8")
    return file


def install(folder: Path, package: str, entry_points: str) -> None:
    """Put a package with entry points where installed packages are found."""
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text(f"[toolgate.executors]\n{entry_points}\n", "utf-8")


def test_a_built_in_kind_is_found_by_its_name() -> None:
    assert kinds().find("python") is PythonExecutor
    assert {"python", "shell"} <= set(kinds().names())
    assert kinds().find("nope") is None


def test_a_file_in_a_plug_in_folder_is_a_kind_named_after_it(tmp_path: Path) -> None:
    a_plugin(tmp_path / "own", "sql")
    found = kinds().with_folders([tmp_path / "own"])

    assert "sql" in found.names()
    assert found.find("sql").__name__ == "SqlExecutor"
    assert found.find("sql") is found.find("sql")


def test_nothing_is_imported_before_it_is_asked_for(tmp_path: Path) -> None:
    a_plugin(tmp_path, "bomb", "raise SystemError('imported')")

    assert "bomb" in kinds(tmp_path).names()
    assert "toolgate_plugins.executors.bomb" not in sys.modules


def test_files_that_are_hidden_private_or_not_python_are_no_kinds(tmp_path: Path) -> None:
    for name in ("_private", ".hidden", ".#sql"):
        a_plugin(tmp_path, name)
    (tmp_path / "notes.txt").write_text("", "utf-8")

    assert kinds(tmp_path).names() == kinds().names()


def test_no_folders_change_nothing() -> None:
    found = kinds()

    assert found.with_folders([]) is found


def test_folders_given_later_are_added_to_those_there_are(tmp_path: Path) -> None:
    a_plugin(tmp_path / "one", "first")
    a_plugin(tmp_path / "two", "second")

    found = kinds(tmp_path / "one").with_folders([tmp_path / "two"])

    assert {"first", "second"} <= set(found.names())


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"the plug-in folder .*gone does not exist") as caught:
        kinds(tmp_path / "gone")

    assert caught.value.problems[0].place == Place(str(tmp_path / "gone"))


def test_a_plug_in_may_not_take_the_name_of_a_built_in_kind(tmp_path: Path) -> None:
    file = a_plugin(tmp_path, "python")

    with pytest.raises(
        ConfigError, match=r'"python" is already a kind of executors: toolgate\.executors\.python'
    ) as caught:
        kinds(tmp_path)
    assert caught.value.problems[0].place == Place(str(file))


def test_two_plug_ins_may_not_have_one_name(tmp_path: Path) -> None:
    a_plugin(tmp_path / "one", "sql")
    a_plugin(tmp_path / "two", "sql")

    with pytest.raises(ConfigError, match=r'"sql" is already a kind of executors: .*one/sql.py'):
        kinds(tmp_path / "one", tmp_path / "two")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected one BaseExecutor class, found 0"),
        ("from toolgate.executors.python import PythonExecutor", "expected one BaseExecutor class, found 0"),
        (PLUGIN.format(name="A") + PLUGIN.format(name="B"), "expected one BaseExecutor class, found 2"),
        ("import nowhere_at_all", "cannot import the plug-in: ModuleNotFoundError: No module named 'nowhere_at_all'"),
        ("def broken(:", "cannot import the plug-in: SyntaxError: "),
        ("1 / 0", "cannot import the plug-in: ZeroDivisionError: division by zero"),
    ],
)
def test_a_plug_in_that_is_not_one_is_refused_with_its_file(tmp_path: Path, text: str, message: str) -> None:
    file = a_plugin(tmp_path, "odd", text)

    with pytest.raises(ConfigError) as caught:
        kinds(tmp_path).find("odd")

    (problem,) = caught.value.problems
    assert problem.message.startswith(message)
    assert problem.place == Place(str(file))


def test_a_plug_in_that_failed_is_tried_again_once_it_is_mended(tmp_path: Path) -> None:
    a_plugin(tmp_path, "mended", "1 / 0")
    with pytest.raises(ConfigError):
        kinds(tmp_path).find("mended")

    a_plugin(tmp_path, "mended")

    assert kinds(tmp_path).find("mended").__name__ == "MendedExecutor"


def test_the_same_name_in_another_gateways_folder_is_another_kind(tmp_path: Path) -> None:
    a_plugin(tmp_path / "one", "same")
    a_plugin(tmp_path / "two", "same", PLUGIN.format(name="Other"))

    assert kinds(tmp_path / "one").find("same").__name__ == "SameExecutor"
    assert kinds(tmp_path / "two").find("same").__name__ == "OtherExecutor"


def test_an_installed_package_brings_kinds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    install(tmp_path, "elsewhere", "remote = toolgate.executors.python:PythonExecutor\nbroken = nowhere_at_all:Nothing")

    found = kinds()

    assert {"remote", "broken"} <= set(found.names())
    assert found.find("remote") is PythonExecutor
    with pytest.raises(ConfigError, match="cannot import nowhere_at_all:Nothing: ModuleNotFoundError"):
        found.find("broken")


@pytest.mark.parametrize(
    "entry", ["python = elsewhere:Python", "twin = elsewhere:One\n[toolgate.executors]\ntwin = elsewhere:Two"]
)
def test_an_installed_kind_may_not_take_a_name_that_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    install(tmp_path, "elsewhere", entry)

    with pytest.raises(ConfigError, match=r'"(python|twin)" is already a kind of executors'):
        kinds().names()


def test_two_installed_packages_may_not_bring_one_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    install(tmp_path, "first", "twin = first:Kind")
    install(tmp_path, "second", "twin = second:Kind")

    with pytest.raises(ConfigError, match=r'"twin" is already a kind of executors: (first|second):Kind and'):
        kinds().find("unknown")


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("nowhere_at_all:x", "ModuleNotFoundError"),
        ("toolgate.errors:Nope", "AttributeError"),
        ("toolgate.errors", "AttributeError"),
        (":x", "ValueError"),
        ("", "ValueError"),
        ("broken_module:x", "ZeroDivisionError: division by zero"),
    ],
)
def test_what_cannot_be_imported_is_a_config_error(
    target: str, message: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "broken_module.py").write_text("1 / 0", "utf-8")
    monkeypatch.syspath_prepend(folder)

    with pytest.raises(ConfigError, match=f"cannot import {target}: {message}"):
        imported(target)


def test_what_is_named_is_imported() -> None:
    assert imported("toolgate.executors.python:PythonExecutor") is PythonExecutor


def test_a_folder_made_importable_comes_after_the_standard_library_and_before_what_is_installed(folder: Path) -> None:
    make_importable(folder)
    make_importable(folder)

    at = sys.path.index(str(folder))
    assert sys.path.count(str(folder)) == 1
    assert at > max(index for index, path in enumerate(sys.path) if path.endswith("lib-dynload"))
    assert all(at < index for index, path in enumerate(sys.path) if path.endswith("site-packages"))
