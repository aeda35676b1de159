"""Each dialect's own form, checked with its own types where there are any."""

from typing import Any

import pytest
from mcp_types import Tool

from tests.standins import a_registry, a_spec, numbers

SCHEMA = numbers("a")


def test_openai_tools_are_functions_with_parameters() -> None:
    assert a_registry(a_spec("sum", input_schema=SCHEMA)).to_openai_tools() == [
        {"type": "function", "function": {"name": "sum", "description": "The sum tool.", "parameters": SCHEMA}}
    ]


def test_claude_tools_have_an_input_schema() -> None:
    assert a_registry(a_spec("sum", input_schema=SCHEMA)).to_claude_tools() == [
        {"name": "sum", "description": "The sum tool.", "input_schema": SCHEMA}
    ]


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"input_schema": SCHEMA},
        {"input_schema": {"$defs": {"n": {"type": "number"}}, "properties": {"a": {"$ref": "#/$defs/n"}}}},
        {"output_schema": {"type": "object", "properties": {"n": {"type": "number"}}}},
        {"output_schema": {"type": "number"}},
        {"output_schema": {}},
        {"tool_type": "shell", "metadata": {"is_dangerous": True, "tags": ["x"]}},
    ],
    ids=str,
)
def test_mcp_tools_are_what_the_protocol_says(fields: dict[str, Any]) -> None:
    [tool] = a_registry(a_spec("search:web", **fields)).to_mcp_tools()

    parsed = Tool.model_validate(tool)

    assert parsed.name == "search__web"
    assert parsed.model_dump(mode="json", by_alias=True, exclude_unset=True) == tool


@pytest.mark.parametrize(
    ("output_schema", "is_told"),
    [({"type": "object"}, True), ({"type": "number"}, False), ({}, False), (None, False)],
)
def test_mcp_is_told_of_output_only_when_it_is_an_object(output_schema: Any, is_told: bool) -> None:
    [tool] = a_registry(a_spec(output_schema=output_schema)).to_mcp_tools()

    assert ("outputSchema" in tool) == is_told


@pytest.mark.parametrize(
    ("metadata", "read_only", "destructive", "idempotent"),
    [
        ({"side_effect_class": "pure"}, True, False, True),
        ({"side_effect_class": "idempotent"}, False, False, True),
        ({"side_effect_class": "external"}, False, False, False),
        ({"is_dangerous": True}, False, True, False),
    ],
)
def test_mcp_is_told_what_a_call_leaves_behind(
    metadata: dict[str, Any], read_only: bool, destructive: bool, idempotent: bool
) -> None:
    [tool] = a_registry(a_spec(metadata=metadata)).to_mcp_tools()

    assert tool["annotations"] == {
        "readOnlyHint": read_only,
        "destructiveHint": destructive,
        "idempotentHint": idempotent,
    }
