"""toolgate: tools as data, one road for every call.

The walk, in the order a call takes it:

    doors/          1  a call comes in: cli, http.py, mcp.py; they parse, hand over and render
    gateway.py      2  reads configuration, builds everything once, opens and closes it
    dispatch.py     3  UnifiedToolExecutor: the one way in, the linked chains, the only place a failure becomes a result
    registry.py     4  ToolSpecRegistry: name[@version] -> spec
    chain.py        5  Extension, ExtensionPriority, ExtensionManager; links a chain
    extensions/     6  what happens around a call: permissions.py, validation.py
    running.py         the end of the road: one tool run within its time, its output checked
    executors/      7  a call goes out: python.py, shell.py
    journal.py         the events a call leaves behind, written once to stores/
    loaders/        0  specs come in: file.py; config.py says what a file may hold, specfile.py and mistakes.py read it
    exporters/         catalogues go out: openai.py, anthropic.py, mcp.py

Below them: reading.py, strictjson.py and places.py (strict YAML and JSON); schema.py, explaining.py and defaults.py
(JSON Schema); names.py and index.py (names, versions, aliases); secrets.py, kinds.py, loopthread.py. And the nouns:
spec.py, context.py, result.py, events.py, errors.py.
"""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"

# name -> module; a name is imported when it is first used, so `import toolgate` costs next to nothing
_HOMES = {
    "chain": ("Extension", "ExtensionManager", "ExtensionPriority"),
    "config": ("GatewayConfig", "ServerSettings"),
    "context": ("CallContext", "ToolContext", "TraceContext"),
    "dispatch": ("UnifiedToolExecutor",),
    "errors": (
        "ApprovalRequiredError",
        "ConfigError",
        "ExtensionError",
        "MCPConnectionError",
        "MCPToolError",
        "Place",
        "Problem",
        "RateLimitedError",
        "SkillAlreadyLoadedError",
        "SkillError",
        "SkillLoadError",
        "SkillNotFoundError",
        "ToolCancelledError",
        "ToolError",
        "ToolErrorType",
        "ToolExecutionError",
        "ToolNotFoundError",
        "ToolPermissionError",
        "ToolRegistrationError",
        "ToolTimeoutError",
        "ToolUnavailableError",
        "ToolValidationError",
        "ToolgateError",
    ),
    "events": (
        "AgentRef",
        "DomainEvent",
        "EventEnvelope",
        "ToolCancelled",
        "ToolCompleted",
        "ToolDenied",
        "ToolFailed",
        "ToolInvoked",
        "ToolRegistered",
        "ToolTimeout",
    ),
    "executors": ("BaseExecutor",),
    "gateway": ("Gateway",),
    "loaders": ("SpecLoader",),
    "loaders.file": ("FileSpecLoader",),
    "registry": ("LoadReport", "ToolSpecRegistry"),
    "result": ("ErrorInfo", "ToolResult"),
    "spec": (
        "DeterminismClass",
        "ExecutionMode",
        "SideEffectClass",
        "ToolExample",
        "ToolMetadata",
        "ToolPermission",
        "ToolSource",
        "ToolSpec",
        "ToolType",
    ),
    "stores": ("EventStore",),
    "stores.memory": ("InMemoryEventStore",),
}
_MODULES = {name: module for module, names in _HOMES.items() for name in names}

__all__ = ["__version__", *sorted(_MODULES)]  # noqa: PLE0604  # the names are strings; the table is their one home


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"toolgate.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
