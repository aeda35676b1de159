"""name[@version] -> spec: side by side, in one order, and what moves when anything changes."""

import json
import random
from typing import Any

import pytest

from tests.standins import ListLoader, a_registry, a_spec, versioned
from toolgate import (
    ConfigError,
    LoadReport,
    Place,
    ToolContext,
    ToolNotFoundError,
    ToolRegistrationError,
    ToolSpec,
    ToolSpecRegistry,
    ToolType,
)

pytestmark = pytest.mark.anyio


def keys(specs: list[ToolSpec]) -> list[str]:
    return [spec.key for spec in specs]


def only(*names: str) -> ToolContext:
    return ToolContext(allowed_tools=frozenset(names))


# One at a time


def test_a_spec_that_was_registered_is_there_and_one_that_was_removed_is_not() -> None:
    registry, spec = ToolSpecRegistry(), a_spec("sum")

    registry.register_spec(spec)
    assert (registry.has_spec("sum"), registry.get_spec("sum") is spec, registry.has_spec("sum", "^2")) == (
        True,
        True,
        False,
    )
    registry.unregister_spec("sum")
    assert (registry.has_spec("sum"), registry.list_specs()) == (False, [])


def test_a_name_and_version_can_be_taken_only_once() -> None:
    registry = a_registry(a_spec("sum", origin=Place("tools.yaml", 3, 5)))

    with pytest.raises(ToolRegistrationError) as caught:
        registry.register_spec(a_spec("sum"))
    assert caught.value.message == "sum@1.0.0 is defined twice: tools.yaml:3:5 and registered in code"
    registry.register_spec(versioned("sum", "1.0.1"))
    assert registry.versions("sum") == ["1.0.0", "1.0.1"]


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"input_schema": {"type": "objct"}}, "input_schema is not a JSON Schema"),
        ({"output_schema": {"minimum": "x"}}, "output_schema is not a JSON Schema"),
        ({"input_schema": {"type": "array"}}, "must be of type object"),
    ],
)
def test_a_spec_with_a_broken_schema_is_refused(fields: dict[str, Any], says: str) -> None:
    registry = ToolSpecRegistry()

    with pytest.raises(ToolRegistrationError, match=says) as caught:
        registry.register_spec(a_spec("sum", **fields))

    assert (caught.value.tool_name, registry.has_spec("sum"), registry.revision) == ("sum", False, 0)


def test_removing_a_spec_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ToolNotFoundError):
        ToolSpecRegistry().unregister_spec("sum")


def test_one_of_several_versions_is_removed_only_by_its_version() -> None:
    registry = a_registry(versioned("sum", "1.0.0"), versioned("sum", "2.0.0"))

    with pytest.raises(ToolRegistrationError, match="several versions"):
        registry.unregister_spec("sum")
    registry.unregister_spec("sum", "2.0.0")
    assert registry.get_spec("sum").version == "1.0.0"
    registry.unregister_spec("sum")
    assert registry.list_specs() == []


# Versions


def test_versions_live_side_by_side_and_the_newest_is_meant_by_the_bare_name() -> None:
    registry = a_registry(*(versioned("sum", each) for each in ("1.10.0", "1.9.0", "2.0.0")))

    assert registry.versions("sum") == ["1.9.0", "1.10.0", "2.0.0"]
    assert registry.get_spec("sum").version == "2.0.0"
    assert registry.get_spec("sum", version="^1").version == "1.10.0"
    assert registry.get_spec("sum@1.9.0").version == "1.9.0"
    assert registry.get_spec("sum@^1", version="2.0.0").version == "2.0.0"


def test_a_deprecated_version_is_meant_only_when_it_is_named_or_there_is_no_other() -> None:
    registry = a_registry(versioned("sum", "1.0.0"), versioned("sum", "2.0.0", deprecated="use 1"))

    assert registry.get_spec("sum").version == "1.0.0"
    assert registry.get_spec("sum@>=1").version == "1.0.0"
    assert registry.get_spec("sum@^2").version == "2.0.0"
    assert keys(registry.visible()) == ["sum@1.0.0"]
    registry.unregister_spec("sum", "1.0.0")
    assert registry.get_spec("sum").version == "2.0.0"


def test_a_pre_release_is_meant_only_when_it_is_named_or_there_is_no_release() -> None:
    registry = a_registry(versioned("sum", "1.0.0"), versioned("sum", "2.0.0-rc.1"), versioned("new", "0.1.0-a"))

    assert registry.get_spec("sum").version == "1.0.0"
    assert registry.get_spec("sum@2.0.0-rc.1").version == "2.0.0-rc.1"
    assert registry.get_spec("new").version == "0.1.0-a"


def test_a_version_with_build_metadata_can_be_named_exactly() -> None:
    registry = a_registry(versioned("sum", "1.0.0+a"), versioned("sum", "1.0.0+b"))

    assert registry.get_spec("sum@1.0.0+a").version == "1.0.0+a"
    assert registry.get_spec("sum").version == registry.get_spec("sum@1.0.0").version == "1.0.0+b"


@pytest.mark.parametrize("reference", ["sum@2", "sum@", "sum@nonsense", "sum@1.0.0@1", "@1.0.0", "", "sum@^1,<1"])
def test_a_version_that_is_not_there_is_not_found(reference: str) -> None:
    registry = a_registry(a_spec("sum"))

    assert not registry.has_spec(reference)
    with pytest.raises(ToolNotFoundError):
        registry.resolve(reference, ToolContext())


def test_asking_for_a_version_that_is_not_there_names_those_that_are() -> None:
    registry = a_registry(versioned("sum", "1.0.0"), versioned("sum", "1.1.0"))

    with pytest.raises(ToolNotFoundError) as caught:
        registry.get_spec("sum", "^9")

    assert (caught.value.tool_name, caught.value.hint) == ("sum@^9", "versions: 1.0.0, 1.1.0")


# Aliases


def test_an_alias_finds_its_tool_and_a_name_comes_before_an_alias() -> None:
    registry = a_registry(a_spec("search:web"))
    assert registry.resolve("search__web", ToolContext()).name == "search:web"

    registry.register_spec(a_spec("search__web"))

    assert registry.resolve("search__web", ToolContext()).name == "search__web"


@pytest.mark.parametrize("names", [("a:b", "a.b"), ("a.b", "a:b")])
def test_an_alias_of_two_tools_means_the_one_in_sight_and_nothing_when_both_are(names: tuple[str, str]) -> None:
    registry = a_registry(*map(a_spec, names))

    assert registry.resolve("a__b", only("a:b")).name == "a:b"
    assert registry.resolve("a__b", only("a.b")).name == "a.b"
    with pytest.raises(ToolNotFoundError):
        registry.resolve("a__b", ToolContext())


def test_an_alias_goes_with_its_tool() -> None:
    registry = a_registry(a_spec("search:web"))

    registry.unregister_spec("search:web")

    assert not registry.has_spec("search__web")


# Not found


def test_a_tool_that_is_not_found_is_named_and_the_nearest_is_suggested() -> None:
    with pytest.raises(ToolNotFoundError) as caught:
        a_registry(a_spec("calculate_sum")).get_spec("calculate_sun")

    assert (caught.value.tool_name, caught.value.hint) == ("calculate_sun", 'did you mean "calculate_sum"?')


async def test_a_source_that_failed_is_a_hint_but_not_for_those_who_may_not_see_everything() -> None:
    registry = ToolSpecRegistry([ListLoader(error=OSError("cannot read hidden_tool"))])
    await registry.load_all()

    with pytest.raises(ToolNotFoundError) as everyone:
        registry.resolve("sum", ToolContext())
    with pytest.raises(ToolNotFoundError) as some:
        registry.resolve("sum", only("other"))

    assert everyone.value.hint == "a source failed to load: ListLoader: OSError: cannot read hidden_tool"
    assert some.value.hint == ""


# Listing


SPECS = [
    versioned("b", "1.0.0"),
    versioned("a", "2.0.0", category="math", tags=["x", "y"]),
    versioned("a", "10.0.0+b", tags=["x"], permissions=["fs:read"]),
    versioned("a", "10.0.0+a"),
    a_spec("c", tool_type="shell", source="builtin"),
    a_spec("B", tool_type="graphql"),
]
IN_ORDER = ["B@1.0.0", "a@2.0.0", "a@10.0.0+a", "a@10.0.0+b", "b@1.0.0", "c@1.0.0"]


def test_specs_are_listed_in_one_order_whatever_order_they_came_in() -> None:
    shuffled = random.Random(7)

    for _ in range(20):
        specs = shuffled.sample(SPECS, len(SPECS))
        registry = a_registry(*specs)
        assert keys(registry.list_specs()) == IN_ORDER
        assert keys(registry.visible()) == ["B@1.0.0", "a@10.0.0+b", "b@1.0.0", "c@1.0.0"]
        assert json.dumps(registry.to_openai_tools()) == json.dumps(a_registry(*SPECS).to_openai_tools())


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"tool_type": "shell"}, ["c@1.0.0"]),
        ({"tool_type": ToolType.SHELL}, ["c@1.0.0"]),
        ({"tool_type": "graphql"}, ["B@1.0.0"]),
        ({"category": "math"}, ["a@2.0.0"]),
        ({"tags": ["x"]}, ["a@2.0.0", "a@10.0.0+b"]),
        ({"tags": ["y", "x"]}, ["a@2.0.0"]),
        ({"tags": []}, IN_ORDER),
        ({"source": "builtin"}, ["c@1.0.0"]),
        ({"permission": "fs:read"}, ["a@10.0.0+b"]),
        ({"tags": ["x"], "category": "math", "tool_type": "python"}, ["a@2.0.0"]),
        ({"tags": ["x"], "source": "builtin"}, []),
        ({}, IN_ORDER),
    ],
)
def test_specs_are_filtered_by_everything_asked_for(wanted: dict[str, Any], found: list[str]) -> None:
    assert keys(a_registry(*SPECS).list_specs(**wanted)) == found


def test_a_list_of_specs_is_the_callers_to_change() -> None:
    registry = a_registry(a_spec("sum"))

    registry.list_specs().clear()
    registry.visible().clear()

    assert keys(registry.list_specs()) == keys(registry.visible()) == ["sum@1.0.0"]


def test_a_caller_sees_the_newest_of_what_its_allow_list_names() -> None:
    registry = a_registry(*SPECS)

    assert keys(registry.visible(only("a", "c", "nope"))) == ["a@10.0.0+b", "c@1.0.0"]
    assert registry.visible(only()) == []


# Changing


def test_the_revision_moves_with_every_change_and_with_nothing_else() -> None:
    registry = ToolSpecRegistry()
    seen = [registry.revision]

    registry.register_spec(a_spec("sum"))
    seen.append(registry.revision)
    registry.list_specs()
    registry.get_spec("sum")
    with pytest.raises(ToolRegistrationError):
        registry.register_spec(a_spec("sum"))
    assert registry.revision == seen[-1]
    registry.unregister_spec("sum")
    seen.append(registry.revision)

    assert len(set(seen)) == 3


def test_listeners_hear_of_every_change_until_they_stop_listening() -> None:
    registry, heard = ToolSpecRegistry(), [0, 0]

    def first() -> None:
        heard[0] += 1

    def second() -> None:
        heard[1] += 1

    stop, _ = registry.on_change(first), registry.on_change(second)
    registry.register_spec(a_spec("a"))
    stop()
    stop()
    registry.register_spec(a_spec("b"))

    assert heard == [1, 2]


def test_a_listener_that_breaks_is_logged_and_the_others_hear_of_it(caplog: pytest.LogCaptureFixture) -> None:
    registry, heard = ToolSpecRegistry(), []

    def broken() -> None:
        raise KeyError("x")

    registry.on_change(broken)
    registry.on_change(lambda: heard.append(1))

    registry.register_spec(a_spec("sum"))

    assert (heard, registry.has_spec("sum")) == ([1], True)
    assert "a listener failed" in caplog.text


# Hooks


def test_hooks_are_told_of_specs_on_their_way_in_and_out() -> None:
    registry, log = ToolSpecRegistry(), []
    registry.add_pre_load_hook(lambda spec: log.append(f"before {spec.name}: {registry.has_spec(spec.name)}"))
    registry.add_post_load_hook(lambda spec: log.append(f"after {spec.name}: {registry.has_spec(spec.name)}"))
    registry.add_pre_unload_hook(lambda spec: log.append(f"out {spec.name}: {registry.has_spec(spec.name)}"))

    registry.register_spec(a_spec("sum"))
    registry.unregister_spec("sum")

    assert log == ["before sum: False", "after sum: True", "out sum: True"]


async def test_a_hook_may_keep_a_spec_out() -> None:
    def veto(spec: ToolSpec) -> None:
        if spec.name == "bad":
            raise ToolRegistrationError("not here", tool_name=spec.name)

    registry = ToolSpecRegistry([ListLoader(a_spec("bad"), a_spec("good"))])
    registry.add_pre_load_hook(veto)

    report = await registry.load_all()

    assert (keys(registry.list_specs()), report.specs) == (["good@1.0.0"], 1)
    assert [str(error) for error in report.errors] == ["[bad] not here"]
    with pytest.raises(ToolRegistrationError, match="not here"):
        registry.register_spec(a_spec("bad"))


async def test_a_hook_that_breaks_is_logged_and_the_spec_comes_in(caplog: pytest.LogCaptureFixture) -> None:
    def broken(spec: ToolSpec) -> None:
        raise KeyError("x")

    registry, told = ToolSpecRegistry([ListLoader(a_spec("sum"))]), []
    for add in (registry.add_pre_load_hook, registry.add_post_load_hook, registry.add_pre_unload_hook):
        add(broken)
        add(lambda spec: told.append(spec.name))

    assert (await registry.load_all()).ok
    registry.unregister_spec("sum")

    assert told == ["sum", "sum", "sum"]
    assert len(caplog.records) == 3


async def test_hooks_are_asked_again_only_about_what_is_new() -> None:
    loader, asked = ListLoader(a_spec("a"), a_spec("b")), []
    registry = ToolSpecRegistry([loader])
    registry.add_pre_load_hook(lambda spec: asked.append(spec.name))
    await registry.load_all()

    loader.specs = [loader.specs[0], a_spec("c")]
    await registry.load_all()

    assert asked == ["a", "b", "c"]


# Exporting


def test_only_the_newest_visible_tools_are_exported_under_safe_names() -> None:
    registry = a_registry(versioned("sum", "1.0.0"), versioned("sum", "2.0.0"), a_spec("search:web"))

    assert [tool["name"] for tool in registry.to_claude_tools()] == ["search__web", "sum"]
    assert [tool["name"] for tool in registry.to_mcp_tools(context=only("sum"))] == ["sum"]


def test_the_tools_named_are_exported_in_the_order_they_were_named_in() -> None:
    registry = a_registry(a_spec("a"), a_spec("b:b"), a_spec("c"))

    assert [tool["name"] for tool in registry.to_claude_tools(names=["c", "b__b"])] == ["c", "b__b"]
    assert registry.to_openai_tools(names=[]) == []


def test_a_tool_that_is_not_there_or_hidden_cannot_be_exported() -> None:
    registry = a_registry(a_spec("a"), a_spec("b"))

    with pytest.raises(ToolNotFoundError):
        registry.to_openai_tools(names=["a", "nope"])
    with pytest.raises(ToolNotFoundError):
        registry.to_openai_tools(names=["b"], context=only("a"))


def test_two_tools_that_would_have_one_name_cannot_be_exported_together() -> None:
    registry = a_registry(a_spec("a.b"), a_spec("a:b"))

    with pytest.raises(ToolRegistrationError, match="a__b"):
        registry.to_openai_tools()
    assert len(registry.to_openai_tools(context=only("a.b"))) == 1


# Reports


def test_a_report_raises_its_first_error_if_it_has_one() -> None:
    LoadReport(specs=3).raise_for_errors()
    first = ConfigError("first")

    with pytest.raises(ConfigError) as caught:
        LoadReport(errors=(first, ConfigError("second"))).raise_for_errors()

    assert caught.value is first
    assert (LoadReport().ok, LoadReport(errors=(first,)).ok) == (True, False)
