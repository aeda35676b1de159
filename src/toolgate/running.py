"""The end of the road: one tool run within its time, its output checked and bounded."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator
from types import CoroutineType, coroutine
from typing import Any

import anyio.to_thread

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
from toolgate.executors import Run as Tool
from toolgate.places import dotted
from toolgate.result import ToolResult, size_up_to, told
from toolgate.schema import CompiledSchema, compile_schema
from toolgate.secrets import resolve
from toolgate.spec import DEFAULT_TIMEOUT, SideEffectClass, ToolSpec


class Runner:
    """Runs one tool; made when the tool is linked, and made ready when it is first needed."""

    def __init__(self, spec: ToolSpec, executor: BaseExecutor, max_output_bytes: int) -> None:
        self._spec = spec
        self._executor = executor
        self._tool: Tool | None = None
        self._making = threading.Lock()
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
        tool = self._tool or await self.ready(DEFAULT_TIMEOUT if limit is None else limit / 1000)
        journal.attempts += 1
        if not journal.invoked:  # another try of the same call is not another call
            await journal.reached(ctx.args)
        value = await self._within(seconds, tool, ctx)
        journal.answered = True
        self._check_size(value)
        if self._output_schema is not None:
            self._check_output(self._output_schema, value)
        return ToolResult(status="ok", output=value)

    async def ready(self, seconds: float) -> Tool:
        """Return what calls the tool; importing what it needs may take long, so it is done off the event loop.

        The tool's own timeout is for its work; only a caller who is in a hurry shortens the time for this.

        Raises:
            ToolTimeoutError: It took too long.
            ToolError: It cannot be made ready; the next call tries again, as what was wrong may have been mended.
        """
        try:
            async with asyncio.timeout(seconds):
                return await anyio.to_thread.run_sync(self._make, abandon_on_cancel=True)
        except TimeoutError:
            text = f"Tool {self._spec.name} was not ready after {round(seconds * 1000)}ms"
            hint = "it is still being imported: try again"
            raise ToolTimeoutError(text, outcome="not_done", retryable=True, hint=hint) from None

    def _make(self) -> Tool:
        with self._making:
            if self._tool is None:
                self._tool = self._bound()
            return self._tool

    def _bound(self) -> Tool:
        try:
            config = resolve(self._spec.implementation_config)
            return self._executor.bind(self._spec.model_copy(update={"implementation_config": config}))
        except ToolError:
            raise
        except (Exception, SystemExit) as error:
            text = f"the tool cannot be made ready: {type(error).__name__}: {told(error)}"
            raise ToolExecutionError(text, cause=error) from error

    async def _within(self, seconds: float, tool: Tool, ctx: CallContext) -> Any:
        # asyncio's own timer costs a third of an anyio scope, and nothing else is started here.
        timer = asyncio.timeout(seconds)
        try:
            work = tool(ctx.args, ctx.tool_context)
            if type(work) is CoroutineType:
                # A tool that answers without waiting for anything needs no timer, which costs more than the rest.
                try:
                    waiting = work.send(None)
                except StopIteration as answer:
                    return answer.value
                work = _resumed(work, waiting)
            async with timer:
                return await work
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
        text = told(error)
        if isinstance(error, LookupError | SystemExit):  # of which all that is said is a key or a number
            text = f"{type(error).__name__}: {text}"
        return ToolExecutionError(text, tool_name=self._spec.name, cause=error, outcome=self._lost)

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

    def _check_size(self, value: Any) -> None:
        try:
            is_bigger = size_up_to(self._max_output, value) > self._max_output
        except Exception as error:
            raise self._unreadable(error) from error
        if is_bigger:
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


@coroutine
def _resumed(work: CoroutineType[Any, Any, Any], waiting: Any) -> Generator[Any, Any, Any]:
    """Go on with a coroutine that has been started and now waits for something."""
    while True:
        raised: BaseException | None = None
        try:
            yield waiting
        except BaseException as error:
            raised = error
        try:
            waiting = work.send(None) if raised is None else work.throw(raised)
        except StopIteration as answer:
            return answer.value


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
