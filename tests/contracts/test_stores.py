"""What every event store promises."""

from collections.abc import Callable
from typing import Any

import anyio
import pytest

from toolgate import AgentRef, EventEnvelope, EventStore, TraceContext
from toolgate.kinds import imported
from toolgate.stores import KINDS

PRODUCER = AgentRef(agent_id="a", agent_type="t")
MAKE: dict[str, Callable[[], EventStore]] = {kind: imported(target) for kind, target in KINDS.items()}

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("kind", sorted(KINDS))]


def an_event(event_type: str = "tool.invoked", correlation_id: str = "1", **payload: Any) -> EventEnvelope:
    return EventEnvelope(
        event_type=event_type, producer=PRODUCER, trace=TraceContext(), correlation_id=correlation_id, payload=payload
    )


async def test_a_store_is_empty_at_first(kind: str) -> None:
    store = MAKE[kind]()

    assert (await store.read(), await store.last_offset()) == ([], -1)


async def test_events_come_back_as_they_were_in_the_order_they_came(kind: str) -> None:
    store = MAKE[kind]()
    events = [an_event(n=number) for number in range(5)]

    offsets = [await store.append(event) for event in events]

    assert offsets == [0, 1, 2, 3, 4]
    assert (await store.read(), await store.last_offset()) == (events, 4)


@pytest.mark.parametrize(
    ("start", "limit", "found"),
    [(0, None, [0, 1, 2, 3, 4]), (2, None, [2, 3, 4]), (2, 2, [2, 3]), (5, None, []), (99, 1, []), (0, 0, [])],
)
async def test_reading_starts_at_an_offset_and_ends_at_a_limit(
    kind: str, start: int, limit: int | None, found: list[int]
) -> None:
    store = MAKE[kind]()
    for number in range(5):
        await store.append(an_event(n=number))

    assert [event.payload["n"] for event in await store.read(start, limit)] == found


async def test_events_are_found_by_type_and_by_call(kind: str) -> None:
    store = MAKE[kind]()
    for correlation_id in ("1", "2"):
        for event_type in ("tool.invoked", "tool.completed"):
            await store.append(an_event(event_type, correlation_id))

    assert [event.correlation_id for event in await store.read(event_type="tool.invoked")] == ["1", "2"]
    assert [event.event_type for event in await store.read(correlation_id="2")] == ["tool.invoked", "tool.completed"]
    assert await store.read_by_correlation("2") == await store.read(correlation_id="2")
    assert await store.read(event_type="tool.failed") == await store.read_by_correlation("3") == []


async def test_a_limit_counts_only_what_matches(kind: str) -> None:
    store = MAKE[kind]()
    for number in range(6):
        await store.append(an_event("tool.invoked" if number % 2 else "tool.completed", n=number))

    found = await store.read(from_offset=1, limit=2, event_type="tool.invoked")

    assert [event.payload["n"] for event in found] == [1, 3]


async def test_many_writers_at_once_lose_nothing(kind: str) -> None:
    store, offsets = MAKE[kind](), []

    async def write(number: int) -> None:
        offsets.append(await store.append(an_event(n=number)))

    async with anyio.create_task_group() as group:
        for number in range(100):
            group.start_soon(write, number)

    assert sorted(offsets) == list(range(100))
    assert sorted(event.payload["n"] for event in await store.read()) == list(range(100))


async def test_what_was_read_is_the_readers_to_change(kind: str) -> None:
    store = MAKE[kind]()
    await store.append(an_event())

    (await store.read()).clear()

    assert len(await store.read()) == 1
