"""What a call leaves behind, whatever extensions, tools, stores and callers do."""

import asyncio
from typing import Any, Literal

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.standins import (
    SECONDS,
    EchoExecutor,
    FailingStore,
    Raising,
    SlowTool,
    Tool,
    Watching,
    a_spec,
    an_executor,
    events_of,
    raises,
    returns,
    types_of,
)
from toolgate import (
    AgentRef,
    CallContext,
    EventEnvelope,
    Extension,
    InMemoryEventStore,
    ToolCancelledError,
    ToolContext,
    ToolError,
    ToolPermissionError,
    ToolResult,
    TraceContext,
)
from toolgate.chain import Run

pytestmark = pytest.mark.anyio

TERMINAL = {"tool.completed", "tool.failed", "tool.timeout", "tool.cancelled", "tool.denied"}


# Events


async def test_a_call_leaves_two_events_that_belong_together() -> None:
    executor = an_executor(returns({"sum": 3}))

    result = await executor.try_execute("echo", {"a": 1})

    invoked, completed = await events_of(executor)
    assert (invoked.event_type, completed.event_type) == ("tool.invoked", "tool.completed")
    assert invoked.correlation_id == completed.correlation_id == result.call_id
    assert (invoked.causation_id, completed.causation_id) == (None, invoked.event_id)
    assert invoked.trace == completed.trace
    assert (invoked.producer.agent_id, invoked.producer.agent_type) == ("system", "tool_executor")
    assert invoked.payload == {
        "tool_id": "echo@1.0.0",
        "tool_name": "echo",
        "input_data": {"a": 1},
        "source": "user",
    }
    assert completed.payload == {
        "tool_id": "echo@1.0.0",
        "tool_name": "echo",
        "output_data": {"sum": 3},
        "duration_ms": result.duration_ms,
        "cached": False,
    }


async def test_the_events_of_a_call_are_one_span_below_that_of_its_context() -> None:
    executor, parent = an_executor(), TraceContext()

    await executor.execute("echo", {}, ToolContext(trace=parent))

    traces = [event.trace for event in await events_of(executor)]
    assert traces[0] == traces[1]
    assert (traces[0].trace_id, traces[0].parent_span_id, traces[0].depth) == (parent.trace_id, parent.span_id, 1)


async def test_two_calls_without_a_trace_have_one_each() -> None:
    executor = an_executor()

    for _ in range(2):
        await executor.execute("echo")

    traces = [event.trace for event in await events_of(executor)]
    assert traces[0] == traces[1] != traces[2] == traces[3]
    assert traces[0].trace_id != traces[2].trace_id
    assert all(len(trace.trace_id) == 32 and len(trace.span_id) == 16 for trace in traces)


async def test_every_stored_event_survives_json() -> None:
    executor = an_executor(extensions=[Raising("after_execute", ToolPermissionError("no"))])
    await executor.try_execute("echo", {"a": [1, {"b": None}]})
    await executor.try_execute("nope")

    stored = await events_of(executor)

    assert len(stored) == 3
    assert [EventEnvelope.model_validate_json(event.model_dump_json()) for event in stored] == stored


async def test_a_store_that_fails_is_logged_and_the_call_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    watching = Watching()
    executor = an_executor(returns(3), event_store=FailingStore(), extensions=[watching])

    assert await executor.execute("echo") == 3
    assert watching.event_types == ["tool.invoked", "tool.completed"]
    assert [record.getMessage().partition(" of call")[0] for record in caplog.records] == [
        "the event tool.invoked",
        "the event tool.completed",
    ]


async def test_a_store_that_is_empty_is_still_the_store() -> None:
    class Sized(InMemoryEventStore):
        def __len__(self) -> int:
            return 0

    store = Sized()
    executor = an_executor(event_store=store, producer=AgentRef(agent_id="me", agent_type="test"))

    await executor.execute("echo")

    assert executor.event_store is store
    assert [event.producer.agent_id for event in await store.read()] == ["me", "me"]


class HeldUp(InMemoryEventStore):
    """Holds up the first event of one type until it is cancelled."""

    def __init__(self, event_type: str) -> None:
        super().__init__()
        self._event_type = event_type
        self.held = anyio.Event()

    async def append(self, event: EventEnvelope) -> int:
        if event.event_type == self._event_type and not self.held.is_set():
            self.held.set()
            await anyio.sleep_forever()
        return await super().append(event)


@pytest.mark.parametrize(
    ("held_up", "stored"),
    [("tool.invoked", ["tool.cancelled"]), ("tool.completed", ["tool.invoked", "tool.cancelled"])],
)
async def test_a_call_cancelled_while_its_event_is_stored_is_recorded_as_cancelled(
    held_up: str, stored: list[str]
) -> None:
    store = HeldUp(held_up)
    executor = an_executor(event_store=store)

    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as group:
            group.start_soon(executor.try_execute, "echo")
            await store.held.wait()
            group.cancel_scope.cancel()

    assert await types_of(executor) == stored


# Cancelling


@pytest.mark.parametrize("method", ["execute", "try_execute"])
async def test_cancelling_the_caller_stops_the_tool_and_leaves_one_event(
    method: Literal["execute", "try_execute"],
) -> None:
    tool, watching = SlowTool(), Watching()
    executor = an_executor(tool, extensions=[watching])
    went_on = False

    async def call() -> None:
        nonlocal went_on
        await getattr(executor, method)("echo")
        went_on = True

    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as group:
            group.start_soon(call)
            await tool.begun.wait()
            group.cancel_scope.cancel()

    assert (tool.ended.is_set(), went_on) == (True, False)
    assert await types_of(executor) == watching.event_types == ["tool.invoked", "tool.cancelled"]
    assert (await events_of(executor))[1].payload["outcome"] == "unknown"


async def test_whoever_records_a_cancelled_call_is_not_cancelled_with_it() -> None:
    class Pausing(InMemoryEventStore):
        async def append(self, event: EventEnvelope) -> int:
            await anyio.lowlevel.checkpoint()
            return await super().append(event)

    tool = SlowTool()
    executor = an_executor(tool, event_store=Pausing())

    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as group:
            group.start_soon(executor.try_execute, "echo")
            await tool.begun.wait()
            group.cancel_scope.cancel()

    assert await types_of(executor) == ["tool.invoked", "tool.cancelled"]


async def test_a_cancelled_task_ends_as_cancelled() -> None:
    tool = SlowTool()
    executor = an_executor(tool, specs=[a_spec(metadata={"side_effect_class": "pure"})])
    task = asyncio.ensure_future(executor.try_execute("echo"))

    with anyio.fail_after(SECONDS):
        await tool.begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    assert task.cancelled()
    assert (await events_of(executor))[1].payload["outcome"] == "not_done"


async def test_a_caller_who_gives_up_after_a_while_cancels_the_call() -> None:
    tool = SlowTool()
    executor = an_executor(tool)

    with anyio.move_on_after(0.02) as scope:
        await executor.execute("echo")

    assert (scope.cancelled_caught, tool.ended.is_set()) == (True, True)
    assert await types_of(executor) == ["tool.invoked", "tool.cancelled"]


async def test_a_call_cancelled_before_it_reaches_its_tool_is_denied() -> None:
    class Waiting(Extension):
        def __init__(self) -> None:
            super().__init__()
            self.waiting = anyio.Event()

        async def before_execute(self, ctx: CallContext) -> None:
            self.waiting.set()
            await anyio.sleep_forever()

    echo, extension = EchoExecutor(), Waiting()
    executor = an_executor(echo, extensions=[extension])

    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as group:
            group.start_soon(executor.try_execute, "echo")
            await extension.waiting.wait()
            group.cancel_scope.cancel()

    [denied] = await events_of(executor)
    assert (denied.event_type, denied.payload["code"], echo.seen) == ("tool.denied", "cancelled", [])


async def test_a_tool_that_says_it_was_cancelled_is_believed() -> None:
    executor = an_executor(raises(ToolCancelledError("the user closed the window")))

    assert (await executor.try_execute("echo")).status == "cancelled"
    assert await types_of(executor) == ["tool.invoked", "tool.cancelled"]


# Whatever happens


class Behaving(Extension):
    """Does one of the things an extension may do, or may not."""

    def __init__(self, name: str, behaviour: str, priority: int) -> None:
        super().__init__(priority=priority)
        self.name, self._behaviour = name, behaviour

    async def before_execute(self, ctx: CallContext) -> CallContext | None:
        if self._behaviour == "raise ToolError":
            raise ToolPermissionError("not you")
        if self._behaviour == "raise KeyError":
            raise KeyError("x")
        return ctx.with_args({**ctx.args, self.name: 1}) if self._behaviour == "replace" else None

    async def around(self, ctx: CallContext, call_next: Run) -> ToolResult:
        if self._behaviour == "answer":
            return ToolResult(status="ok", output="answered")
        if self._behaviour == "twice":
            await call_next(ctx)
        if self._behaviour == "swallow":
            try:
                return await call_next(ctx)
            except ToolError:
                return ToolResult(status="ok", output="swallowed")
        return await call_next(ctx)

    async def after_execute(self, ctx: CallContext, result: ToolResult) -> ToolResult:
        if self._behaviour == "after ToolError":
            raise ToolError("not this")
        if self._behaviour == "after KeyError":
            raise KeyError("y")
        return None if self._behaviour == "after None" else result  # type: ignore[return-value]  # what may happen

    async def on_event(self, ctx: CallContext, event: EventEnvelope) -> None:
        if self._behaviour == "break on events":
            raise KeyError("z")


BEHAVIOURS = [
    "pass",
    "replace",
    "raise ToolError",
    "raise KeyError",
    "answer",
    "twice",
    "swallow",
    "after ToolError",
    "after KeyError",
    "after None",
    "break on events",
]


async def _late(args: dict[str, Any], context: ToolContext) -> Any:
    await anyio.sleep_forever()


OUTCOMES: dict[str, Tool] = {
    "value": returns({"a": [1]}),
    "odd value": returns(object()),
    "error": raises(ValueError("no")),
    "own error": raises(ToolError("no", outcome="done")),
    "exit": raises(SystemExit(1)),
    "stray cancellation": raises(asyncio.CancelledError()),
    "too much": returns(["x" * 2000]),
    "wrong type": returns("x"),
    "late": _late,
}
STATUS = {
    "tool.completed": "ok",
    "tool.failed": "failed",
    "tool.timeout": "timeout",
    "tool.denied": "denied",
}


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(
    chain=st.lists(st.tuples(st.sampled_from(BEHAVIOURS), st.integers(0, 1200)), max_size=6),
    outcome=st.sampled_from(sorted(OUTCOMES)),
    args=st.sampled_from([{}, {"a": 1}, {"a": "x"}, {"b": [1]}]),
)
def test_whatever_extensions_and_tools_do_a_call_ends_once_and_everyone_sees_the_same(
    chain: list[tuple[str, int]], outcome: str, args: dict[str, Any]
) -> None:
    asyncio.run(_ends_once(chain, outcome, args))


async def _ends_once(chain: list[tuple[str, int]], outcome: str, args: dict[str, Any]) -> None:
    watchers = [Watching("high", priority=2000), Watching("low", priority=-1)]
    behaving = [Behaving(f"e{number}", behaviour, priority) for number, (behaviour, priority) in enumerate(chain)]
    schema = {"type": "object", "properties": {"a": {"type": "number"}}}
    spec = a_spec(timeout=0.002, input_schema=schema, output_schema={"type": ["object", "array"]})
    executor = an_executor(
        OUTCOMES[outcome], specs=[spec], extensions=[*watchers[:1], *behaving, *watchers[1:]], max_output_bytes=1000
    )

    with anyio.fail_after(SECONDS):
        result = await executor.try_execute("echo", args)

    stored = await events_of(executor)
    types = [event.event_type for event in stored]
    assert types[:-1] in ([], ["tool.invoked"])
    assert types[-1] in TERMINAL
    assert (types[-1] == "tool.denied") == (types[:-1] == [])
    assert all(watcher.events == stored for watcher in watchers)
    assert {event.correlation_id for event in stored} == {result.call_id}
    assert result.status == STATUS[types[-1]]
    assert (result.error is None) == result.ok
    assert all(EventEnvelope.model_validate_json(event.model_dump_json()) == event for event in stored)
    assert result.to_wire()
    if result.error is not None:
        assert (result.status != "denied") or (result.error.outcome == "not_done")
        assert stored[-1].payload["outcome"] == result.error.outcome
