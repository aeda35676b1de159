"""pydantic-ai: the `ToolManager` of an agent's run step."""

import asyncio
from typing import Any

from pydantic_ai import FunctionToolset, RunContext
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.models.test import TestModel
from pydantic_ai.tool_manager import ToolManager
from pydantic_ai.usage import RunUsage

from benchmarks.measure import Road, report


async def add(a: int, b: int) -> int:
    return a + b


async def main() -> None:
    context = RunContext(deps=None, model=TestModel(), usage=RunUsage())
    manager = await ToolManager(FunctionToolset([add])).for_run_step(context)

    async def call(args: dict[str, Any]) -> Any:
        return await manager.handle_call(ToolCallPart("add", args))

    await report([Road("pydantic-ai ToolManager.handle_call", call)])


asyncio.run(main())
