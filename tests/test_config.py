"""Settings have defaults, refuse what they do not know, and keep secrets as they are written."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pydantic import ValidationError

from tests.files import TOOL, a_tool, value_of
from toolgate.config import (
    FILE_KEYS,
    LOCAL_PERMISSIONS,
    TOOL_KEYS,
    ExtensionEntry,
    GatewayConfig,
    ServerSettings,
    file_schema,
    known_permissions,
)

ROOT = Path(__file__).parent.parent


def test_every_setting_has_a_default() -> None:
    config = GatewayConfig()

    assert config.model_dump() == {
        "sources": (),
        "extensions": (),
        "permissions": {},
        "local_permissions": ("fs:read", "net:outbound", "mcp:connect"),
        "plugins": {"executors": (), "loaders": (), "extensions": ()},
        "server": {"host": "127.0.0.1", "port": 8642, "allowed_hosts": (), "allowed_origins": ()},
        "max_output_bytes": 1_048_576,
    }


def test_what_is_always_explicit_is_not_granted_by_default() -> None:
    assert not {"shell:execute", "fs:write", "env:read"} & set(LOCAL_PERMISSIONS)


@pytest.mark.parametrize(
    "settings",
    [
        {"servr": {}},
        {"server": {"prot": 1}},
        {"server": {"port": -1}},
        {"server": {"port": 65_536}},
        {"server": {"port": True}},
        {"server": {"port": 1.5}},
        {"server": {"port": "http"}},
        {"server": {"host": ""}},
        {"server": {"host": 5}},
        {"max_output_bytes": 0},
        {"max_output_bytes": False},
        {"extensions": [{"use": "a:b", "priority": True}]},
        {"extensions": [{"options": {}}]},
        {"plugins": {"executors": "folder"}},
        {"plugins": {"nope": []}},
        {"permissions": ["a"]},
        {"permissions": {"": "x"}},
        {"sources": [5]},
        {"sources": [""]},
    ],
)
def test_a_setting_that_is_wrong_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        GatewayConfig.model_validate(settings)


@pytest.mark.parametrize("use", ["", "module:", ":Class", "a b:C", "a.:C", "a:C.d", "a:b:c", "a/b:C"])
def test_an_extension_is_named_by_its_kind_or_by_module_and_class(use: str) -> None:
    with pytest.raises(ValidationError, match="module:Class"):
        ExtensionEntry(use=use)
    assert ExtensionEntry(use="a.b:C").use == "a.b:C"


def test_a_number_may_be_written_as_text_as_variables_are() -> None:
    assert ServerSettings.model_validate({"port": "8080"}).port == 8080


def test_an_extensions_options_are_looked_up_when_asked_for_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLGATE_TEST_CANARY", "canary-4711")
    config = GatewayConfig.model_validate(
        {"extensions": [{"use": "a:B", "options": {"k": ["${TOOLGATE_TEST_CANARY}"]}}]}
    )

    assert config.extensions[0].options == {"k": ["canary-4711"]}
    shown = [repr(config), str(config), str(config.model_dump()), config.model_dump_json()]
    assert [text for text in shown if "canary-4711" in text] == []
    assert config.model_dump()["extensions"][0]["options"] == {"k": ["${TOOLGATE_TEST_CANARY}"]}
    assert GatewayConfig.model_validate(config.model_dump()) == config


def test_permissions_are_the_six_and_those_declared() -> None:
    assert known_permissions() == {
        "fs:read",
        "fs:write",
        "net:outbound",
        "shell:execute",
        "env:read",
        "mcp:connect",
    }
    assert known_permissions(["billing:write"]) - known_permissions() == {"billing:write"}


def test_the_keys_of_a_file_and_of_a_tool_are_those_of_the_models() -> None:
    assert {"tools", "defaults", "server", "sources"} <= FILE_KEYS
    assert {"name", "timeout", "timeout_ms"} <= TOOL_KEYS
    assert "origin" not in TOOL_KEYS


# The schema for editors

SCHEMA = file_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def test_the_schema_is_a_schema_and_json() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert json.loads(json.dumps(SCHEMA)) == SCHEMA
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"


@pytest.mark.parametrize(
    "text",
    [
        TOOL,
        a_tool(timeout_ms="500", metadata="{own: 1}"),
        "defaults: {timeout: 3, metadata: {tags: [a]}}",
        "server: {port: '${PORT:-8642}'}",
        "sources: [a.yaml, {type: http, url: x}]",
        "extensions: [{use: 'a:B', options: {x: 1}, priority: 5}]",
        (ROOT / "tools.yaml").read_text("utf-8"),
        (ROOT / "toolgate.yaml").read_text("utf-8"),
    ],
)
def test_the_schema_takes_what_toolgate_takes(text: str) -> None:
    assert [error.message for error in VALIDATOR.iter_errors(value_of(text))] == []


@pytest.mark.parametrize(
    "text",
    [
        "tols: []",
        "tools: {}",
        "tools: [{name: t}]",
        a_tool(nope="1"),
        a_tool(origin="{file: x}"),
        a_tool(timeout_ms="0"),
        TOOL.replace("module:", "modul:"),
        TOOL.replace("python", "shell"),
        "defaults: {name: x}",
        "server: {port: -1}",
        "extensions: [{options: {}}]",
    ],
)
def test_the_schema_refuses_what_toolgate_refuses(text: str) -> None:
    assert not VALIDATOR.is_valid(value_of(text))
