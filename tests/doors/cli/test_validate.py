"""`toolgate validate`: every problem of a file, each at its line."""

import sys
from pathlib import Path

import pytest

from tests.doors.cli.typist import Toolgate, in_a_process, write_gateway

BROKEN = """\
tools:
  - name: add
    descripton: Add two numbers.
    tool_type: python
    implementation_config: {module: cli_tools, function_name: add}
    timeout: soon
"""


def test_files_in_order_are_counted(gateway: Path) -> None:
    ran = in_a_process("validate", cwd=gateway)

    assert (ran.code, ran.out, ran.err) == (0, "OK 4 tools in tools.yaml\n", "")


def test_every_problem_is_pointed_at(folder: Path, toolgate: Toolgate) -> None:
    write_gateway(folder, BROKEN)

    ran = toolgate("validate")

    assert ran.code == 1
    *problems, count = ran.out.splitlines()
    assert [line.partition("  ")[0] for line in problems] == ["tools.yaml:2:5", "tools.yaml:3:5", "tools.yaml:6:14"]
    assert problems[1] == 'tools.yaml:3:5  tools[0] add: descripton: no such key; did you mean "description"?'
    assert count == "3 problems"


def test_json_lists_the_problems(folder: Path, toolgate: Toolgate) -> None:
    write_gateway(folder, BROKEN)

    ran = toolgate("validate", "--json")

    assert ran.code == 1
    assert ran.json["ok"] is False
    assert ran.json["problems"][1] == {
        "file": "tools.yaml",
        "line": 3,
        "column": 5,
        "path": "tools[0] add: descripton",
        "message": "no such key",
        "hint": 'did you mean "description"?',
    }


def test_json_of_files_in_order_has_no_problems(gateway: Path, toolgate: Toolgate) -> None:
    ran = toolgate("validate", "--json")

    assert (ran.code, ran.json) == (0, {"ok": True, "problems": []})


def test_several_files_are_checked_one_by_one(folder: Path, toolgate: Toolgate) -> None:
    good, bad = write_gateway(folder / "good"), write_gateway(folder / "bad", BROKEN)
    (folder / "one.yaml").write_text("tools: []\n", "utf-8")

    ran = toolgate("validate", str(good), str(bad), "one.yaml", "-f", "good")

    assert ran.code == 1
    assert "bad/tools.yaml:3:5  " in ran.out.replace("\\", "/")
    assert (
        "OK 4 tools in good/tools.yaml\nOK 0 tools in one.yaml\nOK 4 tools in good/tools.yaml\n3 problems\n" in ran.out
    )


def test_files_outside_this_folder_are_named_in_full(
    folder: Path, toolgate: Toolgate, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = write_gateway(tmp_path_factory.mktemp("elsewhere"))

    assert toolgate("validate", str(file)).out == f"OK 4 tools in {file}\n"


def test_a_missing_file_is_a_problem(toolgate: Toolgate) -> None:
    ran = toolgate("validate", "nowhere.yaml")

    assert (ran.code, ran.err) == (1, "")
    assert ran.out == "nowhere.yaml  there is no such file; check the path\n1 problem\n"


def test_what_sources_hold_is_checked_too(gateway: Path, toolgate: Toolgate) -> None:
    (gateway / "toolgate.yaml").write_text("sources: [more.yaml]\n", "utf-8")
    (gateway / "more.yaml").write_text(BROKEN, "utf-8")

    ran = toolgate("validate")

    assert ran.code == 1
    assert "more.yaml:3:5  tools[0] add: descripton: " in ran.out


def test_a_source_of_no_known_kind_is_a_problem(gateway: Path, toolgate: Toolgate) -> None:
    (gateway / "toolgate.yaml").write_text("sources: [{type: fax}]\n", "utf-8")

    ran = toolgate("validate")

    assert ran.code == 1
    assert '"fax"' in ran.out


def test_a_tool_defined_in_two_sources_is_a_problem(gateway: Path, toolgate: Toolgate) -> None:
    write_gateway(gateway / "more")
    (gateway / "toolgate.yaml").write_text("sources: [more/tools.yaml]\n", "utf-8")

    ran = toolgate("validate")

    assert ran.code == 1
    assert "add@1.0.0 is defined twice" in ran.out


def test_nothing_the_tools_name_is_imported(gateway: Path, toolgate: Toolgate) -> None:
    toolgate("validate")
    toolgate("list")
    toolgate("show", "add")

    assert "cli_tools" not in sys.modules
