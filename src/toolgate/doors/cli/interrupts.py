"""Ctrl-C: the first one cancels what runs, and the next does not wait for it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


def run_until_interrupted(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` to its end and return what it returns.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed; `work` was cancelled and has ended.
    """
    try:
        return asyncio.run(_watched(work))
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


async def _watched(work: Coroutine[Any, Any, T]) -> T:
    loop = asyncio.get_running_loop()
    task = loop.create_task(work)
    # asyncio.run has a handler too, but misses a Ctrl-C that comes just before the loop goes to sleep. Who was started
    # to ignore Ctrl-C, as a shell starts what runs in the background, goes on ignoring it.
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        # Neither Windows nor a thread besides the main one has such handlers; asyncio.run's own has to do there.
        with suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(signal.SIGINT, _interrupt, loop, task)
    return await task


def _interrupt(loop: asyncio.AbstractEventLoop, task: asyncio.Task[Any]) -> None:
    loop.remove_signal_handler(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    task.cancel()
