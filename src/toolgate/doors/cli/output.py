"""What the commands print: values and JSON on standard output, everything said about them on standard error.

A pipe gets no colour and no wrapping. A terminal never gets a control character that came from a tool.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from toolgate.errors import Problem

# Control characters could repaint a terminal, and the bidirectional ones reorder what is read.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def prepare_streams() -> None:
    """Make both streams write characters their encoding lacks as escapes instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def silence_stdout() -> None:
    """Send what is still buffered nowhere: whoever was reading is gone."""
    # Not every stand-in for standard output has a descriptor.
    with suppress(io.UnsupportedOperation):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def is_terminal(stream: TextIO) -> bool:
    """Return whether a person reads `stream`."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def safe(text: str) -> str:
    """Return `text` with control characters spelt out; newlines and tabs stay."""
    return _UNSAFE.sub(lambda match: match.group().encode("unicode_escape").decode(), text)


def one_line(text: str) -> str:
    """Return `text` safe, on one line."""
    return " ".join(safe(text).split())


def to_json(value: Any, *, indent: int | None = None) -> str:
    """Return `value` as JSON that standard output can carry whatever its encoding."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
    return json.dumps(value, ensure_ascii=not unicode, indent=indent)


def to_yaml(value: Any) -> str:
    """Return `value` as the YAML a person would write."""
    import yaml

    columns = room()
    flat = isinstance(value, dict) and not any(isinstance(item, dict | list) for item in value.values())
    text: str = yaml.safe_dump(
        value,
        sort_keys=False,
        allow_unicode=True,
        width=columns - 4 if columns else sys.maxsize,
        # Inner mappings are short enough for one line each; the outermost is not.
        default_flow_style=False if flat else None,
    )
    return text.rstrip()


def print_json(value: Any) -> None:
    """Print `value` as JSON: indented for a person, on one line for a program."""
    if is_terminal(sys.stdout):
        print(_UNSAFE.sub(lambda match: f"\\u{ord(match.group()):04x}", to_json(value, indent=2)))
    else:
        print(to_json(value))


def print_value(value: Any) -> None:
    """Print what a tool returned: text as it is, anything else as JSON."""
    if not isinstance(value, str):
        print_json(value)
    else:
        print(safe(value) if is_terminal(sys.stdout) else value)


def print_rows(rows: Sequence[Sequence[str]], *, indent: str = "") -> None:
    """Print rows in columns, each as wide as its widest cell, nothing cut."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print((indent + "  ".join(cells)).rstrip())


def room() -> int | None:
    """Return how many columns the terminal has; None for a pipe, which has room for anything."""
    return shutil.get_terminal_size().columns if is_terminal(sys.stdout) else None


def wrapped(text: str, hang: int) -> str:
    """Return `text` on as many lines as the terminal needs, all but the first indented by `hang`."""
    columns = room()
    if columns is None:
        return text
    lines = textwrap.wrap(safe(text), max(columns - hang, 20), break_on_hyphens=False) or [""]
    return f"\n{' ' * hang}".join(lines)


def shortened(text: str, width: int) -> str:
    """Return `text` cut to `width`, with dots where something is missing."""
    return text if len(text) <= width else f"{text[: max(width - 3, 1)].rstrip()}..."


def say(parts: Iterable[tuple[str, str]], stream: TextIO | None = None) -> None:
    """Print one line made of (text, style) parts; styles show on a terminal only."""
    stream = stream or sys.stdout
    line = [(safe(text), style) for text, style in parts]
    if is_terminal(stream):
        _print_styled(line, stream)
    else:
        print("".join(text for text, _ in line), file=stream)


def _print_styled(line: list[tuple[str, str]], stream: TextIO) -> None:
    from rich.console import Console
    from rich.text import Text

    # The terminal itself breaks long lines, so that a path copied from one is whole.
    Console(file=stream, highlight=False, soft_wrap=True).print(Text.assemble(*line))


def complain(message: str, *, code: str, hint: str = "", error_type: str = "") -> None:
    """Print an error, and what to do about it, on standard error."""
    kind = [(f" ({error_type})", "dim")] if error_type else []
    say([(f"error[{code}]: ", "bold red"), (message, ""), *kind], sys.stderr)
    if hint:
        say([("hint: ", "bold cyan"), (hint, "")], sys.stderr)


def say_problem(problem: Problem, label: tuple[str, str] | None = None) -> None:
    """Print one problem: its place, what is wrong, and how to mend it; a labelled one goes to standard error."""
    place = [(str(problem.place), "bold"), ("  ", "")] if problem.place else []
    path = [(f"{problem.path}: ", "cyan")] if problem.path else []
    hint = [(f"; {problem.hint}", "dim")] if problem.hint else []
    start = [label] if label else []
    say([*start, *place, *path, (problem.message, ""), *hint], sys.stderr if label else sys.stdout)


def counted(number: int, noun: str) -> str:
    """Return the number with its noun, as in `1 tool` and `2 tools`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
