"""Python tools: a function, or a class with `execute(params, context)`, named by module."""

from __future__ import annotations

import importlib
import inspect
import sys
import types
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from pathlib import Path as FilePath
from typing import Annotated, Any, ClassVar

import anyio.to_thread
from pydantic import AfterValidator, Field, ValidationError

from toolgate.context import ToolContext
from toolgate.errors import ToolError, ToolExecutionError, ToolValidationError, did_you_mean
from toolgate.executors import BaseExecutor, Fault, Run
from toolgate.kinds import make_importable
from toolgate.result import told
from toolgate.spec import Noun, ToolSpec, Word

CONTEXT_NAMES = ("context", "tool_context")
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def _check_module(value: str) -> str:
    if not all(part.isidentifier() for part in value.split(".")):
        raise ValueError('a module is dotted names, like "tools.math_tools"')
    return value


def _check_attribute(value: str) -> str:
    if not value.isidentifier() or value.startswith("__"):
        raise ValueError("expected the plain name of something the module defines")
    return value


Attribute = Annotated[str, AfterValidator(_check_attribute)]


class PythonConfig(Noun):
    """Which Python object to call: `module` with `function_name`, or with `class`."""

    module: Annotated[Word, AfterValidator(_check_module)] = Field(description="Dotted path of the module.")
    function_name: Attribute | None = Field(None, description="The function, called with the arguments by name.")
    class_: Attribute | None = Field(None, alias="class", description="A class with execute(params, context).")

    @property
    def attribute(self) -> str:
        """The name to fetch from the module."""
        return self.function_name or self.class_ or ""


class PythonExecutor(BaseExecutor):
    """Calls Python: coroutines on the event loop, everything else in a worker thread."""

    supported_types: ClassVar[tuple[str, ...]] = ("python",)
    config_model = PythonConfig

    @classmethod
    def check(cls, spec: ToolSpec) -> Iterable[Fault | ValidationError]:
        """Yield what is wrong with the spec's implementation_config; imports nothing."""
        yield from super().check(spec)
        config = spec.implementation_config
        if ("function_name" in config) == ("class" in config):
            yield (), "a python tool needs function_name or class, and only one of them", ""

    def bind(self, spec: ToolSpec) -> Run:
        """Import the target and return what calls it.

        Raises:
            ToolExecutionError: The module or the name in it cannot be imported, or is nothing to call.
        """
        config = self._config(spec)
        target = load_target(spec, config)
        if config.class_:
            return _instance_run(spec, config, target)
        return _function_run(spec, target)

    def _config(self, spec: ToolSpec) -> PythonConfig:
        # Specs made in code come here unchecked.
        for fault in self.check(spec):
            text = _worded(fault) if isinstance(fault, ValidationError) else fault[1]
            raise _refused(spec, f"implementation_config: {text}", hint="name a module, and a function or class in it")
        return PythonConfig.model_validate(spec.implementation_config)

    async def execute(self, spec: ToolSpec, args: dict[str, Any], context: ToolContext) -> Any:
        """Run the tool and return its output."""
        return await self.bind(spec)(args, context)


def load_target(spec: ToolSpec, config: PythonConfig) -> Any:
    """Import what a python spec names; the folder of the file that defines it is importable.

    Raises:
        ToolExecutionError: It cannot be imported, or is nothing to call.
    """
    what = f"{config.module}.{config.attribute}"
    if spec.origin is not None:
        make_importable(FilePath(spec.origin.file).resolve().parent)
    known = config.module in sys.modules
    try:
        module = importlib.import_module(config.module)
        target = getattr(module, config.attribute, None)
    except (Exception, SystemExit) as error:  # a script without a __main__ guard may well call sys.exit()
        raise _refused(spec, f"cannot import {what}: {_told(error)}", cause=error) from error
    _check_whence(spec, config.module)
    if target is None:
        hint = did_you_mean(config.attribute, vars(module))
        hint = hint or ("the module was imported before: if it has changed since, restart" if known else "")
        raise _refused(spec, f"cannot import {what}: {config.module} has no {config.attribute}", hint=hint)
    if isinstance(target, types.ModuleType) or not callable(target):
        raise _refused(spec, f"{what} is a {type(target).__name__}, not something to call")
    return target


def _check_whence(spec: ToolSpec, module: str) -> None:
    # Python imports a name once. A module of that name from elsewhere would run in place of the one that was meant.
    package = module.partition(".")[0]
    loaded = getattr(sys.modules[package], "__file__", None)
    if spec.origin is None or loaded is None:
        return
    folder = FilePath(spec.origin.file).resolve().parent
    meant = next(
        (file for file in (folder / package / "__init__.py", folder / f"{package}.py") if file.is_file()), None
    )
    if meant is not None and FilePath(loaded).resolve() != meant:
        hint = "rename one of the two"
        raise _refused(spec, f"{package} was imported from {loaded} already, so {meant} cannot be", hint=hint)


def _worded(error: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(str(step) for step in detail['loc'])}: {detail['msg']}"
        for detail in error.errors(include_url=False, include_input=False)
    )


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {told(error)}"


def _refused(spec: ToolSpec, message: str, **details: Any) -> ToolError:
    details.setdefault("hint", "check implementation_config.module, and that the module is beside the tools file")
    return ToolExecutionError(message, tool_name=spec.name, outcome="not_done", **details)


def _function_run(spec: ToolSpec, function: Callable[..., Any]) -> Run:
    call = _awaitable(function)
    wanted = _context_names(spec, function)

    async def run(args: dict[str, Any], context: ToolContext) -> Any:
        # The context comes last: an argument of that name, which the schema does not declare, must not replace it.
        given = args | dict.fromkeys(wanted, context) if wanted else args
        try:
            return await call(**given)
        except TypeError as error:
            raise _misfit(spec, function, given, error) from error

    return run


def _misfit(spec: ToolSpec, function: Callable[..., Any], given: dict[str, Any], error: TypeError) -> Exception:
    """Return `error`, or what it means when the arguments never got into the function."""
    try:
        inspect.signature(function).bind(**given)
    except TypeError as refusal:
        hint = "let input_schema say what the function takes, with additionalProperties: false"
        return ToolValidationError(f"the function takes other arguments: {refusal}", tool_name=spec.name, hint=hint)
    except ValueError:  # builtins need not have a signature
        pass
    return error


def _instance_run(spec: ToolSpec, config: PythonConfig, target: Any) -> Run:
    if not isinstance(target, type) or not callable(getattr(target, "execute", None)):
        raise _refused(spec, f"{config.attribute} is not a class with an execute(params, context) method")
    try:
        method: Callable[..., Any] = target().execute
    except (Exception, SystemExit) as error:
        raise _refused(spec, f"cannot make a {config.attribute}: {_told(error)}", cause=error) from error

    call = _awaitable(method)

    async def run(args: dict[str, Any], context: ToolContext) -> Any:
        return await call(args, context)

    return run


def _awaitable(function: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
    if inspect.iscoroutinefunction(function):
        return function

    def work(*positional: Any, **named: Any) -> Any:
        try:
            return function(*positional, **named)
        except KeyboardInterrupt as error:  # no key reaches a worker thread: it is the tool's own doing
            raise ToolExecutionError("the tool raised KeyboardInterrupt", cause=error) from error

    async def in_thread(*positional: Any, **named: Any) -> Any:
        # The thread cannot be stopped, so a cancelled or late call leaves it behind to end by itself.
        value = await anyio.to_thread.run_sync(partial(work, *positional, **named), abandon_on_cancel=True)
        return await value if inspect.isawaitable(value) else value

    return in_thread


def _context_names(spec: ToolSpec, function: Callable[..., Any]) -> list[str]:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # builtins need not have a signature
        return []
    named = [name for name, parameter in parameters.items() if parameter.kind in _BY_NAME]
    declared = spec.input_schema.get("properties", {})
    return [name for name in CONTEXT_NAMES if name in named and name not in declared]
