"""The MCP clients toolgate can be connected to: where each keeps its configuration, and how an entry looks in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Place = Callable[[], Path]


@dataclass(frozen=True, slots=True)
class Client:
    """One MCP client: its name for people, its configuration files, and the key its servers stand under."""

    title: str
    path: Place
    servers_key: str = "mcpServers"
    typed: bool = False
    global_path: Place | None = None
    afterwards: str = ""

    def entry(self, command: str, args: list[str]) -> dict[str, Any]:
        """Return the entry that makes the client start `command`."""
        kind = {"type": "stdio"} if self.typed else {}
        return {**kind, "command": command, "args": args}


def _claude_desktop() -> Path:
    return _application_data() / "Claude" / "claude_desktop_config.json"


def _application_data() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")


CLIENTS = {
    "claude-desktop": Client(
        "Claude Desktop", _claude_desktop, global_path=_claude_desktop, afterwards="restart Claude Desktop"
    ),
    "claude-code": Client(
        "Claude Code", lambda: Path.cwd() / ".mcp.json", typed=True, afterwards="run /mcp in Claude Code to approve it"
    ),
    "cursor": Client(
        "Cursor",
        lambda: Path.cwd() / ".cursor" / "mcp.json",
        global_path=lambda: Path.home() / ".cursor" / "mcp.json",
        afterwards="enable it in Cursor's settings, under MCP",
    ),
    "vscode": Client(
        "VS Code",
        lambda: Path.cwd() / ".vscode" / "mcp.json",
        servers_key="servers",
        typed=True,
        afterwards="start it from the MCP servers view",
    ),
}
