"""A gateway from its files: opened once, reloaded while it runs, and nothing left behind."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from toolgate import (
    BaseExecutor,
    CallContext,
    ConfigError,
    Extension,
    Gateway,
    ToolContext,
    ToolResult,
    ToolSpec,
)

pytestmark = pytest.mark.anyio

TOOLS_YAML = """\
tools:
  - name: add
    description: Add two numbers.
    tool_type: python
    input_schema: {type: object, properties: {a: {type: number}, b: {type: number}}, required: [a, b]}
    implementation_config: {module: gateway_tools, function_name: add}
"""
GATEWAY_TOOLS = "async def add(a, b):\n    return a + b\ndef text():\n    return 'x' * 500\n"
PLUG_IN = """
from toolgate import BaseExecutor

class ReverseExecutor(BaseExecutor):
    async def execute(self, spec, args, context):
        return args["text"][::-1]

    async def down(self):
        closed.append(spec_type)

closed, spec_type = [], "reverse"
"""


class Labelling(Extension):
    """Puts a label around what the tool gave."""

    def __init__(self, label: str = "?", *, priority: int | None = None) -> None:
        super().__init__(priority=priority)
        self.label = label

    async def after_execute(self, ctx: CallContext, result: ToolResult) -> ToolResult:
        return result.with_output(f"{self.label}({result.output})")


class Shouting(Labelling):
    def __init__(self) -> None:
        super().__init__("SHOUT")


class Picky(Extension):
    def __init__(self, limit: int) -> None:
        raise ValueError(f"{limit} is too many")


NOT_AN_EXTENSION = dict


@pytest.fixture
def home(folder: Path) -> Path:
    """A folder with a gateway in it."""
    (folder / "tools.yaml").write_text(TOOLS_YAML)
    (folder / "gateway_tools.py").write_text(GATEWAY_TOOLS)
    return folder


def settings(home: Path, text: str) -> None:
    (home / "toolgate.yaml").write_text(text)


async def called(home: Path, name: str = "add", **args: Any) -> Any:
    async with Gateway.open(home) as gate:
        return await gate.executor.execute(name, args or {"a": 1, "b": 2})


# Opening


async def test_a_tools_file_alone_is_a_gateway(home: Path) -> None:
    async with Gateway.open(home / "tools.yaml") as gate:
        assert await gate.executor.execute("add", {"a": 1, "b": 2}) == 3
        assert (gate.report.ok, gate.report.specs) == (True, 1)
        assert gate.files == (home / "tools.yaml",)
        assert gate.config.max_output_bytes == 1_048_576


@pytest.mark.parametrize("named", [".", "tools.yaml", "toolgate.yaml"])
async def test_a_folder_or_either_of_its_two_files_opens_both(home: Path, named: str) -> None:
    settings(home, "max_output_bytes: 77\n")

    async with Gateway.open(home / named) as gate:
        assert gate.files == (home / "toolgate.yaml", home / "tools.yaml")
        assert (gate.config.max_output_bytes, gate.report.specs) == (77, 1)


async def test_any_other_file_is_opened_alone(home: Path) -> None:
    settings(home, "max_output_bytes: 77\n")
    (home / "other.yaml").write_text(TOOLS_YAML.replace("- name: add", "- name: plus"))

    async with Gateway.open(home / "other.yaml") as gate:
        assert [spec.name for spec in gate.registry.list_specs()] == ["plus"]
        assert gate.config.max_output_bytes != 77


async def test_without_a_path_the_working_directory_is_opened(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)

    async with Gateway.open() as gate:
        assert await gate.executor.execute("add", {"a": 1, "b": 2}) == 3


@pytest.mark.parametrize(
    ("text", "says"), [("tools: [{nam: x}]", "nam"), ("tool: []", 'did you mean "tools"'), ("tools: [", "tools.yaml:")]
)
async def test_a_gateway_with_a_mistake_in_its_files_does_not_open(home: Path, text: str, says: str) -> None:
    (home / "tools.yaml").write_text(text)

    with pytest.raises(ConfigError, match=says):
        await Gateway.open(home).__aenter__()


async def test_a_folder_with_nothing_in_it_does_not_open(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="toolgate init"):
        await Gateway.open(tmp_path).__aenter__()


async def test_a_source_that_cannot_be_read_is_reported_and_the_rest_opens(home: Path) -> None:
    settings(home, "sources: [gone.yaml]\n")

    async with Gateway.open(home) as gate:
        assert await gate.executor.execute("add", {"a": 1, "b": 2}) == 3
        assert ["gone.yaml" in str(error) for error in gate.report.errors] == [True]


# Settings


async def test_the_local_permissions_come_from_the_settings(home: Path) -> None:
    (home / "tools.yaml").write_text(TOOLS_YAML + "    metadata: {permissions: [fs:write]}\n")
    refused = await Gateway.open(home).__aenter__()
    assert (await refused.executor.try_execute("add", {"a": 1, "b": 2})).status == "denied"
    await refused.__aexit__()

    settings(home, "local_permissions: [fs:write]\n")

    assert await called(home) == 3


async def test_the_output_cap_comes_from_the_settings(home: Path) -> None:
    (home / "tools.yaml").write_text(TOOLS_YAML.replace("add", "text").replace(", required: [a, b]", ""))
    settings(home, "max_output_bytes: 100\n")

    async with Gateway.open(home) as gate:
        result = await gate.executor.try_execute("text")

    assert result.error is not None
    assert (result.status, result.error.code) == ("failed", "output_too_large")


async def test_settings_are_read_from_the_environment(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATE_PORT", "9000")
    settings(home, "server: {port: '${GATE_PORT}', host: '${GATE_HOST:-127.0.0.2}'}\n")

    async with Gateway.open(home) as gate:
        assert (gate.config.server.port, gate.config.server.host) == (9000, "127.0.0.2")


async def test_a_setting_whose_variable_is_not_set_names_it(home: Path) -> None:
    settings(home, "server: {port: '${GATE_PORT_THAT_IS_NOT_SET}'}\n")

    with pytest.raises(ConfigError, match="GATE_PORT_THAT_IS_NOT_SET is not set"):
        await Gateway.open(home).__aenter__()


# Extensions


async def test_extensions_are_made_from_the_file_with_their_options_and_priorities(home: Path) -> None:
    settings(
        home,
        f"""\
extensions:
  - use: {__name__}:Shouting
    priority: 100
  - use: {__name__}:Labelling
    priority: 600
    options: {{label: sum}}
""",
    )

    async with Gateway.open(home) as gate:
        assert await gate.executor.execute("add", {"a": 1, "b": 2}) == "sum(SHOUT(3))"
        chain = gate.executor.extension_manager.list_extensions()
        assert [(each.name, each.priority) for each in chain] == [("Labelling", 600), ("Shouting", 100)]


async def test_an_extension_keeps_its_own_priority_when_the_file_gives_none(home: Path) -> None:
    settings(home, f"extensions: [{{use: '{__name__}:Labelling', options: {{priority: 33}}}}]\n")

    async with Gateway.open(home) as gate:
        assert [each.priority for each in gate.executor.extension_manager.list_extensions()] == [33]


async def test_an_extension_may_live_beside_the_tools_file(home: Path) -> None:
    (home / "gateway_extensions.py").write_text(
        "from toolgate import Extension\nclass Doubling(Extension):\n"
        "    async def after_execute(self, ctx, result):\n        return result.with_output(result.output * 2)\n"
    )
    settings(home, "extensions: [{use: 'gateway_extensions:Doubling'}]\n")

    assert await called(home) == 6


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ("{use: 'nowhere_at_all:Thing'}", "extensions: cannot import nowhere_at_all:Thing"),
        (f"{{use: '{__name__}:Nothing'}}", "extensions: cannot import .*:Nothing"),
        (f"{{use: '{__name__}:NOT_AN_EXTENSION'}}", "is not an Extension"),
        (f"{{use: '{__name__}:Labelling', options: {{lable: x}}}}", "Labelling cannot be made .*lable"),
        (f"{{use: '{__name__}:Picky', options: {{limit: 5}}}}", "Picky cannot be made .*ValueError: 5 is too many"),
        ("{use: 'gateway_broken:Thing'}", "extensions: .*gateway_broken:Thing.*RuntimeError: no database"),
        ("{use: 'no colon'}", 'or "module:Class"'),
        ("{uses: 'a:B'}", 'did you mean "use"'),
        (f"{{use: '{__name__}:Labelling', priority: high}}", "a whole number|valid integer"),
    ],
)
async def test_an_extension_that_cannot_be_made_stops_the_gateway(home: Path, entry: str, says: str) -> None:
    (home / "gateway_broken.py").write_text("raise RuntimeError('no database')")
    settings(home, f"extensions: [{entry}]\n")

    with pytest.raises(ConfigError, match=says):
        await Gateway.open(home).__aenter__()


async def test_one_extension_twice_stops_the_gateway(home: Path) -> None:
    settings(home, f"extensions: [{{use: '{__name__}:Labelling'}}, {{use: '{__name__}:Labelling'}}]\n")

    with pytest.raises(ConfigError, match="registered already"):
        await Gateway.open(home).__aenter__()


# Plug-ins


async def test_a_tool_type_of_the_gateways_own_runs_and_is_closed(home: Path) -> None:
    (home / "kinds").mkdir()
    (home / "kinds" / "reverse.py").write_text(PLUG_IN)
    settings(home, "plugins: {executors: [kinds]}\n")
    (home / "tools.yaml").write_text("tools: [{name: back, description: Reverse., tool_type: reverse}]\n")

    async with Gateway.open(home) as gate:
        assert await gate.executor.execute("back", {"text": "abc"}) == "cba"
        executor = gate.executor.executor_for("back")
        assert isinstance(executor, BaseExecutor)

    assert sys.modules[type(executor).__module__].closed == ["reverse"]


# Reloading


async def test_reloading_picks_up_edits_while_the_gateway_runs(home: Path) -> None:
    async with Gateway.open(home) as gate:
        (home / "tools.yaml").write_text(TOOLS_YAML.replace("- name: add", "- name: plus"))

        report = await gate.reload()

        assert (report.added, report.removed, gate.report is report) == (("plus@1.0.0",), ("add@1.0.0",), True)
        assert await gate.executor.execute("plus", {"a": 1, "b": 2}) == 3
        assert (await gate.executor.try_execute("add")).status == "denied"


async def test_reloading_a_bad_file_leaves_the_running_tools_as_they_were(home: Path) -> None:
    async with Gateway.open(home) as gate:
        revision = gate.registry.revision
        (home / "tools.yaml").write_text("tools: [{nam: x}]")

        report = await gate.reload()

        assert not report.ok
        assert "tools.yaml:1" in str(report.errors[0])
        assert await gate.executor.execute("add", {"a": 1, "b": 2}) == 3
        assert gate.registry.revision == revision
        (home / "tools.yaml").write_text(TOOLS_YAML)
        assert (await gate.reload()).ok


async def test_reloading_when_the_file_is_gone_leaves_the_running_tools_as_they_were(home: Path) -> None:
    async with Gateway.open(home) as gate:
        (home / "tools.yaml").unlink()

        assert not (await gate.reload()).ok
        assert await gate.executor.execute("add", {"a": 1, "b": 2}) == 3


# The demo


async def test_the_demo_gateway_opens_and_its_tools_do_what_they_say() -> None:
    async with Gateway.open(Path(__file__).parents[1]) as gate:
        assert gate.report.errors == ()
        assert await gate.executor.execute("calculate_sum", {"a": 1, "b": 2}) == 3
        deleting = await gate.executor.try_execute("dangerous_delete", {"path": os.devnull})
        assert deleting.error is not None
        assert deleting.error.code == "approval_required"


async def test_the_catalogue_of_a_gateway_is_plain_data(home: Path) -> None:
    async with Gateway.open(home) as gate:
        tools = json.loads(json.dumps(gate.registry.to_openai_tools(context=ToolContext())))

    assert [tool["function"]["name"] for tool in tools] == ["add"]
    assert isinstance(gate.registry.get_spec("add"), ToolSpec)


async def test_reloading_says_that_changed_settings_need_a_restart(home: Path) -> None:
    settings(home, "local_permissions: [fs:read]\n")
    async with Gateway.open(home) as gate:
        settings(home, "local_permissions: []\n")

        report = await gate.reload()

        assert ["apply only after a restart" in str(error) for error in report.errors] == [True]
        assert gate.report is report

        unknown = await gate.executor.try_execute("nothing_like_it")
        assert unknown.error is not None
        assert unknown.error.hint == ""

        settings(home, "local_permissions: [fs:read]\n")
        assert (await gate.reload()).ok


# Places, and extensions of a gateway's own

LOUDER = """
from toolgate import Extension

class Louder(Extension):
    async def after_execute(self, ctx, result):
        return result.with_output(result.output * 10)
"""


async def test_an_extension_in_a_plug_in_folder_is_used_by_its_name(home: Path) -> None:
    (home / "own").mkdir()
    (home / "own" / "louder.py").write_text(LOUDER)
    settings(home, "plugins: {extensions: [own]}\nextensions:\n  - use: louder\n")

    assert await called(home) == 30


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("server: {}\nextensions:\n  - use: nobody\n", r"toolgate\.yaml:3:5  .*no extension called \"nobody\""),
        ("extensions:\n  - use: tests.test_gateway:Picky\n    options: {limit: 7}\n", r"toolgate\.yaml:2:5  .*Picky"),
        ("sources:\n  - {type: fiel, path: x}\n", r"toolgate\.yaml:2:5  .*did you mean \"file\""),
    ],
)
async def test_an_entry_that_cannot_be_used_is_named_with_its_place(home: Path, text: str, says: str) -> None:
    settings(home, text)

    with pytest.raises(ConfigError, match=says):
        await called(home)


async def test_an_extension_that_cannot_be_made_keeps_its_secrets(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_CANARY", "canary-0815")
    settings(home, 'extensions:\n  - use: tests.test_gateway:Picky\n    options: {limit: "${GATEWAY_CANARY}"}\n')

    with pytest.raises(ConfigError) as caught:
        await called(home)

    assert "is too many" in str(caught.value)
    assert "canary-0815" not in str(caught.value)
