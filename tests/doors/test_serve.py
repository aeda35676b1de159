"""Running the server: addresses, signals, and stopping without leaving anybody hanging."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from anyio.abc import Process
from mcp import Client, MCPError

from tests.doors.standins import ROOT, many_tools, served, until, write_gateway
from toolgate import ConfigError, Gateway
from toolgate.doors.serve import base_url as url_of
from toolgate.doors.serve import listen, loopback_addresses, serve_http

SERVE = """
import asyncio, logging, sys
from toolgate import Gateway
from toolgate.doors.serve import serve_http

async def main():
    async with Gateway.open(sys.argv[1]) as gate:
        await serve_http(gate, "127.0.0.1", 0, lambda url: print(url, flush=True))
    print("closed", flush=True)

logging.basicConfig(level="INFO")
asyncio.run(main())
"""


@asynccontextmanager
async def started(folder: Path) -> AsyncIterator[tuple[Process, str]]:
    """Serve `folder` in a process of its own; yields it and its address."""
    command = [sys.executable, "-c", SERVE, str(folder)]
    async with await anyio.open_process(command, cwd=ROOT, stderr=subprocess.PIPE, env=dict(os.environ)) as process:
        try:
            assert process.stdout is not None
            with anyio.fail_after(20):
                address = await process.stdout.receive()
            yield process, address.decode().strip()
        finally:
            if process.returncode is None:
                process.kill()


async def ended(process: Process) -> tuple[int, str, str]:
    """Wait for the process; return its exit code and what it wrote to stdout and stderr since."""
    assert process.stdout is not None
    assert process.stderr is not None
    with anyio.fail_after(20):
        out = b"".join([chunk async for chunk in process.stdout])
        errors = b"".join([chunk async for chunk in process.stderr])
        return await process.wait(), out.decode(), errors.decode()


# Signals


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_stops_it_once_calls_in_progress_have_ended(tmp_path: Path, number: signal.Signals) -> None:
    async with started(write_gateway(tmp_path)) as (process, url):
        marker, answers = tmp_path / "call", []

        async def call() -> None:
            async with httpx.AsyncClient(trust_env=False, timeout=20) as client:
                answers.append(await client.post(f"{url}/v1/tools/wait/call", json={"marker": str(marker)}))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            await until(marker.with_suffix(".started").exists)
            process.send_signal(number)
            await until(lambda: is_closed(url))
            marker.with_suffix(".end").touch()

        code, out, errors = await ended(process)
        assert [answer.json()["output"] for answer in answers] == ["ended"]
        assert (code, out.split()) == (0, ["closed"])
        assert "Traceback" not in errors


async def test_a_second_signal_does_not_wait_for_calls_in_progress(tmp_path: Path) -> None:
    async with started(write_gateway(tmp_path)) as (process, url):
        marker, answers = tmp_path / "call", []

        async def call() -> None:
            async with httpx.AsyncClient(trust_env=False, timeout=20) as client:
                answers.append(await client.post(f"{url}/v1/tools/wait/call", json={"marker": str(marker)}))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            await until(marker.with_suffix(".started").exists)
            process.send_signal(signal.SIGTERM)
            await until(lambda: is_closed(url))
            process.send_signal(signal.SIGTERM)
            code, out, errors = await ended(process)

    assert (code, out.split()) == (0, ["closed"])
    assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [(503, "shutting_down")]
    assert marker.with_suffix(".cancelled").exists()
    assert "Traceback" not in errors


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_second_signal_cancels_calls_over_mcp_too(tmp_path: Path, mode: str) -> None:
    async with started(write_gateway(tmp_path)) as (process, url):
        marker, errors_seen = tmp_path / "call", []

        async def call() -> None:
            async with Client(f"{url}/mcp", mode=mode) as client:
                try:
                    await client.call_tool("wait", {"marker": str(marker)})
                except MCPError as error:
                    errors_seen.append(error)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            await until(marker.with_suffix(".started").exists)
            process.send_signal(signal.SIGTERM)
            await until(lambda: is_closed(url))
            process.send_signal(signal.SIGTERM)
            code, out, errors = await ended(process)

    assert (code, out.split(), len(errors_seen)) == (0, ["closed"], 1)
    assert marker.with_suffix(".cancelled").exists()
    assert "Traceback" not in errors


def is_closed(url: str) -> bool:
    address = httpx.URL(url)
    try:
        socket.create_connection((address.host, address.port or 80), timeout=5).close()
    except ConnectionRefusedError:
        return True
    return False


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_clients_that_only_listen_do_not_keep_it_from_stopping(tmp_path: Path, mode: str) -> None:
    async with started(write_gateway(tmp_path)) as (process, url):
        async with Client(f"{url}/mcp", mode=mode) as client:
            await client.list_tools()
            async with anyio.create_task_group() as tasks:
                if mode == "auto":
                    tasks.start_soon(listen_until_closed, client)
                await anyio.wait_all_tasks_blocked()
                process.send_signal(signal.SIGTERM)
                with anyio.fail_after(10):
                    code, out, errors = await ended(process)

        assert (code, out.split()) == (0, ["closed"])
        assert "Traceback" not in errors


async def listen_until_closed(client: Client) -> None:
    async with client.listen(tools_list_changed=True) as changes:
        async for _ in changes:
            pass


async def test_sighup_reloads_and_a_bad_file_leaves_the_tools_as_they_were(tmp_path: Path) -> None:
    async with started(write_gateway(tmp_path)) as (process, url):

        def ready() -> dict[str, Any]:
            return httpx.get(f"{url}/readyz", trust_env=False).json()

        (tmp_path / "tools.yaml").write_text(many_tools(3), "utf-8")
        process.send_signal(signal.SIGHUP)
        await until(lambda: ready()["tools"] == 3)
        (tmp_path / "tools.yaml").write_text("tools: [", "utf-8")
        process.send_signal(signal.SIGHUP)
        await until(lambda: ready()["problems"] != [])
        after = ready()
        process.send_signal(signal.SIGTERM)
        _, _, errors = await ended(process)

    assert (after["ready"], after["tools"]) == (True, 3)
    assert "reloaded: 3 tools (3 added, 12 removed, 0 changed)" in errors
    assert "tools.yaml:" in errors
    assert "Traceback" not in errors


async def test_a_reload_that_crashes_does_not_stop_it(
    own_gateway: Gateway, own_rest: httpx.AsyncClient, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def crash() -> None:
        raise RuntimeError("out of luck")

    monkeypatch.setattr(own_gateway, "reload", crash)
    signal.raise_signal(signal.SIGHUP)
    await until(lambda: "out of luck" in caplog.text)

    assert (await own_rest.get("/healthz")).status_code == 200


async def test_being_cancelled_is_a_request_to_stop(tmp_path: Path) -> None:
    async with Gateway.open(write_gateway(tmp_path)) as gate:
        async with served(gate) as url, httpx.AsyncClient(trust_env=False) as client:
            assert (await client.get(f"{url}/healthz")).status_code == 200

        assert is_closed(url)


# Addresses


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.2"])
async def test_it_listens_on_names_of_this_machine(own_gateway: Gateway, host: str) -> None:
    urls: list[str] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve_http, own_gateway, host, 0, urls.append)
        await until(lambda: bool(urls))
        async with httpx.AsyncClient(trust_env=False) as client:
            answer = await client.get(f"{urls[0]}/healthz")
        tasks.cancel_scope.cancel()

    assert urls[0].startswith(f"http://{host}:")
    assert answer.status_code == 200


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "8.8.8.8", "", "255.255.255.255", "::ffff:1.2.3.4"])
async def test_it_refuses_addresses_that_other_machines_can_reach(own_gateway: Gateway, host: str) -> None:
    with pytest.raises(ConfigError) as refused:
        await serve_http(own_gateway, host, 0, pytest.fail)

    assert "no authentication" in str(refused.value) or "cannot resolve" in str(refused.value)


async def test_who_is_sent_to_a_proxy_is_told_what_its_callers_may_do() -> None:
    with pytest.raises(ConfigError, match="whoever comes through it is granted local_permissions"):
        await loopback_addresses("0.0.0.0")


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a" * 300, "bad host", "é" * 80])
async def test_a_host_that_cannot_be_resolved_is_a_clear_error(own_gateway: Gateway, host: str) -> None:
    with pytest.raises(ConfigError, match="cannot resolve"):
        await serve_http(own_gateway, host, 0, pytest.fail)


async def test_a_port_in_use_is_a_clear_error(own_gateway: Gateway) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError) as refused:
            await serve_http(own_gateway, "127.0.0.1", port, pytest.fail)

    assert f"port {port} on 127.0.0.1 is already in use" in str(refused.value)


async def test_a_port_that_cannot_be_is_a_clear_error(own_gateway: Gateway) -> None:
    with pytest.raises(ConfigError, match="there is no port 70000"):
        await serve_http(own_gateway, "127.0.0.1", 70_000, pytest.fail)


async def test_an_address_this_machine_lacks_is_left_out_if_there_is_another() -> None:
    addresses = [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET, "192.0.2.1")]

    sockets = listen("localhost", addresses, 0)

    assert [sock.getsockname()[0] for sock in sockets] == ["127.0.0.1"]
    sockets[0].close()
    with pytest.raises(ConfigError, match="cannot listen on nowhere port 0"):
        listen("nowhere", addresses[1:], 0)


async def test_if_one_address_cannot_be_had_none_is_kept() -> None:
    with socket.create_server(("127.0.0.2", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match="already in use"):
            listen("localhost", [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET, "127.0.0.2")], port)

        socket.create_server(("127.0.0.1", port)).close()


async def test_it_can_be_served_from_a_thread(tmp_path: Path) -> None:
    write_gateway(tmp_path)
    answers: list[int] = []

    async def serve_and_ask() -> None:
        async with Gateway.open(tmp_path) as gate, served(gate) as url, httpx.AsyncClient(trust_env=False) as client:
            answers.append((await client.get(f"{url}/healthz")).status_code)

    await anyio.to_thread.run_sync(anyio.run, serve_and_ask)

    assert answers == [200]


async def test_addresses_are_written_as_people_write_them() -> None:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        port = sock.getsockname()[1]

        assert url_of("127.0.0.1", [sock]) == f"http://127.0.0.1:{port}"
        assert url_of("::1", [sock]) == f"http://[::1]:{port}"
    assert await loopback_addresses("::1") == [(socket.AF_INET6, "::1")]


# What is imported


@pytest.mark.parametrize(
    ("code", "heavy"),
    [
        ("import toolgate.doors", []),
        ("import toolgate.doors.serve", []),
        ("import toolgate.doors.http", ["starlette"]),
    ],
)
def test_heavy_libraries_wait_until_a_door_needs_them(code: str, heavy: list[str]) -> None:
    report = (
        "import json, sys; print(json.dumps([name for name in ('mcp', 'starlette', 'uvicorn') if name in sys.modules]))"
    )

    ran = subprocess.run([sys.executable, "-c", f"{code}\n{report}"], capture_output=True, text=True, check=True)

    assert json.loads(ran.stdout) == heavy
