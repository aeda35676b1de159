"""What `tools.yaml` and `toolgate.yaml` may hold. Both share one schema; every key has a default."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from toolgate.executors import KINDS as EXECUTORS
from toolgate.executors import BaseExecutor
from toolgate.kinds import Kinds, imported
from toolgate.secrets import resolve
from toolgate.spec import Noun, ToolPermission, ToolSpec, Word

DEFAULT_PORT = 8642
DEFAULT_OUTPUT_BYTES = 1_048_576
LOCAL_PERMISSIONS = (ToolPermission.FS_READ.value, ToolPermission.NET_OUTBOUND.value, ToolPermission.MCP_CONNECT.value)


def _check_target(value: str) -> str:
    module, colon, attribute = value.partition(":")
    names = [*module.split("."), attribute] if colon else [value]
    if not all(name.isidentifier() for name in names):
        raise ValueError('expected the name of an extension, or "module:Class"')
    return value


def _refuse_bool(value: Any) -> Any:
    # Settings may come from the environment, so "8080" is a number; but true is not 1.
    if isinstance(value, bool):
        raise PydanticCustomError("int_type", "expected a whole number")
    return value


Whole = Annotated[int, BeforeValidator(_refuse_bool)]


class ServerSettings(Noun):
    """Where the gateway listens, and which browsers and proxies may talk to it."""

    host: Word = Field("127.0.0.1", description="The address to listen on; only loopback, as there is no login yet.")
    port: Whole = Field(DEFAULT_PORT, ge=0, le=65_535, description="The port; 0 picks a free one.")
    allowed_hosts: tuple[Word, ...] = Field((), description="Host headers to accept besides loopback names.")
    allowed_origins: tuple[Word, ...] = Field((), description="Web origins to accept besides the gateway's own.")


class PluginFolders(Noun):
    """Folders with this gateway's own kinds; each file in them is one kind, named after the file."""

    executors: tuple[Word, ...] = Field((), description="Folders with tool types.")
    loaders: tuple[Word, ...] = Field((), description="Folders with spec sources.")
    extensions: tuple[Word, ...] = Field((), description="Folders with extensions.")


class SourceEntry(BaseModel):
    """One more place specs come from; the other keys are that kind's own settings, with `${NAME}` as it is written."""

    model_config = ConfigDict(frozen=True, extra="allow")

    type: Word = Field("file", description="The kind of source.")


class ExtensionEntry(Noun):
    """One extension of the chain; its options are kept as they are written, so that no secret is kept with them."""

    model_config = ConfigDict(frozen=True, extra="forbid", serialize_by_alias=True)

    use: Annotated[str, AfterValidator(_check_target)] = Field(
        description="A kind of extension, or a class as module:Class."
    )
    priority: Whole | None = Field(None, description="Higher runs earlier; the class's own when left out.")
    written: dict[str, Any] = Field(default_factory=dict, alias="options", description="Arguments for the class.")

    @property
    def options(self) -> dict[str, Any]:
        """The arguments for the class, with each `${NAME}` looked up."""
        looked_up: dict[str, Any] = resolve(self.written)
        return looked_up


class GatewayConfig(Noun):
    """The settings of a gateway; `tools` and `defaults` are read into specs."""

    sources: tuple[SourceEntry | Word, ...] = Field(
        (), description="More sources of tools: a path, or type and options."
    )
    extensions: tuple[ExtensionEntry, ...] = Field((), description="What happens around every call.")
    permissions: dict[Word, str] = Field(
        default_factory=dict, description="Permissions of your own that tools may require, each with its meaning."
    )
    local_permissions: tuple[Word, ...] = Field(
        LOCAL_PERMISSIONS, description="What callers on this machine are granted unless told otherwise."
    )
    plugins: PluginFolders = Field(default_factory=PluginFolders, description="Folders with kinds of your own.")
    server: ServerSettings = Field(default_factory=ServerSettings, description="How the gateway is served.")
    max_output_bytes: Whole = Field(
        DEFAULT_OUTPUT_BYTES, gt=0, description="The most a tool's output may take, as JSON."
    )


def known_permissions(declared: Iterable[str] = ()) -> set[str]:
    """Return the six built-in permissions and those declared besides."""
    return {permission.value for permission in ToolPermission} | set(declared)


class _File(GatewayConfig):
    """A gateway file: tools, the defaults they share, and settings."""

    tools: tuple[ToolSpec, ...] = Field((), description="The tools.")
    defaults: dict[str, Any] = Field(
        default_factory=dict, description="Keys every tool of this file has unless it says otherwise."
    )


def executor_kinds() -> Kinds:
    """Return the tool types there are without any plug-in folder."""
    return Kinds("executors", EXECUTORS, BaseExecutor)


FILE_KEYS = frozenset(_File.model_fields)
TOOL_KEYS = frozenset(ToolSpec.model_fields) - {"origin"} | {"timeout_ms"}


def file_schema() -> dict[str, Any]:
    """Return the JSON Schema of tools.yaml and toolgate.yaml, for editors and for checking files elsewhere."""
    schema = _File.model_json_schema()
    definitions = schema["$defs"]
    tool = definitions["ToolSpec"]
    del tool["properties"]["origin"], definitions["Place"]
    tool["properties"]["timeout_ms"] = {"type": "number", "exclusiveMinimum": 0, "description": "timeout, in ms."}
    tool["allOf"] = [_branch(kind, definitions) for kind in sorted(EXECUTORS)]
    shared = {name: value for name, value in tool["properties"].items() if name != "name"}
    schema["properties"]["defaults"] = {
        "type": "object",
        "description": schema["properties"]["defaults"]["description"],
        "properties": shared,
        "additionalProperties": False,
    }
    settings = (
        schema["properties"],
        *(definitions[name]["properties"] for name in ("ServerSettings", "ExtensionEntry")),
    )
    for properties in settings:
        properties.update({name: _or_variable(value) for name, value in properties.items()})
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "toolgate file"
    return schema


def _or_variable(schema: dict[str, Any]) -> dict[str, Any]:
    if schema.get("type") != "integer":
        return schema
    about: dict[str, Any] = {key: schema[key] for key in ("description", "default") if key in schema}
    return {**about, "anyOf": [schema, {"type": "string", "pattern": r"^\$\{.+\}$"}]}


def _branch(kind: str, definitions: dict[str, Any]) -> dict[str, Any]:
    model: type[BaseModel] = imported(EXECUTORS[kind]).config_model
    definitions[model.__name__] = model.model_json_schema(by_alias=True)
    config = {"$ref": f"#/$defs/{model.__name__}"}
    return {
        "if": {"properties": {"tool_type": {"const": kind}}},
        "then": {"properties": {"implementation_config": config}},
    }
