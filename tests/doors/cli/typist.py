"""Typing command lines, in this process or in one of their own, and seeing what comes of them."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TOOLS_YAML = """\
tools:
  - name: add
    description: Add two numbers.
    tool_type: python
    implementation_config: {module: cli_tools, function_name: add}
    input_schema:
      type: object
      properties:
        a: {type: number, description: The first}
        b: {type: number, default: 10}
      required: [a]
      additionalProperties: false
    output_schema: {type: number}
    metadata: {category: math, tags: [sums, demo], side_effect_class: pure, author: me}
    examples: [{args: {a: 1, b: 2}, output: 3}]
  - name: echo
    description: Return the arguments.
    tool_type: python
    implementation_config: {module: cli_tools, function_name: echo}
    metadata: {tags: [demo]}
  - name: say
    description: |
      Return the text,
      as it is.
    tool_type: python
    implementation_config: {module: cli_tools, function_name: say}
    input_schema: {type: object, properties: {text: {type: string}}, required: [text]}
    metadata: {side_effect_class: pure}
  - name: sweep
    description: Sweep a folder.
    tool_type: shell
    implementation_config: {command: "ls {folder}"}
    input_schema: {type: object, properties: {folder: {type: string}}, required: [folder]}
"""

CLI_TOOLS = """\
import threading

import anyio

from toolgate import Extension


def add(a, b):
    return a + b


def echo(**arguments):
    return arguments


def say(text):
    print("printed by the tool")
    return text


class Cutting(Extension):
    async def after_execute(self, ctx, result):
        return result.model_copy(update={"output": result.output[:3], "truncated": True})


def fail():
    raise RuntimeError("the disk is full")


def context_seen(context):
    return [context.session_id, context.agent_id, context.mode, context.timeout_ms]


async def wait_for_ever():
    try:
        print("running", flush=True)
        await anyio.sleep_forever()
    finally:
        print("cancelled", flush=True)


def block_for_ever():
    print("running", flush=True)
    threading.Event().wait()
"""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command line came to."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Toolgate = Callable[..., Ran]


def write_gateway(folder: Path, tools: str = TOOLS_YAML) -> Path:
    """Write a gateway with its python tools into `folder` and return its file."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cli_tools.py").write_text(CLI_TOOLS, "utf-8")
    (folder / "tools.yaml").write_text(tools, "utf-8")
    return folder / "tools.yaml"


def one_tool(function_name: str, **keys: Any) -> str:
    """Return a tools.yaml with one python tool, called as its function."""
    target = {"module": "cli_tools", "function_name": function_name}
    tool = {"name": function_name, "description": "A tool.", "tool_type": "python", "implementation_config": target}
    return json.dumps({"tools": [{**tool, **keys}]}, ensure_ascii=False)


def in_a_process(*words: str, cwd: Path, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> Ran:
    """Type a command line as a user does."""
    ran = subprocess.run(
        [sys.executable, "-m", "toolgate", *words],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        timeout=50,
        check=False,
        env={**os.environ, **(env or {})},
    )
    return Ran(ran.returncode, ran.stdout.decode(), ran.stderr.decode())
