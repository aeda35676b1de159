"""What every dialect of a catalogue promises; `BARE` takes the name and the schema out of each dialect's tools."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.standins import a_registry, a_spec, numbers
from toolgate import ToolContext, ToolSpec
from toolgate.exporters import KINDS

Bare = Callable[[dict[str, Any]], tuple[str, str, dict[str, Any]]]

BARE: dict[str, Bare] = {
    "anthropic": lambda tool: (tool["name"], tool["description"], tool["input_schema"]),
    "mcp": lambda tool: (tool["name"], tool["description"], tool["inputSchema"]),
    "openai": lambda tool: (
        tool["function"]["name"],
        tool["function"]["description"],
        tool["function"]["parameters"],
    ),
}
SPECS = [
    a_spec(
        "sum", input_schema=numbers("a", additionalProperties=False), implementation_config={"module": "hidden_away"}
    ),
    a_spec("search:web", input_schema={}, tool_type="http"),
    a_spec("x." * 60, output_schema={"type": "object"}),
]

pytestmark = pytest.mark.parametrize("dialect", sorted(KINDS))


def test_every_dialect_is_under_contract(dialect: str) -> None:
    assert dialect in BARE


def test_every_tool_has_its_description_and_a_schema_of_type_object(dialect: str) -> None:
    exported = [BARE[dialect](tool) for tool in a_registry(*SPECS).export(dialect)]

    by_name = {spec.name: spec for spec in SPECS}
    assert {description for _, description, _ in exported} == {spec.description for spec in SPECS}
    assert [schema["type"] for _, _, schema in exported] == ["object"] * 3
    assert ("sum", by_name["sum"].description, by_name["sum"].input_schema) in exported


def test_every_name_is_one_that_any_provider_takes(dialect: str) -> None:
    names = [BARE[dialect](tool)[0] for tool in a_registry(*SPECS).export(dialect)]

    assert [name for name in names if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name)] == []
    assert len(set(names)) == 3


def test_every_exported_name_finds_its_tool_again(dialect: str) -> None:
    registry = a_registry(*SPECS)

    found = [registry.resolve(BARE[dialect](tool)[0], ToolContext()) for tool in registry.export(dialect)]

    assert found == registry.visible()


def test_nothing_tells_how_a_tool_is_run(dialect: str) -> None:
    text = json.dumps(a_registry(*SPECS).export(dialect))

    assert "implementation_config" not in text
    assert "hidden_away" not in text


def test_the_same_specs_give_the_same_bytes(dialect: str) -> None:
    one, other = a_registry(*SPECS), a_registry(*reversed(SPECS))

    assert json.dumps(one.export(dialect)) == json.dumps(other.export(dialect))


def test_what_was_exported_is_the_callers_to_change(dialect: str) -> None:
    spec = a_spec("sum", input_schema=numbers("a"), output_schema={"type": "object", "properties": {}})
    registry = a_registry(spec)
    before = spec.model_dump_json()

    [tool] = registry.export(dialect)
    BARE[dialect](tool)[2]["properties"]["a"]["type"] = "changed"
    tool.get("outputSchema", {}).setdefault("properties", {})["new"] = {}

    assert spec.model_dump_json() == before
    assert ToolSpec.model_validate_json(before) == spec


def test_no_tools_are_an_empty_list(dialect: str) -> None:
    assert a_registry().export(dialect) == []
