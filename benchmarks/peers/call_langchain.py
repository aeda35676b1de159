"""langchain-core: a tool's `ainvoke`."""

import asyncio

from langchain_core.tools import tool

from benchmarks.measure import Road, report


@tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


asyncio.run(report([Road("langchain-core ainvoke", add.ainvoke)]))
