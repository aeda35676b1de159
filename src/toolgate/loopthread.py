"""An event loop in a thread of its own, for callers that are not async."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


class LoopThread:
    """Runs coroutines for synchronous callers; the thread starts with the first one and dies with the process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: _Running | None = None

    def run(self, function: Callable[[], Awaitable[T]]) -> T:
        """Await `function()` on the loop and return what it returns.

        Raises:
            RuntimeError: This thread has a running event loop, which waiting here would block.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass
        else:
            raise RuntimeError("there is a running event loop in this thread: await execute(...) instead")

        async def call() -> T:
            return await function()

        done: queue.SimpleQueue[None] = queue.SimpleQueue()
        future = asyncio.run_coroutine_threadsafe(call(), self._started().loop)
        future.add_done_callback(lambda _: done.put(None))
        try:
            done.get()  # not future.result(): Ctrl-C inside its condition can leave a lock behind that nobody holds
            return future.result()
        finally:
            future.cancel()  # whoever stops waiting, as with Ctrl-C, stops the call too

    def _started(self) -> _Running:
        with self._lock:
            # A thread does not survive a fork: the child process starts its own.
            if self._running is None or not self._running.thread.is_alive():
                self._running = _Running()
            return self._running

    def stop(self) -> None:
        """Cancel what still runs, and end the loop and its thread."""
        with self._lock:
            running, self._running = self._running, None
        if running is not None:
            running.stop()


class _Running:
    """A thread with a loop in it, until it is stopped."""

    def __init__(self) -> None:
        # A factory of our own: without one, making the loop here would set it as the calling thread's.
        self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self.loop = self._runner.get_loop()
        self._stop = asyncio.Event()
        self.thread = threading.Thread(target=self._serve, daemon=True, name="toolgate")
        self.thread.start()

    def _serve(self) -> None:
        with self._runner:  # leaving it cancels what still runs and waits for it
            self._runner.run(self._wait())

    async def _wait(self) -> None:
        await self._stop.wait()

    def stop(self) -> None:
        if self.thread.is_alive():  # pragma: no branch - it is dead only in a forked process
            self.loop.call_soon_threadsafe(self._stop.set)
            self.thread.join(timeout=5)
