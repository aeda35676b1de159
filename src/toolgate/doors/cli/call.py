"""`toolgate call`: one tool, called from the shell."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from toolgate.context import ToolContext
from toolgate.doors.cli.arguments import read_object, read_pairs
from toolgate.doors.cli.exits import CommandError, Exit, exit_for
from toolgate.doors.cli.interrupts import run_until_interrupted
from toolgate.doors.cli.opening import AsJson, File, opened
from toolgate.doors.cli.output import complain, print_json, print_value, say
from toolgate.errors import ToolError, ToolNotFoundError
from toolgate.gateway import Gateway
from toolgate.result import ErrorInfo, ToolResult, jsonable

Arguments = dict[str, Any] | Sequence[str]


def call(
    name: Annotated[str, Parameter(help="The tool: name, name@1.2.0 or name@^1.")],
    /,
    *arguments: Annotated[
        str, Parameter(allow_leading_hyphen=True, help="name=value pairs, one JSON object, or - for JSON on stdin.")
    ],
    file: File = None,
    timeout: Annotated[float | None, Parameter(metavar="SECONDS", help="Give up after this long.")] = None,
    session: Annotated[str | None, Parameter(metavar="ID", help="The session the call belongs to.")] = None,
    agent: Annotated[str | None, Parameter(metavar="ID", help="The agent to call as.")] = None,
    ask: Annotated[
        bool, Parameter(negative="", show_default=False, help="Ask mode: refuse tools that change anything.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Call one tool and print its value.

    Text is printed as it is, any other value as JSON; --json prints the whole
    result instead: status, output, error, call_id, duration_ms.

    Arguments take their types from the tool's schema:
      name=value     a number, boolean, null or text, as the schema says
      name=[1,2]     arrays and objects are JSON; tag=a tag=b makes an array too
      box.width=3    a property of an object called box
      name:=json     JSON, whatever the schema says; id:='"7"' is text

    For example
      toolgate call add a=1 b=2
      toolgate call add '{"a": 1, "b": 2}'
      echo '{"a": 1, "b": 2}' | toolgate call add -
      toolgate call add a=1 b=2 --json
    """
    context = ToolContext(
        session_id=session,
        agent_id=agent or "anonymous",
        mode="ask" if ask else "agent",
        timeout_ms=_milliseconds(timeout),
    )
    try:
        result = run_until_interrupted(_call(file, name, _given(arguments), context))
    except ToolError as error:
        result = ToolResult(status="denied", error=ErrorInfo.of(error))
    return _print_result(result, as_json)


def _milliseconds(seconds: float | None) -> int | None:
    if seconds is not None and not 0.001 <= seconds <= 86_400:
        raise CommandError("--timeout is a number of seconds, at least 0.001 and at most a day")
    return None if seconds is None else round(seconds * 1000)


def _given(words: Sequence[str]) -> Arguments:
    """Return the object given as JSON, or the words if they are pairs."""
    if list(words) == ["-"]:
        return read_object(sys.stdin.buffer.read())
    if len(words) == 1 and words[0].lstrip().startswith(("{", "[")):
        return read_object(words[0])
    return words


async def _call(file: Path | None, name: str, given: Arguments, context: ToolContext) -> ToolResult:
    async with opened(file) as gate:
        args = given if isinstance(given, dict) else _typed(gate, name, given, context)
        # What a tool prints is no part of its value.
        with redirect_stdout(sys.stderr):
            return await gate.executor.try_execute(name, args, context)


def _typed(gate: Gateway, name: str, words: Sequence[str], context: ToolContext) -> dict[str, Any]:
    try:
        spec = gate.registry.resolve(name, context)
    except ToolNotFoundError:
        return {}  # the call itself will say so, and leave its event
    return read_pairs(words, spec.input_schema)


def _print_result(result: ToolResult, as_json: bool) -> int:
    if as_json:
        print_json(result.to_wire())
    elif result.error is not None:
        error = result.error
        complain(error.message, code=error.code, hint=_hint(error), error_type=error.error_type)
    else:
        print_value(jsonable(result.output))
    if result.truncated:
        say([("warning: ", "bold yellow"), ("the output is not whole: it was cut", "")], sys.stderr)
    return exit_for(result.error.code, result.error.error_type) if result.error else Exit.OK


def _hint(error: ErrorInfo) -> str:
    if error.code == "invalid_arguments" and error.tool_name:
        return f"`toolgate show {error.tool_name}` lists the arguments it takes"
    return error.hint
