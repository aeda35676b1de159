"""ToolResult: how a call ended, whatever happened."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any, Literal

from pydantic import Field
from pydantic_core import from_json, to_json

from toolgate.errors import Outcome, ToolError
from toolgate.spec import Noun

LONGEST_MESSAGE = 10_000
Status = Literal["ok", "failed", "timeout", "cancelled", "denied", "pending"]


class ErrorInfo(Noun):
    """What went wrong, in a form that travels."""

    error_type: str = Field(description="TIMEOUT, AUTH_FAILURE, VALIDATION_ERROR, EXECUTION_ERROR or NOT_FOUND.")
    code: str = Field(description="The finer, stable code; HTTP status and exit code follow from it.")
    message: str = Field(description="What happened, in words.")
    tool_name: str | None = None
    retryable: bool = Field(False, description="Whether the same call may succeed later.")
    outcome: Outcome = Field("not_done", description="Whether the tool took effect.")
    hint: str = Field("", description="What to do about it.")
    field: str | None = Field(None, description="The argument at fault.")
    retry_after: float | None = Field(None, description="Seconds to wait before the next try.")

    @classmethod
    def of(cls, error: ToolError) -> ErrorInfo:
        """Return what travels of `error`; its cause and stack stay behind."""
        return cls(
            error_type=error.error_type.value,
            code=error.code,
            message=error.message,
            tool_name=error.tool_name,
            retryable=error.retryable,
            outcome=error.outcome,
            hint=error.hint,
            field=getattr(error, "field", None),
            retry_after=getattr(error, "retry_after", None),
        )


class ToolResult(Noun):
    """The outcome of one call."""

    status: Status = Field(description="ok, failed, timeout, cancelled, denied (never reached the tool) or pending.")
    output: Any = Field(None, description="What the tool returned.")
    error: ErrorInfo | None = Field(None, description="What went wrong, unless the status is ok.")
    call_id: str = Field("", description="The id this call's events carry.")
    duration_ms: float = Field(0.0, description="Milliseconds from asking to answering.")
    attempts: int = Field(1, description="How often the tool was tried.")
    cached: bool = Field(False, description="Whether the answer came without running the tool.")
    truncated: bool = Field(False, description="Whether the output was cut at the hard cap.")

    @property
    def ok(self) -> bool:
        """Whether the call succeeded."""
        return self.status == "ok"

    def with_output(self, output: Any) -> ToolResult:
        """Return the same result with another output."""
        return self.model_copy(update={"output": output})

    def to_wire(self) -> dict[str, Any]:
        """Return the result as JSON-safe data."""
        data = self.model_dump(exclude={"output"}, mode="json")
        return {**data, "output": jsonable(self.output)}

    def for_agent(self) -> str:
        """Return what a model should read: the output as text, or what went wrong and what to do about it."""
        if self.error is not None:
            return f"{self.error.code}: {self.error.message}" + (f"\n{self.error.hint}" if self.error.hint else "")
        value = jsonable(self.output)
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def jsonable(value: Any) -> Any:
    """Return a copy of `value` as plain JSON data; what JSON cannot hold becomes text, so nothing is lost silently."""
    try:
        return from_json(to_json(value, inf_nan_mode="strings", fallback=_shown))
    except Exception:  # whatever a foreign object raises while it is looked at
        return _shown(value)


def _shown(value: Any) -> str:
    try:
        return as_text(value if isinstance(value, str) else repr(value))
    except Exception:  # a repr may raise anything
        return object.__repr__(value)


def as_text(text: str) -> str:
    """Return `text` as it is, but for lone surrogates, which no encoding can carry: they are spelled out."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def shortened(text: str) -> str:
    """Return `text`, cut with a note of its length when it is longer than any message needs to be."""
    return text if len(text) <= LONGEST_MESSAGE else f"{text[:LONGEST_MESSAGE]}… ({len(text):,} characters)"


def told(error: BaseException) -> str:
    """Return what `error` says; its name when it says nothing."""
    try:
        text = as_text(str(error))
    except Exception:  # a foreign __str__ may raise anything
        text = ""
    return text or type(error).__name__


_CONTAINERS = (list, tuple, set, frozenset)
_SMALL = (int, float, type(None))


def size_up_to(limit: int, value: Any) -> int:
    """Return the bytes `value` takes as JSON, near enough, counting no further than past `limit`.

    Raises:
        TypeError: It holds an iterator, which is not a value.
    """
    size, waiting = 0, [value]
    while waiting and size <= limit:
        item = waiting.pop()
        if isinstance(item, str):
            size += len(item) if item.isascii() else len(item.encode("utf-8", "surrogatepass"))
        elif isinstance(item, _SMALL):
            size += 8
        elif isinstance(item, dict):
            size += 4 * len(item)
            waiting.extend(item.keys())
            waiting.extend(item.values())
        elif isinstance(item, _CONTAINERS):
            size += len(item)
            waiting.extend(item)
        elif isinstance(item, bytes | bytearray):
            size += len(item)
        elif isinstance(item, Iterator | AsyncIterator):
            # Reading it here would take it from the caller, and it may never end.
            raise TypeError(f"it holds a {type(item).__name__}, which is not a value; return a list")
        else:
            waiting.append(jsonable(item))
    return size
