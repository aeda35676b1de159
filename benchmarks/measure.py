"""Measure `add(a, b)` calls inside a candidate's own interpreter, and print what was seen as JSON.

It imports nothing but the standard library, so that it runs in every peer's environment.
"""

import asyncio
import gc
import json
import statistics
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import process_time
from typing import Any

ARGS = {"a": 1, "b": 2}
# Adding these two lists works, so only a road that validates its arguments refuses them.
WRONG = {"a": [1], "b": [2]}
UNCHECKED_ANSWER = [1, 2]

BATCH_SECONDS = 0.04
BATCHES = 9


@dataclass(frozen=True)
class Road:
    """One way to call `add`: `call(arguments)` is timed, `answer` takes the sum out of what it returns."""

    name: str
    call: Callable[[dict[str, Any]], Awaitable[Any]]
    answer: Callable[[Any], Any] = lambda result: result


async def seconds(road: Road, calls: int) -> float:
    # The process's own time: none of these calls waits, and what else the machine does should not count.
    call = road.call
    started = process_time()
    for _ in range(calls):
        await call(ARGS)
    return process_time() - started


async def calls_per_batch(road: Road) -> int:
    """Warm `road` up and return how many calls fill a batch."""
    calls = 1
    while await seconds(road, calls) < BATCH_SECONDS / 2:
        calls *= 2
    return calls * 2


async def validates(road: Road) -> bool:
    """Say whether `road` refuses wrong arguments; on the way, prove that it answers right ones."""
    assert road.answer(await road.call(ARGS)) == 3, road.name
    try:
        return bool(road.answer(await road.call(WRONG)) != UNCHECKED_ANSWER)
    except Exception:
        return True


async def microseconds(roads: list[Road]) -> dict[str, float]:
    """Return the median time of a call on each road, their batches taken in turns."""
    sizes = [await calls_per_batch(road) for road in roads]
    times: dict[str, list[float]] = {road.name: [] for road in roads}
    for _ in range(BATCHES):
        for road, calls in zip(roads, sizes, strict=True):
            await asyncio.sleep(0)  # as a server does between calls: the loop may tidy up its timers
            gc.collect()
            times[road.name].append(await seconds(road, calls) / calls * 1e6)
    return {name: statistics.median(values) for name, values in times.items()}


async def report(roads: list[Road]) -> None:
    """Measure `roads` and print one JSON object: microseconds by name."""
    unchecked = {road.name for road in roads if not await validates(road)}
    seen = await microseconds(roads)
    print(json.dumps({name + (", not validated" if name in unchecked else ""): time for name, time in seen.items()}))
