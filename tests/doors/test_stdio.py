"""MCP on stdin and stdout: lines that are none, tools that print, clients that leave, and signals."""

import json
import os
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from tests.doors.standins import stdio_command, until, write_gateway
from toolgate.doors.stdio import MOST_LINE_BYTES, read_lines

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def call(number: int, tool: str, **arguments: Any) -> bytes:
    params = {"name": tool, "arguments": arguments, "_meta": META}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode() + b"\n"


class Peer:
    """The client's end of a gateway on stdio, a line at a time."""

    def __init__(self, process: Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process, self._stdin = process, process.stdin
        self._stdout = BufferedByteReceiveStream(process.stdout)

    async def send(self, data: bytes) -> None:
        with anyio.fail_after(20):
            await self._stdin.send(data)

    async def answer(self) -> dict[str, Any]:
        with anyio.fail_after(20):
            return json.loads(await self._stdout.receive_until(b"\n", 10_000_000))

    async def leave(self) -> int:
        await self._stdin.aclose()
        with anyio.fail_after(20):
            return await self.process.wait()

    async def errors(self) -> str:
        assert self.process.stderr is not None
        with anyio.fail_after(20):
            return b"".join([chunk async for chunk in self.process.stderr]).decode()


@asynccontextmanager
async def served_on_stdio(folder: Path) -> AsyncIterator[Peer]:
    settings = stdio_command(write_gateway(folder))
    command = [settings.pop("command"), *settings.pop("args")]
    async with await anyio.open_process(command, stderr=subprocess.PIPE, **settings) as process:
        try:
            yield Peer(process)
        finally:
            if process.returncode is None:
                process.kill()


async def test_it_answers_until_stdin_ends_and_leaves_with_zero(tmp_path: Path) -> None:
    async with served_on_stdio(tmp_path) as peer:
        await peer.send(call(1, "add", a=1, b=2))
        answer = await peer.answer()
        code = await peer.leave()
        errors = await peer.errors()

    assert answer["result"]["structuredContent"] == {"sum": 3}
    assert (code, errors) == (0, "")


async def test_lines_that_are_no_messages_are_skipped(tmp_path: Path) -> None:
    async with served_on_stdio(tmp_path) as peer:
        await peer.send(b'\n\r\nhello\n{"half": \n\xff\xfe\n[1, 2]\n')
        await peer.send(b"x" * (MOST_LINE_BYTES + 100_000) + b"\n")
        await peer.send(call(1, "add", a=1))
        answer = await peer.answer()
        code = await peer.leave()
        errors = await peer.errors()

    assert (answer["result"]["structuredContent"], code) == ({"sum": 2}, 0)
    assert "not a JSON-RPC message" in errors
    assert f"longer than {MOST_LINE_BYTES} bytes" in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize("value", [b"NaN", b"1" * 400, b'"\\ud800"', b"[" * 100 + b"]" * 100, b'1, "a": 2'])
async def test_a_request_that_is_not_strict_json_is_answered_with_an_error(tmp_path: Path, value: bytes) -> None:
    async with served_on_stdio(tmp_path) as peer:
        await peer.send(call(7, "add", a=0).replace(b'"a": 0', b'"a": ' + value))
        refused = await peer.answer()
        await peer.send(call(8, "add", a=1))
        answer = await peer.answer()

    assert (refused["id"], refused["error"]["code"]) == (7, -32700)
    assert (answer["id"], answer["result"]["structuredContent"]) == (8, {"sum": 2})


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc": "2.0", "id": "\\ud800", "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": ' + b"9" * 5000 + b', "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": true, "method": "ping", "a": NaN}',
        b'{"jsonrpc": "2.0", "method": "notifications/initialized", "params": {"a": 1, "a": 2}}',
        b'{"jsonrpc": "2.0", "id": 1, "result": {"a": 1, "a": 2}}',
        b"[" * 100_000,
    ],
)
async def test_what_is_not_strict_json_and_waits_for_no_answer_gets_none(tmp_path: Path, line: bytes) -> None:
    async with served_on_stdio(tmp_path) as peer:
        await peer.send(line + b"\n" + call(8, "add", a=1))
        answer = await peer.answer()
        await peer.leave()
        errors = await peer.errors()

    assert answer["id"] == 8
    assert "skipped a line on stdin that is not a JSON-RPC message: " in errors
    assert "Traceback" not in errors


async def test_a_message_may_be_as_long_as_a_line(tmp_path: Path) -> None:
    text = "ü" * 8_000
    async with served_on_stdio(tmp_path) as peer:
        await peer.send(b" " * 3_000_000 + call(1, "say:echo", value=text))
        answer = await peer.answer()

    assert answer["result"]["content"][0]["text"] == text


async def test_a_tool_that_prints_does_not_break_the_protocol(tmp_path: Path) -> None:
    async with served_on_stdio(tmp_path) as peer:
        await peer.send(call(1, "shout"))
        answer = await peer.answer()
        await peer.leave()
        errors = await peer.errors()

    assert answer["result"]["content"][0]["text"] == "read b''"
    assert "more noise" in errors


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_stops_it_though_the_client_is_still_there(tmp_path: Path, number: signal.Signals) -> None:
    marker = tmp_path / "call"
    async with served_on_stdio(tmp_path) as peer:
        await peer.send(call(1, "wait", marker=str(marker)))
        await until(marker.with_suffix(".started").exists)
        peer.process.send_signal(number)
        with anyio.fail_after(20):
            code = await peer.process.wait()
        errors = await peer.errors()

    assert code == 0
    assert marker.with_suffix(".cancelled").exists()
    assert "Traceback" not in errors


async def test_a_client_that_is_gone_ends_it(tmp_path: Path) -> None:
    settings = stdio_command(write_gateway(tmp_path))
    command = [settings.pop("command"), *settings.pop("args")]
    source, sink = os.pipe()
    async with await anyio.open_process(command, stdout=sink, stderr=subprocess.PIPE, **settings) as process:
        os.close(sink)
        os.close(source)
        assert process.stdin is not None
        assert process.stderr is not None
        await process.stdin.send(call(1, "add", a=1))
        with anyio.fail_after(20):
            errors = b"".join([chunk async for chunk in process.stderr])
            code = await process.wait()

    assert (code, errors) == (0, b"")


async def test_stdin_and_stdout_may_be_plain_files(tmp_path: Path) -> None:
    settings = stdio_command(write_gateway(tmp_path))
    (tmp_path / "in").write_bytes(call(1, "add", a=1).rstrip())
    with (tmp_path / "in").open("rb") as source, (tmp_path / "out").open("wb") as sink:
        command = [settings.pop("command"), *settings.pop("args")]
        with anyio.fail_after(20):
            ran = await anyio.run_process(command, stdin=source, stdout=sink, check=False, **settings)

    assert ran.returncode == 0


@pytest.mark.parametrize(
    ("written", "lines"),
    [
        ([b"a\nb\n"], [b"a", b"b"]),
        ([b"a", b"b\nc"], [b"ab", b"c"]),
        ([b"\n \n", b"a\r\n"], [b"a\r"]),
        ([b"x" * (MOST_LINE_BYTES + 1), b"tail of it\nnext\n"], [b"next"]),
        ([b"x" * (MOST_LINE_BYTES + 1)], []),
        ([], []),
    ],
)
async def test_lines_are_whole_however_they_arrive(written: list[bytes], lines: list[bytes]) -> None:
    source, sink = os.pipe()
    found: list[bytes] = []

    async def read() -> None:
        found.extend([line async for line in read_lines(source)])

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        for part in written:
            await anyio.to_thread.run_sync(os.write, sink, part)
            await anyio.wait_all_tasks_blocked()
        os.close(sink)
    os.close(source)

    assert found == lines
