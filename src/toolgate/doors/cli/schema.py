"""`toolgate schema`: the JSON Schemas of what toolgate reads and writes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from cyclopts import Parameter

from toolgate.doors.cli.exits import Exit
from toolgate.doors.cli.opening import AsJson
from toolgate.doors.cli.output import to_json


def schema(
    of: Annotated[Literal["tools", "event", "result"], Parameter(help="Of what.")] = "tools",
    /,
    *,
    as_json: AsJson = False,  # the output is JSON either way
) -> int:
    """Print a JSON Schema.

    tools is that of tools.yaml and toolgate.yaml, event that of the events every
    call leaves, result that of what a call over HTTP or `call --json` returns.

    For example
      toolgate schema > .toolgate/tools.schema.json
      toolgate schema result
    """
    print(to_json(_schema(of), indent=2))
    return Exit.OK


def _schema(of: str) -> dict[str, Any]:
    if of == "tools":
        from toolgate.config import file_schema

        return file_schema()
    if of == "event":
        from toolgate.events import EventEnvelope

        return EventEnvelope.model_json_schema()
    from toolgate.result import ToolResult

    return ToolResult.model_json_schema()
