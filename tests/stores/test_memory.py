"""Events in memory: a bounded ring whose offsets never move."""

import pytest

from tests.contracts.test_stores import an_event
from toolgate import InMemoryEventStore

pytestmark = pytest.mark.anyio


async def test_a_full_ring_drops_the_oldest_and_keeps_its_offsets() -> None:
    store = InMemoryEventStore(capacity=3)

    offsets = [await store.append(an_event(n=number)) for number in range(5)]

    assert (offsets, await store.last_offset()) == ([0, 1, 2, 3, 4], 4)
    assert [event.payload["n"] for event in await store.read()] == [2, 3, 4]
    assert [event.payload["n"] for event in await store.read(from_offset=3)] == [3, 4]
    assert [event.payload["n"] for event in await store.read(from_offset=1, limit=1)] == [2]


async def test_a_ring_holds_ten_thousand_events_unless_told_otherwise() -> None:
    store, event = InMemoryEventStore(), an_event()

    for _ in range(10_001):
        await store.append(event)

    assert (len(await store.read()), await store.last_offset()) == (10_000, 10_000)


async def test_the_ring_is_bounded_in_bytes_and_keeps_the_newest() -> None:
    store = InMemoryEventStore(capacity=100, max_bytes=10_000)

    for number in range(20):
        await store.append(an_event(number=number, text="x" * 3_000))

    kept = [event.payload["number"] for event in await store.read()]
    assert kept == [17, 18, 19]
    assert await store.last_offset() == 19


async def test_one_event_over_the_bytes_is_kept_alone() -> None:
    store = InMemoryEventStore(max_bytes=10)

    await store.append(an_event(text="x" * 3_000))

    assert len(await store.read()) == 1
