"""How a command ends: the exit codes, and which one an error becomes."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """What a script can tell from `$?`."""

    OK = 0
    FAILED = 1
    USAGE = 2
    NOT_FOUND = 3
    DENIED = 4
    TIMEOUT = 5
    UNAVAILABLE = 6
    CONFIG = 78
    INTERRUPTED = 130


MEANING = {
    Exit.OK: "ok",
    Exit.FAILED: "the tool failed, or problems were found",
    Exit.USAGE: "wrong usage, or bad arguments",
    Exit.NOT_FOUND: "no such tool",
    Exit.DENIED: "denied: permission or approval is missing",
    Exit.TIMEOUT: "the tool did not answer in time",
    Exit.UNAVAILABLE: "the tool cannot be run here, or not now",
    Exit.CONFIG: "the configuration must be mended",
    Exit.INTERRUPTED: "interrupted (Ctrl-C)",
}

_BY_CODE = {
    "approval_required": Exit.DENIED,
    "cancelled": Exit.INTERRUPTED,
    "invalid_arguments": Exit.USAGE,
    "not_found": Exit.NOT_FOUND,
    "overloaded": Exit.UNAVAILABLE,
    "permission_denied": Exit.DENIED,
    "rate_limited": Exit.UNAVAILABLE,
    "timeout": Exit.TIMEOUT,
    "unavailable": Exit.UNAVAILABLE,
}
# For codes that are newer than this table.
_BY_TYPE = {"AUTH_FAILURE": Exit.DENIED, "NOT_FOUND": Exit.NOT_FOUND, "TIMEOUT": Exit.TIMEOUT}


def exit_for(code: str, error_type: str) -> Exit:
    """Return the exit code of a tool error."""
    return _BY_CODE.get(code) or _BY_TYPE.get(error_type, Exit.FAILED)


class CommandError(Exception):
    """A command that cannot be carried out as typed; shown as one line, never as a stack trace."""

    def __init__(self, message: str, *, hint: str = "", code: str = "usage", status: Exit = Exit.USAGE) -> None:
        super().__init__(message)
        self.message, self.hint, self.code, self.status = message, hint, code, status
