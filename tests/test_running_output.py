"""What becomes of a tool's output: checked, bounded, and recorded as JSON whatever it is."""

import math
import threading
from collections import deque
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import BaseModel

from tests.standins import (
    EchoExecutor,
    a_spec,
    an_executor,
    events_of,
    returns,
    types_of,
)
from toolgate import (
    BaseExecutor,
    ToolContext,
    ToolExecutionError,
    ToolSpec,
    ToolValidationError,
)

pytestmark = pytest.mark.anyio


# Output


@dataclass
class Big:
    rows: list[str]


class BigModel(BaseModel):
    rows: list[str]


async def test_output_that_breaks_its_schema_is_reported() -> None:
    executor = an_executor(returns({"n": "x"}), specs=[a_spec(output_schema={"properties": {"n": {"type": "number"}}})])

    with pytest.raises(ToolValidationError) as caught:
        await executor.execute("echo")

    assert (caught.value.code, caught.value.outcome, caught.value.field) == ("invalid_output", "done", "n")
    assert (caught.value.error_type, "expected number" in caught.value.message) == ("VALIDATION_ERROR", True)
    assert await types_of(executor) == ["tool.invoked", "tool.failed"]


async def test_output_that_fits_its_schema_is_returned() -> None:
    assert await an_executor(returns(3), specs=[a_spec(output_schema={"type": "number"})]).execute("echo") == 3


@pytest.mark.parametrize("output", [b"x", object(), {1: 2}, datetime(2026, 1, 1, tzinfo=UTC)], ids=type)
async def test_output_that_is_no_json_does_not_fit_a_schema(output: Any) -> None:
    executor = an_executor(returns(output), specs=[a_spec(output_schema={"type": "string"})])

    result = await executor.try_execute("echo")

    assert result.error is not None
    assert (result.status, result.error.code) == ("failed", "invalid_output")


@pytest.mark.parametrize("text", ["x" * 101, "\u20ac" * 40])
async def test_text_over_the_cap_is_refused_and_never_cut_in_silence(text: str) -> None:
    executor = an_executor(returns(text), max_output_bytes=100)

    with pytest.raises(ToolExecutionError, match="over 100 bytes") as caught:
        await executor.execute("echo")

    assert (caught.value.code, caught.value.outcome) == ("output_too_large", "done")


async def test_text_at_the_cap_is_whole() -> None:
    result = await an_executor(returns("x" * 100), max_output_bytes=100).try_execute("echo")

    assert (result.output, result.truncated) == ("x" * 100, False)


@pytest.mark.parametrize(
    "output",
    [
        {"rows": ["x" * 60, "y" * 60]},
        {"x" * 101: 1},
        ["x" * 101],
        ("x" * 101,),
        {"x" * 101},
        list(range(100)),
        [[]] * 101,
        b"x" * 101,
        bytearray(101),
        Big(["x" * 101]),
        [BigModel(rows=["x" * 101])],
        deque(["x" * 101]),
        {"rows": "€" * 34},
    ],
    ids=lambda value: type(value).__name__,
)
async def test_anything_else_over_the_cap_is_refused(output: Any) -> None:
    executor = an_executor(returns(output), max_output_bytes=100)

    with pytest.raises(ToolExecutionError, match="the output is over 100 bytes") as caught:
        await executor.execute("echo")

    assert (caught.value.code, caught.value.outcome) == ("output_too_large", "done")
    assert await types_of(executor) == ["tool.invoked", "tool.failed"]


async def test_output_that_holds_itself_is_refused() -> None:
    output: list[Any] = []
    output.append(output)

    result = await an_executor(returns(output), max_output_bytes=1000).try_execute("echo")

    assert result.error is not None
    assert result.error.code == "output_too_large"


def counting() -> Iterator[int]:
    yield from iter(int, 1)


async def asking() -> AsyncIterator[int]:
    yield 1


@pytest.mark.parametrize("make", [counting, asking, lambda: [counting()], lambda: {"a": iter([1])}])
async def test_output_that_may_never_end_is_refused(make: Any) -> None:
    result = await an_executor(returns(make())).try_execute("echo")

    assert result.error is not None
    assert (result.status, result.error.code, result.error.outcome) == ("failed", "execution_failed", "done")
    assert "return a list" in result.error.message


class Hostile(list[Any]):
    def __len__(self) -> int:
        raise RuntimeError("do not measure me")


async def test_output_that_cannot_be_read_is_a_failure() -> None:
    executor = an_executor(returns(Hostile()))

    result = await executor.try_execute("echo")

    assert result.error is not None
    assert (result.error.message, result.error.outcome) == ("the output cannot be read: do not measure me", "done")


@pytest.mark.parametrize(
    ("output", "recorded"),
    [
        (None, None),
        (True, True),
        (3, 3),
        (2.5, 2.5),
        ("ü", "ü"),
        (math.nan, "NaN"),
        ("\ud800", "\\ud800"),
        ({"a": (1, 2)}, {"a": [1, 2]}),
        (Big(["x"]), {"rows": ["x"]}),
    ],
    ids=ascii,
)
async def test_the_caller_gets_the_value_itself_and_the_event_its_json(output: Any, recorded: Any) -> None:
    executor = an_executor(returns(output))

    assert await executor.execute("echo") is output
    completed = (await events_of(executor))[1]
    assert completed.payload["output_data"] == recorded
    assert type(completed).model_validate_json(completed.model_dump_json()) == completed


async def test_changing_the_output_later_does_not_change_what_was_recorded() -> None:
    executor = an_executor(returns({"rows": [1]}))

    output = await executor.execute("echo")
    output["rows"].append(2)

    assert (await events_of(executor))[1].payload["output_data"] == {"rows": [1]}


async def test_a_tool_may_change_its_arguments_without_anyone_else_seeing_it() -> None:
    async def tool(args: dict[str, Any], context: ToolContext) -> Any:
        args["box"]["tags"].append("changed")
        args["new"] = True
        return None

    executor = an_executor(tool)
    args = {"box": {"tags": ["x"]}}

    await executor.execute("echo", args)

    assert args == {"box": {"tags": ["x"]}}
    assert (await events_of(executor))[0].payload["input_data"] == {"box": {"tags": ["x"]}}


async def test_arguments_that_are_no_json_are_recorded_as_if_they_were() -> None:
    echo = EchoExecutor()
    executor = an_executor(echo)
    odd = {"when": datetime(2026, 1, 2, tzinfo=UTC), "n": math.inf, "deep": [{"pair": (1, 2)}]}

    await executor.execute("echo", odd)

    assert echo.seen == [odd]
    invoked = (await events_of(executor))[0]
    assert invoked.payload["input_data"] == {
        "when": "2026-01-02T00:00:00Z",
        "n": "Infinity",
        "deep": [{"pair": [1, 2]}],
    }
    assert type(invoked).model_validate_json(invoked.model_dump_json()) == invoked


async def test_an_executor_needs_only_to_execute() -> None:
    class Smallest(BaseExecutor):
        async def execute(self, spec: ToolSpec, args: dict[str, Any], context: ToolContext) -> Any:
            return [spec.name, args, context.session_id, threading.current_thread() is threading.main_thread()]

    executor = an_executor(Smallest())

    assert await executor.execute("echo", {"a": 1}, ToolContext(session_id="s")) == ["echo", {"a": 1}, "s", True]
