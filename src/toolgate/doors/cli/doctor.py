"""`toolgate doctor`: what is in order, what is not, and what to do about it."""

from __future__ import annotations

import os
import platform
import socket
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from toolgate import __version__
from toolgate.doors.cli.exits import Exit
from toolgate.doors.cli.opening import AsJson, File, opened
from toolgate.doors.cli.output import counted, print_json, say, wrapped
from toolgate.doors.cli.validate import examine
from toolgate.errors import ToolError

if TYPE_CHECKING:
    from toolgate.config import ServerSettings
    from toolgate.gateway import Gateway
    from toolgate.spec import ToolSpec

FEATURES = {"mcp": "the MCP door", "starlette": "the HTTP door", "uvicorn": "the HTTP door"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at."""

    status: Literal["ok", "warn", "fail"]
    check: str
    message: str
    hint: str = ""


async def doctor(*, file: File = None, as_json: AsJson = False) -> int:
    """Check this installation and this gateway.

    Unlike the other commands that look at tools, it imports what python tools
    name. Each line is ok, warn or fail; exits with 1 if anything failed.

    For example
      toolgate doctor
      toolgate doctor -f gateway/tools.yaml --json
    """
    findings = [*_installation(), *await _gateway(file)]
    failed = any(finding.status == "fail" for finding in findings)
    if as_json:
        print_json({"ok": not failed, "checks": [asdict(finding) for finding in findings]})
    else:
        for finding in findings:
            _say(finding)
    return Exit.FAILED if failed else Exit.OK


def _say(finding: Finding) -> None:
    colour = {"ok": "green", "warn": "yellow", "fail": "bold red"}[finding.status]
    say([(f"{finding.status:<6}", colour), (f"{finding.check:<14}", "bold"), (wrapped(finding.message, 20), "")])
    if finding.hint:
        say([(" " * 20 + wrapped(finding.hint, 20), "dim")])


def _installation() -> Iterator[Finding]:
    yield Finding("ok", "python", f"{platform.python_version()} ({sys.executable})")
    yield Finding("ok", "toolgate", f"{__version__} ({Path(__file__).parents[2]})")
    for package, feature in FEATURES.items():
        try:
            yield Finding("ok", package, metadata.version(package))
        except metadata.PackageNotFoundError:
            yield Finding("warn", package, f"not installed; {feature} needs it", f"pip install {package}")


async def _gateway(file: Path | None) -> list[Finding]:
    verdict = await examine(file)
    findings = [Finding("fail", "files", str(problem)) for problem in verdict.problems]
    if findings:
        return findings
    findings.append(Finding("ok", "files", f"{counted(verdict.tools, 'tool')} in {', '.join(verdict.files)}"))
    findings.append(_environment(verdict.files))
    async with opened(file) as gate:
        return [*findings, *_python_targets(gate), *_unavailable(gate), _port(gate.config.server)]


def _environment(files: Iterable[str]) -> Finding:
    name = os.environ.get("TOOLGATE_ENV")
    if not name:
        return Finding("ok", "environment", "TOOLGATE_ENV is not set")
    overlays = [Path(file).with_suffix(f".{name}{Path(file).suffix}") for file in files]
    found = [str(overlay) for overlay in overlays if overlay.is_file()]
    if found:
        return Finding("ok", "environment", f"TOOLGATE_ENV={name}: {', '.join(found)}")
    hint = f"write {overlays[0]}, or unset TOOLGATE_ENV"
    return Finding("warn", "environment", f"TOOLGATE_ENV={name}, but no file is laid over the others", hint)


def _python_targets(gate: Gateway) -> Iterator[Finding]:
    specs = gate.registry.list_specs(tool_type="python")
    faults = [fault for spec in specs if (fault := _import_fault(gate, spec))]
    yield from faults
    if len(specs) > len(faults):
        yield Finding("ok", "python tools", f"{counted(len(specs) - len(faults), 'target')} imported")


def _import_fault(gate: Gateway, spec: ToolSpec) -> Finding | None:
    try:
        # What a module prints when it is imported is no part of the report.
        with redirect_stdout(sys.stderr):
            gate.executor.executor_for(spec.key).bind(spec)
    except ToolError as error:
        return Finding("fail", "python tools", f"{spec.key}: {error.message}", error.hint)
    return None


def _unavailable(gate: Gateway) -> Iterator[Finding]:
    reasons = ((str(spec.tool_type), gate.executor.unavailable(spec)) for spec in gate.registry.list_specs())
    for (kind, reason), count in Counter(pair for pair in reasons if pair[1]).items():
        yield Finding("warn", f"{kind} tools", f"{counted(count, 'tool')} unavailable: {reason}")


def _port(server: ServerSettings) -> Finding:
    address = f"{server.host}:{server.port}"
    try:
        socket.create_server((server.host, server.port)).close()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        hint = "is a gateway running already? if not, choose another with --port or server.port"
        return Finding("warn", "port", f"{address}: {reason}", hint)
    return Finding("ok", "port", f"{address} is free")
