"""The design document's own snippets, run as they are written there."""

import ast
import inspect
import json
from pathlib import Path
from typing import Any

import pytest

import toolgate
from toolgate import ToolContext, ToolPermissionError, ToolSpec, ToolSpecRegistry, ToolUnavailableError

pytestmark = pytest.mark.anyio

TOOL_SPEC = """
# Tool specifications are data, not code
tool_spec = ToolSpec(
    name="calculate_sum",
    description="Add two numbers together",
    tool_type=ToolType.PYTHON,
    input_schema={
        "type": "object",
        "properties": {
            "a": {"type": "number"},
            "b": {"type": "number"}
        }
    },
    implementation_config={
        "module": "math_tools",
        "function_name": "add"
    }
)
"""

UNIFIED_EXECUTOR = """
# All tool types executed the same way
result = await executor.execute(
    tool_name="any_tool",
    args={"param": "value"},
    context=ToolContext(session_id="123")
)
"""

CUSTOM_EXTENSION = """
# Extensions process all tool executions
class CustomExtension(Extension):
    async def before_execute(self, ctx):
        # Auth, validation, logging
        pass

    async def after_execute(self, ctx, result):
        # Metrics, audit, post-processing
        return result
"""

PLANNER_USAGE = """
# Agents only work with specifications
spec_registry = ToolSpecRegistry()
await spec_registry.load_all()

# Get tool schemas for LLM function calling
openai_tools = spec_registry.to_openai_tools()
mcp_tools = spec_registry.to_mcp_tools()

# Plan without knowing implementations
for spec in spec_registry.list_specs(tool_type="python"):
    print(f"Available: {spec.name} - {spec.description}")
"""

EXECUTOR_USAGE = """
# Single interface for all tool types
executor = UnifiedToolExecutor(spec_registry)
"""
PYTHON_CALL = """await executor.execute("python_function", args)"""
MCP_CALL = """await executor.execute("mcp_tool", args)"""
SHELL_CALL = """await executor.execute("shell_command", args)"""

# The document registers AuthExtension() and LoggingExtension() before its own extension; they are not there yet.
EXTENSION_USAGE = """
# Add custom cross-cutting logic
extension_manager = ExtensionManager()
extension_manager.register(MyCustomExtension())

executor = UnifiedToolExecutor(
    spec_registry=spec_registry,
    extension_manager=extension_manager
)
"""

TOOLS_YAML = """\
# tools.yaml
tools:
  - name: file_reader
    description: Read file contents
    tool_type: python
    input_schema:
      type: object
      properties:
        path: {type: string}
    implementation_config:
      module: file_tools
      function_name: read_file
    metadata:
      category: filesystem
      requires_approval: false

  - name: dangerous_delete
    description: Delete files
    tool_type: shell
    input_schema:
      type: object
      properties:
        path: {type: string}
    implementation_config:
      command: "rm {path}"
    metadata:
      is_dangerous: true
      requires_approval: true
"""

Names = dict[str, Any]


async def run(code: str, names: Names) -> None:
    """Run a snippet with top-level `await`, as an async REPL does."""
    running = eval(compile(code, "<the design document>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
    if inspect.isawaitable(running):
        await running


@pytest.fixture
def names(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Names:
    """What a snippet can see after `from toolgate import *` in a folder with the document's tools.yaml and modules."""
    (folder / "tools.yaml").write_text(TOOLS_YAML)
    (folder / "math_tools.py").write_text("def add(a, b):\n    return a + b\n")
    (folder / "file_tools.py").write_text(
        "def read_file(path):\n    with open(path) as file:\n        return file.read()\n"
    )
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    return {name: getattr(toolgate, name) for name in toolgate.__all__}


async def test_the_design_documents_tool_spec_is_data_and_adds(names: Names) -> None:
    await run(TOOL_SPEC, names)

    spec: ToolSpec = names["tool_spec"]
    names["spec_registry"] = registry = ToolSpecRegistry()
    registry.register_spec(spec)
    await run(EXECUTOR_USAGE, names)
    assert ToolSpec.model_validate_json(spec.model_dump_json()) == spec
    assert await names["executor"].execute("calculate_sum", {"a": 1, "b": 2}) == 3


async def test_the_design_documents_one_call_for_all_tool_types_works(names: Names, folder: Path) -> None:
    (folder / "any_tools.py").write_text("def run(param, context):\n    return [param, context.session_id]\n")
    config = {"module": "any_tools", "function_name": "run"}
    names["spec_registry"] = registry = ToolSpecRegistry()
    registry.register_spec(ToolSpec(name="any_tool", description="", tool_type="python", implementation_config=config))

    await run(EXECUTOR_USAGE + UNIFIED_EXECUTOR, names)

    assert names["result"] == ["value", "123"]


async def test_the_design_documents_custom_extension_runs_unchanged(names: Names, folder: Path) -> None:
    (folder / "note.txt").write_text("hello")
    await run(CUSTOM_EXTENSION + PLANNER_USAGE, names)
    names["MyCustomExtension"] = names["CustomExtension"]

    await run(EXTENSION_USAGE, names)

    manager = names["extension_manager"]
    assert [extension.name for extension in manager.list_extensions()] == ["CustomExtension"]
    assert await names["executor"].execute("file_reader", {"path": "note.txt"}) == "hello"


async def test_the_design_documents_extension_sees_every_call_on_its_way_in_and_out(names: Names, folder: Path) -> None:
    (folder / "note.txt").write_text("hello")
    names["seen"] = []
    await run(CUSTOM_EXTENSION.replace("pass", "seen.append(ctx.args)") + PLANNER_USAGE, names)
    names["MyCustomExtension"] = names["CustomExtension"]
    await run(EXTENSION_USAGE, names)

    await names["executor"].execute("file_reader", {"path": "note.txt"})

    assert names["seen"] == [{"path": "note.txt"}]


async def test_the_design_documents_planner_sees_the_tools_of_its_folder(
    names: Names, capsys: pytest.CaptureFixture[str]
) -> None:
    await run(PLANNER_USAGE, names)

    assert capsys.readouterr().out == "Available: file_reader - Read file contents\n"
    assert [tool["function"]["name"] for tool in names["openai_tools"]] == ["dangerous_delete", "file_reader"]
    assert [tool["name"] for tool in names["mcp_tools"]] == ["dangerous_delete", "file_reader"]
    assert "file_tools" not in json.dumps(names["openai_tools"] + names["mcp_tools"])


async def test_the_design_documents_tools_file_loads_as_it_is(names: Names) -> None:
    await run(PLANNER_USAGE, names)

    registry: ToolSpecRegistry = names["spec_registry"]
    delete = registry.get_spec("dangerous_delete")
    assert (delete.tool_type, delete.implementation_config) == ("shell", {"command": "rm {path}"})
    assert (delete.metadata.is_dangerous, delete.metadata.requires_approval) == (True, True)
    assert registry.get_spec("file_reader").metadata.category == "filesystem"
    assert registry.report.ok


async def test_the_design_documents_dangerous_tool_never_runs_unasked(names: Names, folder: Path) -> None:
    (folder / "note.txt").write_text("hello")
    await run(PLANNER_USAGE + EXECUTOR_USAGE, names)
    all_granted = ToolContext(granted_permissions=("shell:execute", "fs:write"))

    for context in (None, all_granted):
        result = await names["executor"].try_execute("dangerous_delete", {"path": "note.txt"}, context)
        assert result.status == "denied"

    assert (folder / "note.txt").read_text() == "hello"


async def test_the_design_documents_three_calls_take_the_same_road(names: Names) -> None:
    """The python call runs; the other two are refused in words as long as nothing here runs their types."""
    registry = names["spec_registry"] = ToolSpecRegistry()
    for name, kind, config in [
        ("python_function", "python", {"module": "math_tools", "function_name": "add"}),
        ("mcp_tool", "mcp", {"server": "demo"}),
        ("shell_command", "shell", {"command": "ls"}),
    ]:
        registry.register_spec(ToolSpec(name=name, description="", tool_type=kind, implementation_config=config))
    names["args"] = {"a": 1, "b": 2}
    await run(EXECUTOR_USAGE + "answer = " + PYTHON_CALL, names)

    assert names["answer"] == 3
    with pytest.raises(ToolUnavailableError, match="mcp"):
        await run(MCP_CALL, names)
    with pytest.raises(ToolPermissionError, match="shell:execute"):
        await run(SHELL_CALL, names)
