"""`python -m benchmarks own` measures toolgate alone, `python -m benchmarks peers` beside its peers."""

import argparse
import sys
from pathlib import Path

from benchmarks.environments import python_of, version_of
from benchmarks.harness import Command, Script, circumstances, measure, publish, table

PYTHON = Path(sys.executable)
BARE_CALL = "bare `await add()`, not validated"
TOOLGATE = PYTHON.parent / "toolgate"

# peer -> the distribution whose version is stated, what a user imports to define and call a tool
PEERS = {
    "fastmcp": ("fastmcp", "fastmcp"),
    "mcp": ("mcp", "mcp.server.mcpserver"),
    "langchain": ("langchain-core", "langchain_core.tools"),
    "pydantic-ai": ("pydantic-ai-slim", "pydantic_ai"),
    "utcp": ("utcp", "utcp.utcp_client"),
    "toolregistry": ("toolregistry", "toolregistry"),
}


def command(*argv: str | Path) -> Command:
    """Return the start-up of `argv` as a candidate called as a user would type it."""
    return Command(" ".join(["`" + Path(argv[0]).name, *map(str, argv[1:])]) + "`", tuple(map(str, argv)))


BARE = command(PYTHON, "-c", "pass")
OWN_START = [
    BARE,
    command(PYTHON, "-c", "import toolgate"),
    command(TOOLGATE, "--version"),
    command(TOOLGATE, "--help"),
    command(TOOLGATE, "call", "calculate_sum", "a=1", "b=2"),
]


def own(rounds: int) -> None:
    """Measure toolgate's start and its calls, and how the calls grow."""
    start = table(measure(OWN_START, rounds), what="start to end", unit="ms", baseline=BARE.name)
    scripts = [Script(PYTHON, "benchmarks.own_calls"), Script(PYTHON, "benchmarks.own_growth")]
    calls = table(measure(scripts, rounds), what="one call in-process", unit="µs", baseline=BARE_CALL)
    when = circumstances(rounds, {"toolgate": version_of(PYTHON, "toolgate")})
    publish("own", f"{when}\n\n{calls}\n\n{start}")


def peers(rounds: int) -> None:
    """Measure the same call and the same start in toolgate and in every peer."""
    pythons = {peer: python_of(peer) for peer in PEERS}
    scripts = [Script(pythons[peer], f"benchmarks.peers.call_{peer.replace('-', '_')}") for peer in PEERS]
    samples = measure([Script(PYTHON, "benchmarks.own_calls"), *scripts], rounds)
    calls = table(samples, what="one call in-process", unit="µs", baseline="toolgate `execute`, 6 extensions")
    imports = [command(pythons[peer], "-c", f"import {module}") for peer, (_, module) in PEERS.items()]
    help_of_fastmcp = command(pythons["fastmcp"].parent / "fastmcp", "--help")
    starts = measure([*OWN_START[:4], *imports, help_of_fastmcp], rounds)
    start = table(starts, what="start to end", unit="ms", baseline=f"`{TOOLGATE.name} --help`")
    versions = {name: version_of(pythons[peer], name) for peer, (name, _) in PEERS.items()}
    when = circumstances(rounds, {"toolgate": version_of(PYTHON, "toolgate"), **versions})
    publish("peers", f"{when}\n\n{calls}\n\n{start}")


def main() -> None:
    """Run the benchmark that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("what", choices=["own", "peers"])
    parser.add_argument("--rounds", type=int, default=5, help="at least 3; the median is shown")
    arguments = parser.parse_args()
    {"own": own, "peers": peers}[arguments.what](max(3, arguments.rounds))


main()
