"""`toolgate list`: what there is, and whether it can be called."""

import json
from pathlib import Path

import pytest

from tests.doors.cli.typist import Toolgate, in_a_process, one_tool, write_gateway

NO_SANDBOX = "shell tools run only in a sandbox, which this version of toolgate does not have yet"


def test_each_tool_is_one_line_with_its_status(gateway: Path) -> None:
    ran = in_a_process("list", cwd=gateway)

    assert (ran.code, ran.err) == (0, "")
    heading, *lines = ran.out.splitlines()
    assert heading.split() == ["NAME", "TYPE", "DESCRIPTION", "STATUS"]
    assert [line.split()[:2] for line in lines] == [
        ["add", "python"],
        ["echo", "python"],
        ["say", "python"],
        ["sweep", "shell"],
    ]
    assert lines[2].split(maxsplit=2)[2] == "Return the text, as it is.  available"
    assert lines[3].endswith(f"  unavailable: {NO_SANDBOX}")


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        ([], ["add", "echo", "say", "sweep"]),
        (["--type", "shell"], ["sweep"]),
        (["--tag", "demo"], ["add", "echo"]),
        (["--tag", "demo", "--tag", "sums"], ["add"]),
        (["--category", "math"], ["add"]),
        (["--category", "math", "--type", "shell"], []),
    ],
)
def test_filters_narrow_the_list(gateway: Path, toolgate: Toolgate, filters: list[str], names: list[str]) -> None:
    assert [tool["name"] for tool in toolgate("list", "--json", *filters).json] == names


def test_json_gives_what_a_planner_sees_and_the_status(gateway: Path, toolgate: Toolgate) -> None:
    add, *_, sweep = toolgate("list", "--json").json

    assert add["input_schema"]["required"] == ["a"]
    assert add["metadata"]["author"] == "me"
    assert (add["tool_type"], add["available"], add["unavailable_reason"]) == ("python", True, None)
    assert (sweep["available"], sweep["unavailable_reason"]) == (False, NO_SANDBOX)
    assert "implementation_config" not in add


def test_versions_side_by_side_are_told_apart(folder: Path, toolgate: Toolgate) -> None:
    tools = [json.loads(one_tool("echo", metadata={"version": version}))["tools"][0] for version in ("1.0.0", "2.0.0")]
    write_gateway(folder, json.dumps({"tools": tools}))

    assert [line.split()[0] for line in toolgate("list").out.splitlines()] == ["NAME", "echo@1.0.0", "echo@2.0.0"]


def test_no_tools_are_said_beside_an_empty_list(folder: Path, toolgate: Toolgate) -> None:
    write_gateway(folder, "tools: []\n")

    ran = toolgate("list")

    assert (ran.code, ran.out, ran.err) == (0, "", "no tools\n")
    assert toolgate("list", "--json").json == []


def test_control_characters_in_a_description_do_not_reach_the_list(folder: Path, toolgate: Toolgate) -> None:
    write_gateway(folder, one_tool("echo", description="\x1b[2Jgone\u202e"))

    assert "\\x1b[2Jgone\\u202e" in toolgate("list").out


def test_what_an_extension_prints_when_it_is_imported_is_not_in_the_answer(gateway: Path) -> None:
    (gateway / "chatty.py").write_text(
        "from toolgate import Extension\nprint('importing')\nclass Chatty(Extension):\n    pass\n", "utf-8"
    )
    (gateway / "toolgate.yaml").write_text("extensions: [{use: 'chatty:Chatty'}]\n", "utf-8")

    ran = in_a_process("list", "--json", cwd=gateway)

    assert [tool["name"] for tool in ran.json] == ["add", "echo", "say", "sweep"]
    assert ran.err == "importing\n"
