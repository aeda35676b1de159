"""Loading: from any number of sources, again and again, and whatever goes wrong in one of them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.standins import SECONDS, ListLoader, a_registry, a_spec, versioned
from toolgate import (
    ConfigError,
    FileSpecLoader,
    Place,
    SpecLoader,
    ToolRegistrationError,
    ToolSpec,
    ToolSpecRegistry,
)

pytestmark = pytest.mark.anyio

TOOL = "- {{name: {name}, description: {description}, tool_type: python, implementation_config: {config}}}"
CONFIG = "{module: m, function_name: f}"


def tools_yaml(*names: str, description: str = "A tool.", config: str = CONFIG) -> str:
    lines = [TOOL.format(name=name, description=description, config=config) for name in names]
    return "\n".join(["tools:", *lines]) + "\n"


def names_in(registry: ToolSpecRegistry) -> list[str]:
    return [spec.name for spec in registry.list_specs()]


async def test_without_a_loader_the_tools_file_of_the_working_directory_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tools.yaml").write_text(tools_yaml("sum", "product"))
    monkeypatch.chdir(tmp_path)
    registry = ToolSpecRegistry()

    report = await registry.load_all()

    assert (report.ok, report.specs, report.added) == (True, 2, ("product@1.0.0", "sum@1.0.0"))
    assert registry.report is report
    assert names_in(registry) == ["product", "sum"]
    assert registry.get_spec("sum").origin == Place(str(tmp_path / "tools.yaml"), 2, 3)


async def test_an_empty_folder_gives_a_report_that_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    registry = ToolSpecRegistry()

    report = await registry.load_all()

    assert (report.ok, report.specs) == (False, 0)
    assert [str(error) for error in report.errors] == [
        "tools.yaml  there is no such file; run `toolgate init` to write one"
    ]


async def test_a_file_that_appears_later_is_found_by_the_next_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    registry = ToolSpecRegistry()
    await registry.load_all()

    (tmp_path / "tools.yaml").write_text(tools_yaml("sum"))

    assert (await registry.load_all()).ok
    assert names_in(registry) == ["sum"]


async def test_the_sources_a_gateway_file_names_are_read_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "toolgate.yaml").write_text("sources: [more.yaml]\n")
    (tmp_path / "tools.yaml").write_text(tools_yaml("sum"))
    (tmp_path / "more.yaml").write_text(tools_yaml("more"))
    monkeypatch.chdir(tmp_path)
    registry = ToolSpecRegistry()

    assert (await registry.load_all()).ok
    assert names_in(registry) == ["more", "sum"]


async def test_a_source_of_no_known_kind_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "toolgate.yaml").write_text("sources: [{type: carrier_pigeon}]\n")
    monkeypatch.chdir(tmp_path)

    report = await ToolSpecRegistry().load_all()

    assert ["carrier_pigeon" in str(error) for error in report.errors] == [True]


async def test_loading_again_picks_up_what_was_added_changed_and_removed(tmp_path: Path) -> None:
    file = tmp_path / "tools.yaml"
    file.write_text(tools_yaml("kept", "removed") + tools_yaml("changed").removeprefix("tools:\n"))
    registry = ToolSpecRegistry([FileSpecLoader(file)])
    await registry.load_all()
    before = registry.revision

    file.write_text(tools_yaml("added", "kept") + tools_yaml("changed", description="New.").removeprefix("tools:\n"))
    report = await registry.load_all()

    assert (report.added, report.removed, report.changed) == (("added@1.0.0",), ("removed@1.0.0",), ("changed@1.0.0",))
    assert (report.specs, names_in(registry)) == (3, ["added", "changed", "kept"])
    assert registry.get_spec("changed").description == "New."
    assert registry.get_spec("kept").origin == Place(str(file), 3, 3)
    assert registry.revision > before


async def test_loading_the_same_again_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "tools.yaml"
    file.write_text(tools_yaml("sum"))
    registry, heard = ToolSpecRegistry([FileSpecLoader(file)]), []
    await registry.load_all()
    registry.on_change(lambda: heard.append(1))
    before = registry.revision

    report = await registry.load_all()
    file.write_text("# moved down a line\n" + tools_yaml("sum"))
    moved = await registry.load_all()

    assert (report.added, report.removed, report.changed, report.specs) == ((), (), (), 1)
    assert (moved.changed, registry.revision, heard) == ((), before, [])


async def test_a_bad_file_keeps_the_tools_it_gave_before_and_is_reported(tmp_path: Path) -> None:
    bad, good = tmp_path / "bad.yaml", tmp_path / "good.yaml"
    bad.write_text(tools_yaml("first"))
    good.write_text(tools_yaml("second"))
    registry = ToolSpecRegistry([FileSpecLoader(bad), FileSpecLoader(good)])
    await registry.load_all()

    bad.write_text("tools: [{nam: oops}]\n")
    good.write_text(tools_yaml("second", "third"))
    report = await registry.load_all()

    assert (report.ok, names_in(registry)) == (False, ["first", "second", "third"])
    assert isinstance(report.errors[0], ConfigError)
    assert "bad.yaml:1" in str(report.errors[0])


@pytest.mark.parametrize(
    "error",
    [
        OSError("no route to host"),
        KeyError("tools"),
        SystemExit(2),
        ConfigError("broken"),
        ExceptionGroup("g", [OSError()]),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_one_dead_source_does_not_lose_the_others(error: BaseException) -> None:
    registry = ToolSpecRegistry([ListLoader(error=error), ListLoader(a_spec("alive"))])

    report = await registry.load_all()

    assert (report.specs, names_in(registry)) == (1, ["alive"])
    [reported] = report.errors
    assert isinstance(reported, ConfigError)
    if reported is not error:
        assert str(reported).startswith(f"ListLoader: {type(error).__name__}")


async def test_a_source_that_died_keeps_what_it_gave_until_it_gives_again() -> None:
    loader = ListLoader(a_spec("old"))
    registry = ToolSpecRegistry([loader])
    await registry.load_all()

    loader.error = OSError("gone")
    assert ((await registry.load_all()).ok, names_in(registry)) == (False, ["old"])
    loader.specs, loader.error = [a_spec("new")], None
    report = await registry.load_all()

    assert (report.ok, report.added, report.removed) == (True, ("new@1.0.0",), ("old@1.0.0",))


@pytest.mark.parametrize("loaded", [None, 5, ["sum"], [{"name": "sum"}], [a_spec("sum"), None]], ids=repr)
async def test_a_loader_that_gives_something_else_is_reported(loaded: Any) -> None:
    loader = ListLoader()
    loader.specs = loaded
    registry = ToolSpecRegistry([loader])

    report = await registry.load_all()

    assert ([str(error).startswith("ListLoader: TypeError") for error in report.errors], report.specs) == ([True], 0)


async def test_a_loader_of_your_own_takes_a_few_lines() -> None:
    class Constant(SpecLoader):
        async def load_specs(self) -> list[ToolSpec]:
            return [a_spec("pi"), a_spec("e")]

    registry = ToolSpecRegistry()
    registry.add_loader(Constant())

    assert (await registry.load_all()).specs == 2
    assert names_in(registry) == ["e", "pi"]


async def test_a_loader_needs_no_more_than_its_one_method() -> None:
    class Duck:
        async def load_specs(self) -> list[ToolSpec]:
            raise OSError("quack")

    report = await ToolSpecRegistry([Duck()]).load_all()  # type: ignore[list-item]  # that is what is tested

    assert [str(error) for error in report.errors] == ["Duck: OSError: quack"]


async def test_a_spec_with_a_broken_schema_is_kept_out_and_the_others_come_in() -> None:
    registry = ToolSpecRegistry([ListLoader(a_spec("bad", input_schema={"type": "objct"}), a_spec("good"))])

    report = await registry.load_all()

    assert names_in(registry) == ["good"]
    assert [isinstance(error, ToolRegistrationError) for error in report.errors] == [True]


@pytest.mark.parametrize("order", [1, -1])
async def test_a_name_in_two_sources_is_an_error_that_names_both_places(tmp_path: Path, order: int) -> None:
    files = [tmp_path / "a.yaml", tmp_path / "b.yaml"][::order]
    for file in files:
        file.write_text(tools_yaml("sum"))
    registry = ToolSpecRegistry([FileSpecLoader(file) for file in files])

    report = await registry.load_all()

    [error] = report.errors
    assert isinstance(error, ToolRegistrationError)
    assert f"{files[0]}:2:3 and {files[1]}:2:3" in str(error)
    assert registry.get_spec("sum").origin == Place(str(files[0]), 2, 3)


async def test_a_spec_registered_in_code_stays_and_wins_over_a_loaded_one() -> None:
    registry = a_registry(a_spec("sum", description="Mine."))
    registry.add_loader(ListLoader(a_spec("sum", description="Theirs."), versioned("sum", "2.0.0")))

    report = await registry.load_all()

    assert registry.get_spec("sum@1.0.0").description == "Mine."
    assert ["sum@1.0.0 is defined twice" in str(error) for error in report.errors] == [True]
    assert registry.versions("sum") == ["1.0.0", "2.0.0"]


async def test_sources_are_read_at_the_same_time_and_admitted_in_their_order() -> None:
    begun = [anyio.Event(), anyio.Event()]

    class Waiting(SpecLoader):
        def __init__(self, number: int) -> None:
            self._number = number

        async def load_specs(self) -> list[ToolSpec]:
            begun[self._number].set()
            await begun[1 - self._number].wait()
            return [a_spec("sum", description=str(self._number))]

    registry = ToolSpecRegistry([Waiting(0), Waiting(1)])

    with anyio.fail_after(SECONDS):
        await registry.load_all()

    assert registry.get_spec("sum").description == "0"


async def test_two_loads_at_once_take_turns() -> None:
    inside, most = 0, 0

    class Counting(SpecLoader):
        async def load_specs(self) -> list[ToolSpec]:
            nonlocal inside, most
            inside += 1
            most = max(most, inside)
            await anyio.lowlevel.checkpoint()
            inside -= 1
            return []

    registry = ToolSpecRegistry([Counting()])

    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(registry.load_all)

    assert most == 1


async def test_a_failed_load_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    await ToolSpecRegistry([ListLoader(error=OSError("no route"))]).load_all()

    assert [record.getMessage() for record in caplog.records] == ["ListLoader: OSError: no route"]


def a_hundred(description: str) -> list[ToolSpec]:
    return [a_spec(f"tool_{number}", description=description) for number in range(100)]


async def test_a_reader_in_another_thread_never_sees_half_a_catalogue() -> None:
    loader = ListLoader(*a_hundred("0"))
    registry = ToolSpecRegistry([loader])
    await registry.load_all()
    seen: set[int] = set()
    stop = False

    def read() -> None:
        while not stop:
            seen.add(len(registry.visible()))
            seen.add(100 if registry.has_spec("tool_99") else 0)

    async with anyio.create_task_group() as group:
        group.start_soon(anyio.to_thread.run_sync, read)
        for number in range(15):
            loader.specs = a_hundred(str(number))
            await registry.load_all()
            await anyio.lowlevel.checkpoint()
        stop = True

    assert seen == {100}


@pytest.mark.parametrize(
    "load",
    [FileSpecLoader, lambda file: FileSpecLoader([file]), lambda file: FileSpecLoader(str(file))],
)
async def test_a_tool_is_declared_by_editing_its_file(tmp_path: Path, load: Callable[[Path], SpecLoader]) -> None:
    (tmp_path / "tools.yaml").write_text(tools_yaml("new"))
    registry = ToolSpecRegistry()
    registry.add_loader(load(tmp_path / "tools.yaml"))

    await registry.load_all()

    assert registry.get_spec("new").implementation_config == {"module": "m", "function_name": "f"}
