"""UnifiedToolExecutor: the one way in, and the only place where a failure becomes a result."""

from __future__ import annotations

import asyncio
import logging
import re
import traceback
from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack
from time import perf_counter
from typing import Any, Self

import anyio

from toolgate.chain import Extension, ExtensionManager, Run, link, overrides
from toolgate.config import DEFAULT_OUTPUT_BYTES, LOCAL_PERMISSIONS
from toolgate.context import CallContext, ToolContext, anyone
from toolgate.errors import (
    ConfigError,
    ExtensionError,
    Outcome,
    ToolCancelledError,
    ToolError,
    ToolExecutionError,
    ToolUnavailableError,
)
from toolgate.events import AgentRef
from toolgate.executors import BaseExecutor, Executors
from toolgate.extensions import FIXED
from toolgate.journal import Journal
from toolgate.kinds import Kinds, imported
from toolgate.loopthread import LoopThread
from toolgate.registry import ANYONE, ToolSpecRegistry
from toolgate.result import ErrorInfo, Status, ToolResult, as_text, shortened, told
from toolgate.running import Runner, being_cancelled, lost
from toolgate.schema import SchemaError, compile_schema
from toolgate.secrets import references, scrub
from toolgate.spec import DEFAULT_TIMEOUT, ToolSpec
from toolgate.stores import KINDS as STORES
from toolgate.stores import EventStore

logger = logging.getLogger(__name__)

PRODUCER = AgentRef(agent_id="system", agent_type="tool_executor")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # what could change a terminal, or forge a line of a log
_STATUS: dict[str, Status] = {"timeout": "timeout", "cancelled": "cancelled"}


class Linked:
    """A tool as it is called: its spec, its chain, who watches, and what is at the end of its road, if anything is."""

    __slots__ = ("has_secrets", "lost", "run", "runner", "spec", "watchers")

    def __init__(self, spec: ToolSpec, run: Run, watchers: tuple[Extension, ...], runner: Runner | None) -> None:
        self.spec, self.run, self.watchers, self.runner = spec, run, watchers, runner
        self.has_secrets = any(references(spec.implementation_config))
        self.lost = lost(spec)


class UnifiedToolExecutor:
    """Runs any tool of a registry through the chain of extensions; every call leaves the same events."""

    default_timeout = DEFAULT_TIMEOUT

    def __init__(
        self,
        spec_registry: ToolSpecRegistry,
        extension_manager: ExtensionManager | None = None,
        *,
        event_store: EventStore | None = None,
        local_permissions: Iterable[str] = LOCAL_PERMISSIONS,
        executors: Kinds | None = None,
        max_output_bytes: int = DEFAULT_OUTPUT_BYTES,
        producer: AgentRef = PRODUCER,
    ) -> None:
        self.spec_registry = spec_registry
        self.extension_manager = ExtensionManager() if extension_manager is None else extension_manager
        self.executors = Executors(executors)
        self.event_store: EventStore = imported(STORES["memory"])() if event_store is None else event_store
        self._local = frozenset(local_permissions)
        self._max_output = max_output_bytes
        self._producer = producer
        self._links: dict[str, Linked] = {}
        self._linked_at: tuple[int, int, int] = (-1, -1, -1)
        self._thread = LoopThread()

    # Calling

    async def execute(
        self, tool_name: str, args: Mapping[str, Any] | None = None, context: ToolContext | None = None
    ) -> Any:
        """Run a tool and return its whole output.

        Raises:
            ToolError: The call was refused, or the tool failed; the class and `code` say how.
        """
        result, error = await self._call(tool_name, args, anyone() if context is None else context)
        if error is not None:
            raise error
        return result.output

    async def try_execute(
        self, tool_name: str, args: Mapping[str, Any] | None = None, context: ToolContext | None = None
    ) -> ToolResult:
        """Run a tool and return how it went; never raises for anything a tool or a rule did."""
        result, _ = await self._call(tool_name, args, anyone() if context is None else context)
        return result

    def execute_sync(
        self, tool_name: str, args: Mapping[str, Any] | None = None, context: ToolContext | None = None
    ) -> Any:
        """Run a tool from code that is not async, and return its output.

        Raises:
            ToolError: The call was refused, or the tool failed.
            RuntimeError: There is an event loop in this thread; await `execute` instead.
        """
        return self._thread.run(lambda: self.execute(tool_name, args, context))

    async def _call(
        self, name: str, args: Mapping[str, Any] | None, context: ToolContext
    ) -> tuple[ToolResult, ToolError | None]:
        started = perf_counter()
        name = str(name)
        journal = Journal(self.event_store, self._producer, context)
        try:
            linked = self._link(name, context)
        except ToolError as error:
            await journal.denied_unlinked(name, error)
            return _refused(ErrorInfo.of(error), journal, started), error
        given: Any = {} if args is None else args  # whatever it is, validation looks at it on the road
        journal.ctx = ctx = CallContext(linked.spec, given, context, journal.call_id, {}, journal)
        journal.watchers = linked.watchers
        try:
            try:
                result = await linked.run(ctx)
            except ToolError as error:
                return await _ended(error, linked, journal, started)
            result = _finished(result, journal, started)
            await journal.completed(result)
        except asyncio.CancelledError as stop:
            return await _stopped(stop, linked, journal, started)
        return result, None

    # Linking

    def _link(self, name: str, context: ToolContext) -> Linked:
        return self._link_spec(self.spec_registry.resolve(name, context))

    def _link_spec(self, spec: ToolSpec) -> Linked:
        now = (self.spec_registry.revision, self.extension_manager.revision, self.executors.revision)
        if now != self._linked_at:
            self._links, self._linked_at = {}, now
        linked = self._links.get(spec.key)
        if linked is None or linked.spec is not spec:
            linked = self._links[spec.key] = self._linked(spec)
        return linked

    def _linked(self, spec: ToolSpec) -> Linked:
        own = [each for each in self.extension_manager.list_extensions() if _applies(each, spec)]
        # A stable sort: at the same priority, validation comes after the operator's own extensions.
        rest = sorted([*own, _validation(spec)], key=lambda each: -each.priority)
        watchers = tuple(each for each in own if overrides(each, "on_event"))
        first = self._permissions(spec, can_approve=any(each.gives_approval for each in own))
        executor, reason = self._found(spec)
        if executor is None or reason is not None:
            return Linked(spec, link([first, *rest], _refusal(str(reason))), watchers, None)
        runner = _runner(spec, executor, self._max_output)
        return Linked(spec, link([first, *rest], runner.run), watchers, runner)

    def _permissions(self, spec: ToolSpec, *, can_approve: bool) -> Extension:
        executor, _ = self._found(spec)
        implied = executor.implied_permissions if executor else ()
        permissions: Extension = imported(FIXED["permissions"])(spec, implied, self._local, can_approve=can_approve)
        return permissions

    def _found(self, spec: ToolSpec) -> tuple[BaseExecutor | None, str | None]:
        """Return the executor of a tool, if there is one, and why it cannot run the tool, if it cannot."""
        try:
            executor = self.executors.get(spec.tool_type)
        except ConfigError as error:
            return None, str(error)
        if executor is None:
            return None, f'there is no executor for tools of type "{spec.tool_type}"'
        try:
            return executor, executor.unavailable(spec)
        except Exception as error:
            return executor, f"its executor cannot say whether it runs: {_named(error)}"

    async def prepare(self) -> dict[str, str]:
        """Make every tool ready that can be called here; returns those that cannot be made ready, and why."""
        failed: dict[str, str] = {}
        for spec in self.spec_registry.visible(ANYONE):
            try:
                linked = self._link_spec(spec)
                if linked.runner is not None:
                    await linked.runner.ready(DEFAULT_TIMEOUT)
            except ToolError as error:
                failed[spec.name] = scrub(error.message, spec.implementation_config)
        return failed

    # Asking

    def unavailable(self, spec: ToolSpec) -> str | None:
        """Return why a tool cannot be called here, or None when it can."""
        return self._found(spec)[1]

    def executor_for(self, name: str) -> BaseExecutor:
        """Return the executor that runs the tool `name`.

        Raises:
            ToolNotFoundError: There is no such tool.
            ToolUnavailableError: Nothing here runs tools of its type.
        """
        spec = self.spec_registry.get_spec(name)
        executor, reason = self._found(spec)
        if executor is None:
            raise ToolUnavailableError(str(reason), tool_name=name)
        return executor

    def validate_args(self, name: str, args: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments as the tool would get them, defaults filled in.

        Raises:
            ToolNotFoundError: There is no such tool.
            ToolValidationError: They break its schema.
        """
        spec = self.spec_registry.get_spec(name)
        checked: dict[str, Any] = imported(FIXED["validated"])(compile_schema(spec.input_schema), args, spec.name)
        return checked

    def list_tools(self, context: ToolContext | None = None) -> list[ToolSpec]:
        """Return the tools this caller may see."""
        return self.spec_registry.visible(context or ANYONE)

    def get_tool_info(self, name: str) -> dict[str, Any]:
        """Return what `describe` says of the tool `name`.

        Raises:
            ToolNotFoundError: There is no such tool.
        """
        return self.describe(self.spec_registry.get_spec(name))

    def describe(self, spec: ToolSpec) -> dict[str, Any]:
        """Return what a planner may see of a tool, its type, and whether it can be called here."""
        reason = self.unavailable(spec)
        return {
            **spec.planner_view(),
            "tool_type": str(spec.tool_type),
            "available": reason is None,
            "unavailable_reason": reason,
        }

    def add_extension(self, extension: Extension) -> None:
        """Add an extension to the chain."""
        self.extension_manager.register(extension)

    def remove_extension(self, name: str) -> None:
        """Remove an extension from the chain."""
        self.extension_manager.unregister(name)

    # Opening and closing

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close every executor and what `execute_sync` started."""
        async with AsyncExitStack() as stack:  # one that fails to close does not keep the others open
            stack.callback(self._thread.stop)
            for executor in self.executors.made():
                stack.push_async_callback(executor.down)


# Linking


def _applies(extension: Extension, spec: ToolSpec) -> bool:
    try:
        return bool(extension.applies_to(spec))
    except Exception as error:
        text = f"the extension {extension.name} failed in applies_to: {type(error).__name__}"
        hint = "this is for the operator to mend"
        raise ExtensionError(text, tool_name=spec.name, cause=error, hint=hint) from error


def _validation(spec: ToolSpec) -> Extension:
    try:
        validation: Extension = imported(FIXED["validation"])(compile_schema(spec.input_schema))
    except SchemaError as error:
        text = f"its input_schema is not a JSON Schema: {error}"
        raise ToolUnavailableError(text, tool_name=spec.name) from error
    return validation


def _runner(spec: ToolSpec, executor: BaseExecutor, max_output_bytes: int) -> Runner:
    try:
        return Runner(spec, executor, max_output_bytes)
    except SchemaError as error:
        text = f"its output_schema is not a JSON Schema: {error}"
        raise ToolUnavailableError(text, tool_name=spec.name) from error


def _refusal(reason: str) -> Run:
    async def refuse(ctx: CallContext) -> ToolResult:
        raise ToolUnavailableError(reason)

    return refuse


# Ending


def _finished(result: ToolResult, journal: Journal, started: float) -> ToolResult:
    facts = {
        "call_id": journal.call_id,
        "duration_ms": _since(started),
        "attempts": journal.attempts,
        "cached": not journal.attempts,
    }
    return ToolResult.trusted({**result.__dict__, **facts})


async def _ended(error: ToolError, linked: Linked, journal: Journal, started: float) -> tuple[ToolResult, ToolError]:
    try:
        info = _settled(error, linked, journal)
    except Exception:  # it was not made as errors are, so that nothing but its text can be relied on
        error = ToolExecutionError(told(error), cause=error, outcome=linked.lost)
        info = _settled(error, linked, journal)
    result = _refused(info, journal, started)
    if getattr(error, "cause", None) is not None and logger.isEnabledFor(logging.INFO):
        logger.info("call %s of %s failed: %s", journal.call_id, linked.spec.name, _traced(error, linked))
    await journal.ended(error, result.duration_ms)
    return result, error


def _traced(error: ToolError, linked: Linked) -> str:
    """Return the error with the stack of what caused it: for the log, never for the caller."""
    cause = getattr(error, "cause", None)
    stack = "\n" + "".join(traceback.format_exception(cause)).rstrip() if isinstance(cause, BaseException) else ""
    text = _CONTROL.sub(lambda found: repr(found.group())[1:-1], f"{error.message}{stack}")
    return scrub(text, linked.spec.implementation_config) if linked.has_secrets else text


def _settled(error: ToolError, linked: Linked, journal: Journal) -> ErrorInfo:
    """Make `error` name its tool, hold no secret and tell the truth about what was done; return what travels of it."""
    error.tool_name = error.tool_name or linked.spec.name
    error.outcome = _outcome(error, linked, journal)
    error.message, error.hint = shortened(as_text(error.message)), shortened(as_text(error.hint))
    if linked.has_secrets:
        config = linked.spec.implementation_config
        error.message, error.hint = scrub(error.message, config), scrub(error.hint, config)
    error.args = (error.message,)
    return ErrorInfo.of(error)


def _outcome(error: ToolError, linked: Linked, journal: Journal) -> Outcome:
    if not journal.invoked:
        return "not_done"
    if journal.answered:
        return "done"
    # What a tool that this one called did says nothing about what this one did.
    return error.outcome if error.tool_name == linked.spec.name else linked.lost


async def _stopped(
    stop: asyncio.CancelledError, linked: Linked, journal: Journal, started: float
) -> tuple[ToolResult, ToolError]:
    name = linked.spec.name
    if not being_cancelled():  # something that was awaited had been cancelled: for the caller, a failure like any other
        stray = ToolExecutionError(f"{name} waited for something that was cancelled", cause=stop, outcome=linked.lost)
        return await _ended(stray, linked, journal, started)
    if not journal.closed:
        with anyio.CancelScope(shield=True):
            gone = ToolCancelledError(f"the call of {name} was cancelled", outcome=linked.lost)
            await _ended(gone, linked, journal, started)
    raise stop


def _refused(info: ErrorInfo, journal: Journal, started: float) -> ToolResult:
    status = _STATUS.get(info.code, "failed") if journal.invoked else "denied"
    return ToolResult(
        status=status, error=info, call_id=journal.call_id, duration_ms=_since(started), attempts=journal.attempts
    )


def _named(error: BaseException) -> str:
    return f"{type(error).__name__}: {told(error)}"


def _since(started: float) -> float:
    return round((perf_counter() - started) * 1000, 3)
