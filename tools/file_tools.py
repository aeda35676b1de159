"""Reading files."""

from pathlib import Path

from toolgate import ToolContext


def read_file(path: str, context: ToolContext) -> str:
    """Return the text of a file below the working directory; links that lead out of it are not followed."""
    root = Path(context.working_directory or ".").resolve()
    file = (root / path).resolve()
    if not file.is_relative_to(root):
        raise PermissionError(f"{path} is outside the working directory")
    return file.read_text(encoding="utf-8")
