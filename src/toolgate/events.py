"""What a call leaves behind: domain events, and the one envelope they all travel in."""

from __future__ import annotations

import os
import random
import threading
import time
from datetime import UTC, datetime
from typing import Any, ClassVar

from pydantic import Field

from toolgate.context import TraceContext
from toolgate.errors import Outcome
from toolgate.spec import Noun

SPEC_VERSION = "1.0"


class _Ids:
    """Makes UUIDv7s: milliseconds, a counter that never goes back within this process, and random bits."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0
        self._random = random.Random()  # noqa: S311  # ids are unique, not secret

    def reseed(self) -> None:
        self._lock = threading.Lock()
        self._random.seed()

    def next(self) -> str:
        ticks = (time.time_ns() // 1_000_000) << 12
        with self._lock:
            if ticks <= self._last:
                ticks = self._last + 1
            self._last = ticks
            low = self._random.getrandbits(62)
        text = "%012x7%03x%016x" % (ticks >> 12, ticks & 0xFFF, 1 << 63 | low)  # noqa: UP031  # faster than f"", thrice a call
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


_ids = _Ids()
os.register_at_fork(after_in_child=_ids.reseed)


def uuid7() -> str:
    """Return a new UUIDv7 as text; later ones from the same process sort after earlier ones."""
    return _ids.next()


def utc_now() -> datetime:
    """Return the time in UTC, to the millisecond."""
    return datetime.fromtimestamp(time.time_ns() // 1_000_000 / 1000, UTC)


class AgentRef(Noun):
    """Who produced an event."""

    agent_id: str
    agent_type: str
    runtime_id: str = "local"
    instance_id: str = Field(default_factory=uuid7)


class EventEnvelope(Noun):
    """The one form every event has, whoever wrote it."""

    spec_version: str = SPEC_VERSION
    event_id: str = Field(default_factory=uuid7)
    event_type: str
    event_version: str = "1.0.0"
    timestamp: datetime = Field(default_factory=utc_now)
    producer: AgentRef
    trace: TraceContext
    causation_id: str | None = None
    correlation_id: str | None = None
    idempotency_key: str | None = None
    partition_key: str | None = None
    ttl_ms: int | None = None
    payload: dict[str, Any] = Field(default_factory=dict)
    metadata: dict[str, Any] = Field(default_factory=dict)
    signature: str | None = None


class DomainEvent(Noun):
    """Something that happened, before it is put in an envelope; a subclass says what by its `type_name`."""

    type_name: ClassVar[str] = ""

    def event_type(self) -> str:
        """Return the type its envelope carries, as in `tool.invoked`."""
        return self.type_name

    def payload(self) -> dict[str, Any]:
        """Return the event's own fields."""
        return dict(self.__dict__)

    def to_envelope(
        self,
        producer: AgentRef,
        trace: TraceContext,
        causation_id: str | None = None,
        correlation_id: str | None = None,
        idempotency_key: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> EventEnvelope:
        """Return the event in its envelope."""
        return EventEnvelope.trusted(
            {
                "spec_version": SPEC_VERSION,
                "event_id": uuid7(),
                "event_type": self.event_type(),
                "event_version": "1.0.0",
                "timestamp": utc_now(),
                "producer": producer,
                "trace": trace,
                "causation_id": causation_id,
                "correlation_id": correlation_id,
                "idempotency_key": idempotency_key,
                "partition_key": None,
                "ttl_ms": None,
                "payload": self.payload(),
                "metadata": {} if metadata is None else metadata,
                "signature": None,
            }
        )


class ToolInvoked(DomainEvent):
    """A call reached its tool."""

    type_name = "tool.invoked"
    tool_id: str
    tool_name: str
    input_data: dict[str, Any]
    source: str


class ToolCompleted(DomainEvent):
    """The tool answered."""

    type_name = "tool.completed"
    tool_id: str
    tool_name: str
    output_data: Any
    duration_ms: float
    cached: bool = False


class ToolFailed(DomainEvent):
    """The tool, or something after it, failed."""

    type_name = "tool.failed"
    tool_id: str
    tool_name: str
    error: str
    duration_ms: float
    code: str = "execution_failed"
    outcome: Outcome = "unknown"


class ToolTimeout(DomainEvent):
    """The tool did not answer in time."""

    type_name = "tool.timeout"
    tool_id: str
    tool_name: str
    timeout_ms: float
    outcome: Outcome = "unknown"


class ToolCancelled(DomainEvent):
    """The caller gave up while the tool ran."""

    type_name = "tool.cancelled"
    tool_id: str
    tool_name: str
    duration_ms: float
    outcome: Outcome = "unknown"


class ToolDenied(DomainEvent):
    """The call never reached its tool."""

    type_name = "tool.denied"
    tool_id: str | None
    tool_name: str
    code: str
    reason: str
    outcome: Outcome = "not_done"


class ToolRegistered(DomainEvent):
    """A tool became available."""

    type_name = "tool.registered"
    tool_id: str
    tool_name: str
    source: str
    capabilities: dict[str, Any] = Field(default_factory=dict)
