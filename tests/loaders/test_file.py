"""Specs from local files: one, several, folders and globs, YAML and JSON, with overlays for an environment."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.files import TOOL, a_tool, told
from toolgate.config import GatewayConfig
from toolgate.errors import ConfigError, Problem
from toolgate.loaders import SpecLoader, Surroundings, source_loaders
from toolgate.loaders.file import FileSpecLoader, main_files, overlays_of
from toolgate.spec import ToolSpec

CANARY = "canary-4711-never-shown"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TOOLGATE_ENV", raising=False)
    return tmp_path


def write(name: str, text: str | bytes) -> Path:
    file = Path(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": f"{name}.", "tool_type": "custom", **more}


def write_tools(file: str, *names: str) -> Path:
    return write(file, json.dumps({"tools": [tool(name) for name in names]}))


def names(*paths: str) -> list[str]:
    return [spec.name for spec in FileSpecLoader(list(paths)).read().specs]


def problems(loader: FileSpecLoader) -> list[Problem]:
    with pytest.raises(ConfigError) as caught:
        loader.read()
    return list(caught.value.problems)


# Which files


def test_one_file_is_read() -> None:
    write("tools.yaml", TOOL)

    catalogue = FileSpecLoader("tools.yaml").read()

    assert [spec.name for spec in catalogue.specs] == ["greet"]
    assert str(catalogue.specs[0].origin) == "tools.yaml:2:5"


@pytest.mark.anyio
async def test_specs_are_loaded_for_the_registry() -> None:
    write_tools("a.json", "one", "two")

    loader = FileSpecLoader(Path("a.json"))

    assert [spec.name for spec in await loader.load_specs()] == ["one", "two"]
    assert loader.name == "a.json"


def test_several_files_a_folder_and_a_glob_are_read_in_order_and_once() -> None:
    write_tools("b.yaml", "b1")
    write_tools("a.json", "a1")
    write_tools("folder/z.yml", "z")
    write_tools("folder/y.yaml", "y")
    write_tools("folder/deeper/x.yaml", "x")
    write("folder/notes.txt", "not a spec")

    assert names("b.yaml", "a.json") == ["b1", "a1"]
    assert names("folder") == ["y", "z"]
    assert names("folder/*.y*ml") == ["y", "z"]
    assert names("folder/**/*.yaml") == ["x", "y"]
    assert names("b.yaml", "b.yaml", "./b.yaml", "*.yaml") == ["b1"]


def test_every_file_of_a_folder_has_its_own_defaults() -> None:
    write("folder/a.yaml", "defaults: {timeout: 3}\ntools: [{name: a, description: d, tool_type: custom}]")
    write("folder/b.yaml", "defaults: {timeout: 4}\ntools: [{name: b, description: d, tool_type: custom}]")

    specs = FileSpecLoader("folder").read().specs

    assert [(spec.name, spec.timeout) for spec in specs] == [("a", 3), ("b", 4)]


def test_files_of_the_same_name_in_two_folders_are_not_a_pair() -> None:
    write_tools("one/tools.yaml", "a")
    write_tools("two/tools.yaml", "b")

    assert names("one/tools.yaml", "two/tools.yaml") == ["a", "b"]


def test_a_tool_in_two_files_is_refused_and_both_places_are_named() -> None:
    write_tools("a.json", "same")
    write_tools("b.json", "same")

    (problem,) = problems(FileSpecLoader(["a.json", "b.json"]))

    assert str(problem.place) == "b.json:1:21"
    assert "defined in a.json:1:12 too" in problem.message


def test_names_with_glob_characters_are_files_first_and_folders_above_are_never_patterns(here: Path) -> None:
    write_tools("odd[1]/tools[1].yaml", "a")
    around = Surroundings(here / "odd[1]")

    assert [spec.name for spec in FileSpecLoader("tools[1].yaml", around=around).read().specs] == ["a"]
    assert [spec.name for spec in FileSpecLoader("*.yaml", around=around).read().specs] == ["a"]


def test_an_empty_folder_has_no_tools() -> None:
    Path("folder").mkdir()

    assert names("folder") == []


def test_everything_that_is_missing_is_named_at_once() -> None:
    found = problems(FileSpecLoader(["tools.yaml", "gone.yaml", "gone/*.yaml"]))

    assert [str(problem) for problem in found] == [
        "tools.yaml  there is no such file; run `toolgate init` to write one",
        "gone.yaml  there is no such file; check the path",
        "gone/*.yaml  there is no such file; check the path",
    ]


def test_a_folder_named_like_a_file_is_not_taken_for_one() -> None:
    Path("tools.yaml").mkdir()
    write_tools("tools.yaml/inner.yaml", "inner")

    (problem,) = problems(FileSpecLoader("tools.yaml"))

    assert str(problem) == "tools.yaml  not a file; a source is a .yaml, .yml, .json file, or a folder of them"


def test_a_pipe_is_not_waited_for() -> None:
    os.mkfifo("tools.yaml")

    assert [problem.message for problem in problems(FileSpecLoader("tools.yaml"))] == ["not a file"]


def test_a_pattern_that_finds_nothing_usable_is_refused() -> None:
    write("notes.txt", "")

    assert [problem.message for problem in problems(FileSpecLoader("*.txt"))] == ["there is no such file"]


@pytest.mark.parametrize("path", ["x" * 5_000, "a\0b.yaml", "a" * 300 + ".yaml", "tools.yaml/below.yaml"])
def test_a_path_the_system_does_not_take_is_a_problem_and_no_crash(path: str) -> None:
    write("tools.yaml", "")

    assert len(problems(FileSpecLoader(path))) == 1
    assert main_files(path) == [Path(path)]


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that even root cannot read")
def test_files_that_cannot_be_read_are_all_named() -> None:
    for name in ("a.yaml", "b.yaml"):
        Path(name).symlink_to("/proc/self/mem")
    write("c.yaml", "{}")

    found = problems(FileSpecLoader(["a.yaml", "b.yaml", "c.yaml"]))

    assert [str(problem) for problem in found] == [
        "a.yaml  cannot read the file: input/output error",
        "b.yaml  cannot read the file: input/output error",
    ]


class Vanishing(FileSpecLoader):
    """A loader whose files are gone by the time they are read."""

    def files(self) -> list[Path]:
        found = super().files()
        found[0].unlink()
        return found


def test_a_file_that_vanishes_between_listing_and_reading_is_a_problem() -> None:
    write_tools("a.yaml", "a")

    (problem,) = problems(Vanishing("a.yaml"))

    assert str(problem) == "a.yaml  cannot read the file: no such file or directory"


def test_a_file_over_the_limit_is_refused_without_holding_it_all() -> None:
    with open("tools.yaml", "wb") as stream:
        stream.truncate(2**34)

    (problem,) = problems(FileSpecLoader("tools.yaml"))

    assert problem.message == "the file is 16,777,217 bytes; the limit is 16,777,216"


def test_problems_of_all_files_are_told_at_once() -> None:
    write("a.yaml", "zzz: 1")
    write("b.yaml", "tools: [")
    write("c.json", '{"tools": [5]}')

    found = problems(FileSpecLoader(["a.yaml", "b.yaml", "c.json"]))

    assert [str(problem.place) for problem in found] == ["a.yaml:1:1", "b.yaml:2:1", "c.json:1:12"]


def test_an_unchanged_file_is_not_read_again_and_a_changed_one_is() -> None:
    write_tools("a.json", "one")
    loader = FileSpecLoader("a.json")

    first = loader.read()
    assert loader.read() is first
    write_tools("a.json", "two")

    assert [spec.name for spec in loader.read().specs] == ["two"]


def test_a_folder_is_listed_anew_each_time() -> None:
    write_tools("folder/a.json", "a")
    loader = FileSpecLoader("folder")
    loader.read()

    write_tools("folder/b.json", "b")
    assert [spec.name for spec in loader.read().specs] == ["a", "b"]
    Path("folder/a.json").unlink()
    assert [spec.name for spec in loader.read().specs] == ["b"]


# The gateway's own pair


def test_a_gateway_is_the_pair_of_files_in_a_folder(here: Path) -> None:
    for name in ("toolgate.yaml", "tools.yaml", "other.yaml"):
        write(name, "{}")

    pair = ["toolgate.yaml", "tools.yaml"]
    assert [file.name for file in main_files()] == pair
    assert [file.name for file in main_files("tools.yaml")] == pair
    assert [file.name for file in main_files("toolgate.yaml")] == pair
    assert [file.name for file in main_files(here)] == pair
    assert [file.name for file in main_files("other.yaml")] == ["other.yaml"]


def test_half_of_the_pair_is_enough_and_none_is_a_missing_tools_file(here: Path) -> None:
    assert main_files() == [Path("tools.yaml")]
    assert main_files("toolgate.yaml") == [Path("toolgate.yaml")]
    write("toolgate.yaml", "{}")
    assert main_files(here) == [here / "toolgate.yaml"]
    assert main_files("tools.yaml") == [Path("tools.yaml")]


@pytest.mark.parametrize("key", ["tools: []", "server: {}", "defaults: {}", "permissions: {}"])
def test_a_key_given_in_both_of_the_pair_is_refused(key: str) -> None:
    write("toolgate.yaml", key)
    write("tools.yaml", "\n" + key)

    (problem,) = problems(FileSpecLoader.of_gateway())

    name = key.partition(":")[0]
    assert str(problem) == f"tools.yaml:2:1  {name}: this key is given in toolgate.yaml:1:1 too; keep one"


def test_the_pair_is_read_together() -> None:
    write("toolgate.yaml", "server: {port: 1}\npermissions: {x: y}")
    write("tools.yaml", TOOL + "    metadata: {permissions: [x]}")

    catalogue = FileSpecLoader.of_gateway().read()

    assert catalogue.config.server.port == 1
    assert [spec.name for spec in catalogue.specs] == ["greet"]


# Overlays

BASE = """\
server: {host: localhost, port: 1}
tools:
  - name: greet
    description: Say hello.
    tool_type: python
    timeout: 3
    implementation_config: {module: tools.greetings, function_name: greet}
  - name: other
    description: Another.
    tool_type: custom
"""


def overlaid(text: str, monkeypatch: pytest.MonkeyPatch, base: str = BASE) -> FileSpecLoader:
    write("tools.yaml", base)
    write("tools.prod.yaml", text)
    monkeypatch.setenv("TOOLGATE_ENV", "prod")
    return FileSpecLoader.of_gateway()


def test_an_overlay_changes_tools_by_name_and_adds_new_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    text = """\
server: {port: 2}
tools:
  - name: greet
    implementation_config: {function_name: greet_politely}
  - name: only_here
    description: New.
    tool_type: custom
"""
    catalogue = overlaid(text, monkeypatch).read()
    greet, other, added = catalogue.specs

    assert (catalogue.config.server.host, catalogue.config.server.port) == ("localhost", 2)
    assert greet.implementation_config == {"module": "tools.greetings", "function_name": "greet_politely"}
    assert (greet.timeout, greet.description) == (3, "Say hello.")
    assert str(greet.origin) == "tools.yaml:3:5"
    assert other.name == "other"
    assert str(added.origin) == "tools.prod.yaml:5:5"


def test_without_its_environment_an_overlay_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    loader = overlaid("tools: [{name: greet, timeout: 9}]", monkeypatch)

    for environment, timeout in (("prod", 9), ("", 3), ("dev", 3), ("prod", 9)):
        monkeypatch.setenv("TOOLGATE_ENV", environment)
        assert loader.read().specs[0].timeout == timeout


def test_a_mistake_in_an_overlay_is_told_in_the_overlay_and_one_below_it_in_the_base(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loader = overlaid(
        "tools:\n  - name: greet\n    timeout: soon\n    metadata: {level: high}\n  - name: new\n    zzz: 1\n",
        monkeypatch,
        BASE.replace("tool_type: custom", "tool_type: pyton"),
    )

    assert [str(problem).partition(";")[0] for problem in problems(loader)] == [
        "tools.prod.yaml:3:14  tools[0] greet: timeout: expected a number",
        "tools.prod.yaml:4:23  tools[0] greet: metadata.level: expected a whole number",
        'tools.prod.yaml:5:5  tools[2] new: "description" is missing',
        'tools.prod.yaml:5:5  tools[2] new: "tool_type" is missing',
        "tools.prod.yaml:6:5  tools[2] new: zzz: no such key",
        'tools.yaml:10:16  tools[1] other: tool_type: unknown tool type "pyton"',
    ]


def two_versions() -> str:
    return "tools:\n" + "".join(
        f"  - {{name: t, description: d, tool_type: custom, metadata: {{version: {version}}}}}\n"
        for version in ("1.0.0", "2.0.0")
    )


def test_the_version_tells_which_of_several_tools_an_overlay_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "tools: [{name: t, timeout: 9, metadata: {version: 2.0.0}}]"

    assert [spec.timeout for spec in overlaid(text, monkeypatch, two_versions()).read().specs] == [30, 9]


def test_an_overlay_that_names_no_version_changes_every_version_of_the_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "tools: [{name: t, timeout: 9, metadata: {is_dangerous: true}}]"

    specs = overlaid(text, monkeypatch, two_versions()).read().specs

    assert [(spec.version, spec.timeout, spec.metadata.is_dangerous) for spec in specs] == [
        ("1.0.0", 9, True),
        ("2.0.0", 9, True),
    ]
    assert [str(spec.origin) for spec in specs] == ["tools.yaml:2:5", "tools.yaml:3:5"]


def test_a_mistake_for_every_version_is_told_in_the_overlay(monkeypatch: pytest.MonkeyPatch) -> None:
    loader = overlaid("tools:\n  - name: t\n    timeout: soon\n", monkeypatch, two_versions())

    assert [str(problem).partition(";")[0] for problem in problems(loader)] == [
        "tools.prod.yaml:3:14  tools[0] t: timeout: expected a number",
        "tools.prod.yaml:3:14  tools[1] t: timeout: expected a number",
    ]


@pytest.mark.parametrize("base", [two_versions(), a_tool(), a_tool(metadata="{version: 2.0.0}")])
def test_an_overlay_with_a_version_that_is_not_there_adds_it(base: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "tools: [{name: t, description: new, tool_type: custom, metadata: {version: 3.0.0}}]"

    *before, added = overlaid(text, monkeypatch, base).read().specs

    assert "3.0.0" not in [spec.version for spec in before]
    assert (added.version, added.description, str(added.origin)) == ("3.0.0", "new", "tools.prod.yaml:1:9")


def test_a_version_an_overlay_adds_must_be_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    loader = overlaid("tools: [{name: t, timeout: 9, metadata: {version: 3.0.0}}]", monkeypatch, a_tool())

    assert [str(problem) for problem in problems(loader)] == [
        'tools.prod.yaml:1:9  tools[1] t: "description" is missing',
        'tools.prod.yaml:1:9  tools[1] t: "tool_type" is missing',
    ]


@pytest.mark.parametrize(
    ("base", "version"),
    [
        (a_tool(), "1.0.0"),
        (a_tool(metadata="{level: 2}"), "1.0.0"),
        ("defaults: {metadata: {version: 4.0.0}}\n" + a_tool(), "4.0.0"),
        ("defaults: {metadata: {level: 2}}\n" + a_tool(), "1.0.0"),
    ],
)
def test_a_tool_that_says_no_version_has_that_of_the_defaults(
    base: str, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"tools: [{{name: t, timeout: 9, metadata: {{version: {version}}}}}]"

    specs = overlaid(text, monkeypatch, base).read().specs

    assert [(spec.version, spec.timeout) for spec in specs] == [(version, 9)]


@pytest.mark.parametrize("defaults", ["5", "{metadata: 5}", "{metadata: {version: [1]}}"])
def test_defaults_that_are_wrong_are_told_and_do_not_stop_an_overlay(
    defaults: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "tools: [{name: t, description: d, tool_type: custom, metadata: {version: 3.0.0}}]"

    found = problems(overlaid(text, monkeypatch, f"defaults: {defaults}\n" + a_tool()))

    assert {problem.place.line for problem in found if problem.place} == {1}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- a", ["1:1 an overlay and what it lies over are both mappings"]),
        ("hello", ["1:1 an overlay and what it lies over are both mappings"]),
        ("tools: [5]", ["1:9 expected a mapping with name, description and tool_type"]),
        ("tools: {greet: {}}", ["1:8 expected a list of tools"]),
        ("zzz: 1", ["1:1 no such key"]),
        ("a: 1\na: 2", ["1:1 no such key", '2:1 the key "a" is given twice']),
        ("tools: [", ["2:1 did not find expected node content"]),
        (
            "tools: [{name: 5}]",
            ['1:9 "description" is missing', '1:9 "tool_type" is missing', "1:16 expected text"],
        ),
    ],
)
def test_an_overlay_that_is_wrong_is_told_where_it_is_wrong(
    text: str, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = problems(overlaid(text + "\n", monkeypatch))

    assert told(found) == expected
    assert {str(problem.place).partition(":")[0] for problem in found} == {"tools.prod.yaml"}


def test_an_empty_overlay_changes_nothing_and_an_empty_base_takes_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [spec.name for spec in overlaid("# nothing yet", monkeypatch).read().specs] == ["greet", "other"]
    assert [spec.name for spec in overlaid(BASE, monkeypatch, "# nothing yet").read().specs] == ["greet", "other"]


def test_an_overlay_may_bring_the_tools_and_the_base_only_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    loader = overlaid("tools: [{name: t, description: d, tool_type: custom}]", monkeypatch, "server: {port: 1}")

    assert [spec.name for spec in loader.read().specs] == ["t"]


def test_overlays_apply_to_both_of_the_pair_and_to_json(monkeypatch: pytest.MonkeyPatch) -> None:
    write("toolgate.yaml", "server: {port: 1}")
    write("toolgate.prod.yaml", "server: {port: 2}")
    write("tools.yaml", TOOL)
    write_tools("more.json", "more")
    write("more.prod.json", json.dumps({"tools": [{"name": "more", "timeout": 9}]}))
    monkeypatch.setenv("TOOLGATE_ENV", "prod")

    assert FileSpecLoader.of_gateway().read().config.server.port == 2
    assert FileSpecLoader("more.json").read().specs[0].timeout == 9


@pytest.mark.parametrize("environment", ["", "enterprise"])
def test_files_found_in_a_folder_or_by_a_glob_are_all_read_and_never_overlays(
    environment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tools("tools.d/github.yaml", "github")
    write_tools("tools.d/github.enterprise.yaml", "github_enterprise")
    monkeypatch.setenv("TOOLGATE_ENV", environment)

    assert names("tools.d") == names("tools.d/*.yaml") == ["github_enterprise", "github"]


def test_a_change_meant_as_an_overlay_is_refused_where_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    write_tools("tools.d/a.yaml", "a")
    write("tools.d/a.prod.yaml", "tools: [{name: a, timeout: 9}]")
    monkeypatch.setenv("TOOLGATE_ENV", "prod")

    assert told(problems(FileSpecLoader("tools.d"))) == [
        '1:9 "description" is missing',
        '1:9 "tool_type" is missing',
        "1:21 a tool of this name and version is defined in tools.d/a.prod.yaml:1:9 too",
    ]


def test_a_file_that_is_named_and_found_too_keeps_its_overlay(monkeypatch: pytest.MonkeyPatch) -> None:
    write_tools("folder/a.yaml", "a")
    write("folder/a.prod.yaml", "tools: [{name: a, timeout: 9}]")
    write_tools("folder/b.prod.yaml", "b")
    monkeypatch.setenv("TOOLGATE_ENV", "prod")

    specs = FileSpecLoader(["folder", "folder/a.yaml"]).read().specs

    assert [(spec.name, spec.timeout) for spec in specs] == [("a", 9), ("b", 30)]


def test_files_named_one_by_one_are_files_and_not_each_others_overlays(monkeypatch: pytest.MonkeyPatch) -> None:
    write_tools("a.yaml", "a")
    write_tools("a.v2.yaml", "a2")

    assert names("a.yaml", "a.v2.yaml") == ["a", "a2"]
    monkeypatch.setenv("TOOLGATE_ENV", "v2")
    assert overlays_of([Path("a.yaml"), Path("a.v2.yaml")]) == {Path("a.yaml"): [Path("a.v2.yaml")]}
    assert names("a.yaml", "a.v2.yaml") == ["a", "a2"]


def test_a_folder_named_like_an_overlay_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    write("tools.yaml", TOOL)
    Path("tools.prod.yaml").mkdir()
    monkeypatch.setenv("TOOLGATE_ENV", "prod")

    assert [str(problem) for problem in problems(FileSpecLoader("tools.yaml"))] == [
        "tools.prod.yaml  cannot read the file: is a directory"
    ]


@pytest.mark.parametrize("environment", ["../etc", "a/b", "a.b", "a b", "-", "\n", "*"])
def test_an_environment_is_a_plain_name(environment: str, monkeypatch: pytest.MonkeyPatch) -> None:
    write("tools.yaml", TOOL)
    monkeypatch.setenv("TOOLGATE_ENV", environment)

    assert [str(problem) for problem in problems(FileSpecLoader("tools.yaml"))] == [
        "TOOLGATE_ENV may hold only letters, digits, - and _"
    ]


def test_an_environment_with_a_very_long_name_has_no_overlay(monkeypatch: pytest.MonkeyPatch) -> None:
    write("tools.yaml", TOOL)
    monkeypatch.setenv("TOOLGATE_ENV", "e" * 5_000)

    assert names("tools.yaml") == ["greet"]


# Sources


def loaders(text: str) -> list[SpecLoader]:
    write("toolgate.yaml", text)
    catalogue = FileSpecLoader.of_gateway().read()
    return source_loaders(catalogue.config, Surroundings(Path().absolute(), catalogue.executors))


@pytest.mark.anyio
async def test_sources_are_paths_or_kinds_with_options(monkeypatch: pytest.MonkeyPatch) -> None:
    write_tools("more/a.yaml", "a")
    write_tools("b.json", "b")
    monkeypatch.setenv("TOOLGATE_TEST_FOLDER", "more")

    made = loaders("sources: [b.json, {type: file, path: [more/*.yaml]}, {path: '${TOOLGATE_TEST_FOLDER}'}]")

    assert [[spec.name for spec in await loader.load_specs()] for loader in made] == [["b"], ["a"], ["a"]]


@pytest.mark.anyio
async def test_a_source_file_may_not_hold_settings() -> None:
    write("more.yaml", "server: {port: 1}\n" + TOOL)
    (loader,) = loaders("sources: [more.yaml]")

    with pytest.raises(ConfigError) as caught:
        await loader.load_specs()

    assert [str(problem) for problem in caught.value.problems] == [
        "more.yaml:1:1  server: settings have no place in this source"
    ]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("{type: fil}", 'sources: no such kind "fil"; did you mean "file"?'),
        ("{type: zebra}", 'sources: no such kind "zebra"; known: file'),
        ("{type: file}", 'sources: a "file" source cannot be made from these options: TypeError: '),
        ("{type: file, path: x, nope: 1}", 'sources: a "file" source cannot be made from these options: TypeError: '),
    ],
)
def test_a_source_that_cannot_be_made_is_refused(source: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        loaders(f"sources: [{source}]")

    assert str(caught.value).startswith(message)


@pytest.mark.anyio
async def test_a_file_named_as_a_source_has_its_overlay(monkeypatch: pytest.MonkeyPatch) -> None:
    write_tools("more.yaml", "more")
    write("more.prod.yaml", "tools: [{name: more, timeout: 9}]")
    monkeypatch.setenv("TOOLGATE_ENV", "prod")

    (loader,) = loaders("sources: [more.yaml]")

    assert [spec.timeout for spec in await loader.load_specs()] == [9]


class Fixed(SpecLoader):
    """A loader with nothing but what a loader must have."""

    async def load_specs(self) -> list[ToolSpec]:
        return []


def test_a_loader_is_named_after_its_class_and_made_from_its_options() -> None:
    assert Fixed.from_config({}, Surroundings()).name == "Fixed"
    assert source_loaders(GatewayConfig(), Surroundings()) == []
