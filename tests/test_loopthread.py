"""Calling from code that is not async."""

import asyncio
import concurrent.futures
import inspect
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.standins import (
    SECONDS,
    an_executor,
    in_threads,
    python,
    returns,
    types_of,
)
from toolgate import (
    ToolContext,
    ToolNotFoundError,
)
from toolgate.loopthread import LoopThread

pytestmark = pytest.mark.anyio


def test_a_tool_can_be_called_without_async() -> None:
    executor = an_executor(returns(3))

    assert executor.execute_sync("echo", {}, ToolContext(session_id="1")) == 3
    with pytest.raises(ToolNotFoundError):
        executor.execute_sync("nope")
    asyncio.run(executor.aclose())


async def test_calling_without_async_inside_a_loop_is_refused_in_words() -> None:
    executor = an_executor()

    with pytest.raises(RuntimeError, match=r"await execute\(\.\.\.\) instead"):
        executor.execute_sync("echo")
    assert await types_of(executor) == []


def test_many_threads_can_call_without_async_at_once() -> None:
    together = asyncio.Barrier(16)

    async def tool(args: dict[str, Any], context: ToolContext) -> Any:
        await together.wait()
        return args["n"]

    executor = an_executor(tool)

    assert in_threads(lambda number: executor.execute_sync("echo", {"n": number}), 16) == list(range(16))
    asyncio.run(executor.aclose())


SCRIPT = """
import sys, threading
sys.path.insert(0, {folder!r})
from tests.standins import a_registry, a_spec
from toolgate import ToolTimeoutError, UnifiedToolExecutor

def spec(name, **fields):
    return a_spec(name, implementation_config={{"module": "exit_tools", "function_name": name}}, **fields)

executor = UnifiedToolExecutor(a_registry(spec("quick"), spec("later"), spec("stuck", timeout=0.05)))
print(executor.execute_sync("quick"), executor.execute_sync("later"))
try:
    executor.execute_sync("stuck")
except ToolTimeoutError as error:
    print(error.code)
"""


def test_a_process_that_called_without_async_ends_by_itself_even_when_a_tool_is_stuck(tmp_path: Path) -> None:
    tools = (
        "import threading\ndef quick(): return 1\nasync def later(): return 2\ndef stuck(): threading.Event().wait()\n"
    )
    (tmp_path / "exit_tools.py").write_text(tools)

    assert python(SCRIPT.format(folder=str(tmp_path))) == "1 2\ntimeout\n"


# The thread itself


@pytest.fixture
def thread() -> Iterator[LoopThread]:
    thread = LoopThread()
    yield thread
    thread.stop()


async def _here() -> str:
    return threading.current_thread().name


def test_every_call_runs_on_one_thread_of_its_own(thread: LoopThread) -> None:
    assert [thread.run(_here) for _ in range(2)] == ["toolgate", "toolgate"]
    assert len([each for each in threading.enumerate() if each.name == "toolgate"]) == 1


def test_what_a_call_raises_is_raised_where_it_was_made(thread: LoopThread) -> None:
    async def fail() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        thread.run(fail)


def test_a_thread_that_was_stopped_starts_again_when_it_is_needed(thread: LoopThread) -> None:
    thread.run(_here)
    thread.stop()
    thread.stop()

    assert not [each for each in threading.enumerate() if each.name == "toolgate"]
    assert thread.run(_here) == "toolgate"


def test_stopping_cancels_what_still_runs_so_that_nobody_waits_for_ever(thread: LoopThread) -> None:
    begun, ended = threading.Event(), threading.Event()

    async def wait() -> None:
        begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    def stop() -> None:
        begun.wait(SECONDS)
        thread.stop()

    stopped, waited = in_threads(lambda number: thread.run(wait) if number else stop(), 2)

    assert stopped is None
    assert isinstance(waited, concurrent.futures.CancelledError)
    assert ended.is_set()


def main_is_waiting(seconds: float) -> None:
    """Return once the main thread waits for a result."""
    lines, start = inspect.getsourcelines(LoopThread.run)
    waiting = next(start + at for at, line in enumerate(lines) if "done.get()" in line)
    over = time.monotonic() + seconds
    while time.monotonic() < over:
        frame = sys._current_frames()[threading.main_thread().ident or 0]
        if (frame.f_code.co_name, frame.f_lineno) == ("run", waiting):
            return
    raise TimeoutError("the main thread never waited")


def test_whoever_stops_waiting_stops_the_call(thread: LoopThread) -> None:
    begun, ended = threading.Event(), threading.Event()

    async def wait() -> None:
        begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    def interrupt() -> None:
        begun.wait(SECONDS)
        main_is_waiting(SECONDS)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    interrupting = threading.Thread(target=interrupt)
    interrupting.start()
    with pytest.raises(KeyboardInterrupt):
        thread.run(wait)

    interrupting.join(SECONDS)
    assert ended.wait(SECONDS)


def test_the_event_loop_of_the_calling_thread_is_left_alone(thread: LoopThread) -> None:
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        thread.run(_here)
        assert asyncio.get_event_loop_policy().get_event_loop() is loop
    finally:
        asyncio.set_event_loop(None)
        loop.close()


FORKING = """
import os, signal, warnings
from toolgate.loopthread import LoopThread

async def answer():
    return 3

thread = LoopThread()
thread.run(answer)
signal.alarm(10)
warnings.simplefilter("ignore")  # that forking beside threads is unwise
child = os.fork()
if child:
    os.waitpid(child, 0)
print(thread.run(answer), flush=True)
thread.stop()
"""


def test_a_forked_process_starts_a_thread_of_its_own() -> None:
    assert python(FORKING) == "3\n3\n"
