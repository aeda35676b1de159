"""Events in memory: the newest ones, as many as asked for."""

from __future__ import annotations

from collections import deque
from itertools import islice

from toolgate.events import EventEnvelope
from toolgate.stores import EventStore

DEFAULT_CAPACITY = 10_000


class InMemoryEventStore(EventStore):
    """A bounded ring: when it is full, the oldest event makes room."""

    def __init__(self, capacity: int = DEFAULT_CAPACITY) -> None:
        self._events: deque[EventEnvelope] = deque(maxlen=capacity)
        self._appended = 0

    async def append(self, event: EventEnvelope) -> int:
        """Keep `event` and return its offset."""
        self._events.append(event)
        self._appended += 1
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
            for event in islice(list(self._events), max(0, from_offset - oldest), None)
            if event_type in (None, event.event_type) and correlation_id in (None, event.correlation_id)
        )
        return list(islice(wanted, limit))

    async def last_offset(self) -> int:
        """Return the offset of the newest event, or -1 when there is none."""
        return self._appended - 1
