"""`toolgate show`: everything about one tool."""

import json
from pathlib import Path

import pytest

from tests.doors.cli.typist import Toolgate, one_tool, write_gateway


def test_everything_about_a_tool_is_shown(gateway: Path, toolgate: Toolgate) -> None:
    ran = toolgate("show", "add")

    assert ran.code == 0
    assert (
        ran.out
        == """\
add@1.0.0
Add two numbers.

  status        available
  type          python
  defined in    tools.yaml:2:5
  category      math
  tags          sums, demo
  permissions   none needed
  approval      not needed
  side effects  pure, nondeterministic
  timeout       30 s, 0 retries

Arguments
  a  number  required  The first
  b  number  = 10

Input schema
  type: object
  properties:
    a: {type: number, description: The first}
    b: {type: number, default: 10}
  required: [a]
  additionalProperties: false

Output schema
  type: number

How it is run
  module: cli_tools
  function_name: add

Examples
  - args: {a: 1, b: 2}
    output: 3

More about it
  author: me
"""
    )


def test_a_tool_with_little_to_it_shows_little(gateway: Path, toolgate: Toolgate) -> None:
    out = toolgate("show", "echo").out

    assert "Arguments" not in out
    assert "Output schema" not in out
    assert "category" not in out


def test_what_a_type_implies_and_a_person_must_agree_to_is_shown(folder: Path, toolgate: Toolgate) -> None:
    metadata = {"permissions": ["fs:write"], "is_dangerous": True, "deprecated": "use a broom"}
    write_gateway(
        folder, one_tool("sweep", tool_type="shell", implementation_config={"command": "true"}, metadata=metadata)
    )

    out = toolgate("show", "sweep").out

    assert "  permissions   fs:write, shell:execute (as every shell tool)\n" in out
    assert "  approval      a person must agree to each call\n" in out
    assert "  deprecated    use a broom\n" in out
    assert "  status        unavailable: shell tools run only in a sandbox" in out


def test_a_type_nothing_runs_implies_nothing(folder: Path, toolgate: Toolgate) -> None:
    write_gateway(
        folder, one_tool("echo", tool_type="carrier_pigeon", implementation_config={}, metadata={"deprecated": True})
    )

    out = toolgate("show", "echo").out

    assert 'unavailable: there is no executor for tools of type "carrier_pigeon"' in out
    assert "  permissions   none needed\n" in out
    assert "  deprecated    yes\n" in out
    assert "How it is run" not in out


def test_types_are_spelt_out_whatever_form_the_schema_has(folder: Path, toolgate: Toolgate) -> None:
    properties = {
        "any": {},
        "true": True,
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "level": {"enum": ["low", "high"]},
    }
    write_gateway(folder, one_tool("echo", input_schema={"type": "object", "properties": properties}))

    lines = toolgate("show", "echo").out.partition("Arguments\n")[2].splitlines()[:4]

    assert [line.split(maxsplit=1) for line in lines] == [
        ["any", "any"],
        ["true", "any"],
        ["maybe", "integer | null"],
        ["level", "string"],
    ]


def test_json_is_the_whole_spec_with_its_place_and_status(gateway: Path, toolgate: Toolgate) -> None:
    spec = toolgate("show", "sweep", "--json").json

    assert spec["origin"]["line"] == 29
    assert Path(spec["origin"]["file"]) == gateway / "tools.yaml"
    assert spec["implementation_config"] == {"command": "ls {folder}"}
    assert spec["implied_permissions"] == ["shell:execute"]
    assert spec["available"] is False
    assert spec["unavailable_reason"]


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_secrets_are_shown_as_references(
    folder: Path, toolgate: Toolgate, monkeypatch: pytest.MonkeyPatch, form: list[str]
) -> None:
    monkeypatch.setenv("CLI_TEST_TOKEN", "s3cret-value")
    config = {"token": "Bearer ${CLI_TEST_TOKEN}"}
    write_gateway(folder, one_tool("fetch", tool_type="carrier_pigeon", implementation_config=config))

    ran = toolgate("show", "fetch", *form)

    assert ran.code == 0
    assert "${CLI_TEST_TOKEN}" in ran.out
    assert "s3cret-value" not in ran.out + ran.err


def test_versions_can_be_named(folder: Path, toolgate: Toolgate) -> None:
    tools = [json.loads(one_tool("echo", metadata={"version": version}))["tools"][0] for version in ("1.0.0", "2.0.0")]
    write_gateway(folder, json.dumps({"tools": tools}))

    assert toolgate("show", "echo").out.startswith("echo@2.0.0\n")
    assert toolgate("show", "echo@^1").out.startswith("echo@1.0.0\n")
    assert toolgate("show", "echo@3").code == 3


def test_an_unknown_tool_exits_with_3(gateway: Path, toolgate: Toolgate) -> None:
    ran = toolgate("show", "ad")

    assert (ran.code, ran.out) == (3, "")
    assert ran.err.endswith('(NOT_FOUND)\nhint: did you mean "add"?\n')
