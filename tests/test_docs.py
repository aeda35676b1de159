"""What is written down is run: the snippets of README, CONTRIBUTING and the guide, each page in a fresh folder."""

import ast
import inspect
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NOT_RUN = {"text", "sh", "json"}  # output, and commands that need a server or another machine


@dataclass(frozen=True)
class Snippet:
    language: str
    text: str
    line: int

    @property
    def file(self) -> str | None:
        """The file to write, when the snippet's first line is a comment that names one."""
        match = re.match(r"# ([\w.-]+\.(?:py|yaml|json))\n", self.text)
        return match.group(1) if match else None


def snippets_of(page: Path) -> list[Snippet]:
    text = page.read_text("utf-8")
    return [Snippet(m.group(1), m.group(2), text.count("\n", 0, m.start()) + 2) for m in FENCE.finditer(text)]


def run_python(snippet: Snippet, page: Path, names: dict[str, object]) -> None:
    code = compile("\n" * (snippet.line - 1) + snippet.text, str(page), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)

    async def run() -> None:
        value = eval(code, names)
        if inspect.isawaitable(value):
            await value

    anyio.run(run)


def run_console(snippet: Snippet) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "200"}
    for command in re.split(r"^\$ ", snippet.text, flags=re.MULTILINE)[1:]:
        line, _, expected = command.partition("\n")
        done = subprocess.run(
            line, shell=True, capture_output=True, text=True, encoding="utf-8", env=environment, timeout=60, check=False
        )
        assert (done.stdout + done.stderr).rstrip() == expected.rstrip(), line


def forget_modules_in(folder: Path, names: set[str]) -> None:
    """Let the next page define modules of the same names."""
    for name in names:
        if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_snippet_of_the_page_does_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    names: dict[str, object] = {"__name__": "snippet"}
    try:
        for snippet in snippets_of(page):
            if snippet.file:
                (tmp_path / snippet.file).write_text(snippet.text, "utf-8")
            elif snippet.language == "python":
                run_python(snippet, page, names)
            elif snippet.language == "console":
                run_console(snippet)
            else:
                assert snippet.language in NOT_RUN | {"yaml"}, f"{page.name}:{snippet.line}"
    finally:
        forget_modules_in(tmp_path, set(sys.modules) - before)


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=lambda page: page.name)
def test_every_link_within_the_project_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?://)([^)#]+)", page.read_text("utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_kind_of_tool_that_can_be_declared_has_a_page_and_a_test() -> None:
    from toolgate.executors import KINDS

    for kind in KINDS:
        assert (ROOT / "docs" / "guide" / f"{kind}-tools.md").is_file()
        assert (ROOT / "tests" / "executors" / f"test_{kind}.py").is_file()
