"""The MCP SDK: a server called directly, and through an in-memory client."""

import asyncio
from functools import partial
from typing import Any

from mcp import Client
from mcp.server.mcpserver import MCPServer

from benchmarks.measure import Road, report

server = MCPServer("bench")


@server.tool()
async def add(a: int, b: int) -> int:
    return a + b


def answer(result: Any) -> Any:
    return None if result.is_error else result.structured_content["result"]


async def main() -> None:
    async with Client(server) as client:
        await report(
            [
                Road("mcp SDK MCPServer.call_tool", partial(server.call_tool, "add"), answer),
                Road("mcp SDK in-memory client", partial(client.call_tool, "add"), answer),
            ]
        )


asyncio.run(main())
