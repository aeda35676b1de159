"""Python tools: functions and classes, found by module and called by name."""

import sys
import threading
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.executors.calling import Calling
from tests.standins import SECONDS, a_registry, a_spec, numbers, python_spec
from toolgate import ToolContext, ToolExecutionError, ToolValidationError, UnifiedToolExecutor

pytestmark = pytest.mark.anyio


@pytest.fixture
def call(folder: Path) -> Calling:
    return Calling(folder)


def declaring(*names: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {} for name in names}}


# Functions


@pytest.mark.parametrize("function", ["add", "add_later", "returns_awaitable", "add_partial", "adder", "add_wrapped"])
async def test_anything_that_can_be_called_is_called_and_awaited(call: Calling, function: str) -> None:
    assert await call(function, {"a": 1, "b": 2}, input_schema=numbers("a")) == 3


@pytest.mark.parametrize(("function", "expected"), [("add", 11), ("add_later", 11), ("add_partial", 6)])
async def test_what_is_left_out_is_the_functions_own_default(call: Calling, function: str, expected: int) -> None:
    assert await call(function, {"a": 1}) == expected


async def test_a_plain_function_runs_in_a_thread_and_an_async_one_on_the_loop(call: Calling) -> None:
    assert await call("where") is False
    assert await call("where_async") is True


async def test_a_plain_function_does_not_hold_up_the_loop(folder: Path) -> None:
    (folder / "meeting_tools.py").write_text(
        "import threading\nmeeting = threading.Barrier(2)\ndef meet(): return meeting.wait(20)\n"
    )
    executor = UnifiedToolExecutor(a_registry(python_spec(folder, "meet", module="meeting_tools")))

    arrived: list[int] = []

    async def meet() -> None:
        arrived.append(await executor.execute("tool"))

    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as group:
            group.start_soon(meet)
            group.start_soon(meet)

    assert sorted(arrived) == [0, 1]


async def test_a_builtin_without_a_signature_can_be_called(call: Calling) -> None:
    assert await call("dict", {"a": 1}, module="builtins") == {"a": 1}


async def test_arguments_may_have_any_name(call: Calling) -> None:
    names = ["tool", "args", "self", "function", "call", "spec", "name"]

    assert await call("odd_names", {name: name for name in names}) == names
    assert await call("anything", {"args": 1, "context": 2, "kwargs": 3}) == {"args": 1, "context": 2, "kwargs": 3}


async def test_arguments_that_the_function_does_not_take_never_get_into_it(call: Calling) -> None:
    with pytest.raises(ToolValidationError, match="unexpected keyword argument 'c'") as caught:
        await call("add", {"a": 1, "c": 2})

    assert (caught.value.code, caught.value.outcome) == ("invalid_arguments", "not_done")


async def test_a_type_error_inside_the_function_is_its_failure(call: Calling) -> None:
    with pytest.raises(ToolExecutionError) as caught:
        await call("add", {"a": 1, "b": "x"})

    assert isinstance(caught.value.cause, TypeError)


async def test_a_plain_function_that_raises_keyboard_interrupt_has_failed(folder: Path) -> None:
    (folder / "interrupting.py").write_text("def go():\n    raise KeyboardInterrupt\n")
    executor = UnifiedToolExecutor(a_registry(python_spec(folder, "go", module="interrupting")))

    result = await executor.try_execute("tool")

    assert result.error is not None
    assert (result.status, "KeyboardInterrupt" in result.error.message) == ("failed", True)


@pytest.mark.parametrize(("function", "says"), [("stops", "StopIteration"), ("exits", "bye")])
async def test_a_plain_function_that_stops_or_exits_has_failed(call: Calling, function: str, says: str) -> None:
    result = await call.executor(function).try_execute("tool", {"a": 1} if function == "stops" else {})

    assert result.error is not None
    assert (result.status, says in result.error.message) == ("failed", True)


# The context


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("who", "s1"),
        ("who_async", [None, "s1"]),
        ("who_twice", ["s1", "s1"]),
        ("who_and_anything", ["s1", []]),
        ("anything", {}),
        ("anything_called_context", {}),
    ],
)
async def test_a_function_that_asks_for_the_context_gets_it(call: Calling, function: str, expected: Any) -> None:
    assert await call(function) == expected


@pytest.mark.parametrize(
    ("function", "expected"),
    [("who", "s1"), ("who_twice", ["s1", "s1"]), ("who_and_anything", ["s1", []])],
)
async def test_an_argument_the_schema_does_not_declare_cannot_take_the_place_of_the_context(
    call: Calling, function: str, expected: Any
) -> None:
    forged = {"context": {"session_id": "forged"}}
    if function == "who_twice":
        forged["tool_context"] = {"session_id": "forged"}

    assert await call(function, forged) == expected


async def test_a_context_that_the_schema_declares_is_the_callers(call: Calling) -> None:
    assert await call("declared", {"context": "mine"}, input_schema=declaring("context")) == "mine"


async def test_a_context_that_can_only_be_given_by_position_is_not_given(call: Calling) -> None:
    with pytest.raises(ToolValidationError, match="context"):
        await call("positional_only")


async def test_the_context_is_no_part_of_what_a_planner_sees(call: Calling) -> None:
    registry = call.executor("who").spec_registry

    assert "context" not in str(registry.to_openai_tools() + registry.to_mcp_tools())


# Classes


async def test_a_class_is_made_once_and_its_execute_is_called_with_the_arguments_and_the_context(call: Calling) -> None:
    executor = call.executor(config={"class": "Tool"})
    context, args = ToolContext(session_id="s1"), {"a": 1}

    first = await executor.execute("tool", args, context)
    second = await executor.execute("tool", args, context)

    assert first == [{"a": 1, "added": True}, "s1", 1, False]
    assert second[2] == 2
    assert args == {"a": 1}


async def test_an_async_execute_runs_on_the_loop(call: Calling) -> None:
    executor = call.executor(config={"class": "AsyncTool"})

    assert await executor.execute("tool", {"a": 1}) == [{"a": 1}, None, True]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("NoTool", "NoTool is not a class with an execute(params, context) method"),
        ("add", "add is not a class with an execute(params, context) method"),
        ("adder", "adder is not a class with an execute(params, context) method"),
        ("Unmakeable", "cannot make a Unmakeable: TypeError"),
        ("Exiting", "cannot make a Exiting: SystemExit: 3"),
    ],
)
async def test_a_class_that_is_no_tool_is_refused(call: Calling, name: str, says: str) -> None:
    result = await call.refused(config={"class": name})

    assert result.error is not None
    assert says in result.error.message


# Finding


@pytest.mark.parametrize(
    ("module", "function", "says"),
    [
        ("math_toolz_nowhere", "add", "cannot import math_toolz_nowhere.add: ModuleNotFoundError"),
        (None, "ad", "has no ad"),
        (None, "os", "is a module, not something to call"),
        (None, "constant", "is a int, not something to call"),
        (None, "nothing", "has no nothing"),
    ],
)
async def test_what_cannot_be_imported_is_named_by_module_and_attribute(
    call: Calling, module: str | None, function: str, says: str
) -> None:
    result = await call.refused(function, module=module or call.module)

    assert result.error is not None
    assert says in result.error.message
    assert f"{module or call.module}.{function}" in result.error.message
    assert (result.error.code, result.error.outcome, result.error.hint != "") == ("execution_failed", "not_done", True)


async def test_the_nearest_name_in_the_module_is_suggested(call: Calling) -> None:
    result = await call.refused("add_latr")

    assert result.error is not None
    assert result.error.hint == 'did you mean "add_later"?'


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("import nowhere_at_all", "No module named 'nowhere_at_all'"),
        ("def broken(:", "SyntaxError"),
        ("raise RuntimeError('no database')", "RuntimeError: no database"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("def __getattr__(name): raise RuntimeError('lazy')", "RuntimeError: lazy"),
    ],
)
async def test_a_module_that_breaks_when_it_is_imported_is_refused_with_what_it_said(
    call: Calling, folder: Path, source: str, says: str
) -> None:
    (folder / "breaking_tools.py").write_text(source)

    result = await call.refused("f", module="breaking_tools")

    assert result.error is not None
    assert "cannot import breaking_tools.f" in result.error.message
    assert says in result.error.message


async def test_a_module_that_was_mended_is_found_at_the_next_call(call: Calling, folder: Path) -> None:
    executor = call.executor("f", module="mended_tools")
    assert (await executor.try_execute("tool")).status == "denied"

    (folder / "mended_tools.py").write_text("def f(): return 3")

    assert await executor.execute("tool") == 3


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"module": "os"},
        {"module": "os", "function_name": "getcwd", "class": "PathLike"},
        {"module": "os", "function_name": "__doc__"},
        {"module": "os", "function_name": "path.join"},
        {"module": "os", "function_name": ""},
        {"module": "os", "function_name": None},
        {"module": "../os", "function_name": "getcwd"},
        {"module": "", "function_name": "getcwd"},
        {"module": ".os", "function_name": "getcwd"},
        {"module": "os", "function_name": "getcwd", "args": []},
        {"module": ["os"], "function_name": "getcwd"},
    ],
    ids=str,
)
async def test_a_configuration_that_names_nothing_plainly_is_refused(config: dict[str, Any]) -> None:
    executor = UnifiedToolExecutor(a_registry(a_spec(implementation_config=config)))

    result = await executor.try_execute("echo")

    assert result.error is not None
    assert (result.status, result.error.code) == ("denied", "execution_failed")
    assert ("implementation_config" in result.error.message) or ("has no" in result.error.message)


async def test_nothing_is_imported_before_the_first_call(call: Calling) -> None:
    executor = call.executor("add")
    executor.list_tools()
    executor.get_tool_info("tool")
    executor.validate_args("tool", {"a": 1})
    executor.spec_registry.to_openai_tools()
    assert call.module not in sys.modules

    await executor.execute("tool", {"a": 1})

    assert call.module in sys.modules


async def test_a_package_beside_the_tools_file_can_be_named_with_dots(folder: Path) -> None:
    package = folder / "dotted_tools" / "inner"
    package.mkdir(parents=True)
    (folder / "dotted_tools" / "__init__.py").write_text("")
    (package / "maths.py").write_text("def add(a, b): return a + b")
    executor = UnifiedToolExecutor(a_registry(python_spec(folder, "add", module="dotted_tools.inner.maths")))

    assert await executor.execute("tool", {"a": 1, "b": 2}) == 3


async def test_a_module_of_the_same_name_from_elsewhere_never_runs_in_place_of_the_one_meant(folder: Path) -> None:
    specs = []
    for number in (1, 2):
        (folder / str(number)).mkdir()
        (folder / str(number) / "same_tools.py").write_text(f"def which(): return {number}")
        specs.append(python_spec(folder / str(number), "which", module="same_tools", name=f"tool{number}"))
    executor = UnifiedToolExecutor(a_registry(*specs))

    assert await executor.execute("tool1") == 1
    result = await executor.try_execute("tool2")

    assert result.error is not None
    assert (result.status, result.error.hint) == ("denied", "rename one of the two")
    assert str(folder / "1" / "same_tools.py") in result.error.message


async def test_a_spec_made_in_code_finds_what_python_finds() -> None:
    config = {"module": "operator", "function_name": "add"}
    executor = UnifiedToolExecutor(a_registry(a_spec(implementation_config=config)))

    result = await executor.try_execute("echo", {"a": 1, "b": 2})

    # operator.add takes its operands by position only.
    assert result.error is not None
    assert "positional only" in result.error.message


async def test_threads_left_over_are_few_however_many_calls_there_were(call: Calling) -> None:
    executor = call.executor("add")

    for _ in range(20):
        await executor.execute("tool", {"a": 1})

    assert len([thread for thread in threading.enumerate() if "worker" in thread.name.lower()]) <= 2


async def test_the_target_may_be_named_by_a_variable(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "named_by_variable.py").write_text("def go():\n    return 'there'\n")
    monkeypatch.setenv("TOOL_FUNCTION", "go")
    spec = python_spec(folder, "${TOOL_FUNCTION}", module="${TOOL_MODULE:-named_by_variable}")
    executor = UnifiedToolExecutor(a_registry(spec))

    assert await executor.execute("tool") == "there"
