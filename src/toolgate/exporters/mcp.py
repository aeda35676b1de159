"""Model Context Protocol: the tool objects of `tools/list`, as plain dicts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolgate.names import alias
from toolgate.schema import copy_json
from toolgate.spec import SideEffectClass, ToolSpec


def export(specs: Iterable[ToolSpec]) -> list[dict[str, Any]]:
    """Return the specs as MCP tools."""
    return [_tool(spec) for spec in specs]


def _tool(spec: ToolSpec) -> dict[str, Any]:
    tool = {
        "name": alias(spec.name),
        "description": spec.description,
        "inputSchema": {"type": "object", **copy_json(spec.input_schema)},
        "annotations": _annotations(spec),
    }
    # MCP knows structured output only as an object.
    if spec.output_schema is not None and spec.output_schema.get("type") == "object":
        tool["outputSchema"] = copy_json(spec.output_schema)
    return tool


def _annotations(spec: ToolSpec) -> dict[str, bool]:
    effects = spec.side_effect_class
    return {
        "readOnlyHint": effects is SideEffectClass.PURE,
        "destructiveHint": spec.metadata.is_dangerous,
        "idempotentHint": effects is not SideEffectClass.EXTERNAL,
    }
