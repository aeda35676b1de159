"""The end of the road: one tool run within its time, and its failures."""

import asyncio
from typing import Any

import anyio
import pytest

from tests.standins import (
    SECONDS,
    SlowTool,
    a_spec,
    an_executor,
    events_of,
    python_spec,
    raises,
    types_of,
)
from toolgate import (
    ToolContext,
    ToolError,
    ToolExecutionError,
    ToolPermissionError,
    ToolTimeoutError,
    UnifiedToolExecutor,
)

pytestmark = pytest.mark.anyio

PURE = {"side_effect_class": "pure"}


# Time


async def test_an_async_tool_that_takes_too_long_is_stopped() -> None:
    tool = SlowTool()
    executor = an_executor(tool, specs=[a_spec(timeout=0.02)])

    with anyio.fail_after(SECONDS), pytest.raises(ToolTimeoutError, match="Tool echo timed out after 20ms") as caught:
        await executor.execute("echo")

    assert tool.ended.is_set()
    assert (caught.value.code, caught.value.error_type, caught.value.retryable) == ("timeout", "TIMEOUT", True)
    invoked, timeout = await events_of(executor)
    assert (invoked.event_type, timeout.event_type) == ("tool.invoked", "tool.timeout")
    assert timeout.payload == {
        "tool_id": "echo@1.0.0",
        "tool_name": "echo",
        "timeout_ms": 20.0,
        "outcome": "unknown",
    }


@pytest.mark.parametrize(("metadata", "outcome"), [(PURE, "not_done"), ({}, "unknown")])
async def test_what_a_late_tool_did_is_unknown_unless_it_is_pure(metadata: dict[str, Any], outcome: str) -> None:
    executor = an_executor(SlowTool(), specs=[a_spec(timeout=0.01, metadata=metadata)])

    result = await executor.try_execute("echo")

    assert result.error is not None
    assert (result.status, result.error.outcome) == ("timeout", outcome)
    assert ("check before calling it again" in result.error.hint) == (outcome == "unknown")


@pytest.mark.parametrize(("tool_seconds", "context_ms", "limit"), [(30, 10, 10), (0.01, 30_000, 10), (0.01, None, 10)])
async def test_the_shorter_time_of_tool_and_context_counts(
    tool_seconds: float, context_ms: int | None, limit: int
) -> None:
    executor = an_executor(SlowTool(), specs=[a_spec(timeout=tool_seconds)])
    await executor.prepare()

    with anyio.fail_after(SECONDS):
        result = await executor.try_execute("echo", {}, ToolContext(timeout_ms=context_ms))

    assert result.error is not None
    assert result.error.message == f"Tool echo timed out after {limit}ms"
    assert (await events_of(executor))[1].payload["timeout_ms"] == limit


async def test_a_blocking_tool_is_left_behind_when_it_takes_too_long(folder: Any) -> None:
    (folder / "blocking_tools.py").write_text(
        "import threading\nreleased, ended = threading.Event(), threading.Event()\n"
        "def block():\n    released.wait(20)\n    ended.set()\n"
    )
    spec = python_spec(folder, "block", module="blocking_tools", timeout=0.05)
    executor = UnifiedToolExecutor(an_executor(specs=[spec]).spec_registry)

    with anyio.fail_after(SECONDS):
        result = await executor.try_execute("tool")

    import blocking_tools  # type: ignore[import-not-found]  # it was written above

    assert result.status == "timeout"
    assert not blocking_tools.ended.is_set()
    blocking_tools.released.set()
    assert await anyio.to_thread.run_sync(blocking_tools.ended.wait, SECONDS)


async def test_a_tools_own_timeout_error_is_a_failure_like_any_other() -> None:
    executor = an_executor(raises(TimeoutError("the database did not answer")))

    result = await executor.try_execute("echo")

    assert result.error is not None
    assert (result.status, result.error.code) == ("failed", "execution_failed")
    assert result.error.message == "the database did not answer"
    assert await types_of(executor) == ["tool.invoked", "tool.failed"]


@pytest.mark.parametrize("error", [ValueError("interrupted"), ToolError("mine"), SystemExit(1)], ids=repr)
async def test_a_late_tool_is_late_whatever_it_makes_of_being_stopped(error: BaseException) -> None:
    async def tool(args: dict[str, Any], context: ToolContext) -> Any:
        try:
            await anyio.sleep_forever()
        finally:
            raise error

    executor = an_executor(tool, specs=[a_spec(timeout=0.01)])

    assert (await executor.try_execute("echo")).status == "timeout"
    assert await types_of(executor) == ["tool.invoked", "tool.timeout"]


async def test_a_tool_in_time_is_not_bothered_by_its_timer() -> None:
    async def tool(args: dict[str, Any], context: ToolContext) -> Any:
        await anyio.lowlevel.checkpoint()
        return 3

    executor = an_executor(tool, specs=[a_spec(timeout=60)])

    assert [await executor.execute("echo") for _ in range(3)] == [3, 3, 3]


# Failure


class OddStop(BaseException):
    pass


class MuteError(Exception):
    def __str__(self) -> str:
        raise KeyError("no")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("no such file"), "no such file"),
        (ValueError(), "ValueError"),
        (SystemExit(3), "SystemExit: 3"),
        (KeyError("k"), "KeyError: 'k'"),
        (OddStop("odd"), "odd"),
        (MuteError(), "MuteError"),
        (ValueError("\ud800"), "\\ud800"),
        (BaseExceptionGroup("several", [OddStop("one")]), "several (1 sub-exception)"),
        (StopAsyncIteration("over"), "over"),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_whatever_a_tool_raises_is_its_failure(error: BaseException, text: str) -> None:
    executor = an_executor(raises(error))

    with pytest.raises(ToolExecutionError) as caught:
        await executor.execute("echo")

    assert (caught.value.message, caught.value.code, caught.value.outcome) == (text, "execution_failed", "unknown")
    assert caught.value.cause is error
    invoked, failed = await events_of(executor)
    assert (invoked.event_type, failed.event_type) == ("tool.invoked", "tool.failed")
    assert {key: failed.payload[key] for key in ("error", "code", "outcome")} == {
        "error": text,
        "code": "execution_failed",
        "outcome": "unknown",
    }
    assert failed.model_dump_json()


async def test_what_a_pure_tool_that_failed_did_is_nothing() -> None:
    result = await an_executor(raises(ValueError("no")), specs=[a_spec(metadata=PURE)]).try_execute("echo")

    assert result.error is not None
    assert result.error.outcome == "not_done"


async def test_an_error_of_ours_that_a_tool_raises_passes_as_it_is() -> None:
    error = ToolPermissionError("not this file", hint="ask for another")
    executor = an_executor(raises(error))

    with pytest.raises(ToolPermissionError) as caught:
        await executor.execute("echo")

    assert caught.value is error
    assert (error.tool_name, await types_of(executor)) == ("echo", ["tool.invoked", "tool.failed"])


async def test_what_a_tool_did_is_unknown_when_a_tool_it_called_was_refused() -> None:
    executor = an_executor(raises(ToolPermissionError("not you", tool_name="inner", outcome="not_done")))

    result = await executor.try_execute("echo")

    assert result.error is not None
    assert (result.error.tool_name, result.error.outcome) == ("inner", "unknown")


class Unmade(ToolError):
    """An error that was never put together."""

    def __init__(self) -> None:
        Exception.__init__(self, "half")


@pytest.mark.parametrize(
    "error",
    [Unmade(), ToolError(12), ToolError("x", outcome="maybe"), ToolError("x", hint=None), ToolError("x", code=3)],  # type: ignore[arg-type]  # what is tested
    ids=["unmade", "message", "outcome", "hint", "code"],
)
async def test_an_error_that_was_not_made_as_errors_are_is_a_failure_all_the_same(error: ToolError) -> None:
    executor = an_executor(raises(error))

    result = await executor.try_execute("echo")

    assert result.error is not None
    assert (result.status, result.error.code, result.error.tool_name) == ("failed", "execution_failed", "echo")
    assert await types_of(executor) == ["tool.invoked", "tool.failed"]
    with pytest.raises(ToolExecutionError):
        await executor.execute("echo")


async def test_a_tool_that_waited_for_something_cancelled_has_failed_and_its_caller_goes_on() -> None:
    async def tool(args: dict[str, Any], context: ToolContext) -> Any:
        never = asyncio.get_running_loop().create_future()
        never.cancel()
        await never

    executor = an_executor(tool)

    result = await executor.try_execute("echo")

    assert result.error is not None
    assert (result.status, result.error.code) == ("failed", "execution_failed")
    assert "waited for something that was cancelled" in result.error.message
    assert await types_of(executor) == ["tool.invoked", "tool.failed"]


async def test_an_interrupt_is_nobodys_to_swallow() -> None:
    call = an_executor(raises(GeneratorExit())).execute("echo")

    with pytest.raises(GeneratorExit):
        await call
