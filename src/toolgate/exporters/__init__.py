"""Catalogues go out: one file a dialect. `KINDS` finds each, imported when first used."""

from __future__ import annotations

KINDS = {
    "anthropic": "toolgate.exporters.anthropic:export",
    "mcp": "toolgate.exporters.mcp:export",
    "openai": "toolgate.exporters.openai:export",
}
