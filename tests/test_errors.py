"""Errors say who must act and where, and nothing a stranger wrote can garble what they say."""

import difflib
import itertools
import random
from pathlib import Path

import pytest

from toolgate import errors
from toolgate.errors import (
    ApprovalRequiredError,
    ConfigError,
    ExtensionError,
    MCPConnectionError,
    MCPToolError,
    Place,
    Problem,
    RateLimitedError,
    SkillAlreadyLoadedError,
    SkillError,
    SkillLoadError,
    SkillNotFoundError,
    ToolCancelledError,
    ToolError,
    ToolErrorType,
    ToolExecutionError,
    ToolgateError,
    ToolNotFoundError,
    ToolPermissionError,
    ToolRegistrationError,
    ToolTimeoutError,
    ToolUnavailableError,
    ToolValidationError,
    did_you_mean,
    nearest,
    one_line,
)
from toolgate.spec import ToolMetadata

# class -> error_type, code, outcome, whose fault
TABLE: dict[type[ToolError], tuple[str, str, str, bool]] = {
    ToolError: ("EXECUTION_ERROR", "execution_failed", "not_done", False),
    ToolNotFoundError: ("NOT_FOUND", "not_found", "not_done", True),
    ToolValidationError: ("VALIDATION_ERROR", "invalid_arguments", "not_done", True),
    ToolPermissionError: ("AUTH_FAILURE", "permission_denied", "not_done", True),
    ApprovalRequiredError: ("AUTH_FAILURE", "approval_required", "not_done", True),
    ToolUnavailableError: ("EXECUTION_ERROR", "unavailable", "not_done", False),
    ToolTimeoutError: ("TIMEOUT", "timeout", "unknown", False),
    ToolCancelledError: ("EXECUTION_ERROR", "cancelled", "unknown", False),
    ToolExecutionError: ("EXECUTION_ERROR", "execution_failed", "unknown", False),
    ExtensionError: ("EXECUTION_ERROR", "extension_failed", "not_done", False),
    ToolRegistrationError: ("EXECUTION_ERROR", "registration", "not_done", True),
    MCPToolError: ("EXECUTION_ERROR", "execution_failed", "not_done", False),
    SkillError: ("EXECUTION_ERROR", "execution_failed", "not_done", False),
    SkillLoadError: ("EXECUTION_ERROR", "execution_failed", "not_done", False),
    SkillNotFoundError: ("NOT_FOUND", "not_found", "not_done", False),
    SkillAlreadyLoadedError: ("EXECUTION_ERROR", "execution_failed", "not_done", False),
}


@pytest.mark.parametrize(("kind", "expected"), TABLE.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_each_kind_of_tool_error_has_its_type_code_outcome_and_fault(
    kind: type[ToolError], expected: tuple[str, str, str, bool]
) -> None:
    error = kind("it broke", tool_name="echo", hint="mend it")

    assert (error.error_type, error.code, error.outcome, error.is_user_error) == expected
    assert error.to_dict() == {
        "success": False,
        "error_type": expected[0],
        "code": expected[1],
        "message": "it broke",
        "tool_name": "echo",
        "retryable": False,
        "outcome": expected[2],
        "recovery_hint": "mend it",
    }
    assert str(error) == "[echo] it broke"


def test_every_tool_error_is_in_the_table_and_in_the_drawing() -> None:
    defined = {value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, ToolgateError)}
    own = {value for value in defined if not value.__name__.startswith("_")}

    assert own - set(TABLE) == {ToolgateError, ConfigError, RateLimitedError, MCPConnectionError}
    assert [value.__name__ for value in own if value.__name__ not in str(errors.__doc__)] == []


def test_an_error_may_give_its_own_code_outcome_and_say_that_trying_again_helps() -> None:
    error = ToolError("busy", code="overloaded", outcome="done", retryable=True)

    assert (error.code, error.outcome, error.retryable, error.tool_name) == ("overloaded", "done", True, None)
    assert str(error) == "busy"


def test_errors_carry_what_their_reader_needs() -> None:
    cause = ValueError("inner")

    assert ToolExecutionError("x", cause=cause).cause is cause
    assert ExtensionError("x", cause=cause, tool_name="t").cause is cause
    assert ToolValidationError("x", field="a.b").field == "a.b"
    assert MCPConnectionError("x", server_url="http://h/mcp").server_url == "http://h/mcp"
    assert ToolRegistrationError("x", problems=[Problem("p")]).problems == (Problem("p"),)


def test_a_rate_limit_says_when_to_come_back_and_is_retryable_unless_told_otherwise() -> None:
    limited = RateLimitedError("slow down", retry_after=1.5)

    assert (limited.retry_after, limited.retryable, limited.code) == (1.5, True, "rate_limited")
    assert not RateLimitedError("never", retry_after=0, retryable=False).retryable


def test_the_coarse_types_are_the_five_that_agents_branch_on() -> None:
    assert [kind.value for kind in ToolErrorType] == [
        "TIMEOUT",
        "AUTH_FAILURE",
        "VALIDATION_ERROR",
        "EXECUTION_ERROR",
        "NOT_FOUND",
    ]


def test_a_place_is_written_the_way_editors_open_it() -> None:
    assert str(Place("tools.yaml", 14, 7)) == "tools.yaml:14:7"
    assert str(Place("tools.yaml", 14)) == "tools.yaml:14"
    assert str(Place("tools.yaml")) == "tools.yaml"


def test_a_place_below_the_working_directory_is_written_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert str(Place(str(tmp_path / "a" / "tools.yaml"), 1, 2)) == "a/tools.yaml:1:2"
    assert str(Place("/elsewhere/tools.yaml", 1, 2)) == "/elsewhere/tools.yaml:1:2"
    assert Problem("x", Place(str(tmp_path / "t.yaml"))).to_dict()["file"] == "t.yaml"


def test_a_place_can_be_written_when_the_working_directory_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    assert str(Place("/a/tools.yaml", 1, 2)) == "/a/tools.yaml:1:2"


def test_a_problem_is_one_line_with_its_place_path_message_and_hint() -> None:
    problem = Problem("no such key", Place("tools.yaml", 14, 7), "tools[3].x", 'did you mean "y"?')

    assert str(problem) == 'tools.yaml:14:7  tools[3].x: no such key; did you mean "y"?'
    assert str(Problem("no such key")) == "no such key"
    assert problem.to_dict() == {
        "file": "tools.yaml",
        "line": 14,
        "column": 7,
        "path": "tools[3].x",
        "message": "no such key",
        "hint": 'did you mean "y"?',
    }
    assert Problem("x").to_dict()["file"] is None


@pytest.mark.parametrize("char", ["\n", "\r", "\x1b", "\x00", "\x7f", "\x85", "\u2028", "\u202e", "\u200b", "\ud800"])
def test_nothing_in_a_problem_can_start_a_line_move_the_cursor_or_turn_the_text_around(char: str) -> None:
    hostile = f"a{char}b"
    problem = Problem(hostile, Place(hostile, 1, 1), hostile, hostile)

    assert char not in str(problem)
    assert str(problem).isprintable()
    assert str(problem).encode("utf-8")


def test_a_problem_is_never_longer_than_a_screen() -> None:
    problem = Problem("m" * 10**6, None, "p" * 10**6, "h" * 10**6)

    assert len(str(problem)) < 1_300
    assert problem.message.endswith("…")


def test_text_that_fits_is_left_alone() -> None:
    assert one_line("grüße „x“ 日本", 60) == "grüße „x“ 日本"
    assert one_line("abc", 3) == "abc"
    assert one_line("abcd", 3) == "ab…"


def test_a_config_error_lists_one_problem_a_line() -> None:
    error = ConfigError([Problem("first", Place("a.yaml", 1, 1)), Problem("second\nforged", Place("a.yaml", 2, 1))])

    assert str(error).splitlines() == ["a.yaml:1:1  first", r"a.yaml:2:1  second\nforged"]
    assert ConfigError("alone", Place("b.yaml")).problems == (Problem("alone", Place("b.yaml")),)


@pytest.mark.parametrize(
    ("word", "known", "match"),
    [
        ("requires_aproval", ["requires_approval", "retries"], "requires_approval"),
        ("REQUIRES_APPROVAL", ["requires_approval"], "requires_approval"),
        ("tool", ["Tools", "tags"], "Tools"),
        ("zebra", ["tools", "tags"], None),
        ("", ["tools"], None),
        ("tools", [], None),
        ("x" * 129, ["x" * 129], None),
        ("a", ["a" * 1000], None),
    ],
)
def test_the_nearest_word_is_found_or_none(word: str, known: list[str], match: str | None) -> None:
    assert nearest(word, known) == match


def test_a_hint_names_the_word_that_was_meant_or_says_nothing() -> None:
    assert did_you_mean("tols", ["tools"]) == 'did you mean "tools"?'
    assert did_you_mean("zebra", ["tools"]) == ""


def misspelt(word: str, rolls: random.Random) -> str:
    letters = list(word)
    for _ in range(rolls.randint(1, 4)):
        at = rolls.randrange(len(letters) + 1)
        letters[at : at + rolls.randint(0, 1)] = rolls.choices("abcdefgh_xyz", k=rolls.randint(0, 2))
    return "".join(letters)


def test_the_shortcuts_to_the_nearest_word_never_change_the_answer() -> None:
    rolls = random.Random(4)
    known = list(ToolMetadata.model_fields)
    words = [misspelt(word, rolls) for word in known for _ in range(40)]

    slow = {word: difflib.get_close_matches(word, known, n=1, cutoff=0.75) for word in words}

    assert [word for word in words if nearest(word, known) != next(iter(slow[word]), None)] == []
    assert any(slow.values())


def test_looking_for_the_nearest_word_gives_up_on_endless_choices() -> None:
    endless = (f"name{number}" for number in itertools.count())

    assert nearest("name5x", endless) is not None
