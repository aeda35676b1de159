"""Events in memory: the newest ones, as many as asked for."""

from __future__ import annotations

from collections import deque
from itertools import islice

from toolgate.events import EventEnvelope
from toolgate.result import size_up_to
from toolgate.stores import EventStore

DEFAULT_CAPACITY = 10_000
DEFAULT_BYTES = 64 * 1024 * 1024


class InMemoryEventStore(EventStore):
    """A ring bounded in number and in bytes: when it is full, the oldest events make room."""

    def __init__(self, capacity: int = DEFAULT_CAPACITY, max_bytes: int = DEFAULT_BYTES) -> None:
        self._capacity, self._max_bytes = capacity, max_bytes
        self._events: deque[tuple[EventEnvelope, int]] = deque()
        self._bytes = 0
        self._appended = 0

    async def append(self, event: EventEnvelope) -> int:
        """Keep `event` and return its offset."""
        size = size_up_to(self._max_bytes, event.payload)
        self._events.append((event, size))
        self._bytes += size
        self._appended += 1
        while len(self._events) > self._capacity or (self._bytes > self._max_bytes and len(self._events) > 1):
            self._bytes -= self._events.popleft()[1]
        return self._appended - 1

    async def read(
        self,
        from_offset: int = 0,
        limit: int | None = None,
        event_type: str | None = None,
        correlation_id: str | None = None,
    ) -> list[EventEnvelope]:
        """Return events from `from_offset` on, oldest first, that match what is given."""
        oldest = self._appended - len(self._events)
        wanted = (
            event
            for event, _ in islice(list(self._events), max(0, from_offset - oldest), None)
            if event_type in (None, event.event_type) and correlation_id in (None, event.correlation_id)
        )
        return list(islice(wanted, limit))

    async def last_offset(self) -> int:
        """Return the offset of the newest event, or -1 when there is none."""
        return self._appended - 1
