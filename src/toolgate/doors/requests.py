"""What a call's HTTP request says: its arguments, its options, and whether the caller is still there."""

from __future__ import annotations

import asyncio
import re
from types import TracebackType
from typing import Any, Self

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message, Receive

from toolgate.doors.problems import HttpProblem
from toolgate.errors import did_you_mean
from toolgate.reading import parse_json
from toolgate.spec import LONGEST_TIMEOUT

MOST_BODY_BYTES = 4 * 1024 * 1024
# Listening for a caller who hangs up costs a task; calls shorter than this never pay for it.
SECONDS_BEFORE_LISTENING = 0.02

_JSON = re.compile(r"application/(?:[a-z0-9.+-]+\+)?json", re.ASCII)
_WORD = re.compile(r"[\x21-\x7e]{1,256}", re.ASCII)
_PREFIX = b"toolgate-"
_OPTIONS = {
    "toolgate-session-id": "session_id",
    "toolgate-agent-id": "agent_id",
    "toolgate-mode": "mode",
    "toolgate-timeout-ms": "timeout_ms",
}


async def json_object(request: Request) -> dict[str, Any]:
    """Return the request's body, a JSON object; an empty body is an empty one.

    Raises:
        HttpProblem: It is too large, of another type, not strict JSON, or not an object.
    """
    body = await whole_body(request.headers, request.receive)
    if not body:
        return {}
    _check_type(request)
    try:
        value = parse_json(body)
    except ValueError as error:
        raise HttpProblem(400, "malformed_json", f"The body is not JSON: {error}.") from None
    if not isinstance(value, dict):
        raise HttpProblem(400, "not_an_object", "The body must be a JSON object: the arguments by name.")
    return value


async def whole_body(headers: Headers, receive: Receive) -> bytes:
    """Return the body of a request.

    Raises:
        HttpProblem: It is too large.
        ClientDisconnect: The caller left before it was whole.
    """
    declared = headers.get("content-length", "")
    if declared.isdecimal() and int(declared[:20]) > MOST_BODY_BYTES:
        raise _too_large()
    body, more = bytearray(), True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > MOST_BODY_BYTES:
            raise _too_large()
    return bytes(body)


def replayed(body: bytes, receive: Receive) -> Receive:
    """Return what receives for an app that reads the body itself, though it has been read already."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


def _too_large() -> HttpProblem:
    # Closing spares both sides the rest of the body.
    detail = f"The body is larger than {MOST_BODY_BYTES:,} bytes."
    return HttpProblem(413, "body_too_large", detail, {"Connection": "close"})


def _check_type(request: Request) -> None:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not _JSON.fullmatch(kind):
        raise HttpProblem(415, "unsupported_media_type", "Send the arguments with Content-Type: application/json.")
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise HttpProblem(415, "unsupported_media_type", "Send the body as it is, without Content-Encoding.")


def call_options(request: Request) -> dict[str, Any]:
    """Return who calls and with which limits, from the `Toolgate-*` headers, as fields of a `ToolContext`.

    Raises:
        HttpProblem: One of them is unknown, given twice, or has a value it cannot have.
    """
    options: dict[str, Any] = {}
    for raw_name, raw_value in request.scope["headers"]:
        if raw_name.startswith(_PREFIX):
            name = raw_name.decode("latin-1")
            field = _OPTIONS.get(name)
            if field is None:
                hint = did_you_mean(name, _OPTIONS)
                raise _bad_header(name, f"is not known{'; ' + hint if hint else ''}")
            if field in options:
                raise _bad_header(name, "is given twice")
            options[field] = _option(name, raw_value.decode("latin-1"))
    return options


def _option(name: str, value: str) -> str | int:
    if name == "toolgate-timeout-ms":
        most = LONGEST_TIMEOUT * 1000
        if not (value.isascii() and value.isdecimal() and len(value) < 12 and 0 < int(value) <= most):
            raise _bad_header(name, f"must be a whole number of milliseconds from 1 to {most}")
        return int(value)
    if name == "toolgate-mode" and value not in ("agent", "ask"):
        raise _bad_header(name, 'must be "agent" or "ask"')
    if not _WORD.fullmatch(value):
        raise _bad_header(name, "must be 1 to 256 printable ASCII characters without spaces")
    return value


def _bad_header(name: str, why: str) -> HttpProblem:
    return HttpProblem(400, "invalid_header", f"The header {name} {why}.")


class Exchanges:
    """The requests in progress at a door, so that they can be ended together."""

    def __init__(self) -> None:
        self._open: set[HangUp] = set()

    def watch(self, receive: Receive) -> HangUp:
        """Return what cancels the block it is entered around when the caller hangs up, or when all are ended."""
        return HangUp(receive, self._open)

    def end(self) -> None:
        """Cancel them all."""
        for exchange in list(self._open):
            exchange.cancel()


class HangUp:
    """Cancels the block it is entered around, quietly, when the caller closes the connection."""

    def __init__(self, receive: Receive, among: set[HangUp]) -> None:
        self._receive, self._among = receive, among
        self._task: asyncio.Task[Any] | None = None
        self._before = 0
        self._cancelled = False
        self._timer: asyncio.TimerHandle | None = None
        self._listener: asyncio.Task[None] | None = None

    def __enter__(self) -> Self:
        # As asyncio.timeout does it: an anyio scope costs as much as the rest of this door.
        self._task = asyncio.current_task()
        self._before = self._task.cancelling() if self._task is not None else 0
        self._among.add(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        self._among.discard(self)
        if self._timer is not None:
            self._timer.cancel()
        if self._listener is not None:
            self._listener.cancel()
        if not self._cancelled or self._task is None:
            return False
        return self._task.uncancel() <= self._before and kind is asyncio.CancelledError

    def cancel(self) -> None:
        """Cancel the block."""
        if not self._cancelled and self._task is not None:
            self._cancelled = True
            self._task.cancel()

    def listen(self) -> None:
        """Start listening, in a moment; the whole body must have been read."""
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(SECONDS_BEFORE_LISTENING, self._start, loop)

    def _start(self, loop: asyncio.AbstractEventLoop) -> None:
        self._listener = loop.create_task(self._wait())

    async def _wait(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self.cancel()
