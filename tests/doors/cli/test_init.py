"""`toolgate init`: a first gateway, ready to call."""

from pathlib import Path

import pytest

from tests.doors.cli.typist import Toolgate, in_a_process

FILES = [".toolgate/tools.schema.json", "my_tools.py", "tools.yaml"]


def files_in(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_what_it_writes_can_be_called_at_once(folder: Path) -> None:
    assert in_a_process("init", cwd=folder).code == 0

    assert in_a_process("validate", cwd=folder).out == "OK 2 tools in tools.yaml\n"
    assert in_a_process("call", "add", "a=1", "b=2", cwd=folder).out == "3\n"
    assert in_a_process("call", "greet", "name=Ada", cwd=folder).out == "Hello, Ada!\n"


def test_it_says_what_it_wrote_and_what_to_do_next(folder: Path, toolgate: Toolgate) -> None:
    ran = toolgate("init", "new/gateway")

    assert ran.code == 0
    assert files_in(folder / "new" / "gateway") == FILES
    assert ran.out.count("wrote ") == 3
    assert ran.out.endswith(f"\nnext: cd {Path('new/gateway')} && toolgate call add a=1 b=2\n")


def test_json_lists_what_it_wrote(folder: Path, toolgate: Toolgate) -> None:
    assert [Path(path).as_posix() for path in toolgate("init", "--json").json["written"]] == FILES


def test_editors_are_pointed_at_a_schema_that_is_there(folder: Path, toolgate: Toolgate) -> None:
    toolgate("init")

    first = (folder / "tools.yaml").read_text("utf-8").splitlines()[0]

    assert first == "# yaml-language-server: $schema=.toolgate/tools.schema.json"
    assert (folder / ".toolgate" / "tools.schema.json").read_text("utf-8") == toolgate("schema").out


@pytest.mark.parametrize("there", FILES)
def test_nothing_is_written_when_one_of_the_files_is_there(folder: Path, toolgate: Toolgate, there: str) -> None:
    (folder / there).parent.mkdir(exist_ok=True)
    (folder / there).write_text("mine", "utf-8")

    ran = toolgate("init")

    assert ran.code == 1
    assert ran.err.startswith(f"error[exists]: nothing was written: {Path(there)} is there already\nhint: ")
    assert files_in(folder) == [there]
    assert (folder / there).read_text("utf-8") == "mine"


def test_a_second_time_names_all_that_is_there(toolgate: Toolgate) -> None:
    toolgate("init")

    ran = toolgate("init")

    assert ran.code == 1
    assert "tools.yaml are there already" in ran.err


def test_a_link_to_nowhere_is_not_overwritten_either(folder: Path, toolgate: Toolgate) -> None:
    (folder / "tools.yaml").symlink_to("nowhere")

    assert toolgate("init").code == 1
    assert not (folder / "nowhere").exists()


def test_a_file_in_the_place_of_the_folder_is_an_error_and_not_a_crash(folder: Path, toolgate: Toolgate) -> None:
    (folder / "taken").write_text("mine", "utf-8")

    ran = toolgate("init", "taken")

    assert ran.code == 1
    assert ran.err.startswith("error[failed]: ")
    assert files_in(folder) == ["taken"]
