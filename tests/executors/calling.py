"""A module full of python tools, and a short way to call them."""

from pathlib import Path
from typing import Any

from tests.standins import a_registry, python_spec
from toolgate import ToolContext, ToolResult, UnifiedToolExecutor

TOOLS = """
import functools
import os
import threading

MAIN = threading.main_thread()
calls = []


def add(a, b=10):
    return a + b


async def add_later(a, b=10):
    return a + b


def where():
    return threading.current_thread() is MAIN


async def where_async():
    return threading.current_thread() is MAIN


def returns_awaitable(a, b=1):
    return add_later(a, b)


add_partial = functools.partial(add_later, b=5)


class Adder:
    async def __call__(self, a, b):
        return a + b


adder = Adder()


def wrapped(function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        return function(*args, **kwargs)
    return call


add_wrapped = wrapped(add_later)


def who(context):
    return context.session_id


async def who_async(a=None, *, tool_context):
    return [a, tool_context.session_id]


def who_twice(context, tool_context):
    return [context.session_id, tool_context.session_id]


def anything(**arguments):
    return {name: getattr(value, "session_id", value) for name, value in arguments.items()}


def anything_called_context(**context):
    return context


def who_and_anything(context, **more):
    return [context.session_id, sorted(more)]


def declared(context):
    return context


def odd_names(tool, args, self, function, call, spec, name):
    return [tool, args, self, function, call, spec, name]


def positional_only(context, /):
    return "never"


def print_length(items):
    return len(items)


size = len
constant = 3
nothing = None


class Tool:
    def __init__(self):
        self.count = 0

    def execute(self, params, context):
        self.count += 1
        params["added"] = True
        return [params, context.session_id, self.count, threading.current_thread() is MAIN]


class AsyncTool:
    async def execute(self, params, context):
        return [params, context.session_id, threading.current_thread() is MAIN]


class Unmakeable:
    def __init__(self, host):
        pass

    def execute(self, params, context):
        pass


class Exiting(Unmakeable):
    def __init__(self):
        raise SystemExit(3)


class NoTool:
    pass


def stops(a):
    raise StopIteration("over")


def exits():
    raise SystemExit("bye")
"""


class Calling:
    """Calls tools of the module in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.module = f"tools_{folder.name}"
        (folder / f"{self.module}.py").write_text(TOOLS)

    def executor(self, function: str | None = None, **fields: Any) -> UnifiedToolExecutor:
        spec = python_spec(self._folder, function, **{"module": self.module, **fields})
        return UnifiedToolExecutor(a_registry(spec))

    async def __call__(self, function: str, args: dict[str, Any] | None = None, **fields: Any) -> Any:
        return await self.executor(function, **fields).execute("tool", args, ToolContext(session_id="s1"))

    async def refused(self, function: str | None = None, **fields: Any) -> ToolResult:
        result = await self.executor(function, **fields).try_execute("tool")
        assert result.status == "denied"
        return result
