"""The fixed step before anything that costs: arguments fit the schema, or the call ends here."""

from collections import OrderedDict
from types import MappingProxyType
from typing import Any

import pytest

from tests.standins import EchoExecutor, Recording, a_spec, an_executor, numbers, types_of
from toolgate import CallContext, Extension, ToolNotFoundError, ToolSpec, ToolValidationError

pytestmark = pytest.mark.anyio

DEFAULTS = {
    "type": "object",
    "properties": {
        "a": {"type": "number"},
        "b": {"type": "number", "default": 5},
        "box": {"type": "object", "properties": {"tags": {"type": "array", "default": ["x"]}}},
    },
}


def strict() -> ToolSpec:
    return a_spec(input_schema=numbers("a", additionalProperties=False))


@pytest.mark.parametrize(
    ("args", "field", "says"),
    [
        ({}, "a", "missing"),
        ({"a": "1"}, "a", "expected number"),
        ({"a": 1, "c": 2}, "c", "no such property"),
        ({"a": True}, "a", "expected number"),
    ],
)
async def test_arguments_that_break_the_schema_are_refused(args: dict[str, Any], field: str, says: str) -> None:
    with pytest.raises(ToolValidationError) as caught:
        await an_executor(specs=[strict()]).execute("echo", args)

    assert (caught.value.field, caught.value.code, caught.value.tool_name) == (field, "invalid_arguments", "echo")
    assert says in caught.value.message


async def test_every_violation_is_named_at_once() -> None:
    with pytest.raises(ToolValidationError) as caught:
        await an_executor(specs=[strict()]).execute("echo", {"a": 1, "b": "x", "c": 1})

    assert "b: expected number" in caught.value.message
    assert "c: no such property" in caught.value.message


@pytest.mark.parametrize("args", [[], ["a"], "a", 5, True, object(), [("a", 1)]], ids=repr)
async def test_arguments_that_are_no_object_are_refused(args: Any) -> None:
    executor = an_executor()

    result = await executor.try_execute("echo", args)

    assert result.error is not None
    assert (result.status, result.error.code) == ("denied", "invalid_arguments")
    assert f"got {type(args).__name__}" in result.error.message
    assert await types_of(executor) == ["tool.denied"]


async def test_a_name_that_is_no_text_is_refused() -> None:
    result = await an_executor().try_execute("echo", {1: 2})  # type: ignore[dict-item]  # that is what is tested

    assert result.error is not None
    assert result.error.code == "invalid_arguments"


async def test_arguments_nested_too_deeply_are_refused() -> None:
    args: dict[str, Any] = {}
    for _ in range(100_000):
        args = {"a": args}

    result = await an_executor().try_execute("echo", args)

    assert result.error is not None
    assert (result.error.code, result.error.message) == ("invalid_arguments", "arguments are nested too deeply")


async def test_arguments_of_any_depth_are_recorded_or_refused() -> None:
    """The chain takes up stack, so there are depths that can still be copied at its start but no more at its end."""
    executor = an_executor(extensions=[Recording(str(number)) for number in range(20)])
    args: dict[str, Any] = {}
    ended = []

    for _ in range(200):
        args = {"a": {"a": {"a": {"a": {"a": args}}}}}
        result = await executor.try_execute("echo", args)
        ended.append(result.error.code if result.error else result.status)
        assert len(await types_of(executor, result.call_id)) == (1 if result.error else 2)

    assert sorted(set(ended)) == ["invalid_arguments", "ok"]
    assert ended == sorted(ended, reverse=True)


async def test_no_arguments_are_an_empty_object() -> None:
    assert await an_executor().execute("echo") == {}


@pytest.mark.parametrize("make", [MappingProxyType, OrderedDict], ids=["proxy", "ordered"])
async def test_any_mapping_will_do(make: Any) -> None:
    echo = EchoExecutor()
    args = make({"a": 1})

    await an_executor(echo, specs=[a_spec(input_schema=DEFAULTS)]).execute("echo", args)

    assert echo.seen == [{"a": 1, "b": 5}]
    assert type(echo.seen[0]) is dict
    assert args == {"a": 1}


async def test_defaults_are_filled_in() -> None:
    executor = an_executor(specs=[a_spec(input_schema=DEFAULTS)])

    assert await executor.execute("echo", {"a": 1}) == {"a": 1, "b": 5}
    assert await executor.execute("echo", {"b": 2, "box": {}}) == {"b": 2, "box": {"tags": ["x"]}}


async def test_a_default_is_never_shared_between_calls_or_with_the_spec() -> None:
    class Adding(EchoExecutor):
        async def execute(self, spec: ToolSpec, args: dict[str, Any], context: Any) -> Any:
            args["box"]["tags"].append("y")
            return args

    executor = an_executor(Adding(), specs=[a_spec(input_schema=DEFAULTS)])

    first, second = [await executor.execute("echo", {"box": {}}) for _ in range(2)]

    assert first["box"]["tags"] == second["box"]["tags"] == ["x", "y"]
    assert DEFAULTS["properties"]["box"]["properties"]["tags"]["default"] == ["x"]  # type: ignore[index]  # it is nested


async def test_bad_arguments_never_reach_an_extension_below_900() -> None:
    seen = [Recording("at 1000", priority=1000), Recording("at 900", priority=900), Recording("at 899", priority=899)]
    executor = an_executor(specs=[strict()], extensions=seen)

    await executor.try_execute("echo", {"a": "x"})

    assert [each.log for each in seen] == [["at 1000 in"], ["at 900 in"], []]
    assert [each.event_types for each in seen] == [["tool.denied"]] * 3


async def test_an_extension_from_900_up_sees_the_arguments_as_given_and_one_below_sees_them_whole() -> None:
    class Seeing(Extension):
        def __init__(self, priority: int) -> None:
            super().__init__(priority=priority)
            self.name = str(priority)
            self.seen: dict[str, Any] = {"never": "called"}

        async def before_execute(self, ctx: CallContext) -> None:
            self.seen = ctx.args

    early, late = Seeing(900), Seeing(899)

    await an_executor(specs=[a_spec(input_schema=DEFAULTS)], extensions=[late, early]).execute("echo", {"a": 1})

    assert (early.seen, late.seen) == ({"a": 1}, {"a": 1, "b": 5})


async def test_what_an_extension_from_900_up_put_in_is_validated() -> None:
    class Breaking(Extension):
        async def before_execute(self, ctx: CallContext) -> CallContext:
            return ctx.with_args({"a": "x"})

    executor = an_executor(specs=[strict()], extensions=[Breaking(priority=1000)])

    with pytest.raises(ToolValidationError):
        await executor.execute("echo", {"a": 1})


def test_arguments_can_be_checked_without_a_call() -> None:
    executor = an_executor(specs=[a_spec(input_schema=DEFAULTS)])

    assert executor.validate_args("echo", {"a": 1}) == {"a": 1, "b": 5}
    with pytest.raises(ToolValidationError):
        executor.validate_args("echo", {"a": "x"})
    with pytest.raises(ToolNotFoundError):
        executor.validate_args("eco", {})


def test_nothing_is_required_by_accident() -> None:
    executor = an_executor(
        specs=[a_spec("lax", input_schema=numbers()), a_spec("exact", input_schema=numbers("a", "b"))]
    )

    assert executor.validate_args("lax", {"a": 1}) == {"a": 1}
    with pytest.raises(ToolValidationError):
        executor.validate_args("exact", {"a": 1})
