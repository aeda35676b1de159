"""Run candidates in turns, round after round, and render what they took as Markdown."""

import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Protocol

ROOT = Path(__file__).parent.parent
README = Path(__file__).parent / "README.md"
TIMEOUT = 300
# Start-up is measured with bytecode cached, as a user has it.
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}

Samples = dict[str, list[float]]


class Candidate(Protocol):
    """Something that can be run once, in a process of its own."""

    def run(self) -> Mapping[str, float]:
        """Return what one run took, by row name."""


@dataclass(frozen=True)
class Command:
    """A process timed from start to end, in milliseconds."""

    name: str
    argv: tuple[str, ...]

    def run(self) -> Mapping[str, float]:
        started = perf_counter()
        output_of(self.argv)
        return {self.name: (perf_counter() - started) * 1e3}


@dataclass(frozen=True)
class Script:
    """A module that measures itself in the interpreter `python` and prints its rows as JSON, in microseconds."""

    python: Path
    module: str

    def run(self) -> Mapping[str, float]:
        printed = output_of((str(self.python), "-m", self.module))
        rows: dict[str, float] = json.loads(printed.splitlines()[-1])
        return rows


def output_of(argv: Sequence[str]) -> bytes:
    """Run `argv` and return what it printed; its complaints are shown only when it fails, and end the run."""
    ran = subprocess.run(argv, cwd=ROOT, env=ENVIRONMENT, capture_output=True, timeout=TIMEOUT, check=False)
    if ran.returncode:
        sys.exit(f"{' '.join(argv)} failed:\n{ran.stderr.decode(errors='replace')}")
    return ran.stdout


def measure(candidates: Sequence[Candidate], rounds: int) -> Samples:
    """Run every candidate once to warm up, then `rounds` times in turns, and return their samples by row."""
    samples: Samples = {}
    for turn in range(rounds + 1):
        progress(f"round {turn} of {rounds}" if turn else "warming up")
        for candidate in candidates:
            for name, value in candidate.run().items():
                samples.setdefault(name, [])
                if turn:
                    samples[name].append(value)
    progress("")
    return samples


def progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def table(samples: Samples, *, what: str, unit: str, baseline: str) -> str:
    """Return `samples` as a Markdown table, with each row's ratio to the `baseline` row of the same run."""
    base = statistics.median(samples[baseline])
    lines = [f"| {what} | median {unit} | spread | ratio |", "|---|---:|---:|---:|"]
    for name, values in samples.items():
        median = statistics.median(values)
        spread = f"{number(min(values))} – {number(max(values))}"
        lines.append(f"| {name} | {number(median)} | {spread} | {number(median / base)} |")
    return "\n".join(lines)


def number(value: float) -> str:
    """Return `value` with no more digits than the measurement carries."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def circumstances(rounds: int, versions: Mapping[str, str]) -> str:
    """Return the line that says when, on what and with what a table was measured."""
    day = datetime.now(UTC).date().isoformat()
    named = ", ".join(f"{name} {version}" for name, version in versions.items())
    return f"{day}, Python {platform.python_version()}, {os.cpu_count()} cores, {rounds} rounds. {named}."


def publish(section: str, text: str) -> None:
    """Print `text`, and put it between the markers of `section` in the README."""
    print(text)
    start, end = f"<!-- {section}: start -->\n", f"<!-- {section}: end -->"
    before, _, rest = README.read_text("utf-8").partition(start)
    _, _, after = rest.partition(end)
    README.write_text(f"{before}{start}\n{text}\n\n{end}{after}", "utf-8")
