"""A tool is data: frozen, whole, and the same after a trip through JSON or pickle."""

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from tests.standins import a_spec, numbers
from toolgate import (
    DeterminismClass,
    ExecutionMode,
    FileSpecLoader,
    Place,
    SideEffectClass,
    ToolExample,
    ToolMetadata,
    ToolPermission,
    ToolSource,
    ToolSpec,
    ToolType,
)

ROOT = Path(__file__).parents[1]
DEMO = FileSpecLoader(ROOT / "tools.yaml").read().specs


def everything() -> ToolSpec:
    """Return a spec with nothing left at its default."""
    return ToolSpec(
        name="files:read.all-of_them",
        description="Read.",
        tool_type="graphql",
        input_schema=numbers("a"),
        output_schema={"type": "number"},
        implementation_config={"url": "${URL}", "nested": [{"a": 1.5}, None, True]},
        metadata=ToolMetadata(
            version="2.1.0-rc.1+build.5",
            category="math",
            tags=("x", "y"),
            permissions=("fs:read",),
            requires_approval=True,
            is_dangerous=True,
            determinism_class=DeterminismClass.DETERMINISTIC,
            side_effect_class=SideEffectClass.IDEMPOTENT,
            level=1,
            priority=70,
            capabilities=("sums",),
            cost={"time": "fast"},
            constraints={"requires_api": False},
            deprecated="use sum",
            author="me",
            documentation_url="https://example.org",
            source_url="https://example.org/src",
            estimated_duration=0.5,
            requires_tools=("a",),
            conflicts_with=("b",),
            toolkit_name="kit",
            team_mascot="otter",
        ),
        timeout=2.5,
        retries=2,
        execution_mode=ExecutionMode.SYNC,
        examples=(ToolExample(args={"a": 1}, output=1, description="one"),),
        tool_id="my-id",
        source=ToolSource.BUILTIN,
        origin=Place("tools.yaml", 3, 5),
    )


def test_a_spec_needs_only_a_name_a_description_and_a_type() -> None:
    spec = ToolSpec(name="sum", description="Add.", tool_type=ToolType.PYTHON)

    assert (spec.input_schema, spec.output_schema, spec.implementation_config) == ({"type": "object"}, None, {})
    assert (spec.timeout, spec.timeout_ms, spec.retries, spec.source) == (30.0, 30_000, 0, ToolSource.USER)
    assert (spec.key, spec.tool_id, spec.version) == ("sum@1.0.0", "sum@1.0.0", "1.0.0")
    assert (spec.side_effect_class, spec.determinism_class) == ("external", "nondeterministic")


@pytest.mark.parametrize("missing", ["name", "description", "tool_type"])
def test_a_spec_without_one_of_them_is_refused(missing: str) -> None:
    fields = {"name": "sum", "description": "Add.", "tool_type": "python"}
    del fields[missing]

    with pytest.raises(ValidationError, match=missing):
        ToolSpec(**fields)


def test_two_specs_do_not_share_their_schemas() -> None:
    one, other = a_spec("one"), a_spec("other")

    assert one.input_schema is not other.input_schema
    assert one.metadata.cost is not other.metadata.cost


@pytest.mark.parametrize("spec", [*DEMO, everything(), a_spec()], ids=lambda spec: spec.name)
def test_a_spec_survives_json_and_pickle(spec: ToolSpec) -> None:
    assert ToolSpec.model_validate_json(spec.model_dump_json()) == spec
    assert pickle.loads(pickle.dumps(spec)) == spec


def test_nothing_of_a_spec_is_left_out_of_its_json() -> None:
    spec = everything()
    default = a_spec()

    assert [field for field in ToolSpec.model_fields if getattr(spec, field) == getattr(default, field)] == []
    assert json.loads(spec.model_dump_json()).keys() == ToolSpec.model_fields.keys()


@pytest.mark.parametrize("field", ["name", "metadata", "origin", "new_one"])
def test_a_spec_cannot_be_changed(field: str) -> None:
    with pytest.raises(ValidationError):
        setattr(a_spec(), field, "x")


def test_a_metadata_value_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        a_spec().metadata.requires_approval = True  # type: ignore[misc]  # that is what is tested


def test_an_unknown_key_of_a_spec_is_refused() -> None:
    with pytest.raises(ValidationError, match="colour"):
        a_spec(colour="red")


def test_an_unknown_metadata_key_is_kept() -> None:
    assert a_spec(metadata={"team": "blue"}).metadata.team == "blue"  # type: ignore[attr-defined]  # an own key


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("requires_aproval", "requires_approval"), ("is_dangrous", "is_dangerous"), ("Permissions", "permissions")],
)
def test_a_metadata_key_that_nearly_is_a_known_one_is_refused(typed: str, meant: str) -> None:
    with pytest.raises(ValidationError, match=f'did you mean "{meant}"'):
        a_spec(metadata={typed: True})


@pytest.mark.parametrize("value", ["false", "no", 0, 1, None])
def test_a_yes_or_no_must_be_a_boolean(value: Any) -> None:
    with pytest.raises(ValidationError):
        a_spec(metadata={"requires_approval": value})


@pytest.mark.parametrize("name", ["a", "A-Z_0.9:x", "x" * 128])
def test_a_name_is_letters_digits_and_four_signs(name: str) -> None:
    assert a_spec(name).name == name


@pytest.mark.parametrize("name", ["", "x" * 129, "a b", "a@1", "a/b", "é", "\u0430", "a\n", "a\x00", "\ud800"])
def test_any_other_name_is_refused(name: str) -> None:
    with pytest.raises(ValidationError):
        a_spec(name)


@pytest.mark.parametrize("kind", list(ToolType))
def test_a_known_type_is_the_same_as_text_and_as_enum(kind: ToolType) -> None:
    assert a_spec(tool_type=kind.value).tool_type is kind
    assert a_spec(tool_type=kind).tool_type is kind


def test_an_unknown_type_is_a_type_of_your_own() -> None:
    assert a_spec(tool_type="graphql").tool_type == "graphql"


@pytest.mark.parametrize("kind", ["", "GraphQL", "1st", "a-b", "x" * 65, 3])
def test_a_type_that_is_no_plain_word_is_refused(kind: Any) -> None:
    with pytest.raises(ValidationError):
        a_spec(tool_type=kind)


@pytest.mark.parametrize("version", ["0.0.0", "1.2.3", "1.0.0-rc.1", "1.0.0+build.7", "10.20.30-a.b+c"])
def test_a_version_is_three_numbers_and_perhaps_more(version: str) -> None:
    assert a_spec(metadata={"version": version}).key == f"echo@{version}"


@pytest.mark.parametrize("version", ["", "1", "1.0", "v1.0.0", "01.0.0", "1.0.0 ", "^1.0.0", "1.0.0-", 1])
def test_any_other_version_is_refused(version: Any) -> None:
    with pytest.raises(ValidationError):
        a_spec(metadata={"version": version})


@pytest.mark.parametrize(
    "given",
    [
        {"timeout": 2},
        {"timeout": 2.0},
        {"timeout_ms": 2000},
        {"timeout_ms": 2000.0},
        {"timeout": 2, "timeout_ms": 2000},
    ],
)
def test_a_timeout_may_be_given_in_seconds_or_milliseconds(given: dict[str, Any]) -> None:
    spec = a_spec(**given)

    assert (spec.timeout, spec.timeout_ms) == (2.0, 2000)


def test_two_timeouts_that_disagree_are_refused() -> None:
    with pytest.raises(ValidationError, match="disagree"):
        a_spec(timeout=2, timeout_ms=3000)


@pytest.mark.parametrize("seconds", [0, -1, float("inf"), float("nan"), 86_401, "5", True, None])
def test_a_timeout_that_is_no_time_is_refused(seconds: Any) -> None:
    with pytest.raises(ValidationError):
        a_spec(timeout=seconds)


@pytest.mark.parametrize("millis", [0, -1, float("inf"), float("nan"), 10**400, 86_400_001, "5", True, None])
def test_a_timeout_in_milliseconds_that_is_no_time_is_refused(millis: Any) -> None:
    with pytest.raises(ValidationError, match="milliseconds"):
        a_spec(timeout_ms=millis)


def test_a_spec_that_is_not_a_mapping_is_refused() -> None:
    with pytest.raises(ValidationError):
        ToolSpec.model_validate("sum")


@pytest.mark.parametrize("metadata", [None, "text", ["list"]])
def test_metadata_that_is_not_a_mapping_is_refused(metadata: Any) -> None:
    with pytest.raises(ValidationError):
        a_spec(metadata=metadata)


def test_the_identifier_is_the_name_and_version_unless_given() -> None:
    assert a_spec(metadata=ToolMetadata(version="2.0.0")).tool_id == "echo@2.0.0"
    assert a_spec(metadata={"version": "2.0.0"}).tool_id == "echo@2.0.0"
    assert a_spec(tool_id="mine").tool_id == "mine"


def test_a_planner_sees_what_a_tool_takes_and_gives_but_never_how_it_is_run() -> None:
    view = everything().planner_view()

    assert view.keys() == {"name", "description", "input_schema", "output_schema", "metadata"}
    assert view["metadata"]["team_mascot"] == "otter"
    assert "${URL}" not in json.dumps(view)


def test_the_digest_moves_with_every_field_but_the_place() -> None:
    spec, default = everything(), a_spec()
    changed = {
        field: spec.model_copy(update={field: getattr(default, field)}).digest for field in ToolSpec.model_fields
    }

    assert changed.pop("origin") == spec.digest
    assert len({*changed.values(), spec.digest}) == len(changed) + 1


def test_a_copy_has_a_digest_of_its_own() -> None:
    spec = a_spec()
    before = spec.digest

    assert spec.model_copy().digest == before
    assert spec.model_copy(deep=True).digest == before
    assert spec.model_copy(update={"description": "Other."}).digest != before


def test_the_digest_tells_true_from_one() -> None:
    one = a_spec(input_schema={"type": "object", "properties": {"a": {"default": 1}}})
    true = a_spec(input_schema={"type": "object", "properties": {"a": {"default": True}}})

    assert one.digest != true.digest


def test_the_words_of_the_enums_are_fixed() -> None:
    assert [each.value for each in ToolType] == ["python", "mcp", "shell", "sandbox", "http", "skill", "custom"]
    assert [each.value for each in ToolSource] == ["builtin", "langchain", "mcp", "user"]
    assert [each.value for each in ToolPermission] == [
        "fs:read",
        "fs:write",
        "net:outbound",
        "shell:execute",
        "env:read",
        "mcp:connect",
    ]
    assert [each.value for each in DeterminismClass] == ["deterministic", "nondeterministic"]
    assert [each.value for each in SideEffectClass] == ["pure", "idempotent", "external"]
    assert [each.value for each in ExecutionMode] == ["sync", "async", "streaming"]
