"""What is kept: one file a kind of store, all behind `EventStore`."""

from __future__ import annotations

from abc import ABC, abstractmethod

from toolgate.events import EventEnvelope

KINDS = {
    "memory": "toolgate.stores.memory:InMemoryEventStore",
}


class EventStore(ABC):
    """An append-only log of events; offsets count from 0 and never move."""

    @abstractmethod
    async def append(self, event: EventEnvelope) -> int:
        """Keep `event` and return its offset."""

    @abstractmethod
    async def read(
        self,
        from_offset: int = 0,
        limit: int | None = None,
        event_type: str | None = None,
        correlation_id: str | None = None,
    ) -> list[EventEnvelope]:
        """Return events from `from_offset` on, oldest first, that match what is given."""

    @abstractmethod
    async def last_offset(self) -> int:
        """Return the offset of the newest event, or -1 when there is none."""

    async def read_by_correlation(self, correlation_id: str) -> list[EventEnvelope]:
        """Return all events of one call."""
        return await self.read(correlation_id=correlation_id)
