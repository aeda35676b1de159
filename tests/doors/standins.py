"""Tools, an extension and a running server for the tests of the doors."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx

from toolgate import (
    ApprovalRequiredError,
    CallContext,
    Extension,
    Gateway,
    RateLimitedError,
    ToolCancelledError,
    ToolContext,
    ToolError,
    ToolNotFoundError,
)
from toolgate.doors.serve import serve_http

ROOT = Path(__file__).parents[2]

TOOLGATE_YAML = """\
local_permissions: [fs:read, net:outbound]
max_output_bytes: 20000
server: {allowed_hosts: [Gate.example, "proxy.example:8443"], allowed_origins: ["https://Console.example"]}
extensions:
  - use: tests.doors.standins:Refusing
"""

TOOLS_YAML = """\
defaults:
  tool_type: python
tools:
  - name: add
    description: Add two numbers.
    input_schema: {type: object, properties: {a: {type: number}, b: {type: number, default: 1}}, required: [a]}
    output_schema: {type: object, properties: {sum: {type: number}}, required: [sum]}
    implementation_config: {module: tests.doors.standins, function_name: add}
    metadata: {side_effect_class: pure}
  - name: add
    description: Add two numbers, as it was.
    input_schema: {type: object, properties: {a: {type: number}}, required: [a]}
    implementation_config: {module: tests.doors.standins, function_name: add}
    metadata: {version: 0.9.0}
  - name: say:echo
    description: "Say <b>it</b> & nothing else: ünïcödé \\U0001F600."
    input_schema: {type: object, properties: {value: true}, required: [value]}
    implementation_config: {module: tests.doors.standins, function_name: echo}
    metadata: {side_effect_class: idempotent}
  - name: whoami
    description: Say who calls.
    implementation_config: {module: tests.doors.standins, function_name: whoami}
    metadata: {side_effect_class: pure}
  - name: wait
    description: Wait until it is told to end.
    input_schema: {type: object, properties: {marker: {type: string}}, required: [marker]}
    implementation_config: {module: tests.doors.standins, function_name: wait}
  - name: shout
    description: Print and read.
    implementation_config: {module: tests.doors.standins, function_name: shout}
  - name: fail
    description: Fail.
    implementation_config: {module: tests.doors.standins, function_name: fail}
  - name: lie
    description: Break its own output schema.
    output_schema: {type: integer}
    implementation_config: {module: tests.doors.standins, function_name: lie}
  - name: flood
    description: Give more than may be held.
    implementation_config: {module: tests.doors.standins, function_name: flood}
  - name: wipe
    description: Wipe a disk.
    implementation_config: {module: tests.doors.standins, function_name: lie}
    metadata: {is_dangerous: true}
  - name: write
    description: Write a file.
    implementation_config: {module: tests.doors.standins, function_name: lie}
    metadata: {permissions: [fs:write]}
  - name: fetch
    description: Fetch a page.
    tool_type: http
    implementation_config: {url: "https://example.com/"}
"""

SERVE_STDIO = """
import asyncio, sys
from toolgate import Gateway
from toolgate.doors.mcp import serve_stdio

async def main():
    async with Gateway.open(sys.argv[1]) as gate:
        await serve_stdio(gate)

asyncio.run(main())
"""


async def add(a: float, b: float = 0) -> dict[str, float]:
    return {"sum": a + b}


async def echo(value: Any) -> Any:
    return value


async def whoami(context: ToolContext) -> dict[str, Any]:
    found = {"session": context.session_id, "agent": context.agent_id, "mode": context.mode}
    return {**found, "timeout_ms": context.timeout_ms, "pid": os.getpid()}


async def wait(marker: str) -> str:
    """Leave a file behind when started, and another one when cancelled; end when there is a third."""
    path = Path(marker)
    path.with_suffix(".started").touch()
    try:
        await until(path.with_suffix(".end").exists, 60)
    except asyncio.CancelledError:
        path.with_suffix(".cancelled").touch()
        raise
    return "ended"


def shout() -> str:
    """Print where a tool should not, and read what is not there."""
    print("noise on stdout")  # noqa: T201  # that is the point
    os.write(1, b"more noise\n")
    return f"read {os.read(0, 10)!r}"


def fail() -> None:
    raise ValueError("the disk is on fire")


async def lie() -> str:
    return "not a number"


async def look_up() -> None:
    raise ToolNotFoundError("there is no such book")


async def flood() -> list[str]:
    return ["x" * 1000] * 100


class Refusing(Extension):
    """Refuses calls of `say:echo` whose value is the code of an error."""

    async def before_execute(self, ctx: CallContext) -> None:
        value = ctx.args.get("value")
        raising: dict[str, Callable[[], Exception]] = {
            "rate_limited": lambda: RateLimitedError("too many", retry_after=1.2),
            "overloaded": lambda: ToolError("too busy", code="overloaded"),
            "cancelled": lambda: ToolCancelledError("somebody else ended it"),
            "approval": lambda: ApprovalRequiredError("ask first"),
            "unheard_of": lambda: ToolError("new", code="unheard_of"),
            "broken": lambda: KeyError("secret"),
        }
        if isinstance(value, str) and value in raising:
            raise raising[value]()


def write_gateway(folder: Path, tools: str = TOOLS_YAML) -> Path:
    (folder / "toolgate.yaml").write_text(TOOLGATE_YAML, "utf-8")
    (folder / "tools.yaml").write_text(tools, "utf-8")
    return folder


def many_tools(count: int) -> str:
    config = "implementation_config: {module: tests.doors.standins, function_name: lie}"
    entries = [f"  - {{name: tool_{n:03}, description: T, tool_type: python, {config}}}" for n in range(count)]
    return "\n".join(["tools:", *entries, ""])


@asynccontextmanager
async def served(gateway: Gateway) -> AsyncIterator[str]:
    """Serve a gateway on a free port; yields its address."""
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve_http, gateway, "127.0.0.1", 0, address.set_result)
        with anyio.fail_after(10):
            base_url = await address
        try:
            yield base_url
        finally:
            tasks.cancel_scope.cancel()


async def until(true: Callable[[], bool], seconds: float = 10) -> None:
    with anyio.fail_after(seconds):
        while not true():  # noqa: ASYNC110  # what is waited for happens in other processes and threads
            await anyio.sleep(0.005)


def stdio_command(folder: Path) -> dict[str, Any]:
    """Return the command that serves `folder` on stdio, and what it runs in."""
    return {"command": sys.executable, "args": ["-c", SERVE_STDIO, str(folder)], "env": dict(os.environ), "cwd": ROOT}


def is_problem(answer: httpx.Response, status: int, code: str) -> bool:
    body = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert body["status"] == answer.status_code
    assert set(body) == {"type", "title", "status", "detail", "code"}
    assert body["detail"]
    assert "Traceback" not in answer.text
    return (answer.status_code, body["code"]) == (status, code)
