"""How a call ended, in a form that travels whatever is in it."""

import json
import pickle
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from toolgate import ErrorInfo, RateLimitedError, ToolError, ToolResult, ToolValidationError
from toolgate.result import as_text, jsonable, told

ERROR = ErrorInfo(
    error_type="TIMEOUT",
    code="timeout",
    message="too slow",
    tool_name="sum",
    retryable=True,
    outcome="unknown",
    hint="wait",
    field="a",
    retry_after=1.5,
)


@dataclass
class Point:
    x: int


class Model(BaseModel):
    y: int


class Foreign:
    def __repr__(self) -> str:
        return "<foreign>"


class Mute:
    """Refuses to be looked at."""

    def __repr__(self) -> str:
        raise KeyError("no")

    __str__ = __repr__


class MuteError(Exception):
    def __str__(self) -> str:
        raise KeyError("no")


@pytest.mark.parametrize(
    "noun",
    [
        ERROR,
        ToolResult(status="ok"),
        ToolResult(
            status="failed",
            output={"a": [1, 2.5, None, True, "ü"]},
            error=ERROR,
            call_id="1",
            duration_ms=1.5,
            attempts=2,
            cached=True,
            truncated=True,
        ),
    ],
    ids=["error", "bare", "full"],
)
def test_a_result_survives_json_and_pickle(noun: ToolResult | ErrorInfo) -> None:
    assert type(noun).model_validate_json(noun.model_dump_json()) == noun
    assert pickle.loads(pickle.dumps(noun)) == noun


def test_a_result_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        ToolResult(status="ok").output = 1  # type: ignore[misc]  # that is what is tested


def test_a_status_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValidationError):
        ToolResult.model_validate({"status": "fine"})


def test_only_ok_is_ok() -> None:
    assert ToolResult(status="ok").ok
    assert not any(ToolResult(status=status).ok for status in ("failed", "timeout", "cancelled", "denied", "pending"))


def test_another_output_leaves_the_first_result_as_it_was() -> None:
    first = ToolResult(status="ok", output=1, call_id="1")
    second = first.with_output(2)

    assert (first.output, second.output, second.call_id) == (1, 2, "1")


def test_what_travels_of_an_error_is_all_but_its_cause() -> None:
    info = ErrorInfo.of(ToolValidationError("bad", field="a.b", tool_name="sum", hint="look", retryable=True))

    assert info == ErrorInfo(
        error_type="VALIDATION_ERROR",
        code="invalid_arguments",
        message="bad",
        tool_name="sum",
        retryable=True,
        hint="look",
        field="a.b",
    )
    assert ErrorInfo.of(RateLimitedError("slow down", retry_after=3)).retry_after == 3
    assert ErrorInfo.of(ToolError("x", outcome="unknown", code="own")).model_dump(include={"outcome", "code"}) == {
        "outcome": "unknown",
        "code": "own",
    }


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


def in_itself() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


PLAIN = [
    (None, None),
    (True, True),
    (1, 1),
    (2.5, 2.5),
    ("ü", "ü"),
    ([1, [2]], [1, [2]]),
    ({"a": {"b": None}}, {"a": {"b": None}}),
    ((1, 2), [1, 2]),
    ({1: 2}, {"1": 2}),
    (Point(1), {"x": 1}),
    (Model(y=2), {"y": 2}),
    (datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00Z"),
    (Path("/srv"), "/srv"),
    (Decimal("1.50"), "1.50"),
    (b"text", "text"),
    (b"\xff", "b'\\xff'"),
    (float("nan"), "NaN"),
    ([float("inf"), float("-inf")], ["Infinity", "-Infinity"]),
    ("\ud800", "\\ud800"),
    ({"\udcff": 1}, "{'\\udcff': 1}"),
    (Foreign(), "<foreign>"),
    ({"a": Foreign()}, {"a": "<foreign>"}),
    (10**100, 10**100),
]


@pytest.mark.parametrize(("value", "plain"), PLAIN, ids=lambda value: ascii(value)[:30])
def test_any_value_becomes_plain_json(value: Any, plain: Any) -> None:
    result = ToolResult(status="ok", output=value)

    assert jsonable(value) == plain
    assert json.loads(json.dumps(result.to_wire(), allow_nan=False))["output"] == plain
    assert result.for_agent().encode("utf-8")


@pytest.mark.parametrize("value", [Mute(), [Mute()], 10**5000, {"n": 10**5000}, in_itself(), nested(100_000)], ids=type)
def test_a_value_that_nothing_can_show_becomes_text_all_the_same(value: Any) -> None:
    wire = ToolResult(status="ok", output=value).to_wire()

    assert json.dumps(wire, allow_nan=False).encode("utf-8")
    assert ToolResult(status="ok", output=value).for_agent()


def test_the_json_of_a_value_is_a_copy() -> None:
    value = {"a": [1]}

    jsonable(value)["a"].append(2)

    assert value == {"a": [1]}


def test_the_wire_form_has_every_field() -> None:
    assert ToolResult(status="denied", error=ERROR).to_wire() == {
        "status": "denied",
        "output": None,
        "error": ERROR.model_dump(),
        "call_id": "",
        "duration_ms": 0.0,
        "attempts": 1,
        "cached": False,
        "truncated": False,
    }


def test_an_agent_reads_text_as_it_is_and_the_rest_as_json() -> None:
    assert ToolResult(status="ok", output="3 files\n").for_agent() == "3 files\n"
    assert ToolResult(status="ok", output={"ü": [1, None]}).for_agent() == '{"ü": [1, null]}'
    assert ToolResult(status="ok").for_agent() == "null"


def test_an_agent_reads_what_went_wrong_and_what_to_do() -> None:
    silent = ERROR.model_copy(update={"hint": ""})

    assert ToolResult(status="timeout", error=ERROR).for_agent() == "timeout: too slow\nwait"
    assert ToolResult(status="timeout", error=silent).for_agent() == "timeout: too slow"


def test_an_error_tells_its_text_or_else_its_name() -> None:
    assert told(ValueError("no")) == "no"
    assert told(ValueError()) == "ValueError"
    assert told(ValueError("\ud800")) == "\\ud800"
    assert told(MuteError()) == "MuteError"


def test_text_keeps_everything_but_lone_surrogates() -> None:
    assert [as_text(text) for text in ("plain", "ü😀", "a\ud83d")] == ["plain", "ü😀", "a\\ud83d"]
