"""The MCP door: the SDK's own client, over HTTP and stdio, in both protocol eras."""

import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent, Tool

from tests.doors.standins import many_tools, served, stdio_command, until, write_gateway
from toolgate import Gateway, ToolSpec

ERAS = {"legacy": "2025-11-25", "auto": "2026-07-28"}

Connect = Callable[..., Any]


@pytest.fixture(params=["http", "stdio"])
def transport(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=["legacy", "auto"])
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_gateway(tmp_path)


@pytest.fixture
def connect(transport: str, mode: str, folder: Path) -> Connect:
    """Return what connects a client to a gateway on `folder`, over the transport and in the era of this run."""

    @asynccontextmanager
    async def connected(**options: Any) -> AsyncIterator[Client]:
        options = {"mode": mode, "read_timeout_seconds": 20, **options}
        if transport == "stdio":
            async with Client(StdioServerParameters(**stdio_command(folder)), **options) as client:
                yield client
        else:
            async with (
                Gateway.open(folder) as gate,
                served(gate) as url,
                Client(f"{url}/mcp", **options) as client,
            ):
                client.gate = gate  # type: ignore[attr-defined]  # for `reload`
                yield client

    return connected


async def reload(client: Client) -> None:
    """Make the gateway behind `client` read its files again."""
    if hasattr(client, "gate"):
        await client.gate.reload()
    else:
        pid = (await client.call_tool("whoami", {})).structured_content
        os.kill(pid["pid"], signal.SIGHUP)


def text(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


async def every_tool(client: Client) -> dict[str, Tool]:
    tools: list[Tool] = []
    cursor = None
    while True:
        page = await client.list_tools(cursor=cursor)
        tools += page.tools
        cursor = page.next_cursor
        if cursor is None:
            return {tool.name: tool for tool in tools}


async def test_a_client_lists_and_calls_tools(connect: Connect, mode: str) -> None:
    async with connect() as client:
        tools = await every_tool(client)
        result = await client.call_tool("add", {"a": 1, "b": 2})

        assert client.protocol_version == ERAS[mode]
        assert client.server_info.name == "toolgate"
        assert client.server_capabilities.tools.list_changed is True

    assert tools["add"].input_schema["required"] == ["a"]
    assert tools["add"].output_schema == {
        "type": "object",
        "properties": {"sum": {"type": "number"}},
        "required": ["sum"],
    }
    assert (result.is_error, result.structured_content, text(result)) == (False, {"sum": 3}, '{"sum": 3}')


async def test_pages_together_hold_every_tool_once(connect: Connect, folder: Path) -> None:
    (folder / "tools.yaml").write_text(many_tools(250), "utf-8")
    async with connect() as client:
        first = await client.list_tools()
        tools = await every_tool(client)

    assert len(first.tools) == 100
    assert list(tools) == [f"tool_{n:03}" for n in range(250)]


@pytest.mark.parametrize("cursor", ["", "garbage", "YWZ0ZXI6Pz8_"])
async def test_a_bad_cursor_is_refused_politely(mode: str, base_url: str, cursor: str) -> None:
    async with Client(f"{base_url}/mcp", mode=mode) as client:
        with pytest.raises(MCPError) as refused:
            await client.list_tools(cursor=cursor)
        still_there = await client.list_tools()

    assert refused.value.error.code == -32602
    assert "cursor" in refused.value.error.message
    assert still_there.tools


async def test_only_tools_that_can_be_called_are_offered(mode: str, base_url: str) -> None:
    async with Client(f"{base_url}/mcp", mode=mode) as client:
        offered = await every_tool(client)
        called = await client.call_tool("fetch", {})

    assert "fetch" not in offered
    assert called.is_error
    assert text(called).startswith("unavailable: ")


async def test_names_are_safe_for_every_model_and_hints_follow_the_metadata(mode: str, base_url: str) -> None:
    async with Client(f"{base_url}/mcp", mode=mode) as client:
        tools = await every_tool(client)
        result = await client.call_tool("say__echo", {"value": [1, "ü😀"]})

    hints = {
        name: (tool.annotations.read_only_hint, tool.annotations.destructive_hint, tool.annotations.idempotent_hint)
        for name, tool in tools.items()
        if tool.annotations is not None
    }
    assert (hints["add"], hints["wipe"], hints["say__echo"]) == (
        (True, False, True),
        (False, True, False),
        (False, False, True),
    )
    assert "ünïcödé 😀" in (tools["say__echo"].description or "")
    assert (text(result), result.structured_content) == ('[1, "ü😀"]', None)


@pytest.mark.parametrize(
    ("tool", "args", "beginning"),
    [
        ("add", {"a": "one"}, "invalid_arguments: "),
        ("write", {}, "permission_denied: "),
        ("wipe", {}, "approval_required: "),
        ("fail", {}, "execution_failed: the disk is on fire"),
        ("lie", {}, "invalid_output: "),
        ("say__echo", {"value": "rate_limited"}, "rate_limited: too many"),
    ],
)
async def test_a_failed_call_is_a_result_the_model_can_act_on(
    mode: str, base_url: str, tool: str, args: dict[str, Any], beginning: str
) -> None:
    async with Client(f"{base_url}/mcp", mode=mode) as client:
        result = await client.call_tool(tool, args)

    assert result.is_error
    assert text(result).startswith(beginning)
    assert "Traceback" not in text(result)


async def test_an_unknown_tool_is_a_protocol_error_that_names_the_nearest_one(mode: str, base_url: str) -> None:
    async with Client(f"{base_url}/mcp", mode=mode) as client:
        with pytest.raises(MCPError) as refused:
            await client.call_tool("whoam", {})

    assert refused.value.error.code == -32602
    assert "whoami" in refused.value.error.message


async def test_a_tool_that_does_not_find_something_itself_is_a_failed_call(
    mode: str, own_gateway: Gateway, own_url: str
) -> None:
    config = {"module": "tests.doors.standins", "function_name": "look_up"}
    own_gateway.registry.register_spec(
        ToolSpec(name="look_up", description="L", tool_type="python", implementation_config=config)
    )

    async with Client(f"{own_url}/mcp", mode=mode) as client:
        result = await client.call_tool("look_up", {})

    assert (result.is_error, text(result)) == (True, "not_found: there is no such book")


async def test_a_plain_text_output_is_the_text_itself(mode: str, base_url: str) -> None:
    async with Client(f"{base_url}/mcp", mode=mode) as client:
        result = await client.call_tool("say__echo", {"value": "héllo"})

    assert (text(result), result.structured_content) == ("héllo", None)


async def test_fifty_calls_at_once_each_get_their_own_answer(connect: Connect) -> None:
    sums: dict[int, float] = {}
    async with connect() as client:

        async def call(n: int) -> None:
            sums[n] = (await client.call_tool("add", {"a": n, "b": n})).structured_content["sum"]

        async with anyio.create_task_group() as tasks:
            for n in range(50):
                tasks.start_soon(call, n)

    assert sums == {n: 2 * n for n in range(50)}


async def test_a_call_the_client_gives_up_is_cancelled(connect: Connect, tmp_path: Path) -> None:
    marker = tmp_path / "call"
    async with connect() as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "wait", {"marker": str(marker)})
            await until(marker.with_suffix(".started").exists)
            tasks.cancel_scope.cancel()

        await until(marker.with_suffix(".cancelled").exists)
        assert (await client.call_tool("add", {"a": 1})).structured_content == {"sum": 2}


async def test_clients_are_told_when_the_tools_change(connect: Connect, mode: str, folder: Path) -> None:
    told = anyio.Event()

    async def on_message(message: Any) -> None:
        if getattr(message, "method", None) == "notifications/tools/list_changed":
            told.set()

    async def listen(client: Client, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        async with client.listen(tools_list_changed=True) as changes:
            task_status.started()
            async for _ in changes:
                told.set()

    async with connect(message_handler=on_message) as client, anyio.create_task_group() as tasks:
        if mode != "legacy":
            await tasks.start(listen, client)
        before = await every_tool(client)
        # A 2025-era client opens the stream it is told on in its own time: change something until it hears of it.
        with anyio.fail_after(20):
            for n in range(1000):
                (folder / "tools.yaml").write_text(many_tools(n + 1) + WHOAMI, "utf-8")
                await reload(client)
                with anyio.move_on_after(0.5):
                    await told.wait()
                    break
        after = await every_tool(client)
        tasks.cancel_scope.cancel()

    assert "add" in before
    assert "tool_000" in after


WHOAMI = """\
  - name: whoami
    description: Say who calls.
    tool_type: python
    implementation_config: {module: tests.doors.standins, function_name: whoami}
"""


async def test_a_change_is_told_from_any_thread(own_gateway: Gateway, own_url: str) -> None:
    async with Client(f"{own_url}/mcp") as client, client.listen(tools_list_changed=True) as changes:
        spec = ToolSpec(name="zebra", description="Z", tool_type="python")
        await anyio.to_thread.run_sync(own_gateway.registry.register_spec, spec)
        with anyio.fail_after(10):
            async for _ in changes:
                break

        assert "zebra" in await every_tool(client)


async def test_a_session_that_ended_is_forgotten(mode: str, own_gateway: Gateway, own_url: str) -> None:
    for _ in range(3):
        async with Client(f"{own_url}/mcp", mode=mode) as client:
            await client.list_tools()

    own_gateway.registry.register_spec(ToolSpec(name="zebra", description="Z", tool_type="python"))

    async with Client(f"{own_url}/mcp", mode=mode) as client:
        assert "zebra" in await every_tool(client)


async def test_a_tool_with_an_odd_schema_does_not_hide_the_others(
    mode: str, own_gateway: Gateway, own_url: str
) -> None:
    for n, schema in enumerate([{}, {"type": "object", "properties": {"a": True}}, {"minProperties": 0}]):
        own_gateway.registry.register_spec(
            ToolSpec(
                name=f"odd_{n}",
                description="O",
                tool_type="python",
                input_schema=schema,
                output_schema={"type": "array"},
                implementation_config={"module": "tests.doors.standins", "function_name": "lie"},
            )
        )

    async with Client(f"{own_url}/mcp", mode=mode) as client:
        tools = await every_tool(client)

    assert {"add", "odd_0", "odd_1", "odd_2"} <= set(tools)


async def test_two_tools_with_one_alias_are_not_offered_as_one(mode: str, own_gateway: Gateway, own_url: str) -> None:
    for name in ("find:it", "find.it"):
        config = {"module": "tests.doors.standins", "function_name": "whoami"}
        own_gateway.registry.register_spec(
            ToolSpec(name=name, description="F", tool_type="python", implementation_config=config)
        )

    async with Client(f"{own_url}/mcp", mode=mode) as client:
        tools = await every_tool(client)

    assert "add" in tools
    assert "find__it" not in tools


# Who calls


async def test_the_call_carries_the_clients_name_and_session(connect: Connect, mode: str, transport: str) -> None:
    async with connect() as client:
        who = (await client.call_tool("whoami", {})).structured_content

    assert who["agent"] == "mcp"
    assert bool(who["session"]) == (mode == "legacy" and transport == "http")


async def test_options_in_headers_work_as_for_rest(mode: str, base_url: str) -> None:
    @asynccontextmanager
    async def client_with(headers: dict[str, str]) -> AsyncIterator[Client]:
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(f"{base_url}/mcp", http_client=http), mode=mode) as client,
        ):
            yield client

    async with client_with({"Toolgate-Mode": "ask"}) as client:
        allowed, refused = await client.call_tool("whoami", {}), await client.call_tool("fail", {})
    async with client_with({"Toolgate-Mode": "god"}) as client:
        with pytest.raises(MCPError, match="toolgate-mode"):
            await client.call_tool("whoami", {})

    assert allowed.structured_content["mode"] == "ask"
    assert text(refused).startswith("permission_denied: ")
