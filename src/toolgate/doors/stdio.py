"""MCP messages on stdin and stdout, one a line.

The SDK has its own `stdio_server`, but its reader sits in a thread that nothing can interrupt, so a signal would have
to wait for the client's next message; and it takes lines of any length.
"""

from __future__ import annotations

import json
import logging
import os
import select
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter

from toolgate.reading import parse_json

MOST_LINE_BYTES = 4 * 1024 * 1024
_CHUNK = 65_536
log = logging.getLogger(__name__)

Incoming = SessionMessage | Exception


@asynccontextmanager
async def stdio_streams() -> AsyncIterator[
    tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage]]
]:
    """Yield the messages that come in on stdin, and where to send those that go out on stdout."""
    to_server, incoming = anyio.create_memory_object_stream[Incoming]()
    outgoing, to_client = anyio.create_memory_object_stream[SessionMessage]()
    with _own_descriptors() as (source, sink):
        async with to_server, incoming, outgoing, to_client, anyio.create_task_group() as tasks:
            tasks.start_soon(_read, source, to_server, outgoing.clone())
            tasks.start_soon(_write, to_client, sink, tasks.cancel_scope)
            yield incoming, outgoing
            tasks.cancel_scope.cancel()


@contextmanager
def _own_descriptors() -> Iterator[tuple[int, int]]:
    """Yield stdin and stdout under numbers nobody else knows: a tool that prints must not break the protocol."""
    source, sink, nothing = os.dup(0), os.dup(1), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    try:
        yield source, sink
    finally:
        with suppress(ValueError, OSError):  # a tool may have closed it
            sys.stdout.flush()  # what a tool printed must not follow the last message
        os.dup2(source, 0)
        os.dup2(sink, 1)
        for descriptor in (source, sink, nothing):
            os.close(descriptor)


async def _read(
    source: int, to_server: MemoryObjectSendStream[Incoming], answers: MemoryObjectSendStream[SessionMessage]
) -> None:
    # The server closes its end when it stops.
    with suppress(anyio.BrokenResourceError):
        async with to_server, answers:
            async for line in read_lines(source):
                try:
                    parse_json(line)  # the SDK reads more loosely than REST, and takes the last of two values for a key
                except ValueError as error:
                    await _refuse(line, error, answers)
                else:
                    await to_server.send(_parse(line))


async def _refuse(line: bytes, error: ValueError, answers: MemoryObjectSendStream[SessionMessage]) -> None:
    log.warning("skipped a line on stdin that is not a JSON-RPC message: %s", error)
    request_id = _request_id(line)
    if request_id is not None:
        fault = ErrorData(code=PARSE_ERROR, message=f"Parse error: {error}")
        await answers.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=request_id, error=fault)))


def _request_id(line: bytes) -> str | int | None:
    """Return the id of a request that is not strict JSON, if it can be made out: its sender waits for an answer."""
    try:
        message = json.loads(line)
        found = message["id"] if isinstance(message, dict) and "method" in message else None
        request_id: str | int | None = parse_json(json.dumps(found)) if type(found) in (str, int) else None
    except (ValueError, KeyError, RecursionError):
        return None
    return request_id


def _parse(line: bytes) -> Incoming:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        log.warning("skipped a line on stdin that is not a JSON-RPC message")
        return error


async def read_lines(source: int) -> AsyncIterator[bytes]:
    """Yield the lines that come in on a descriptor, without ever blocking; a line that is too long is skipped."""
    held, skipping = bytearray(), False
    while chunk := await _read_chunk(source):
        held += chunk
        *lines, held = held.split(b"\n") if b"\n" in chunk else [held]
        for line in lines:
            if line.strip() and not skipping:
                yield bytes(line)
            skipping = False
        if len(held) > MOST_LINE_BYTES:
            log.warning("skipped a line on stdin that is longer than %d bytes", MOST_LINE_BYTES)
            held, skipping = bytearray(), True
    if held.strip() and not skipping:
        yield bytes(held)


async def _read_chunk(source: int) -> bytes:
    # A plain file cannot be waited for, and never makes one wait.
    with suppress(PermissionError):
        await anyio.wait_readable(source)
    return os.read(source, _CHUNK)


async def _write(to_client: MemoryObjectReceiveStream[SessionMessage], sink: int, serving: anyio.CancelScope) -> None:
    try:
        async for message in to_client:
            await _write_all(sink, message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
    except OSError:
        serving.cancel()  # the client is gone


async def _write_all(sink: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        with suppress(PermissionError):
            await anyio.wait_writable(sink)
        # Once a pipe is writable it has room for this much: the write cannot block.
        rest = rest[os.write(sink, rest[: select.PIPE_BUF]) :]
