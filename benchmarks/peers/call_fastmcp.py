"""fastmcp: a tool on its own, and the server's way in with its middleware."""

import asyncio
from functools import partial

from fastmcp import FastMCP
from fastmcp.tools import FunctionTool

from benchmarks.measure import Road, report

server = FastMCP("bench")


@server.tool
async def add(a: int, b: int) -> int:
    return a + b


async def main() -> None:
    tool = await server.get_tool("add")
    assert isinstance(tool, FunctionTool)
    await report(
        [
            Road("fastmcp FunctionTool.run", tool.run, lambda result: result.structured_content["result"]),
            Road(
                "fastmcp server.call_tool",
                partial(server.call_tool, "add"),
                lambda result: result.structured_content["result"],
            ),
        ]
    )


asyncio.run(main())
