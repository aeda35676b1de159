"""The one way in: which tool is found, and what the caller gets."""

import sys
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from tests.standins import (
    SECONDS,
    Answering,
    EchoExecutor,
    Recording,
    a_registry,
    a_spec,
    an_executor,
    events_of,
    python_spec,
    raises,
    returns,
    versioned,
)
from toolgate import (
    BaseExecutor,
    ExtensionManager,
    ToolContext,
    ToolExecutionError,
    ToolNotFoundError,
    ToolResult,
    ToolSpec,
    ToolSpecRegistry,
    UnifiedToolExecutor,
)

pytestmark = pytest.mark.anyio


# Finding


@pytest.mark.parametrize(
    ("asked", "answered_by"),
    [
        ("sum", "sum@2.1.0"),
        ("sum@1.2.0", "sum@1.2.0"),
        ("sum@^1", "sum@1.3.0"),
        ("sum@~1.2", "sum@1.2.0"),
        ("sum@3.0.0-rc.1", "sum@3.0.0-rc.1"),
        ("search:web", "search:web@1.0.0"),
        ("search__web", "search:web@1.0.0"),
        ("search__web@^1", "search:web@1.0.0"),
    ],
)
async def test_a_tool_is_found_by_name_version_or_alias(asked: str, answered_by: str) -> None:
    class Naming(BaseExecutor):
        async def execute(self, spec: ToolSpec, args: dict[str, Any], context: ToolContext) -> Any:
            return spec.key

    versions = ["1.2.0", "1.3.0", "2.1.0", "3.0.0-rc.1"]
    executor = an_executor(Naming(), specs=[*(versioned("sum", each) for each in versions), a_spec("search:web")])

    assert await executor.execute(asked) == answered_by


async def test_an_unknown_tool_is_not_found_and_the_nearest_one_is_named() -> None:
    executor = an_executor(specs=[a_spec("calculate_sum"), a_spec("other")])

    with pytest.raises(ToolNotFoundError) as caught:
        await executor.execute("calcluate_sum")

    assert (caught.value.code, caught.value.error_type, caught.value.tool_name) == (
        "not_found",
        "NOT_FOUND",
        "calcluate_sum",
    )
    assert caught.value.hint == 'did you mean "calculate_sum"?'


async def test_a_hidden_tool_is_not_found_just_as_an_unknown_one() -> None:
    hiding = an_executor(specs=[a_spec("secret_tool"), a_spec("public_one")])
    lacking = an_executor(specs=[a_spec("public_one")])
    context = ToolContext(allowed_tools=frozenset(("public_one",)))

    for name in ("secret_tool", "secret_tool@1.0.0", "secret_tol", "public_onne"):
        hidden, unknown = [await each.try_execute(name, {}, context) for each in (hiding, lacking)]
        assert hidden.error == unknown.error
        assert hidden.status == unknown.status == "denied"
        assert hidden.error is not None
        assert "secret_tool" not in hidden.error.hint


async def test_the_alias_of_a_hidden_tool_is_hidden_too() -> None:
    executor = an_executor(specs=[a_spec("search:web")])

    result = await executor.try_execute("search__web", {}, ToolContext(allowed_tools=frozenset()))

    assert result.error is not None
    assert result.error.code == "not_found"


async def test_a_call_of_an_unknown_tool_leaves_one_denial() -> None:
    executor = an_executor()

    result = await executor.try_execute("nope")

    [denied] = await events_of(executor, result.call_id)
    assert (denied.event_type, denied.payload) == (
        "tool.denied",
        {
            "tool_id": None,
            "tool_name": "nope",
            "code": "not_found",
            "reason": "Tool nope not registered",
            "outcome": "not_done",
        },
    )


async def test_a_name_that_no_encoding_can_carry_is_not_found_like_any_other() -> None:
    executor = an_executor()

    result = await executor.try_execute("\ud800")

    assert result.error is not None
    assert (result.error.code, result.error.tool_name) == ("not_found", "\\ud800")
    assert [event.model_dump_json() for event in await events_of(executor)]
    assert result.model_dump_json()


# Answers


async def test_execute_returns_the_value_and_try_execute_the_result() -> None:
    executor = an_executor(returns(3))

    assert await executor.execute(tool_name="echo", args={}, context=ToolContext(session_id="123")) == 3
    result = await executor.try_execute("echo")
    assert (result.status, result.output, result.error, result.attempts, result.cached) == ("ok", 3, None, 1, False)
    assert result.duration_ms >= 0


async def test_execute_raises_what_try_execute_tells() -> None:
    executor = an_executor(raises(ValueError("no")))

    with pytest.raises(ToolExecutionError) as caught:
        await executor.execute("echo")
    result = await executor.try_execute("echo")

    assert str(caught.value) == "[echo] no"
    assert result.error is not None
    assert (result.status, result.output, result.attempts) == ("failed", None, 1)
    assert (result.error.message, result.error.code, result.error.tool_name) == ("no", "execution_failed", "echo")


async def test_a_call_without_a_context_shares_nothing_with_the_next() -> None:
    async def tool(args: dict[str, Any], context: ToolContext) -> Any:
        before = context.get("token")
        context.set("token", "s3cret")
        return before

    executor = an_executor(tool)

    assert [await executor.execute("echo") for _ in range(2)] == [None, None]


async def test_calls_with_the_same_context_share_what_tools_set_on_it() -> None:
    async def tool(args: dict[str, Any], context: ToolContext) -> Any:
        context.set("count", context.get("count", 0) + 1)
        return context.get("count")

    executor, context = an_executor(tool), ToolContext()

    assert [await executor.execute("echo", {}, context) for _ in range(2)] == [1, 2]


async def test_two_hundred_calls_at_once_do_not_get_in_each_others_way() -> None:
    together = anyio.Event()
    inside = 0

    async def tool(args: dict[str, Any], context: ToolContext) -> Any:
        nonlocal inside
        inside += 1
        if inside == 200:
            together.set()
        await together.wait()
        return [args["n"], context.session_id]

    executor = an_executor(tool, extensions=[Recording()])
    answers: dict[int, ToolResult] = {}

    async def call(number: int) -> None:
        answers[number] = await executor.try_execute("echo", {"n": number}, ToolContext(session_id=str(number)))

    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as group:
            for number in range(200):
                group.start_soon(call, number)

    assert {number: answer.output for number, answer in answers.items()} == {n: [n, str(n)] for n in range(200)}
    assert len({answer.call_id for answer in answers.values()}) == 200
    for number, answer in answers.items():
        events = await events_of(executor, answer.call_id)
        assert [event.event_type for event in events] == ["tool.invoked", "tool.completed"]
        assert events[0].payload["input_data"] == {"n": number}


# Closing


async def test_leaving_the_executor_closes_what_it_used_in_reverse() -> None:
    closed: list[str] = []

    class Closing(EchoExecutor):
        def __init__(self, name: str) -> None:
            super().__init__()
            self._name = name

        async def down(self) -> None:
            closed.append(self._name)
            if self._name == "second":
                raise OSError("cannot close")

    executor = an_executor()
    for name in ("first", "second", "third"):
        executor.executors.register(name, Closing(name))

    with pytest.raises(OSError, match="cannot close"):
        await executor.__aexit__()

    assert closed == ["third", "second", "first"]


async def test_an_executor_that_nothing_was_asked_of_closes_quietly() -> None:
    async with UnifiedToolExecutor(ToolSpecRegistry()) as executor:
        assert executor.executors.made() == []


# Asking


async def test_what_a_planner_may_know_of_a_tool_leaves_out_how_it_is_run() -> None:
    executor = an_executor(specs=[a_spec(implementation_config={"module": "inner_secrets"})])

    info = executor.get_tool_info("echo")

    assert (info["name"], info["available"], info["unavailable_reason"]) == ("echo", True, None)
    assert "inner_secrets" not in str(info)
    with pytest.raises(ToolNotFoundError):
        executor.get_tool_info("nope")


async def test_a_caller_is_shown_only_what_it_may_see() -> None:
    executor = an_executor(specs=[a_spec("a"), a_spec("b")])

    assert [spec.name for spec in executor.list_tools()] == ["a", "b"]
    assert [spec.name for spec in executor.list_tools(ToolContext(allowed_tools=frozenset("b")))] == ["b"]


def test_a_tool_has_thirty_seconds_unless_it_says_otherwise() -> None:
    assert an_executor().default_timeout == 30.0


async def test_the_parts_may_be_given_by_keyword() -> None:
    registry, manager = a_registry(a_spec()), ExtensionManager([Answering(3)])

    executor = UnifiedToolExecutor(spec_registry=registry, extension_manager=manager)

    assert await executor.execute("echo") == 3
    assert executor.extension_manager is manager


async def test_the_log_has_the_stack_of_a_failed_tool_and_no_secret(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLGATE_TEST_CANARY", "canary-4711")
    spec = a_spec(implementation_config={"key": "${TOOLGATE_TEST_CANARY}"})
    executor = an_executor(raises(RuntimeError("no luck with canary-4711")), specs=[spec])

    with caplog.at_level("INFO", logger="toolgate.dispatch"):
        result = await executor.try_execute(spec.name, {})

    assert "Traceback" in caplog.text
    assert "no luck with ***" in caplog.text
    assert "canary-4711" not in caplog.text + str(result)


async def test_events_say_who_called_and_carry_the_idempotency_key() -> None:
    executor = an_executor()
    context = ToolContext(agent_id="bob", session_id="s1", idempotency_key="k1")

    await executor.try_execute("echo", {}, context)

    events = await events_of(executor)
    assert {event.idempotency_key for event in events} == {"k1"}
    assert [event.metadata for event in events] == [{"agent_id": "bob", "session_id": "s1"}] * 2


async def test_a_message_of_any_length_is_bounded() -> None:
    result = await an_executor(raises(ValueError("x" * 1_000_000))).try_execute("echo")

    assert result.error is not None
    assert len(result.error.message) < 11_000


async def test_a_name_that_is_no_text_is_not_found() -> None:
    result = await an_executor().try_execute(None, {})  # type: ignore[arg-type]  # what a careless caller may pass

    assert result.error is not None
    assert result.error.code == "not_found"


async def test_an_alias_means_the_tool_in_sight_even_when_a_hidden_one_has_that_name() -> None:
    executor = an_executor(specs=[a_spec("a:b"), a_spec("a__b")])

    result = await executor.try_execute("a__b", {}, ToolContext(allowed_tools=frozenset({"a:b"})))

    assert result.ok


async def test_preparing_names_the_tools_that_cannot_be_made_ready(folder: Path) -> None:
    (folder / "ready_tools.py").write_text("def go():\n    return 1\n")
    specs = [
        python_spec(folder, "go", module="ready_tools", name="good"),
        python_spec(folder, "gone", module="ready_tools", name="bad"),
    ]
    executor = UnifiedToolExecutor(a_registry(*specs, a_spec("later", tool_type="http")))

    failed = await executor.prepare()

    assert list(failed) == ["bad"]
    assert "ready_tools has no gone" in failed["bad"]


async def test_a_slow_import_neither_stops_the_loop_nor_outlasts_the_calls_time(folder: Path) -> None:
    (folder / "slow_import.py").write_text("import threading\nopened = threading.Event()\nopened.wait(10)\n")
    executor = UnifiedToolExecutor(a_registry(python_spec(folder, "go", module="slow_import")))

    with anyio.fail_after(SECONDS):
        result = await executor.try_execute("tool", {}, ToolContext(timeout_ms=50))
        while not hasattr(sys.modules.get("slow_import"), "opened"):
            await anyio.lowlevel.checkpoint()
    sys.modules["slow_import"].opened.set()

    assert result.error is not None
    assert (result.status, result.error.code, result.error.outcome) == ("denied", "timeout", "not_done")
