"""ToolSpec: a tool as data. Nothing here runs a tool, and nothing here is discovered at call time."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, ClassVar, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StringConstraints,
    model_validator,
)
from pydantic_core import PydanticCustomError

from toolgate.errors import Place, nearest

DEFAULT_TIMEOUT = 30.0
NAME_PATTERN = re.compile(r"[A-Za-z0-9_.:-]{1,128}", re.ASCII)
VERSION_PATTERN = re.compile(
    r"(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?", re.ASCII
)
# Only operational or nonsensical timeouts are refused; a day is longer than any call should be held open.
LONGEST_TIMEOUT = 86_400


class ToolType(StrEnum):
    """The kinds of tool toolgate knows by name; any other string is a custom type."""

    PYTHON = "python"
    MCP = "mcp"
    SHELL = "shell"
    SANDBOX = "sandbox"
    HTTP = "http"
    SKILL = "skill"
    CUSTOM = "custom"


class ToolSource(StrEnum):
    """Where a tool's code comes from."""

    BUILTIN = "builtin"
    LANGCHAIN = "langchain"
    MCP = "mcp"
    USER = "user"


class ToolPermission(StrEnum):
    """The six permissions toolgate knows; an operator may declare more."""

    FS_READ = "fs:read"
    FS_WRITE = "fs:write"
    NET_OUTBOUND = "net:outbound"
    SHELL_EXECUTE = "shell:execute"
    ENV_READ = "env:read"
    MCP_CONNECT = "mcp:connect"


# What calling a tool of these types takes, whoever runs it and whatever its author declared.
IMPLIED_PERMISSIONS: Mapping[str, tuple[ToolPermission, ...]] = {
    ToolType.HTTP: (ToolPermission.NET_OUTBOUND,),
    ToolType.MCP: (ToolPermission.MCP_CONNECT,),
    ToolType.SHELL: (ToolPermission.SHELL_EXECUTE,),
}


class DeterminismClass(StrEnum):
    """Whether the same arguments always give the same answer."""

    DETERMINISTIC = "deterministic"
    NONDETERMINISTIC = "nondeterministic"


class SideEffectClass(StrEnum):
    """What a call leaves behind: nothing, the same thing however often, or something each time."""

    PURE = "pure"
    IDEMPOTENT = "idempotent"
    EXTERNAL = "external"


class ExecutionMode(StrEnum):
    """How a tool gives its answer."""

    SYNC = "sync"
    ASYNC = "async"
    STREAMING = "streaming"


def _known_type(value: Any) -> Any:
    try:
        return ToolType(value)
    except ValueError:
        return value


def _check_type(value: ToolType | str) -> ToolType | str:
    if not isinstance(value, ToolType) and not re.fullmatch(r"[a-z][a-z0-9_]{0,63}", value):
        raise ValueError("a tool type is lower-case letters, digits and underscores")
    return value


def _check_name(value: str) -> str:
    if not NAME_PATTERN.fullmatch(value):
        raise ValueError("a tool name is 1 to 128 of the characters A-Z a-z 0-9 _ . : -")
    return value


def _check_version(value: str) -> str:
    if not VERSION_PATTERN.fullmatch(value):
        raise ValueError('a version is MAJOR.MINOR.PATCH, like "1.0.0"')
    return value


ToolName = Annotated[str, AfterValidator(_check_name)]
ToolTypeName = Annotated[ToolType | str, BeforeValidator(_known_type), AfterValidator(_check_type)]
Version = Annotated[str, AfterValidator(_check_version)]
_set = object.__setattr__
Word = Annotated[str, StringConstraints(min_length=1)]


class Noun(BaseModel):
    """A frozen record that refuses keys it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    _all_fields: ClassVar[set[str]] = set()

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        super().__pydantic_init_subclass__(**options)
        cls._all_fields = set(cls.model_fields)

    @classmethod
    def trusted(cls, fields: dict[str, Any]) -> Self:
        """Return a record of fields that are known to be whole and right, without checking them: for the hot path."""
        record = cls.__new__(cls)
        _set(record, "__dict__", fields)
        _set(record, "__pydantic_fields_set__", cls._all_fields)  # shared: frozen records never add to it
        _set(record, "__pydantic_extra__", None)
        _set(record, "__pydantic_private__", None)
        return record


def _check_own_key(key: str) -> str:
    # A misspelt requires_approval must not become a key of the user's own.
    match = nearest(key, ToolMetadata.model_fields)
    if match:
        raise PydanticCustomError("near_miss", 'no such metadata key; did you mean "{match}"?', {"match": match})
    return key


class ToolMetadata(Noun):
    """What is worth knowing about a tool besides its shape; keys of your own are kept."""

    model_config = ConfigDict(frozen=True, extra="allow")
    __pydantic_extra__: dict[Annotated[str, AfterValidator(_check_own_key)], Any]

    version: Version = Field("1.0.0", description="Semantic version; several versions of one name live side by side.")
    category: Word | None = Field(None, description="One word to group tools by.")
    tags: tuple[Word, ...] = Field((), description="Words to filter and choose by.")
    permissions: tuple[Word, ...] = Field((), description="What a caller must have been granted, e.g. fs:read.")
    requires_approval: StrictBool = Field(False, description="A person must approve each call.")
    is_dangerous: StrictBool = Field(False, description="It can do harm: approval and durable records apply.")
    determinism_class: DeterminismClass = Field(
        DeterminismClass.NONDETERMINISTIC, description="Whether the same arguments always give the same answer."
    )
    side_effect_class: SideEffectClass = Field(
        SideEffectClass.EXTERNAL, description="What a call leaves behind; rules retries and caching."
    )
    level: StrictInt = Field(2, ge=1, description="1 = core, always offered; 2 and up = offered when it matches.")
    priority: StrictInt = Field(50, ge=0, le=100, description="Preferred over others that match as well.")
    capabilities: tuple[Word, ...] = Field((), description="What it is good for; selection matches on these.")
    cost: dict[str, Any] = Field(default_factory=dict, description="What a call costs, e.g. time: fast, money: free.")
    constraints: dict[str, Any] = Field(default_factory=dict, description="What it needs around it.")
    deprecated: StrictBool | str = Field(False, description="True, or what to use instead.")
    author: Word | None = Field(None, description="Who looks after it.")
    documentation_url: Word | None = Field(None, description="Where to read more.")
    source_url: Word | None = Field(None, description="Where its code lives.")
    estimated_duration: StrictFloat | None = Field(None, ge=0, description="Seconds a call usually takes.")
    requires_tools: tuple[Word, ...] = Field((), description="Tools that must be offered along with it.")
    conflicts_with: tuple[Word, ...] = Field((), description="Tools that must not be offered along with it.")
    toolkit_name: Word | None = Field(None, description="The toolkit it belongs to.")


class ToolExample(Noun):
    """Arguments for a call and, when given, the output it must have."""

    args: dict[str, Any] = Field(default_factory=dict, description="The arguments.")
    output: Any = Field(None, description="The output expected.")
    description: str = Field("", description="What the example shows.")


class ToolSpec(Noun):
    """A tool as data: what it is called, what it takes and gives, and how it is run."""

    name: ToolName = Field(description="What agents call it by: A-Z a-z 0-9 _ . : - and at most 128 of them.")
    description: str = Field(description="What it does, for the model that chooses it.")
    tool_type: ToolTypeName = Field(description="The kind of executor that runs it.")
    input_schema: dict[str, Any] = Field(
        default_factory=lambda: {"type": "object"}, description="JSON Schema (2020-12) of the arguments."
    )
    output_schema: dict[str, Any] | None = Field(None, description="JSON Schema (2020-12) of the output.")
    implementation_config: dict[str, Any] = Field(
        default_factory=dict, description="How to run it; the keys depend on tool_type. ${ENV} is read at call time."
    )
    metadata: ToolMetadata = Field(default_factory=ToolMetadata, description="What else is worth knowing about it.")
    timeout: StrictFloat = Field(
        DEFAULT_TIMEOUT, gt=0, le=LONGEST_TIMEOUT, description="Seconds a call may take (timeout_ms is accepted too)."
    )
    retries: StrictInt = Field(0, ge=0, le=10, description="Tries after the first; only pure and idempotent tools.")
    execution_mode: ExecutionMode = Field(ExecutionMode.ASYNC, description="How it gives its answer.")
    examples: tuple[ToolExample, ...] = Field((), description="Calls that show how it is used.")
    tool_id: str = Field("", description="A stable identifier; name@version unless given.")
    source: ToolSource = Field(ToolSource.USER, description="Where its code comes from.")
    origin: Place | None = Field(None, description="Where it was defined; set by the loader.")

    @model_validator(mode="before")
    @classmethod
    def _accept_milliseconds(cls, data: Any) -> Any:
        if not isinstance(data, Mapping) or "timeout_ms" not in data:
            return data
        data = dict(data)
        millis = data.pop("timeout_ms")
        if isinstance(millis, bool) or not isinstance(millis, int | float) or not 0 < millis <= LONGEST_TIMEOUT * 1000:
            raise _about("timeout_ms", "expected a number of milliseconds, more than 0 and at most a day of them")
        if data.setdefault("timeout", millis / 1000) != millis / 1000:
            raise _about("timeout_ms", "timeout and timeout_ms disagree; keep one of them")
        return data

    @model_validator(mode="before")
    @classmethod
    def _name_itself(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and not data.get("tool_id"):
            metadata = data.get("metadata") or {}
            version = metadata.version if isinstance(metadata, ToolMetadata) else _version_in(metadata)
            return {**data, "tool_id": f"{data.get('name')}@{version}"}
        return data

    @property
    def timeout_ms(self) -> int:
        """The timeout in milliseconds."""
        return round(self.timeout * 1000)

    @property
    def version(self) -> str:
        """The version, from the metadata."""
        return self.metadata.version

    @property
    def key(self) -> str:
        """The name and version together, as in `sum@1.0.0`."""
        return f"{self.name}@{self.metadata.version}"

    @property
    def side_effect_class(self) -> SideEffectClass:
        """What a call leaves behind, from the metadata."""
        return self.metadata.side_effect_class

    @property
    def determinism_class(self) -> DeterminismClass:
        """Whether the same arguments always give the same answer, from the metadata."""
        return self.metadata.determinism_class

    @cached_property
    def digest(self) -> str:
        """A SHA-256 over everything but the place it was loaded from."""
        data = self.model_dump(mode="json", exclude={"origin"})
        text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with the fields of `update`, which are not checked; its digest is its own."""
        copied = super().model_copy(update=update, deep=deep)
        copied.__dict__.pop("digest", None)
        return copied

    def planner_view(self) -> dict[str, Any]:
        """Return what a planner may see: name, description, schemas and metadata, never how it is run."""
        return self.model_dump(
            mode="json", include={"name", "description", "input_schema", "output_schema", "metadata"}
        )


def _version_in(metadata: Any) -> Any:
    return metadata.get("version", "1.0.0") if isinstance(metadata, Mapping) else "1.0.0"


def _about(key: str, message: str) -> PydanticCustomError:
    # `key` lets the reader of a file point at the key's own line.
    return PydanticCustomError("spec", "{message}", {"key": key, "message": message})
