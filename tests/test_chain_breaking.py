"""What happens when an extension breaks: in the road it stops the call, and as a watcher it stops nothing."""

from typing import Any

import anyio
import pytest

from tests.standins import (
    SECONDS,
    EchoExecutor,
    Raising,
    Watching,
    a_spec,
    an_executor,
    events_of,
    numbers,
    returns,
    types_of,
)
from toolgate import (
    CallContext,
    EventEnvelope,
    Extension,
    ExtensionError,
    ExtensionPriority,
    ToolError,
    ToolPermissionError,
    ToolResult,
)
from toolgate.chain import Run

pytestmark = pytest.mark.anyio

ROAD_HOOKS = ["before_execute", "after_execute", "around"]


# When one breaks


@pytest.mark.parametrize("error", [KeyError("x"), SystemExit(3), ValueError("\ud800")], ids=repr)
async def test_whatever_an_extension_raises_before_the_tool_denies_the_call(error: BaseException) -> None:
    echo = EchoExecutor()
    executor = an_executor(echo, extensions=[Raising("before_execute", error)])

    result = await executor.try_execute("echo")

    assert result.error is not None
    assert (result.status, result.error.code, result.error.outcome) == ("denied", "extension_failed", "not_done")
    assert "Raising failed in before_execute: " + type(error).__name__ in result.error.message
    assert echo.seen == []
    assert await types_of(executor) == ["tool.denied"]


@pytest.mark.parametrize("hook", ROAD_HOOKS)
async def test_a_broken_extension_stops_the_call_and_names_itself_and_its_hook(hook: str) -> None:
    error = KeyError("x")

    with pytest.raises(ExtensionError, match=f"the extension Raising failed in {hook}: KeyError$") as caught:
        await an_executor(extensions=[Raising(hook, error)]).execute("echo")

    assert caught.value.cause is error
    assert caught.value.tool_name == "echo"


@pytest.mark.parametrize("hook", ROAD_HOOKS)
async def test_a_refusal_passes_as_it_is(hook: str) -> None:
    refusal = ToolPermissionError("not you", hint="ask")

    with pytest.raises(ToolPermissionError) as caught:
        await an_executor(extensions=[Raising(hook, refusal)]).execute("echo")

    assert caught.value is refusal


async def test_an_extension_that_breaks_after_the_tool_leaves_a_failure_that_says_it_was_done() -> None:
    executor = an_executor(extensions=[Raising("after_execute", KeyError("x"))])

    result = await executor.try_execute("echo")

    assert result.error is not None
    assert (result.status, result.error.code, result.error.outcome) == ("failed", "extension_failed", "done")
    assert await types_of(executor) == ["tool.invoked", "tool.failed"]
    assert (await events_of(executor))[1].payload["outcome"] == "done"


async def test_a_refusal_after_the_tool_says_that_it_was_done_whatever_the_error_says() -> None:
    executor = an_executor(extensions=[Raising("after_execute", ToolPermissionError("not you", outcome="not_done"))])

    result = await executor.try_execute("echo")

    assert result.error is not None
    assert (result.status, result.error.code, result.error.outcome) == ("failed", "permission_denied", "done")


async def test_a_refusal_before_the_tool_says_that_nothing_was_done_whatever_the_error_says() -> None:
    executor = an_executor(extensions=[Raising("before_execute", ToolError("lost", outcome="unknown"))])

    result = await executor.try_execute("echo")

    assert result.error is not None
    assert (result.status, result.error.outcome) == ("denied", "not_done")


@pytest.mark.parametrize("wrong", [None, "text", {"status": "ok"}, ToolResult(status="failed")], ids=repr)
@pytest.mark.parametrize("hook", ["after_execute", "around"])
async def test_anything_but_a_good_result_stops_the_call(hook: str, wrong: Any) -> None:
    class Wrong(Extension):
        async def after_execute(self, ctx: CallContext, result: ToolResult) -> ToolResult:
            return wrong if hook == "after_execute" else result

        async def around(self, ctx: CallContext, call_next: Run) -> ToolResult:
            result = await call_next(ctx)
            return wrong if hook == "around" else result

    executor = an_executor(extensions=[Wrong()])

    with pytest.raises(ExtensionError, match=f"Wrong failed in {hook}: it must return a result that is ok"):
        await executor.execute("echo")
    assert await types_of(executor) == ["tool.invoked", "tool.failed"]


async def test_anything_but_a_call_or_nothing_from_before_execute_stops_the_call() -> None:
    class Wrong(Extension):
        async def before_execute(self, ctx: CallContext) -> Any:
            return {"a": 1}

    with pytest.raises(ExtensionError, match="must return a CallContext or None"):
        await an_executor(extensions=[Wrong()]).execute("echo")


async def test_an_extension_that_cannot_say_whether_it_applies_stops_the_call() -> None:
    echo = EchoExecutor()
    executor = an_executor(echo, extensions=[Raising("applies_to", KeyError("x"))])

    result = await executor.try_execute("echo")

    assert result.error is not None
    assert (result.status, result.error.code) == ("denied", "extension_failed")
    assert result.error.message.endswith("Raising failed in applies_to: KeyError")
    assert (echo.seen, await types_of(executor)) == ([], ["tool.denied"])


async def test_an_extension_that_waited_for_something_cancelled_fails_like_any_other() -> None:
    class Waiting(Extension):
        async def before_execute(self, ctx: CallContext) -> None:
            raise anyio.get_cancelled_exc_class()

    executor = an_executor(extensions=[Waiting()])

    result = await executor.try_execute("echo")

    assert (result.status, await types_of(executor)) == ("denied", ["tool.denied"])


# Watching


async def test_every_watcher_gets_every_event_once_denials_included() -> None:
    first, second = Watching("first"), Watching("second")
    executor = an_executor(specs=[a_spec(input_schema=numbers("a"))], extensions=[first, second])

    await executor.execute("echo", {"a": 1})
    await executor.try_execute("echo", {"a": "x"})

    stored = await events_of(executor)
    assert [event.event_type for event in stored] == ["tool.invoked", "tool.completed", "tool.denied"]
    assert first.events == second.events == stored


@pytest.mark.parametrize("error", [KeyError("x"), SystemExit(3), ToolPermissionError("no")], ids=repr)
async def test_a_watcher_that_breaks_is_logged_and_the_call_goes_on(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    other = Watching("other")
    executor = an_executor(returns(3), extensions=[Raising("on_event", error), other])

    assert await executor.execute("echo") == 3
    assert other.event_types == ["tool.invoked", "tool.completed"]
    assert [record.getMessage().partition(" of call")[0] for record in caplog.records] == [
        "Raising failed on tool.invoked",
        "Raising failed on tool.completed",
    ]


async def test_a_watcher_that_waited_for_something_cancelled_is_logged_and_the_call_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    executor = an_executor(returns(3), extensions=[Raising("on_event", anyio.get_cancelled_exc_class()())])

    assert await executor.execute("echo") == 3
    assert len(caplog.records) == 2


class Pausing(Extension):
    """Holds up the first event of one type until it is cancelled."""

    def __init__(self, event_type: str) -> None:
        super().__init__(priority=ExtensionPriority.HIGHEST)
        self._event_type = event_type
        self.told: list[str] = []
        self.paused = anyio.Event()

    async def on_event(self, ctx: CallContext, event: EventEnvelope) -> None:
        self.told.append(event.event_type)
        if event.event_type == self._event_type and not self.paused.is_set():
            self.paused.set()
            await anyio.sleep_forever()


@pytest.mark.parametrize(
    ("held_up", "left_behind"),
    [
        ("tool.invoked", ["tool.invoked", "tool.cancelled"]),
        ("tool.completed", ["tool.invoked", "tool.completed"]),
        ("tool.denied", ["tool.denied"]),
    ],
)
async def test_a_call_cancelled_while_a_watcher_is_told_still_ends_once_for_everyone(
    held_up: str, left_behind: list[str]
) -> None:
    pausing, other = Pausing(held_up), Watching("other")
    executor = an_executor(specs=[a_spec(input_schema=numbers("a"))], extensions=[pausing, other])
    args = {} if held_up == "tool.denied" else {"a": 1}

    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as group:
            group.start_soon(executor.try_execute, "echo", args)
            await pausing.paused.wait()
            group.cancel_scope.cancel()

    assert await types_of(executor) == other.event_types == pausing.told == left_behind


async def test_a_watcher_cannot_slow_the_clock_of_the_tool() -> None:
    class Slow(Extension):
        async def on_event(self, ctx: CallContext, event: EventEnvelope) -> None:
            enough = anyio.current_time() + 0.005
            while anyio.current_time() < enough:
                await anyio.lowlevel.checkpoint()

    executor = an_executor(returns(3), specs=[a_spec(timeout=0.001)], extensions=[Slow()])

    assert await executor.execute("echo") == 3
