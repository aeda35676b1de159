"""`toolgate serve`: the tools over HTTP and MCP, until told to stop."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from toolgate.doors.cli.exits import CommandError, Exit
from toolgate.doors.cli.opening import AsJson, File, opened
from toolgate.doors.cli.output import counted, is_terminal, print_json, say

if TYPE_CHECKING:
    from toolgate.gateway import Gateway


async def serve(
    *,
    file: File = None,
    host: Annotated[str | None, Parameter(help="The address to listen on; server.host unless given.")] = None,
    port: Annotated[int | None, Parameter(help="The port, 0 for any free one; server.port unless given.")] = None,
    stdio: Annotated[
        bool, Parameter(negative="", show_default=False, help="Speak MCP on stdin and stdout instead.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Serve the tools over HTTP and MCP.

    One address for everything: REST under /v1, MCP at /mcp, a first page at /
    and the OpenAPI document at /openapi.json. Ctrl-C stops it once calls in
    progress have ended, SIGHUP reads the files again. With --stdio an MCP
    client starts it and talks to it directly; see `toolgate install`.

    For example
      toolgate serve
      toolgate serve -f gateway/ --port 9000
      toolgate serve --stdio -f tools.yaml
    """
    if stdio and (host or port is not None or as_json):
        raise CommandError("--stdio has no address: leave out --host, --port and --json")
    async with opened(file) as gate:
        _log_to_stderr()
        if stdio:
            await _serve_stdio(gate)
        else:
            await _serve_http(gate, host, port, _print_addresses if as_json else _say_addresses)
    return Exit.OK


async def _serve_stdio(gate: Gateway) -> None:
    from toolgate.doors.mcp import serve_stdio

    by_hand = is_terminal(sys.stdin)  # asked now: while it serves, standard input is elsewhere
    await serve_stdio(gate, lambda faults: _say_stdio(gate, len(faults), by_hand))


def _say_stdio(gate: Gateway, not_ready: int, by_hand: bool) -> None:
    say([(f"toolgate: {_tools(gate, not_ready)}, MCP on stdin and stdout", "")], sys.stderr)
    if by_hand:
        say([("waiting for an MCP client's messages; `toolgate install` connects one", "dim")], sys.stderr)


Announce = Callable[["Gateway", str, int], None]


async def _serve_http(gate: Gateway, host: str | None, port: int | None, announce: Announce) -> None:
    from toolgate.doors.serve import serve_http

    server = gate.config.server
    chosen = server.port if port is None else port
    faults: dict[str, str] = {}
    await serve_http(
        gate, host or server.host, chosen, lambda base: announce(gate, base, len(faults)), on_prepared=faults.update
    )


def _addresses(base: str) -> dict[str, str]:
    return {"rest": f"{base}/v1/tools", "mcp": f"{base}/mcp", "page": f"{base}/", "openapi": f"{base}/openapi.json"}


def _print_addresses(gate: Gateway, base: str, not_ready: int) -> None:
    available, unavailable = _counts(gate)
    counts = {"available": available, "unavailable": unavailable, "not_ready": not_ready}
    print_json({**_addresses(base), **counts})
    sys.stdout.flush()


def _say_addresses(gate: Gateway, base: str, not_ready: int) -> None:
    titles = {"rest": "REST", "mcp": "MCP", "page": "Page", "openapi": "OpenAPI"}
    say([("toolgate ", "bold"), (f"serves {_tools(gate, not_ready)}", "")])
    for key, address in _addresses(base).items():
        say([(f"  {titles[key]:<8}", "dim"), (address, "cyan")])
    if is_terminal(sys.stdout):
        say([("Ctrl-C stops it", "dim")])
    sys.stdout.flush()


def _tools(gate: Gateway, not_ready: int) -> str:
    available, unavailable = _counts(gate)
    notes = [f"{unavailable:,} unavailable: see `toolgate list`"] if unavailable else []
    notes += [f"{not_ready:,} not ready: see log"] if not_ready else []
    rest = f" ({'; '.join(notes)})" if notes else ""
    return f"{counted(available, 'tool')}{rest}"


def _counts(gate: Gateway) -> tuple[int, int]:
    reasons = [gate.executor.unavailable(spec) for spec in gate.registry.visible()]
    available = reasons.count(None)
    return available, len(reasons) - available


def _log_to_stderr() -> None:
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    for name in ("uvicorn", "mcp"):
        logging.getLogger(name).setLevel(logging.WARNING)
