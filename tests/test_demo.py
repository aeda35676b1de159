"""The repository's root is itself a gateway: its files are valid, its tools answer, its schemas are up to date."""

import runpy
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from toolgate import Gateway, ToolContext

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.anyio


def committed(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text("utf-8"))


async def test_the_example_tools_are_listed_and_say_whether_they_can_be_called() -> None:
    async with Gateway.open(ROOT) as gate:
        assert gate.report.ok
        available = {spec.name: gate.executor.unavailable(spec) is None for spec in gate.registry.visible()}

    assert available == {
        "calculate_sum": True,
        "dangerous_delete": False,
        "file_reader": True,
        "memory_recall": True,
    }


async def test_every_available_tool_of_the_demo_answers() -> None:
    context = ToolContext(working_directory=str(ROOT))
    async with Gateway.open(ROOT) as gate:
        call = gate.executor.execute
        assert await call("calculate_sum", {"a": 1, "b": 2}, context) == 3
        assert "Apache License" in await call("file_reader", {"path": "LICENSE"}, context)
        assert await call("memory_recall", {"query": "berlin"}, context) == [
            "The user works in Berlin; meetings are best before noon."
        ]


async def test_the_demo_file_reader_stays_below_the_working_directory(tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to("/etc")
    context = ToolContext(working_directory=str(tmp_path))
    async with Gateway.open(ROOT) as gate:
        for path in ("../secret", "/etc/passwd", "out/passwd"):
            result = await gate.executor.try_execute("file_reader", {"path": path}, context)
            assert (result.status, result.error and "outside" in result.error.message) == ("failed", True)


async def test_the_examples_in_the_demo_specs_are_true() -> None:
    async with Gateway.open(ROOT) as gate:
        examples = [(spec, example) for spec in gate.registry.list_specs() for example in spec.examples]
        assert examples
        for spec, example in examples:
            assert await gate.executor.execute(spec.name, example.args) == example.output


@pytest.mark.parametrize("name", ["tools.yaml", "toolgate.yaml"])
def test_the_demo_files_fit_the_published_schema(name: str) -> None:
    schema = committed("schemas/tools.schema.json")
    errors = [error.message for error in jsonschema_rs.validator_for(schema).iter_errors(committed(name))]
    assert errors == []


def test_the_capabilities_file_speaks_only_of_tools_there_are() -> None:
    tools = {tool["name"] for tool in committed("tools.yaml")["tools"]}
    assert {entry["name"] for entry in committed("capabilities.yaml")["capabilities"]} <= tools


def test_the_generated_files_are_what_the_code_says() -> None:
    assert runpy.run_path(str(ROOT / "docs" / "generate.py"))["stale"]() == {}
