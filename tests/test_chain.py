"""Extensions: in which order they see a call, what they may change, and how they come and go."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.standins import (
    Answering,
    EchoExecutor,
    Recording,
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
    ConfigError,
    EventEnvelope,
    Extension,
    ExtensionManager,
    ExtensionPriority,
    ToolContext,
    ToolError,
    ToolResult,
    ToolSpec,
)
from toolgate.chain import Run, link, overrides

pytestmark = pytest.mark.anyio

ROAD_HOOKS = ["before_execute", "after_execute", "around"]


# Order


async def test_calls_go_in_by_priority_and_results_come_out_in_reverse() -> None:
    log: list[str] = []
    executor = an_executor(extensions=[Recording("B", log, priority=100), Recording("A", log, priority=600)])

    await executor.execute("echo")

    assert log == ["A in", "B in", "B out", "A out"]


async def test_priorities_are_any_whole_numbers_and_ties_keep_the_order_of_registration() -> None:
    log: list[str] = []
    named: list[tuple[str, int]] = [
        ("low", ExtensionPriority.LOW),
        ("first of a tie", 600),
        ("below all", -7),
        ("second of a tie", 600),
        ("high", ExtensionPriority.HIGH),
        ("just over normal", 501),
        ("normal", ExtensionPriority.NORMAL),
    ]
    executor = an_executor(extensions=[Recording(name, log, priority=priority) for name, priority in named])

    await executor.execute("echo")

    order = ["high", "first of a tie", "second of a tie", "just over normal", "normal", "low", "below all"]
    assert log == [f"{name} in" for name in order] + [f"{name} out" for name in reversed(order)]
    assert [each.name for each in executor.extension_manager.list_extensions()] == order


async def test_one_extension_sees_a_call_before_its_own_around_and_the_result_after_it() -> None:
    class Whole(Recording):
        async def around(self, ctx: CallContext, call_next: Run) -> ToolResult:
            self.log.append("around in")
            result = await call_next(ctx)
            self.log.append("around out")
            return result

    extension = Whole("W")

    await an_executor(extensions=[extension]).execute("echo")

    assert extension.log == ["W in", "around in", "around out", "W out"]


def test_the_named_priorities_are_five() -> None:
    assert {each.name: each.value for each in ExtensionPriority} == {
        "HIGHEST": 1000,
        "HIGH": 750,
        "NORMAL": 500,
        "LOW": 250,
        "LOWEST": 0,
    }


async def test_an_extension_that_does_not_apply_to_a_tool_neither_sees_nor_hears_its_calls() -> None:
    class OnlyOther(Recording):
        def applies_to(self, spec: ToolSpec) -> bool:
            return spec.name == "other"

    extension = OnlyOther("O")
    executor = an_executor(specs=[a_spec("echo"), a_spec("other")], extensions=[extension])

    await executor.execute("echo")
    assert (extension.log, extension.events) == ([], [])
    await executor.execute("other")
    assert (extension.log, extension.event_types) == (["O in", "O out"], ["tool.invoked", "tool.completed"])


async def test_methods_not_overridden_are_left_out_of_the_chain() -> None:
    async def last(ctx: CallContext) -> ToolResult:
        return ToolResult(status="ok")

    assert link([Extension(), Watching()], last) is last
    assert link([Recording()], last) is not last
    assert [overrides(Watching(), hook) for hook in [*ROAD_HOOKS, "on_event"]] == [False, False, False, True]


# What they may change


async def test_a_replacement_of_the_call_is_what_the_tool_and_the_event_get() -> None:
    class Doubling(Extension):
        async def before_execute(self, ctx: CallContext) -> CallContext:
            return ctx.with_args({"a": ctx.args["a"] * 2})

    executor = an_executor(extensions=[Doubling()])
    args = {"a": 2}

    assert await executor.execute("echo", args) == {"a": 4}
    assert args == {"a": 2}
    assert (await events_of(executor))[0].payload["input_data"] == {"a": 4}


async def test_a_replacement_may_carry_another_context_for_the_tool() -> None:
    class Naming(Extension):
        async def before_execute(self, ctx: CallContext) -> CallContext:
            return replace(ctx, tool_context=ctx.tool_context.model_copy(update={"user_id": "me"}))

    echo = EchoExecutor()

    await an_executor(echo, extensions=[Naming()]).execute("echo", {}, ToolContext(session_id="s"))

    assert [(each.user_id, each.session_id) for each in echo.contexts] == [("me", "s")]


async def test_a_replacement_that_names_another_tool_does_not_make_the_events_lie() -> None:
    class Disguising(Extension):
        async def before_execute(self, ctx: CallContext) -> CallContext:
            return replace(ctx, spec=a_spec("harmless"))

    executor = an_executor(extensions=[Disguising()])

    await executor.execute("echo")

    assert {event.payload["tool_name"] for event in await events_of(executor)} == {"echo"}


@pytest.mark.parametrize("hook", ["before_execute", "around"])
async def test_a_call_made_from_nothing_is_refused(hook: str) -> None:
    class Forging(Extension):
        async def before_execute(self, ctx: CallContext) -> CallContext | None:
            return CallContext(ctx.spec, {}, ctx.tool_context, "mine") if hook == "before_execute" else None

        async def around(self, ctx: CallContext, call_next: Run) -> ToolResult:
            return await call_next(ctx if ctx.journal is None else replace(ctx, journal=None))

    echo = EchoExecutor()
    executor = an_executor(echo, extensions=[Forging()])

    result = await executor.try_execute("echo")

    assert result.error is not None
    assert (result.status, result.error.code) == ("denied", "extension_failed")
    assert "with_args" in result.error.hint
    assert await types_of(executor) == ["tool.denied"]
    assert echo.seen == []


async def test_a_changed_result_is_what_the_caller_gets() -> None:
    class Doubling(Extension):
        async def after_execute(self, ctx: CallContext, result: ToolResult) -> ToolResult:
            return result.with_output(result.output * 2)

    assert await an_executor(returns(21), extensions=[Doubling()]).execute("echo") == 42


async def test_an_extension_may_answer_in_place_of_the_tool() -> None:
    echo = EchoExecutor()
    executor = an_executor(echo, specs=[a_spec(input_schema=numbers())], extensions=[Answering({"from": "cache"})])

    result = await executor.try_execute("echo", {"a": 1})

    assert (result.status, result.output, result.cached, result.attempts) == ("ok", {"from": "cache"}, True, 0)
    assert echo.seen == []
    invoked, completed = await events_of(executor)
    assert (invoked.event_type, invoked.payload["input_data"]) == ("tool.invoked", {"a": 1})
    assert (completed.event_type, completed.payload["cached"]) == ("tool.completed", True)
    assert completed.payload["output_data"] == {"from": "cache"}


async def test_an_answer_before_validation_is_recorded_whatever_it_was_asked_with() -> None:
    executor = an_executor(extensions=[Answering("yes", priority=1000)])

    assert await executor.execute("echo", {1: object()}) == "yes"  # type: ignore[dict-item]  # that is what is tested
    assert [event.model_dump_json() for event in await events_of(executor)]


async def test_an_extension_may_answer_when_the_tool_fails() -> None:
    class Consoling(Extension):
        async def around(self, ctx: CallContext, call_next: Run) -> ToolResult:
            try:
                return await call_next(ctx)
            except ToolError as error:
                return ToolResult(status="ok", output=f"instead of {error.code}")

    async def tool(args: dict[str, Any], context: ToolContext) -> Any:
        raise ValueError("no")

    executor = an_executor(tool, extensions=[Consoling()])
    result = await executor.try_execute("echo")

    assert (result.output, result.cached, result.attempts) == ("instead of execution_failed", False, 1)
    assert await types_of(executor) == ["tool.invoked", "tool.completed"]


async def test_an_extension_may_call_what_it_overrides() -> None:
    class Careful(Extension):
        async def before_execute(self, ctx: CallContext) -> CallContext | None:
            return await super().before_execute(ctx)

        async def around(self, ctx: CallContext, call_next: Run) -> ToolResult:
            return await super().around(ctx, call_next)

        async def after_execute(self, ctx: CallContext, result: ToolResult) -> ToolResult:
            return await super().after_execute(ctx, result)

        async def on_event(self, ctx: CallContext, event: EventEnvelope) -> None:
            await super().on_event(ctx, event)

    assert await an_executor(returns(3), extensions=[Careful()]).execute("echo") == 3


async def test_trying_again_is_one_call_with_two_attempts() -> None:
    class Twice(Extension):
        async def around(self, ctx: CallContext, call_next: Run) -> ToolResult:
            await call_next(ctx)
            return await call_next(ctx)

    echo = EchoExecutor()
    executor = an_executor(echo, extensions=[Twice()])

    result = await executor.try_execute("echo")

    assert (result.attempts, len(echo.seen)) == (2, 2)
    assert await types_of(executor) == ["tool.invoked", "tool.completed"]


async def test_extensions_share_one_state_for_each_call() -> None:
    class Setting(Extension):
        async def before_execute(self, ctx: CallContext) -> None:
            assert ctx.state == {}
            ctx.state["user"] = ctx.args["user"]

    class Reading(Extension):
        priority = ExtensionPriority.LOW

        async def after_execute(self, ctx: CallContext, result: ToolResult) -> ToolResult:
            return result.with_output(ctx.state["user"])

    executor = an_executor(extensions=[Setting(), Reading()])

    assert [await executor.execute("echo", {"user": user}) for user in ("me", "you")] == ["me", "you"]


# Registering


def test_an_extension_is_called_after_its_class_unless_it_has_a_name() -> None:
    class Own(Extension):
        name = "own"

    assert [Answering(1).name, Own().name] == ["Answering", "own"]


def test_extensions_come_and_go_by_name() -> None:
    manager = ExtensionManager([Answering(1)])
    recording = Recording()
    manager.register(recording)

    assert manager.get_extension("recording") is recording
    manager.unregister("recording")
    assert manager.get_extension("recording") is None
    assert [each.name for each in manager.list_extensions()] == ["Answering"]


def test_two_extensions_of_one_name_are_refused() -> None:
    manager = ExtensionManager([Answering(1)])

    with pytest.raises(ConfigError, match='"Answering" is registered already'):
        manager.register(Answering(2))
    assert len(manager.list_extensions()) == 1


def test_removing_an_extension_that_is_not_there_is_an_error() -> None:
    with pytest.raises(KeyError, match="recording"):
        ExtensionManager().unregister("recording")


def prioritised(priority: Any) -> Extension:
    return Recording(priority=priority)


def by_attribute() -> Extension:
    extension = Extension()
    extension.priority = None  # type: ignore[assignment]  # that is what is tested
    return extension


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: Recording, "is not an extension"),
        (lambda: "recording", "is not an extension"),
        (lambda: prioritised("high"), "must be a whole number, not 'high'"),
        (lambda: prioritised(1.5), "must be a whole number, not 1.5"),
        (by_attribute, "must be a whole number, not None"),
    ],
)
def test_what_cannot_be_in_a_chain_is_refused_when_it_is_registered(make: Callable[[], Any], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        ExtensionManager().register(make())


async def test_extensions_added_and_removed_later_count_from_the_next_call_on() -> None:
    executor = an_executor(returns("tool"))

    assert await executor.execute("echo") == "tool"
    executor.add_extension(Answering("cache"))
    assert await executor.execute("echo") == "cache"
    executor.remove_extension("Answering")
    assert await executor.execute("echo") == "tool"
