"""toolregistry: the registry's `ainvoke`."""

import asyncio
from functools import partial
from typing import Any

from toolregistry import ToolRegistry

from benchmarks.measure import Road, report


async def add(a: int, b: int) -> int:
    return a + b


def answer(result: Any) -> Any:
    return int(result.result)


registry = ToolRegistry()
registry.register(add)
asyncio.run(report([Road("toolregistry ainvoke", partial(registry.ainvoke, "add"), answer)]))
