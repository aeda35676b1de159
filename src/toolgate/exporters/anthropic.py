"""Anthropic messages: `{"name", "description", "input_schema"}`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolgate.names import alias
from toolgate.schema import copy_json
from toolgate.spec import ToolSpec


def export(specs: Iterable[ToolSpec]) -> list[dict[str, Any]]:
    """Return the specs as Anthropic client tools."""
    return [
        {
            "name": alias(spec.name),
            "description": spec.description,
            "input_schema": {"type": "object", **copy_json(spec.input_schema)},
        }
        for spec in specs
    ]
