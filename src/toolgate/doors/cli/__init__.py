"""The command line, `toolgate COMMAND`: it parses what was typed, hands it to the gateway and renders the answer.

`main` starts it, `app` knows the commands, each command has a file of its own. Nothing but the command that was typed
is imported, so that `--help` and `--version` come at once.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Sequence

SECONDS_TO_END = 0.2


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line, that of this process unless `argv` is given, and return its exit code."""
    if argv is None:
        return _leave(_run(sys.argv[1:]))
    return _run(argv)


def _run(words: Sequence[str]) -> int:
    if list(words) == ["--version"]:
        from toolgate import __version__

        print(f"toolgate {__version__}")
        return 0
    from toolgate.doors.cli.app import run

    return run(words)


def _leave(code: int) -> int:
    """Return `code`, or end the process with it at once where returning would take for ever."""
    # A tool that was given up on may sit in a thread; the interpreter would wait for it before it exits.
    others = [thread for thread in threading.enumerate() if not thread.daemon and thread is not threading.main_thread()]
    for thread in others:
        thread.join(SECONDS_TO_END / len(others))
    if any(thread.is_alive() for thread in others):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code
