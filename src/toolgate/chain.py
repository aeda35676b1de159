"""Extensions: what happens around every call. A chain is linked once per tool and only run at call time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from enum import IntEnum
from typing import Any, ClassVar

from toolgate.context import CallContext
from toolgate.errors import ConfigError, ExtensionError, ToolError
from toolgate.events import EventEnvelope
from toolgate.result import ToolResult
from toolgate.spec import ToolSpec

Run = Callable[[CallContext], Awaitable[ToolResult]]


class ExtensionPriority(IntEnum):
    """Named places in the order; any whole number is allowed, and higher runs earlier."""

    HIGHEST = 1000
    HIGH = 750
    NORMAL = 500
    LOW = 250
    LOWEST = 0


class Extension:
    """Changes or watches calls; override only what you need.

    `before_execute`, `after_execute` and `around` are in the road: raising in them stops the call. `on_event` only
    watches: whatever it raises is logged, and the call goes on.
    """

    name: str = "Extension"
    priority: int = ExtensionPriority.NORMAL
    gives_approval: ClassVar[bool] = False  # an approval extension asks a person before it lets a call pass

    def __init__(self, *, priority: int | None = None) -> None:
        if priority is not None:
            self.priority = priority

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "name" not in cls.__dict__:
            cls.name = cls.__name__

    def applies_to(self, spec: ToolSpec) -> bool:
        """Return whether calls of this tool pass through this extension; asked once, when the tool is linked."""
        return True

    async def before_execute(self, ctx: CallContext) -> CallContext | None:
        """See the call on its way in; return another one to replace it."""
        return None

    async def after_execute(self, ctx: CallContext, result: ToolResult) -> ToolResult:
        """See the result on its way out; return it, or another one."""
        return result

    async def around(self, ctx: CallContext, call_next: Run) -> ToolResult:
        """Answer in place of the tool, or call `call_next` for the rest of the road."""
        return await call_next(ctx)

    async def on_event(self, ctx: CallContext, event: EventEnvelope) -> None:
        """Be told of one event of a call."""


class ExtensionManager:
    """The extensions of an executor, in the order they run."""

    def __init__(self, extensions: Iterable[Extension] = ()) -> None:
        self._extensions: list[Extension] = []
        self.revision = 0
        for extension in extensions:
            self.register(extension)

    def register(self, extension: Extension) -> None:
        """Add an extension.

        Raises:
            ConfigError: It is not an extension, its priority is no whole number, or one of its name is there already.
        """
        if not isinstance(extension, Extension):
            raise ConfigError(f"{extension!r} is not an extension; register an instance of a subclass of Extension")
        if not isinstance(extension.priority, int):
            raise ConfigError(f'the priority of "{extension.name}" must be a whole number, not {extension.priority!r}')
        if self.get_extension(extension.name) is not None:
            raise ConfigError(f'an extension called "{extension.name}" is registered already')
        self._extensions.append(extension)
        self.revision += 1

    def unregister(self, name: str) -> None:
        """Remove the extension called `name`.

        Raises:
            KeyError: There is none.
        """
        extension = self.get_extension(name)
        if extension is None:
            raise KeyError(name)
        self._extensions.remove(extension)
        self.revision += 1

    def get_extension(self, name: str) -> Extension | None:
        """Return the extension called `name`, or None."""
        return next((extension for extension in self._extensions if extension.name == name), None)

    def list_extensions(self) -> list[Extension]:
        """Return the extensions in the order they run: by priority, then by registration."""
        return sorted(self._extensions, key=lambda extension: -extension.priority)


def overrides(extension: Extension, method: str) -> bool:
    """Return whether the extension's class has a `method` of its own."""
    return getattr(type(extension), method) is not getattr(Extension, method)


def link(extensions: Iterable[Extension], last: Run) -> Run:
    """Return `last` with every extension around it, the first one outermost; methods not overridden are left out."""
    run = last
    for extension in reversed(list(extensions)):
        for method, wrap in _WRAPS:
            if overrides(extension, method):
                run = wrap(extension, run)
    return run


_CALL_WANTED = "it must return a CallContext or None"
_RESULT_WANTED = "it must return a result that is ok, or raise a ToolError"
_BREAKS = (Exception, SystemExit)  # an extension that calls sys.exit() stops the call, not the gateway


def _with_around(extension: Extension, inner: Run) -> Run:
    around = extension.around

    async def run(ctx: CallContext) -> ToolResult:
        try:
            result = await around(ctx, inner)
        except ToolError:
            raise
        except _BREAKS as error:
            raise _broken(extension, "around", ctx, error) from error
        return _checked(extension, "around", ctx, result)

    return run


def _with_after(extension: Extension, inner: Run) -> Run:
    after = extension.after_execute

    async def run(ctx: CallContext) -> ToolResult:
        result = await inner(ctx)
        try:
            changed = await after(ctx, result)
        except ToolError:
            raise
        except _BREAKS as error:
            raise _broken(extension, "after_execute", ctx, error) from error
        return _checked(extension, "after_execute", ctx, changed)

    return run


def _with_before(extension: Extension, inner: Run) -> Run:
    before = extension.before_execute

    async def run(ctx: CallContext) -> ToolResult:
        try:
            changed = await before(ctx)
        except ToolError:
            raise
        except _BREAKS as error:
            raise _broken(extension, "before_execute", ctx, error) from error
        if changed is None:
            return await inner(ctx)
        if not isinstance(changed, CallContext):
            raise _broken(extension, "before_execute", ctx, TypeError(_CALL_WANTED))
        return await inner(changed)

    return run


# Innermost first: `before` sees the call before `around` does, and `after` the result once `around` has let it go.
_WRAPS = (("around", _with_around), ("after_execute", _with_after), ("before_execute", _with_before))


def _checked(extension: Extension, method: str, ctx: CallContext, result: Any) -> ToolResult:
    # Results on the road are good ones: whoever refuses a call raises, so that events and callers see the same.
    if not isinstance(result, ToolResult) or result.status != "ok":
        raise _broken(extension, method, ctx, TypeError(_RESULT_WANTED))
    return result


def _broken(extension: Extension, method: str, ctx: CallContext, error: BaseException) -> ExtensionError:
    # What an extension says of its own failure may hold its secrets: that is for the log, not for the caller.
    said = str(error) if error.args in ((_CALL_WANTED,), (_RESULT_WANTED,)) else type(error).__name__
    text = f"the extension {extension.name} failed in {method}: {said}"
    return ExtensionError(text, tool_name=ctx.spec.name, cause=error, hint="this is for the operator to mend")
