"""The end of the road: one tool run within its time, its output checked and bounded."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

from toolgate.context import CallContext
from toolgate.errors import (
    ExtensionError,
    Outcome,
    ToolError,
    ToolExecutionError,
    ToolTimeoutError,
    ToolValidationError,
)
from toolgate.executors import BaseExecutor
from toolgate.places import dotted
from toolgate.result import ToolResult, jsonable, told
from toolgate.schema import CompiledSchema, compile_schema
from toolgate.spec import SideEffectClass, ToolSpec


class Runner:
    """Runs one tool; made when the tool is linked."""

    def __init__(self, spec: ToolSpec, executor: BaseExecutor, max_output_bytes: int) -> None:
        self._spec = spec
        self._tool = executor.bind(spec)
        self._max_output = max_output_bytes
        self._output_schema = compile_schema(spec.output_schema) if spec.output_schema is not None else None
        self._lost = lost(spec)

    async def run(self, ctx: CallContext) -> ToolResult:
        """Run the tool and return its output.

        Raises:
            ToolTimeoutError: It took too long.
            ToolExecutionError: It failed, or gave more than may be held.
            ToolValidationError: Its output breaks its schema.
        """
        limit = ctx.tool_context.timeout_ms
        seconds = self._spec.timeout if limit is None else min(self._spec.timeout, limit / 1000)
        journal = ctx.journal
        if journal is None:
            raise _made_anew(ctx)
        journal.timeout_ms = seconds * 1000
        journal.attempts += 1
        if not journal.invoked:  # another try of the same call is not another call
            await journal.reached(ctx.args)
        value = await self._within(seconds, ctx)
        journal.answered = True
        if self._output_schema is not None:
            self._check_output(self._output_schema, value)
        return self._bounded(value)

    async def _within(self, seconds: float, ctx: CallContext) -> Any:
        # asyncio's own timer costs a third of an anyio scope, and nothing else is started here.
        timer = asyncio.timeout(seconds)
        try:
            async with timer:
                return await self._tool(ctx.args, ctx.tool_context)
        except (asyncio.CancelledError, KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:
            # Whatever a tool makes of being stopped, it was stopped for being late.
            if timer.expired():
                raise self._late(seconds) from error
            if isinstance(error, ToolError):
                raise
            raise self._failed(error) from error

    def _late(self, seconds: float) -> ToolTimeoutError:
        name, millis = self._spec.name, round(seconds * 1000)
        hint = "it may still have taken effect: check before calling it again" if self._lost == "unknown" else ""
        return ToolTimeoutError(
            f"Tool {name} timed out after {millis}ms", tool_name=name, outcome=self._lost, retryable=True, hint=hint
        )

    def _failed(self, error: BaseException) -> ToolExecutionError:
        return ToolExecutionError(told(error), tool_name=self._spec.name, cause=error, outcome=self._lost)

    def _check_output(self, schema: CompiledSchema, value: Any) -> None:
        violations = schema.check(value)
        if violations:
            raise ToolValidationError(
                "the output breaks output_schema: " + "; ".join(str(violation) for violation in violations),
                tool_name=self._spec.name,
                field=dotted(violations[0].path) or None,
                code="invalid_output",
                outcome="done",
                hint="this is for the tool's author to mend",
            )

    def _bounded(self, value: Any) -> ToolResult:
        try:
            is_bigger = _is_bigger(value, self._max_output)
        except Exception as error:
            raise self._unreadable(error) from error
        if not is_bigger:
            return ToolResult(status="ok", output=value)
        if isinstance(value, str):
            cut = value.encode("utf-8", "surrogatepass")[: self._max_output].decode("utf-8", "ignore")
            return ToolResult(status="ok", output=cut, truncated=True)
        raise ToolExecutionError(
            f"the output is over {self._max_output:,} bytes",
            tool_name=self._spec.name,
            code="output_too_large",
            outcome="done",
            hint="ask for less, or raise max_output_bytes",
        )

    def _unreadable(self, error: Exception) -> ToolExecutionError:
        text = f"the output cannot be read: {told(error)}"
        hint = "this is for the tool's author to mend"
        return ToolExecutionError(text, tool_name=self._spec.name, cause=error, outcome="done", hint=hint)


def lost(spec: ToolSpec) -> Outcome:
    """Return what is known of a tool's effects when its answer never came."""
    return "not_done" if spec.side_effect_class is SideEffectClass.PURE else "unknown"


def being_cancelled() -> bool:
    """Return whether this task was asked to stop; a CancelledError without that is a failure like any other."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _made_anew(ctx: CallContext) -> ExtensionError:
    return ExtensionError(
        "an extension replaced the call by one made from nothing",
        tool_name=ctx.spec.name,
        hint="use ctx.with_args(...) or dataclasses.replace(ctx, ...)",
    )


_CONTAINERS = (list, tuple, set, frozenset)
_SMALL = (int, float, type(None))


def _is_bigger(value: Any, limit: int) -> bool:
    """Return whether `value` takes more than `limit` bytes as JSON, near enough; none is built for JSON-like data."""
    size, waiting = 0, [value]
    while waiting and size <= limit:
        item = waiting.pop()
        if isinstance(item, str):
            size += len(item) if item.isascii() else len(item.encode("utf-8", "surrogatepass"))
        elif isinstance(item, _SMALL):
            size += 8
        elif isinstance(item, dict):
            size += 4 * len(item)
            waiting.extend(item.keys())
            waiting.extend(item.values())
        elif isinstance(item, _CONTAINERS):
            size += len(item)
            waiting.extend(item)
        elif isinstance(item, bytes | bytearray):
            size += len(item)
        elif isinstance(item, Iterator | AsyncIterator):
            # Reading it here would take it from the caller, and it may never end.
            raise TypeError(f"it holds a {type(item).__name__}, which is not a value; return a list")
        else:
            waiting.append(jsonable(item))
    return size > limit
