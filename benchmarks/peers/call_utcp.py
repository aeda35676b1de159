"""utcp: a client whose protocol calls a function in this process, the least that utcp can do."""

import asyncio
from collections.abc import AsyncGenerator
from functools import partial
from typing import Any

from utcp.data.call_template import CallTemplate, CallTemplateSerializer
from utcp.data.register_manual_response import RegisterManualResult
from utcp.data.tool import JsonSchema, Tool
from utcp.data.utcp_manual import UtcpManual
from utcp.interfaces.communication_protocol import CommunicationProtocol
from utcp.interfaces.serializer import Serializer
from utcp.utcp_client import UtcpClient

from benchmarks.measure import Road, report

NUMBERS = JsonSchema(
    type="object",
    properties={"a": JsonSchema(type="integer"), "b": JsonSchema(type="integer")},
    required=["a", "b"],
)


async def add(a: int, b: int) -> int:
    return a + b


class InProcess(CommunicationProtocol):
    async def register_manual(self, caller: UtcpClient, manual_call_template: CallTemplate) -> RegisterManualResult:
        tool = Tool(name="add", inputs=NUMBERS, tool_call_template=manual_call_template)
        manual = UtcpManual(tools=[tool])
        return RegisterManualResult(manual_call_template=manual_call_template, manual=manual, success=True)

    async def deregister_manual(self, caller: UtcpClient, manual_call_template: CallTemplate) -> None: ...

    async def call_tool(
        self, caller: UtcpClient, tool_name: str, tool_args: dict[str, Any], tool_call_template: CallTemplate
    ) -> Any:
        return await add(**tool_args)

    async def call_tool_streaming(
        self, caller: UtcpClient, tool_name: str, tool_args: dict[str, Any], tool_call_template: CallTemplate
    ) -> AsyncGenerator[Any, None]:
        yield await add(**tool_args)


class InProcessTemplate(Serializer[CallTemplate]):
    def to_dict(self, obj: CallTemplate) -> dict[str, Any]:
        return obj.model_dump()

    def validate_dict(self, obj: dict[str, Any]) -> CallTemplate:
        return CallTemplate.model_validate(obj)


async def main() -> None:
    CommunicationProtocol.communication_protocols["in_process"] = InProcess()
    CallTemplateSerializer.call_template_serializers["in_process"] = InProcessTemplate()
    client = await UtcpClient.create()
    await client.register_manual(CallTemplate(name="bench", call_template_type="in_process"))
    await report([Road("utcp UtcpClient.call_tool", partial(client.call_tool, "bench.add"))])


asyncio.run(main())
