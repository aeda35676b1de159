"""MCP over HTTP, message by message: what a client other than the SDK's may send."""

import anyio
import httpx
import pytest

from tests.doors.standins import until
from toolgate import Gateway, ToolSpec
from toolgate.doors.requests import MOST_BODY_BYTES

MODERN = {
    "Accept": "application/json, text/event-stream",
    "Content-Type": "application/json",
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/call",
}


def call_body(name: str, arguments: str) -> bytes:
    meta = '{"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}'
    params = f'{{"name": "{name}", "arguments": {arguments}, "_meta": {meta}}}'
    return f'{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {params}}}'.encode()


async def test_a_session_may_say_twice_that_it_is_ready(own_gateway: Gateway, own_rest: httpx.AsyncClient) -> None:
    headers = {key: MODERN[key] for key in ("Accept", "Content-Type")}
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    message = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}
    opened = await own_rest.post("/mcp", json=message, headers=headers)
    headers["Mcp-Session-Id"] = opened.headers["mcp-session-id"]

    for _ in range(2):
        ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        assert (await own_rest.post("/mcp", json=ready, headers=headers)).status_code == 202
    told: list[str] = []
    async with own_rest.stream("GET", "/mcp", headers=headers) as stream, anyio.create_task_group() as tasks:

        async def listen() -> None:
            async for line in stream.aiter_lines():
                told.append(line)  # noqa: PERF401  # as they come

        tasks.start_soon(listen)
        with anyio.fail_after(20):
            for n in range(1000):  # the stream may not be listening yet when its headers are here
                own_gateway.registry.register_spec(ToolSpec(name=f"z{n}", description="Z", tool_type="python"))
                with anyio.move_on_after(0.2):
                    await until(lambda: len(told) > 1)
                    break
        tasks.cancel_scope.cancel()

    assert told[:2] == ["event: message", 'data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}']


async def test_one_request_without_session_or_handshake_is_enough(rest: httpx.AsyncClient) -> None:
    answer = await rest.post("/mcp", content=call_body("add", '{"a": 2}'), headers={**MODERN, "Mcp-Name": "add"})

    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["result"]["structuredContent"] == {"sum": 3}


@pytest.mark.parametrize(
    "value",
    [
        "NaN",
        "-Infinity",
        "1e999",
        "9" * 400,
        '"\\ud800"',
        '{"\\udfff": 1}',
        "[" * 200 + "]" * 200,
        '{"a": 1, "a": 2}',
        '1, "value": 2',
    ],
)
async def test_arguments_that_are_not_strict_json_are_refused(rest: httpx.AsyncClient, value: str) -> None:
    body = call_body("say__echo", f'{{"value": {value}}}')

    answer = await rest.post("/mcp", content=body, headers={**MODERN, "Mcp-Name": "say__echo"})

    assert (answer.status_code, answer.json()["error"]["code"], answer.json()["id"]) == (400, -32700, None)


async def test_a_message_that_says_twice_which_tool_it_means_is_refused(rest: httpx.AsyncClient) -> None:
    body = call_body("add", '{"a": 1}').replace(b'"name":', b'"name": "wipe", "name":')

    answer = await rest.post("/mcp", content=body, headers={**MODERN, "Mcp-Name": "add"})

    assert answer.status_code == 400
    assert 'the key "name" is given twice' in answer.json()["error"]["message"]


async def test_a_session_is_as_strict_and_goes_on_afterwards(rest: httpx.AsyncClient) -> None:
    headers = {key: MODERN[key] for key in ("Accept", "Content-Type")}
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    message = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}
    opened = await rest.post("/mcp", json=message, headers=headers)
    headers["Mcp-Session-Id"] = opened.headers["mcp-session-id"]
    await rest.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=headers)

    refused = await rest.post("/mcp", content=call_body("add", '{"a": 1, "a": 2}'), headers=headers)
    called = await rest.post("/mcp", content=call_body("add", '{"a": 1}'), headers=headers)

    assert (refused.status_code, refused.json()["error"]["code"]) == (400, -32700)
    assert called.json()["result"]["structuredContent"] == {"sum": 2}


@pytest.mark.parametrize("mode_headers", [MODERN, {key: MODERN[key] for key in ("Accept", "Content-Type")}])
@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'{"jsonrpc": "2.0"}', b"\xff", b"[" * 100_000])
async def test_a_body_that_is_no_message_is_refused(
    rest: httpx.AsyncClient, mode_headers: dict[str, str], body: bytes
) -> None:
    answer = await rest.post("/mcp", content=body, headers=mode_headers)

    assert answer.status_code == 400
    assert "Traceback" not in answer.text


async def test_a_message_that_is_too_large_is_refused(rest: httpx.AsyncClient) -> None:
    answer = await rest.post("/mcp", content=b" " * (MOST_BODY_BYTES + 1), headers=MODERN)

    assert answer.status_code == 413


async def test_arguments_a_schema_asks_for_in_headers_must_be_there(
    own_gateway: Gateway, own_rest: httpx.AsyncClient
) -> None:
    tenant = {"type": "string", "x-mcp-header": "Tenant"}
    own_gateway.registry.register_spec(
        ToolSpec(
            name="rent",
            description="R",
            tool_type="python",
            input_schema={"type": "object", "properties": {"tenant": tenant}},
            implementation_config={"module": "tests.doors.standins", "function_name": "lie"},
        )
    )
    headers = {**MODERN, "Mcp-Name": "rent"}

    without = await own_rest.post("/mcp", content=call_body("rent", '{"tenant": "a"}'), headers=headers)
    repeated = await own_rest.post(
        "/mcp", content=call_body("rent", '{"tenant": "a"}'), headers={**headers, "Mcp-Param-Tenant": "a"}
    )

    assert (without.status_code, without.json()["error"]["code"]) == (400, -32020)
    assert repeated.status_code == 200
