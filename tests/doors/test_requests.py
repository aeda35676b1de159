"""Watching for callers who hang up, and answers that hold what JSON cannot."""

import anyio
import pytest
from anyio.lowlevel import checkpoint
from starlette.types import Message

from toolgate.doors.problems import to_json
from toolgate.doors.requests import Exchanges


class Connection:
    """An ASGI connection whose messages the test decides."""

    def __init__(self) -> None:
        self._send, self._receive = anyio.create_memory_object_stream[str](10)

    def say(self, kind: str) -> None:
        self._send.send_nowait(kind)

    async def receive(self) -> Message:
        return {"type": await self._receive.receive()}

    def close(self) -> None:
        self._send.close()
        self._receive.close()


async def test_only_hanging_up_cancels_the_block() -> None:
    connection, seen = Connection(), []
    with anyio.fail_after(10):
        with Exchanges().watch(connection.receive) as watch:
            watch.listen()
            watch.listen()
            connection.say("http.request")
            connection.say("http.disconnect")
            await anyio.sleep_forever()
        seen.append("went on")
        await checkpoint()
    connection.close()

    assert seen == ["went on"]


async def test_ending_twice_cancels_once() -> None:
    connection, exchanges = Connection(), Exchanges()
    with exchanges.watch(connection.receive):
        exchanges.end()
        exchanges.end()
        await anyio.sleep_forever()
    await checkpoint()
    connection.close()


async def test_being_cancelled_from_outside_still_cancels() -> None:
    connection, reached = Connection(), []
    with anyio.CancelScope() as outer:
        with Exchanges().watch(connection.receive) as watch:
            outer.cancel()
            watch.cancel()
            await anyio.sleep_forever()
        await checkpoint()
        reached.append("went on")
    connection.close()

    assert outer.cancelled_caught
    assert reached == []


async def test_what_goes_wrong_in_the_block_is_not_hidden() -> None:
    connection = Connection()
    with pytest.raises(ValueError, match="broken"), Exchanges().watch(connection.receive):
        raise ValueError("broken")
    connection.close()


def test_json_holds_whatever_it_is_given() -> None:
    assert to_json({"a": "ü", "b": float("nan")}) == '{"a":"ü","b":"NaN"}'.encode()
    assert to_json({"half": "\ud800"}) == b'{"half":"\\ud800"}'
