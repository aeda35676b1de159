"""Help pages in plain columns: no boxes, and no wrapping into a pipe."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cyclopts.help import HelpEntry, HelpPanel
    from rich.console import Console, ConsoleOptions

_WIDEST = 100


class HelpPage:
    """Writes a command's help the way Unix tools do; cyclopts asks it for one part at a time."""

    def render_usage(self, console: Console, options: ConsoleOptions, usage: Any) -> None:
        """Write the usage line."""
        _write(console, ("Usage: ", "bold"), (_plain(usage).removeprefix("Usage: "), ""))
        _write(console)

    def render_description(self, console: Console, options: ConsoleOptions, description: Any) -> None:
        """Write what the command does, with its examples."""
        for line in _plain(description).splitlines():
            _write(console, (line, "bold" if line == "For example" else ""))

    def __call__(self, console: Console, options: ConsoleOptions, panel: HelpPanel) -> None:
        """Write one group of commands, arguments or options."""
        if not panel.entries:
            return
        _write(console)
        _write(console, (str(panel.title), "bold"))
        rows = [(_names(entry), _about(entry)) for entry in panel.entries]
        width = max(len(names) for names, _ in rows)
        room = min(console.width, _WIDEST) - width - 4 if console.is_terminal else None
        for names, about in rows:
            for name, line in _lines(names, about, width, room):
                _write(console, (f"  {name}", "cyan"), (f"  {line}", ""))


def _plain(part: Any) -> str:
    text = getattr(part, "primary_renderable", part)
    return str(getattr(text, "plain", text)).strip()


def _names(entry: HelpEntry) -> str:
    if entry.positional_label:
        return entry.positional_label
    shorts_first = [*entry.positive_shorts, *entry.positive_names]
    return ", ".join(shorts_first) + (f" {entry.metavar}" if entry.metavar else "")


def _about(entry: HelpEntry) -> str:
    default = f" [default: {entry.default}]" if entry.default else ""
    choices = f" [{' | '.join(entry.choices)}]" if entry.choices else ""
    return f"{_plain(entry.description)}{choices}{default}"


def _lines(names: str, about: str, width: int, room: int | None) -> Iterator[tuple[str, str]]:
    lines = textwrap.wrap(about, max(room, 20)) if room is not None else [about]
    for line in lines or [""]:
        yield names.ljust(width), line
        names = ""


def _write(console: Console, *parts: tuple[str, str]) -> None:
    from rich.text import Text

    text = Text.assemble(*parts)
    text.rstrip()
    console.print(text, soft_wrap=True)
