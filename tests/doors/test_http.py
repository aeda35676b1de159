"""The REST door, over real sockets."""

import json
import socket
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from tests.doors.standins import is_problem, many_tools, served, until, write_gateway
from toolgate import Gateway, ToolSpec
from toolgate.doors.http import create_app

JSON = {"Content-Type": "application/json"}


# Listing


async def test_tools_are_listed_by_name_with_what_a_planner_sees(rest: httpx.AsyncClient) -> None:
    answer = await rest.get("/v1/tools")

    tools = {tool["name"]: tool for tool in answer.json()["tools"]}
    assert list(tools) == sorted(tools)
    assert tools["add"]["metadata"]["version"] == "1.0.0"
    assert tools["add"]["input_schema"]["required"] == ["a"]
    assert (tools["add"]["tool_type"], tools["add"]["available"]) == ("python", True)
    assert "implementation_config" not in tools["add"]
    assert "ünïcödé 😀" in tools["say:echo"]["description"]
    assert answer.json()["next_cursor"] is None


async def test_a_tool_that_cannot_be_called_is_listed_with_the_reason(rest: httpx.AsyncClient) -> None:
    tool = (await rest.get("/v1/tools/fetch")).json()

    assert tool["available"] is False
    assert "http" in tool["unavailable_reason"]


async def test_pages_together_hold_every_tool_once(tmp_path: Path) -> None:
    pages: list[list[str]] = []
    params: dict[str, str | None] = {}
    async with (
        Gateway.open(write_gateway(tmp_path, many_tools(250))) as gate,
        served(gate) as url,
        httpx.AsyncClient(base_url=url, trust_env=False) as rest,
    ):
        while not pages or params["cursor"]:
            page = (await rest.get("/v1/tools", params=params)).json()
            pages.append([tool["name"] for tool in page["tools"]])
            params = {"cursor": page["next_cursor"]}

    assert [len(page) for page in pages] == [100, 100, 50]
    assert [name for page in pages for name in page] == [f"tool_{n:03}" for n in range(250)]


async def test_a_cursor_survives_a_reload_that_removes_the_tool_it_stopped_at(
    own_gateway: Gateway, own_rest: httpx.AsyncClient, tmp_path: Path
) -> None:
    (tmp_path / "tools.yaml").write_text(many_tools(30), "utf-8")
    await own_gateway.reload()
    first = (await own_rest.get("/v1/tools", params={"limit": 10})).json()
    (tmp_path / "tools.yaml").write_text(many_tools(30).replace("tool_009", "aardvark"), "utf-8")
    await own_gateway.reload()

    second = (await own_rest.get("/v1/tools", params={"limit": 10, "cursor": first["next_cursor"]})).json()

    assert first["tools"][-1]["name"] == "tool_009"
    assert [tool["name"] for tool in second["tools"]] == [f"tool_{n:03}" for n in range(10, 20)]


@pytest.mark.parametrize("limit", ["0", "-1", "1001", "ten", "1.5", "", " 5", "٣", "1" * 5000])
async def test_a_bad_limit_is_refused(rest: httpx.AsyncClient, limit: str) -> None:
    assert is_problem(await rest.get("/v1/tools", params={"limit": limit}), 400, "invalid_query")


@pytest.mark.parametrize("cursor", ["", "x", "YWJj", "%%%", "ÿ", "YWZ0ZXI6", "YWZ0ZXI6Pz8_", "A" * 5000])
async def test_a_bad_cursor_is_refused(rest: httpx.AsyncClient, cursor: str) -> None:
    assert is_problem(await rest.get("/v1/tools", params={"cursor": cursor}), 400, "invalid_query")


async def test_the_list_follows_the_registry(own_gateway: Gateway, own_rest: httpx.AsyncClient) -> None:
    before = (await own_rest.get("/v1/tools")).json()["tools"]
    own_gateway.registry.register_spec(ToolSpec(name="zebra", description="Z", tool_type="python"))

    after = (await own_rest.get("/v1/tools")).json()["tools"]

    assert [tool["name"] for tool in after] == [*(tool["name"] for tool in before), "zebra"]


# One tool


@pytest.mark.parametrize(
    ("asked", "name", "version"),
    [
        ("add", "add", "1.0.0"),
        ("add@0.9.0", "add", "0.9.0"),
        ("say:echo", "say:echo", "1.0.0"),
        ("say__echo", "say:echo", "1.0.0"),
    ],
)
async def test_a_tool_is_shown_by_name_version_or_alias(
    rest: httpx.AsyncClient, asked: str, name: str, version: str
) -> None:
    tool = (await rest.get(f"/v1/tools/{asked}")).json()

    assert (tool["name"], tool["metadata"]["version"]) == (name, version)


async def test_an_unknown_tool_is_a_problem_that_names_the_nearest_one(rest: httpx.AsyncClient) -> None:
    answer = await rest.get("/v1/tools/whoam")

    assert is_problem(answer, 404, "not_found")
    assert "whoami" in answer.json()["detail"]


# Calling


async def test_a_call_answers_with_the_result(rest: httpx.AsyncClient) -> None:
    answer = await rest.post("/v1/tools/add/call", json={"a": 1, "b": 2})

    body = answer.json()
    assert answer.status_code == 200
    assert (body["status"], body["output"], body["error"]) == ("ok", {"sum": 3}, None)
    assert body["call_id"]


async def test_defaults_are_filled_in_and_versions_can_be_asked_for(rest: httpx.AsyncClient) -> None:
    newest = await rest.post("/v1/tools/add/call", json={"a": 1})
    older = await rest.post("/v1/tools/add@0.9.0/call", json={"a": 1})

    assert (newest.json()["output"], older.json()["output"]) == ({"sum": 2}, {"sum": 1})


@pytest.mark.parametrize("headers", [{}, JSON, {"Content-Type": "application/x-www-form-urlencoded"}])
async def test_no_body_means_no_arguments(rest: httpx.AsyncClient, headers: dict[str, str]) -> None:
    answer = await rest.post("/v1/tools/whoami/call", headers=headers)

    assert answer.json()["status"] == "ok"


@pytest.mark.parametrize(
    "value", ["ünïcödé 😀 \u202e\u0000", "", 0, -1.5, None, True, [], {"a": {"b": [None]}}, 2**53, "x" * 10_000]
)
async def test_values_come_back_as_they_were_sent(rest: httpx.AsyncClient, value: Any) -> None:
    answer = await rest.post("/v1/tools/say:echo/call", json={"value": value})

    assert answer.json()["output"] == value


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "Application/JSON", "application/vnd.x+json"])
async def test_any_json_type_is_taken(rest: httpx.AsyncClient, kind: str) -> None:
    answer = await rest.post("/v1/tools/add/call", content=b'{"a": 1}', headers={"Content-Type": kind})

    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("tool", "args", "status", "code"),
    [
        ("nothing", {}, 404, "not_found"),
        ("add", {"a": "one"}, 422, "invalid_arguments"),
        ("write", {}, 403, "permission_denied"),
        ("wipe", {}, 403, "approval_required"),
        ("fetch", {}, 501, "unavailable"),
        ("lie", {}, 502, "invalid_output"),
        ("flood", {}, 502, "output_too_large"),
        ("fail", {}, 502, "execution_failed"),
        ("say:echo", {"value": "rate_limited"}, 429, "rate_limited"),
        ("say:echo", {"value": "overloaded"}, 503, "overloaded"),
        ("say:echo", {"value": "cancelled"}, 409, "cancelled"),
        ("say:echo", {"value": "approval"}, 403, "approval_required"),
        ("say:echo", {"value": "broken"}, 500, "extension_failed"),
        ("say:echo", {"value": "unheard_of"}, 500, "unheard_of"),
    ],
)
async def test_the_status_of_a_failed_call_follows_from_its_code(
    rest: httpx.AsyncClient, tool: str, args: dict[str, Any], status: int, code: str
) -> None:
    answer = await rest.post(f"/v1/tools/{tool}/call", json=args)

    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert answer.headers["content-type"] == "application/json"
    assert "Traceback" not in answer.text


async def test_a_rate_limited_caller_is_told_when_to_come_back(rest: httpx.AsyncClient) -> None:
    answer = await rest.post("/v1/tools/say:echo/call", json={"value": "rate_limited"})

    assert answer.headers["retry-after"] == "2"


async def test_fifty_calls_at_once_each_get_their_own_answer(rest: httpx.AsyncClient) -> None:
    sums: dict[int, float] = {}

    async def call(n: int) -> None:
        sums[n] = (await rest.post("/v1/tools/add/call", json={"a": n, "b": n})).json()["output"]["sum"]

    async with anyio.create_task_group() as tasks:
        for n in range(50):
            tasks.start_soon(call, n)

    assert sums == {n: 2 * n for n in range(50)}


# Addresses that are not there, and breakage


@pytest.mark.parametrize("path", ["/nothing", "/v1", "/v1/tools/", "/v1/tools/add/", "/mcp/", "/v1/tools/a%2Fb/call"])
async def test_an_address_without_a_route_is_a_problem(rest: httpx.AsyncClient, path: str) -> None:
    assert is_problem(await rest.get(path), 404, "no_such_route")


@pytest.mark.parametrize(
    ("method", "path"), [("DELETE", "/v1/tools"), ("GET", "/v1/tools/add/call"), ("POST", "/"), ("PUT", "/healthz")]
)
async def test_a_method_an_address_does_not_take_is_a_problem(rest: httpx.AsyncClient, method: str, path: str) -> None:
    answer = await rest.request(method, path)

    assert is_problem(answer, 405, "method_not_allowed")
    assert answer.headers["allow"]


async def test_a_crash_is_a_plain_500_and_is_logged(
    gateway: Gateway, rest: httpx.AsyncClient, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def crash(*_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(gateway.executor, "try_execute", crash)

    answer = await rest.post("/v1/tools/add/call", json={"a": 1})

    assert is_problem(answer, 500, "internal_error")
    assert "secret detail" not in answer.text
    assert "secret detail" in caplog.text


async def test_a_tools_traceback_stays_behind(rest: httpx.AsyncClient) -> None:
    answer = await rest.post("/v1/tools/fail/call")

    assert answer.json()["error"]["message"] == "the disk is on fire"
    assert "standins.py" not in answer.text


# Callers who leave


async def test_a_caller_who_hangs_up_cancels_the_call(gateway: Gateway, base_url: str, tmp_path: Path) -> None:
    marker = tmp_path / "call"
    url, body = httpx.URL(base_url), json.dumps({"marker": str(marker)}).encode()
    head = "POST /v1/tools/wait/call HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    head += f"Content-Length: {len(body)}\r\n\r\n"
    async with await anyio.connect_tcp(url.host, url.port or 80) as stream:
        await stream.send(head.encode() + body)
        await until(marker.with_suffix(".started").exists)
        assert not marker.with_suffix(".cancelled").exists()

    await until(marker.with_suffix(".cancelled").exists)


async def test_a_caller_who_leaves_before_the_body_is_whole_is_forgotten_quietly(
    rest: httpx.AsyncClient, base_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    url = httpx.URL(base_url)
    with socket.create_connection((url.host, url.port or 80)) as sock:
        sock.sendall(b"POST /v1/tools/add/call HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{")

    assert (await rest.get("/healthz")).status_code == 200
    assert caplog.text == ""


# Health


async def test_it_says_that_it_is_alive_and_ready(rest: httpx.AsyncClient) -> None:
    alive, ready = await rest.get("/healthz"), await rest.get("/readyz")

    assert (alive.status_code, alive.json()["status"]) == (200, "ok")
    assert (ready.status_code, ready.json()["ready"], ready.json()["problems"]) == (200, True, [])
    assert ready.json()["tools"] == 11


async def test_a_source_that_fails_is_named_and_its_tools_stay(
    own_gateway: Gateway, own_rest: httpx.AsyncClient, tmp_path: Path
) -> None:
    (tmp_path / "tools.yaml").write_text("tools: [", "utf-8")
    await own_gateway.reload()

    ready = await own_rest.get("/readyz")

    assert (ready.status_code, ready.json()["tools"]) == (200, 11)
    assert "tools.yaml:" in ready.json()["problems"][0]


async def test_it_is_no_longer_ready_once_it_drains(gateway: Gateway) -> None:
    app = create_app(gateway)
    app.state.drain()

    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as rest:
        ready, call = await rest.get("/readyz"), await rest.post("/v1/tools/add/call", json={"a": 1})

    assert (ready.status_code, ready.json()["ready"]) == (503, False)
    assert call.status_code == 200
