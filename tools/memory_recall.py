"""Notes an agent can look up again."""

from pathlib import Path
from typing import Any

from toolgate import ToolContext

NOTES = Path(__file__).with_name("notes.md")


class MemoryRecallTool:
    """Finds the notes that mention most of the words asked for."""

    def execute(self, params: dict[str, Any], context: ToolContext) -> list[str]:
        """Return the best notes first; those that mention none of the words are left out."""
        words = set(params["query"].lower().split())
        notes = [line.removeprefix("- ") for line in NOTES.read_text(encoding="utf-8").splitlines() if line[:2] == "- "]
        scored = [(sum(word in note.lower() for word in words), note) for note in notes]
        best = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])
        return [note for _, note in best[: params["limit"]]]
