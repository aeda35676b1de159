"""`toolgate serve`: the tools over HTTP and MCP, until told to stop."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.doors.cli.typist import Toolgate, write_gateway


@contextmanager
def serving(*words: str, cwd: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Type `toolgate serve` in a process of its own, which is gone afterwards."""
    process = subprocess.Popen(
        [sys.executable, "-m", "toolgate", "serve", *words],
        cwd=cwd,
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},  # it hides a lot
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def line(process: subprocess.Popen[bytes]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().decode()


def test_it_prints_the_addresses_and_answers_there_until_told_to_stop(gateway: Path) -> None:
    with serving("--port", "0", cwd=gateway) as process:
        heading, *lines = [line(process) for _ in range(5)]
        addresses = dict(text.split() for text in lines)
        page = httpx.get(addresses["Page"], trust_env=False, timeout=20)
        base = addresses["REST"]
        called = httpx.post(f"{base}/add/call", json={"a": 1, "b": 2}, trust_env=False, timeout=20)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=30)

    assert heading == "toolgate serves 3 tools (1 unavailable: see `toolgate list`)\n"
    assert list(addresses) == ["REST", "MCP", "Page", "OpenAPI"]
    assert addresses["MCP"].endswith("/mcp")
    assert "toolgate" in page.text
    assert called.json()["output"] == 3
    assert (process.returncode, err) == (0, b"")


def test_json_prints_the_addresses_on_one_line(gateway: Path) -> None:
    (gateway / "toolgate.yaml").write_text("server: {port: 0, host: localhost}\n", "utf-8")
    with serving("--json", cwd=gateway) as process:
        told = json.loads(line(process))
        openapi = httpx.get(told["openapi"], trust_env=False, timeout=20)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)

    assert told["rest"].startswith("http://localhost:")
    assert (told["available"], told["unavailable"]) == (3, 1)
    assert openapi.json()["openapi"].startswith("3.")
    assert process.returncode == 0


NOT_READY = """\
tools:
  - name: add
    description: Add two numbers.
    tool_type: python
    implementation_config: {module: loud_tools, function_name: add}
  - name: gone
    description: Not there.
    tool_type: python
    implementation_config: {module: loud_tools, function_name: gone}
"""


@pytest.fixture
def half_ready(folder: Path) -> Path:
    """A gateway with one tool whose function is missing, in a module that prints."""
    (folder / "loud_tools.py").write_text("print('loading')\n\n\ndef add():\n    return 1\n", "utf-8")
    (folder / "tools.yaml").write_text(NOT_READY, "utf-8")
    return folder


def test_tools_that_cannot_be_made_ready_are_counted_and_logged(half_ready: Path) -> None:
    with serving("--port", "0", cwd=half_ready) as process:
        heading = line(process)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=30)

    assert heading == "toolgate serves 2 tools (1 not ready: see log)\n"
    assert "loading\n" in err.decode()
    assert " WARNING toolgate.doors.serve: gone is not ready: " in err.decode()


def test_json_counts_them_too_and_nothing_comes_before_it(half_ready: Path) -> None:
    with serving("--port", "0", "--json", cwd=half_ready) as process:
        told = json.loads(line(process))

    assert (told["available"], told["unavailable"], told["not_ready"]) == (2, 0, 1)


def test_on_stdio_they_are_counted_on_standard_error(half_ready: Path) -> None:
    with serving("--stdio", cwd=half_ready) as process:
        out, err = process.communicate(timeout=30)

    assert out == b""
    assert "toolgate: 2 tools (1 not ready: see log), MCP on stdin and stdout\n" in err.decode()
    assert "gone is not ready: " in err.decode()


def test_a_signal_does_not_wait_for_a_tool_that_is_being_made_ready(half_ready: Path) -> None:
    endless = "import sys, threading\nprint('loading', file=sys.stderr, flush=True)\nthreading.Event().wait()\n"
    (half_ready / "loud_tools.py").write_text(endless, "utf-8")
    with serving("--port", "0", cwd=half_ready) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == b"loading\n"
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=30)

    assert (process.returncode, out) == (0, b"")


def test_after_a_reload_the_tools_are_made_ready_again(gateway: Path) -> None:
    with serving("--port", "0", cwd=gateway) as process:
        for _ in range(5):
            line(process)
        assert process.stderr is not None
        (gateway / "tools.yaml").write_text(NOT_READY, "utf-8")
        process.send_signal(signal.SIGHUP)
        logged = [process.stderr.readline().decode() for _ in range(3)]

    assert "reloaded: 2 tools" in logged[0]
    assert [text.partition("WARNING ")[2][:37] for text in logged[1:]] == [
        "toolgate.doors.serve: add is not read",
        "toolgate.doors.serve: gone is not rea",
    ]


def test_a_reload_is_logged_on_standard_error(gateway: Path) -> None:
    with serving("--port", "0", cwd=gateway) as process:
        for _ in range(5):
            line(process)
        assert process.stderr is not None
        process.send_signal(signal.SIGHUP)
        logged = process.stderr.readline().decode()

    assert " INFO toolgate.doors.serve: reloaded: 4 tools" in logged


def test_stdio_carries_nothing_but_messages(gateway: Path) -> None:
    def message(number: int, method: str, **params: Any) -> bytes:
        return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"

    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    with serving("--stdio", cwd=gateway) as process:
        assert process.stdin is not None
        process.stdin.write(message(1, "initialize", **client))
        process.stdin.flush()
        first = json.loads(line(process))
        process.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        process.stdin.write(message(2, "tools/call", name="say", arguments={"text": "hello"}))
        process.stdin.flush()
        second = json.loads(line(process))
        out, err = process.communicate(timeout=30)

    assert first["result"]["serverInfo"]["name"] == "toolgate"
    assert second["result"]["content"][0]["text"] == "hello"
    assert out == b""
    assert err.decode().splitlines() == [
        "toolgate: 3 tools (1 unavailable: see `toolgate list`), MCP on stdin and stdout",
        "printed by the tool",
    ]
    assert process.returncode == 0


@pytest.mark.parametrize("words", [["--port", "1"], ["--host", "127.0.0.1"], ["--json"]])
def test_stdio_has_no_address(gateway: Path, toolgate: Toolgate, words: list[str]) -> None:
    ran = toolgate("serve", "--stdio", *words)

    assert ran.code == 2
    assert ran.err == "error[usage]: --stdio has no address: leave out --host, --port and --json\n"


def test_an_address_others_can_reach_is_refused(gateway: Path, toolgate: Toolgate) -> None:
    ran = toolgate("serve", "--host", "0.0.0.0", "--port", "0")

    assert ran.code == 78
    assert ran.err.startswith("error[config]: refusing to listen on 0.0.0.0: ")


def test_a_taken_port_is_an_error_that_says_so(gateway: Path, toolgate: Toolgate) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = toolgate("serve", "--port", str(port))

    assert (ran.code, ran.out) == (78, "")
    assert ran.err.startswith(f"error[config]: port {port} on 127.0.0.1 is already in use; ")


def test_a_broken_configuration_is_not_served(folder: Path, toolgate: Toolgate) -> None:
    write_gateway(folder, "tools: 5\n")

    ran = toolgate("serve")

    assert ran.code == 78
    assert ran.err.startswith("error[config]: tools.yaml:1:8  tools: ")
