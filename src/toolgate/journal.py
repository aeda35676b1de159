"""The events of one call: each is written once, to the store and to whoever watches."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from math import isfinite
from typing import Any, Protocol

import anyio

from toolgate.context import CallContext, ToolContext, TraceContext
from toolgate.errors import ToolError
from toolgate.events import (
    AgentRef,
    DomainEvent,
    EventEnvelope,
    ToolCancelled,
    ToolCompleted,
    ToolDenied,
    ToolFailed,
    ToolInvoked,
    ToolTimeout,
    uuid7,
)
from toolgate.result import ToolResult, as_text, jsonable
from toolgate.running import being_cancelled
from toolgate.stores import EventStore

logger = logging.getLogger(__name__)


_CALLER = ("agent_id", "session_id", "user_id", "instance_id", "principal", "conversation_id", "tool_call_id")


class Watcher(Protocol):
    """Whoever is told of events."""

    name: str

    async def on_event(self, ctx: CallContext, event: EventEnvelope) -> None:
        """Be told of one event."""


class Journal:
    """Writes the events of one call: one when it reaches its tool, and one when it ends."""

    __slots__ = (
        "_context",
        "_invoked_id",
        "_last_id",
        "_metadata",
        "_producer",
        "_store",
        "_trace",
        "answered",
        "attempts",
        "call_id",
        "ctx",
        "timeout_ms",
        "watchers",
    )

    def __init__(self, store: EventStore, producer: AgentRef, context: ToolContext) -> None:
        self.call_id = uuid7()
        self.ctx: CallContext | None = None
        self.watchers: Sequence[Watcher] = ()
        self.timeout_ms = 0.0
        self.attempts = 0
        self.answered = False  # the tool gave its answer, whatever became of it then
        self._store = store
        self._producer = producer
        self._context = context
        self._metadata: dict[str, Any] | None = None
        self._trace = context.trace.child() if context.trace else _root_trace(self.call_id)
        self._invoked_id: str | None = None
        self._last_id: str | None = None

    @property
    def invoked(self) -> bool:
        """Whether the call reached its tool."""
        return self._invoked_id is not None

    @property
    def closed(self) -> bool:
        """Whether the event that ends the call is written."""
        return self._last_id not in (None, self._invoked_id)

    async def reached(self, args: Any) -> None:
        """Write that the call reached its tool, or would have."""
        spec = self._called().spec
        try:
            recorded = _recorded(args)  # the tool may change what it is given, never what was recorded
        except RecursionError:
            recorded = jsonable(args)
        event = ToolInvoked.trusted(
            {
                "tool_id": spec.tool_id,
                "tool_name": spec.name,
                "input_data": recorded,
                "source": spec.source.value,
            }
        )
        envelope = self._enveloped(event)
        # Known before it is written: a call cancelled while it is written did reach its tool.
        self._invoked_id = envelope.event_id
        await self._publish(envelope)

    async def completed(self, result: ToolResult) -> None:
        """Write that the call succeeded; an answer that came without the tool is recorded as asked for, too."""
        ctx = self._called()
        if self._invoked_id is None:
            await self.reached(jsonable(ctx.args))
        output = result.output
        event = ToolCompleted.trusted(
            {
                "tool_id": ctx.spec.tool_id,
                "tool_name": ctx.spec.name,
                "output_data": output if _is_plain(output) else jsonable(output),
                "duration_ms": result.duration_ms,
                "cached": result.cached,
            }
        )
        await self._publish(self._enveloped(event))

    async def ended(self, error: ToolError, duration_ms: float) -> None:
        """Write that the call did not succeed: one event, by how far it got and what went wrong."""
        spec = self._called().spec
        about: dict[str, Any] = {"tool_id": spec.tool_id, "tool_name": spec.name}
        event: DomainEvent
        if not self.invoked:
            event = ToolDenied(**about, code=error.code, reason=error.message)
        elif error.code == "timeout":
            event = ToolTimeout(**about, timeout_ms=self.timeout_ms, outcome=error.outcome)
        elif error.code == "cancelled":
            event = ToolCancelled(**about, duration_ms=duration_ms, outcome=error.outcome)
        else:
            ended = {"error": error.message, "code": error.code, "outcome": error.outcome}
            event = ToolFailed(**about, **ended, duration_ms=duration_ms)
        await self._publish(self._enveloped(event))

    async def denied_unlinked(self, name: str, error: ToolError) -> None:
        """Write that a call was refused before its tool was even found."""
        await self._publish(
            self._enveloped(ToolDenied(tool_id=None, tool_name=as_text(name), code=error.code, reason=error.message))
        )

    def _called(self) -> CallContext:
        if self.ctx is None:  # pragma: no cover - the executor sets it before anything can be written
            raise RuntimeError("the journal has no call yet")
        return self.ctx

    def _enveloped(self, event: DomainEvent) -> EventEnvelope:
        return event.to_envelope(
            self._producer, self._trace, self._invoked_id, self.call_id, self._context.idempotency_key, self._caller()
        )

    def _caller(self) -> dict[str, Any]:
        if self._metadata is None:
            known = self._context.__dict__
            self._metadata = {key: known[key] for key in _CALLER if known[key] is not None}
        return self._metadata

    async def _publish(self, envelope: EventEnvelope) -> None:
        try:
            await self._store.append(envelope)
        except (Exception, asyncio.CancelledError) as error:
            if _is_cancellation(error):
                raise
            logger.exception("the event %s of call %s could not be stored", envelope.event_type, self.call_id)
        self._last_id = envelope.event_id
        if self.watchers:
            await self._tell(envelope, self.watchers)

    async def _tell(self, envelope: EventEnvelope, watchers: Sequence[Watcher]) -> None:
        for number, watcher in enumerate(watchers, start=1):
            try:
                await watcher.on_event(self._called(), envelope)
            except (Exception, SystemExit, asyncio.CancelledError) as error:
                if _is_cancellation(error):
                    # The one being told has been told; the others are owed the event all the same.
                    with anyio.CancelScope(shield=True):
                        await self._tell(envelope, watchers[number:])
                    raise
                logger.exception("%s failed on %s of call %s", watcher.name, envelope.event_type, self.call_id)


def _is_cancellation(error: BaseException) -> bool:
    return isinstance(error, asyncio.CancelledError) and being_cancelled()


def _recorded(value: Any) -> Any:
    """Return a copy of what passed validation, as JSON data: short work, as nearly all of it is such data already."""
    kind = type(value)
    if kind is dict:
        return {key: _recorded(item) for key, item in value.items()}
    if kind is list:
        return [_recorded(item) for item in value]
    return value if _is_plain(value) else jsonable(value)


def _is_plain(value: Any) -> bool:
    kind = type(value)
    if kind is str:
        return bool(value.isascii())
    if kind is int:
        return bool(value.bit_length() < 64)
    return value is None or kind is bool or (kind is float and isfinite(value))


def _root_trace(call_id: str) -> TraceContext:
    digits = call_id.replace("-", "")
    return TraceContext.trusted({"trace_id": digits, "span_id": digits[16:], "parent_span_id": None, "depth": 0})
