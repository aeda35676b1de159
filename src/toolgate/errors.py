"""Every error toolgate raises, and who must act on it.

ToolgateError
├── ConfigError                 the operator must fix a file; raised only while loading; carries problems, places
└── ToolError                   the caller can act on it; becomes a result; carries tool_name, error_type, code,
    │                           retryable, outcome, hint
    ├── ToolNotFoundError       no such tool, or none this caller may see
    ├── ToolValidationError     arguments or output break the schema (field)
    ├── ToolPermissionError     a permission is missing, or the agent is read-only
    ├── ApprovalRequiredError   a person must agree first
    ├── ToolUnavailableError    the spec is fine, but nothing here can run it
    ├── ToolTimeoutError        it took too long
    ├── ToolCancelledError      the caller gave up
    ├── ToolExecutionError      the tool itself failed (cause)
    ├── ExtensionError          an extension broke, so the call was stopped (cause)
    ├── RateLimitedError        too many calls (retry_after)
    ├── ToolRegistrationError   a spec cannot be registered
    ├── MCPToolError ── MCPConnectionError (server_url)
    └── SkillError ── SkillLoadError, SkillNotFoundError, SkillAlreadyLoadedError
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import islice
from typing import Any, ClassVar, Literal

Outcome = Literal["done", "not_done", "unknown"]
LONGEST_WORD = 128
MOST_COMPARED = 2_000


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in a file; lines and columns count from 1."""

    file: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        return ":".join(str(part) for part in (_from_here(self.file), self.line, self.column) if part is not None)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a file: what, where, and how to mend it."""

    message: str
    place: Place | None = None
    path: str = ""
    hint: str = ""

    def __post_init__(self) -> None:
        # Parts of hostile files end up in these: none may forge a line, move a terminal's cursor or fill the screen.
        for name, most in (("message", 500), ("path", 200), ("hint", 500)):
            object.__setattr__(self, name, one_line(getattr(self, name), most))

    def __str__(self) -> str:
        where = f"{self.place}  " if self.place else ""
        path = f"{self.path}: " if self.path else ""
        hint = f"; {self.hint}" if self.hint else ""
        return f"{where}{path}{self.message}{hint}"

    def to_dict(self) -> dict[str, Any]:
        """Return the problem as plain data."""
        place = self.place or Place("")
        return {
            "file": _from_here(place.file) or None,
            "line": place.line,
            "column": place.column,
            "path": self.path,
            "message": self.message,
            "hint": self.hint,
        }


class ToolErrorType(StrEnum):
    """The five coarse kinds of tool error that agents branch on."""

    TIMEOUT = "TIMEOUT"
    AUTH_FAILURE = "AUTH_FAILURE"
    VALIDATION_ERROR = "VALIDATION_ERROR"
    EXECUTION_ERROR = "EXECUTION_ERROR"
    NOT_FOUND = "NOT_FOUND"


class ToolgateError(Exception):
    """The base of every error toolgate raises."""


class ConfigError(ToolgateError):
    """Files that cannot be used as they are; `problems` lists everything found wrong."""

    def __init__(self, problems: Sequence[Problem] | str, place: Place | None = None) -> None:
        self.problems = (Problem(problems, place),) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class ToolError(ToolgateError):
    """Something about one call, or one tool, that its caller can act on."""

    error_type: ClassVar[ToolErrorType] = ToolErrorType.EXECUTION_ERROR
    default_code: ClassVar[str] = "execution_failed"
    default_outcome: ClassVar[Outcome] = "not_done"
    is_user_error: ClassVar[bool] = False

    def __init__(
        self,
        message: str,
        *,
        tool_name: str | None = None,
        code: str | None = None,
        retryable: bool = False,
        outcome: Outcome | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.tool_name = tool_name
        self.code = code or self.default_code
        self.retryable = retryable
        self.outcome: Outcome = outcome or self.default_outcome
        self.hint = hint

    def __str__(self) -> str:
        return f"[{self.tool_name}] {self.message}" if self.tool_name else self.message

    def to_dict(self) -> dict[str, Any]:
        """Return the error as plain data, the form agents see."""
        return {
            "success": False,
            "error_type": self.error_type.value,
            "code": self.code,
            "message": self.message,
            "tool_name": self.tool_name,
            "retryable": self.retryable,
            "outcome": self.outcome,
            "recovery_hint": self.hint,
        }


class ToolNotFoundError(ToolError):
    """No such tool, or none this caller may see."""

    error_type = ToolErrorType.NOT_FOUND
    default_code = "not_found"
    is_user_error = True


class ToolValidationError(ToolError):
    """Arguments, or a tool's output, that break the schema; `field` names the first part at fault."""

    error_type = ToolErrorType.VALIDATION_ERROR
    default_code = "invalid_arguments"
    is_user_error = True

    def __init__(self, message: str, *, field: str | None = None, **details: Any) -> None:
        super().__init__(message, **details)
        self.field = field


class ToolPermissionError(ToolError):
    """The caller lacks a permission the tool needs, or may only read."""

    error_type = ToolErrorType.AUTH_FAILURE
    default_code = "permission_denied"
    is_user_error = True


class ApprovalRequiredError(ToolPermissionError):
    """A person must approve this call before it may run."""

    default_code = "approval_required"


class ToolUnavailableError(ToolError):
    """The tool is known, but nothing here can run it; the message says why."""

    default_code = "unavailable"


class ToolTimeoutError(ToolError):
    """The tool did not answer in time; whether it took effect is unknown unless it is pure."""

    error_type = ToolErrorType.TIMEOUT
    default_code = "timeout"
    default_outcome = "unknown"


class ToolCancelledError(ToolError):
    """The caller cancelled the call while it ran."""

    default_code = "cancelled"
    default_outcome = "unknown"


class _CausedError(ToolError):
    def __init__(self, message: str, *, cause: BaseException | None = None, **details: Any) -> None:
        super().__init__(message, **details)
        self.cause = cause


class ToolExecutionError(_CausedError):
    """The tool itself failed; `cause` is what it raised."""

    default_outcome = "unknown"


class ExtensionError(_CausedError):
    """An extension broke, so the call was stopped; `cause` is what it raised."""

    default_code = "extension_failed"


class RateLimitedError(ToolError):
    """Too many calls; try again after `retry_after` seconds."""

    default_code = "rate_limited"

    def __init__(self, message: str, *, retry_after: float, **details: Any) -> None:
        super().__init__(message, **{"retryable": True, **details})
        self.retry_after = retry_after


class ToolRegistrationError(ToolError):
    """A spec that cannot be registered: broken, vetoed, or its name is taken; `problems` lists what was found."""

    default_code = "registration"
    is_user_error = True

    def __init__(self, message: str, *, problems: Sequence[Problem] = (), **details: Any) -> None:
        super().__init__(message, **details)
        self.problems = tuple(problems)


class MCPToolError(ToolError):
    """An MCP server's tool failed."""


class MCPConnectionError(MCPToolError):
    """The MCP server at `server_url` cannot be reached."""

    def __init__(self, message: str, *, server_url: str, **details: Any) -> None:
        super().__init__(message, **details)
        self.server_url = server_url


class SkillError(ToolError):
    """The base of what can go wrong with a skill."""


class SkillLoadError(SkillError):
    """The skill cannot be loaded."""


class SkillNotFoundError(SkillError):
    """There is no such skill."""

    error_type = ToolErrorType.NOT_FOUND
    default_code = "not_found"


class SkillAlreadyLoadedError(SkillError):
    """The skill is loaded already."""


def one_line(text: str, most: int) -> str:
    """Return `text` on one line, cut to `most` characters, with what cannot be printed escaped."""
    text = text if len(text) <= most else f"{text[: most - 1]}…"
    return text if text.isprintable() else "".join(char if char.isprintable() else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def _from_here(file: str) -> str:
    try:
        return one_line(file.removeprefix(os.path.join(os.getcwd(), "")), 4096)
    except FileNotFoundError:  # the working directory was removed
        return one_line(file, 4096)


def nearest(word: str, known: Iterable[str], cutoff: float = 0.75) -> str | None:
    """Return the known word most like `word`, or None when nothing is close."""
    if len(word) > LONGEST_WORD:
        return None
    word, letters = word.lower(), set(word.lower())
    like = {}
    # Words come from strangers and comparing two is slow: only like lengths with mostly the same letters get that far.
    for option in islice(known, MOST_COMPARED):
        needed = cutoff * (len(word) + len(option)) / 2
        if len(option) >= needed <= len(word) and len(word) - len(letters - _letters(option)) >= needed:
            like[option.lower()] = option
    close = difflib.get_close_matches(word, like, n=1, cutoff=cutoff) if like else []
    return like[close[0]] if close else None


@lru_cache(maxsize=4_096)
def _letters(option: str) -> frozenset[str]:
    return frozenset(option.lower())


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint naming the known word nearest to `word`, or an empty string."""
    match = nearest(word, known)
    return f'did you mean "{match}"?' if match else ""
