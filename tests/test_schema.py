"""JSON Schema: one verdict, as `jsonschema` gives it; words a caller can act on; and nothing hostile gets through."""

import functools
import itertools
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolgate.places import Path, dotted
from toolgate.schema import CompiledSchema, SchemaError, Violation, compile_schema, copy_json

Schema = dict[str, Any]


def told(schema: Schema, value: Any) -> list[str]:
    return [str(violation) for violation in compile_schema(schema).check(value)]


def faults(schema: Any) -> list[tuple[str, str]]:
    with pytest.raises(SchemaError) as caught:
        compile_schema(schema)
    return [(dotted(violation.path), violation.message) for violation in caught.value.violations]


# Verdicts

PERSON: Schema = {
    "type": "object",
    "properties": {"name": {"type": "string", "minLength": 1}, "age": {"type": "integer", "minimum": 0}},
    "required": ["name"],
    "additionalProperties": False,
}
TREE: Schema = {
    "type": "object",
    "properties": {"value": {"type": "integer"}, "left": {"$ref": "#"}, "right": {"$ref": "#"}},
    "required": ["value"],
}
PAIRS: list[tuple[Schema, list[Any]]] = [
    ({}, [None, 1, "x", {}, []]),
    ({"type": "string"}, ["", "x", 1, None, ["x"]]),
    ({"type": "integer"}, [1, 1.0, 1.5, True, "1", 10**30]),
    ({"type": "number"}, [1, 1.5, True, "1", None]),
    ({"type": "boolean"}, [True, False, 0, 1, "true"]),
    ({"type": "null"}, [None, 0, "", False]),
    ({"type": "array"}, [[], [1], {}, "x"]),
    ({"type": ["string", "null"]}, ["x", None, 1]),
    (PERSON, [{"name": "a"}, {"name": ""}, {}, {"name": "a", "age": -1}, {"name": "a", "x": 1}, [], {"name": 1}]),
    (TREE, [{"value": 1, "left": {"value": 2}}, {"value": 1, "left": {"value": "2"}}, {"value": 1, "right": {}}]),
    ({"enum": [1, "a", None, [1], {"a": 1}]}, [1, 1.0, "a", None, [1], {"a": 1}, "b", True, [1.0]]),
    ({"const": {"a": [1]}}, [{"a": [1]}, {"a": [2]}, {}, {"a": [1.0]}]),
    ({"const": False}, [False, 0, None]),
    ({"minimum": 1, "maximum": 3}, [0, 1, 3, 3.5, "x"]),
    ({"exclusiveMinimum": 1, "exclusiveMaximum": 3}, [1, 1.5, 3]),
    ({"multipleOf": 2}, [2, 3, 4.0, 5.5, "x", 0]),
    ({"multipleOf": 0.5}, [1.5, 1.25]),
    ({"minLength": 2, "maxLength": 3}, ["a", "ab", "abc", "abcd", "😀😀", 1]),
    ({"pattern": "^a+$"}, ["a", "b", "aab", 5]),
    ({"pattern": "b"}, ["abc", "ac"]),
    ({"minItems": 1, "maxItems": 2}, [[], [1], [1, 2, 3], "xyz"]),
    ({"uniqueItems": True}, [[1, 2], [1, 1], [1, True], [{"a": 1}, {"a": 1}], [[], {}], [1, 1.0]]),
    ({"items": {"type": "integer"}}, [[1, 2], [1, "2"], [], "x"]),
    ({"prefixItems": [{"type": "integer"}], "items": False}, [[1], [1, 2], ["1"], []]),
    ({"prefixItems": [{"type": "integer"}], "items": {"type": "string"}}, [[1, "a"], [1, 2], ["a"]]),
    ({"contains": {"type": "integer"}}, [["a", 1], ["a"], []]),
    ({"contains": {"type": "integer"}, "minContains": 2, "maxContains": 3}, [[1], [1, 2], [1, 2, 3, 4], ["a", 1, 2]]),
    ({"minProperties": 1, "maxProperties": 2}, [{}, {"a": 1}, {"a": 1, "b": 2, "c": 3}]),
    ({"required": ["a", "b"]}, [{"a": 1}, {"a": 1, "b": 2}, {}, []]),
    ({"properties": {"a": False}}, [{}, {"a": 1}]),
    ({"patternProperties": {"^x": {"type": "integer"}}}, [{"x1": 1}, {"x1": "1"}, {"y": "1"}]),
    ({"patternProperties": {"^x": {}}, "additionalProperties": False}, [{"x": 1}, {"y": 1}]),
    ({"additionalProperties": {"type": "integer"}}, [{"a": 1}, {"a": "1"}]),
    ({"propertyNames": {"pattern": "^[a-z]+$"}}, [{"abc": 1}, {"A": 1}]),
    ({"dependentRequired": {"card": ["address"]}}, [{"card": 1}, {"card": 1, "address": 2}, {}]),
    ({"dependentSchemas": {"a": {"required": ["b"]}}}, [{"a": 1}, {"a": 1, "b": 1}, {"c": 1}]),
    ({"anyOf": [{"type": "string"}, {"minimum": 5}]}, ["x", 6, 4, None]),
    ({"oneOf": [{"type": "integer"}, {"minimum": 2}]}, [1, 2.5, 3, 1.5]),
    ({"allOf": [{"type": "integer"}, {"minimum": 2}]}, [1, 2, 2.5]),
    ({"not": {"type": "integer"}}, [1, "a"]),
    ({"if": {"type": "integer"}, "then": {"minimum": 5}, "else": {"type": "string"}}, [6, 4, "a", None]),
    ({"properties": {"a": {}}, "unevaluatedProperties": False}, [{"a": 1}, {"b": 1}]),
    ({"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False}, [{"a": 1}, {"b": 1}]),
    ({"prefixItems": [{}], "unevaluatedItems": False}, [[1], [1, 2]]),
    ({"$ref": "#/$defs/x", "$defs": {"x": {"type": "string"}}}, ["a", 1]),
    ({"$ref": "#/$defs/a~1b%20c", "$defs": {"a/b c": {"type": "string"}}}, ["a", 1]),
    ({"$ref": "#here", "$defs": {"x": {"$anchor": "here", "type": "string"}}}, ["a", 1]),
    ({"$id": "http://x/root", "$ref": "inner", "$defs": {"i": {"$id": "inner", "type": "string"}}}, ["a", 1]),
    ({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "integer"}]}, [[1], ["a"]]),
]


@pytest.mark.parametrize(("schema", "values"), PAIRS, ids=[str(schema)[:40] for schema, _ in PAIRS])
def test_the_verdict_is_that_of_jsonschema(schema: Schema, values: list[Any]) -> None:
    oracle = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)(schema)
    compiled = compile_schema(schema)

    assert [not compiled.check(value) for value in values] == [oracle.is_valid(value) for value in values]


SIMPLE_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.5, 1.0, -2.5])
    | st.sampled_from(["", "a", "ab"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "c"]), inner, max_size=3),
    max_leaves=6,
)
LEAVES = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(
            ["string", "integer", "number", "boolean", "null", "array", "object", ["string", "null"]]
        ),
        "enum": st.lists(SIMPLE_VALUES, min_size=1, max_size=3),
        "const": SIMPLE_VALUES,
        "minimum": st.integers(-2, 2),
        "exclusiveMaximum": st.integers(-2, 2),
        "multipleOf": st.sampled_from([1, 2, 0.5]),
        "minLength": st.integers(0, 2),
        "maxLength": st.integers(0, 2),
        "pattern": st.sampled_from(["a", "^a?$", "b$"]),
        "minItems": st.integers(0, 2),
        "uniqueItems": st.booleans(),
        "required": st.lists(st.sampled_from(["a", "b"]), max_size=2, unique=True),
        "maxProperties": st.integers(0, 2),
    },
)
SCHEMAS = st.recursive(
    st.booleans() | LEAVES,
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2),
            "additionalProperties": inner,
            "items": inner,
            "anyOf": st.lists(inner, min_size=1, max_size=3),
            "oneOf": st.lists(inner, min_size=1, max_size=3),
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
            "if": inner,
            "then": inner,
        },
    ),
    max_leaves=6,
)


@given(SCHEMAS.filter(lambda schema: isinstance(schema, dict)), SIMPLE_VALUES)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_the_verdict_on_any_simple_schema_is_that_of_jsonschema_and_comes_with_words(
    schema: Schema, value: Any
) -> None:
    violations = compile_schema(schema).check(value)

    assert (not violations) == jsonschema.Draft202012Validator(schema).is_valid(value)
    assert all(violation.message and violation.message.strip() == violation.message for violation in violations)
    assert len(set(violations)) == len(violations)


# Words

WORDS: list[tuple[Schema, Any, str]] = [
    ({"type": "string"}, 1, "expected string, got 1"),
    ({"type": ["string", "null"]}, 1, "expected null or string, got 1"),
    ({"enum": ["red", "green"]}, "gren", 'must be one of ["red", "green"], got "gren"; did you mean "green"?'),
    ({"enum": [1, 2]}, 3, "must be one of [1, 2], got 3"),
    ({"const": "x"}, 1, 'must be "x", got 1'),
    ({"minimum": 1}, 0, "0 is less than the minimum of 1"),
    ({"maximum": 1}, 2, "2 is greater than the maximum of 1"),
    ({"exclusiveMinimum": 1}, 1, "1 is less than or equal to the minimum of 1"),
    ({"exclusiveMaximum": 1}, 1, "1 is greater than or equal to the maximum of 1"),
    ({"multipleOf": 2}, 3, "3 is not a multiple of 2"),
    ({"minLength": 3}, "ab", '"ab" is shorter than 3 characters'),
    ({"maxLength": 1}, "ab", '"ab" is longer than 1 character'),
    ({"pattern": "^a"}, "b", '"b" does not match "^a"'),
    ({"format": "email"}, "x", '"x" is not a valid email'),
    ({"format": "date-time"}, "x", '"x" is not a valid date-time'),
    ({"minItems": 1}, [], "[] has less than 1 item"),
    ({"maxItems": 1}, [1, 2], "[1, 2] has more than 1 item"),
    ({"uniqueItems": True}, [1, 1], "[1, 1] has non-unique elements"),
    ({"contains": {"type": "string"}}, [1], "no item fits contains, got [1]"),
    ({"contains": {}, "minContains": 2}, [1], "too few items fit contains, got [1]"),
    ({"contains": {}, "maxContains": 1}, [1, 2], "too many items fit contains, got [1, 2]"),
    ({"minProperties": 1}, {}, "{} has less than 1 property"),
    ({"maxProperties": 0}, {"a": 1}, '{"a": 1} has more than 0 properties'),
    ({"required": ["a"]}, {}, "a: missing"),
    ({"required": ["name"]}, {"nmae": 1}, 'name: missing; is "nmae" a misspelling of it?'),
    ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, "b: missing"),
    (PERSON, {"name": "a", "agee": 1}, 'agee: no such property; did you mean "age"?'),
    (PERSON, {"name": "a", "zz": 1}, "zz: no such property; known: age, name"),
    ({"additionalProperties": False}, {"a": 1}, "a: no such property"),
    ({"unevaluatedProperties": False}, {"a": 1}, "a: no such property"),
    ({"properties": {"a": False}}, {"a": 1}, "a: nothing is allowed here, got 1"),
    (
        {"properties": {"additionalProperties": False}},
        {"additionalProperties": 1},
        "additionalProperties: nothing is allowed here, got 1",
    ),
    ({"propertyNames": {"maxLength": 1}}, {"ab": 1}, 'the name of a property: "ab" is longer than 1 character'),
    ({"not": {"type": "integer"}}, 1, '{"type":"integer"} is not allowed for 1'),
    ({"items": {"type": "integer"}}, [1, "a"], '[1]: expected integer, got "a"'),
    (TREE, {"value": 1, "left": {"value": "x"}}, 'left.value: expected integer, got "x"'),
    ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, None, "expected string or integer, got null"),
    ({"anyOf": [{"const": 1}, {"const": 2}]}, 3, "expected must be 1 or must be 2, got 3"),
    (
        {"anyOf": [{"type": "string"}, {"properties": {"a": {"type": "integer"}}}]},
        {"a": "x"},
        'a: expected integer, got "x"',
    ),
    ({"oneOf": [{"type": "string"}, {"minimum": 5}]}, 3, "3 is less than the minimum of 5"),
    (
        {"oneOf": [{"type": "integer"}, {"minimum": 0}]},
        3,
        "3 is valid under more than one of the schemas listed in the 'oneOf' keyword",
    ),
    ({"allOf": [{"type": "integer"}, {"minimum": 2}]}, 1, "1 is less than the minimum of 2"),
    ({"if": {"type": "integer"}, "then": {"minimum": 5}}, 3, "3 is less than the minimum of 5"),
    ({"type": "string"}, float("nan"), "expected string, got NaN"),
    ({"type": "string"}, (1, 2), "expected string, got [1, 2]"),
    ({"type": "string"}, {"a": Decimal("1.5")}, 'expected string, got {"a": "Decimal(\'1.5\')"}'),
]


@pytest.mark.parametrize(
    ("schema", "value", "words"), WORDS, ids=[f"{next(iter(w[0]))}-{i}" for i, w in enumerate(WORDS)]
)
def test_each_keyword_has_its_words(schema: Schema, value: Any, words: str) -> None:
    assert told(schema, value) == [words]


def test_the_keyword_and_the_path_come_with_the_words() -> None:
    (violation,) = compile_schema(PERSON).check({"name": "a", "age": -1})

    assert violation == Violation(("age",), "-1 is less than the minimum of 0", "minimum")


def test_every_violation_is_told_up_to_twenty() -> None:
    schema = {"properties": {f"p{number}": {"type": "string"} for number in range(30)}}

    assert told(schema, {"p1": 1, "p2": 2}) == ["p1: expected string, got 1", "p2: expected string, got 2"]
    assert len(told(schema, {f"p{number}": number for number in range(30)})) == 20
    assert len(told({"additionalProperties": False}, {f"p{number}": 1 for number in range(300)})) == 20


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"maxLength": 10}, "x" * 10**6),
        ({"maxItems": 1}, list(range(10**5))),
        ({"type": "string"}, {"a" * 10**5: "b" * 10**5}),
        ({"pattern": "^" + "a" * 1_900 + "$"}, "b" * 10**5),
        ({"enum": ["x" * 10**5]}, 1),
        ({"const": "x" * 10**5}, 1),
        ({"type": "string"}, 10**4000),
        ({"propertyNames": {"maxLength": 1}}, {"x" * 10**5: 1}),
    ],
)
def test_words_stay_short_however_big_the_value_and_keep_their_point(schema: Schema, value: Any) -> None:
    (words,) = told(schema, value)

    assert len(words) < 330
    if "maxLength" in schema or "maxItems" in schema:
        assert words.endswith(("is longer than 10 characters", "has more than 1 item"))


@pytest.mark.parametrize(
    ("schema", "value", "first"),
    [
        ({"items": {"type": "integer"}}, ["x"] * 50_000, '[0]: expected integer, got "x"'),
        ({"items": {"type": "integer"}}, [1] * 50_000 + ["x"], '[50000]: expected integer, got "x"'),
        ({"properties": {"a": {"maxItems": 3}}}, {"a": [1] * 50_000}, "a: [1, 1, 1, "),
        ({"minItems": 60_000}, [1] * 50_000, "[1, 1, 1, "),
        ({"additionalProperties": False}, {f"k{number}": 1 for number in range(50_000)}, "k0: no such property"),
        ({"required": ["zz"]}, {f"k{number}": 1 for number in range(50_000)}, "zz: missing"),
        ({"anyOf": [{"items": {"type": "null"}}, {"maxItems": 2}]}, [1] * 50_000, "does not fit its schema"),
    ],
)
def test_a_huge_value_is_explained_without_looking_at_all_of_it(schema: Schema, value: Any, first: str) -> None:
    assert told(schema, value)[0].startswith(first)


# Values of every kind


def nested(levels: int, wrap: Callable[[Any], Any]) -> Any:
    return functools.reduce(lambda inner, _: wrap(inner), range(levels), 1)


def endless() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


ODD: dict[str, Any] = {
    "half a surrogate pair": "\ud800",
    "half a surrogate pair inside": {"a": ["\udfff"]},
    "half a surrogate pair as a key": {"\ud800": 1},
    "not a number": float("nan"),
    "infinity inside": {"a": [float("inf")]},
    "a number of 400 digits": 10**400,
    "a number of 5000 digits": 10**5000,
    "a set": {1, 2},
    "a set inside": {"a": {1, 2}},
    "a number as a key": {1: 2},
    "a tuple as a key": {(1, 2): 3},
    "none as a key": {None: 1},
    "a tuple": (1, 2),
    "bytes": b"x",
    "an object": object(),
    "a decimal": Decimal("NaN"),
    "a date": datetime(2020, 1, 1),
    "a generator": (item for item in [1]),
    "a class": int,
    "900 lists": nested(900, lambda inner: [inner]),
    "100,000 lists": nested(100_000, lambda inner: [inner]),
    "100,000 mappings": nested(100_000, lambda inner: {"left": inner, "value": 1}),
    "a list in itself": endless(),
}


@pytest.mark.parametrize("value", ODD.values(), ids=ODD)
@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string"},
        {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["b"]},
        {"anyOf": [{"type": "null"}, {"type": "object", "properties": {"a": {"const": 1}}, "required": ["z"]}]},
        {"additionalProperties": False, "type": ["object", "null"]},
        {"allOf": [{"$ref": "#/$defs/t"}], "$defs": {"t": {**TREE, "properties": {"left": {"$ref": "#/$defs/t"}}}}},
    ],
    ids=["string", "object", "choice", "closed", "tree"],
)
def test_a_value_of_any_kind_gets_a_verdict_and_words_that_can_be_sent(schema: Schema, value: Any) -> None:
    violations = compile_schema(schema).check(value)

    assert all(len(str(violation)) < 1_000 for violation in violations)
    assert isinstance(value, str | dict) or violations


class Slippery(dict[str, Any]):
    """A mapping that loses what it holds when it is asked for it."""

    def __getitem__(self, key: str) -> Any:
        raise KeyError(key)


def test_a_mapping_that_loses_its_values_is_explained_by_what_the_validator_saw() -> None:
    assert told({"properties": {"a": {"type": "string"}}}, Slippery(a=5)) == ["a: expected string, got 5"]


def test_a_schema_may_hold_the_same_object_twice_and_even_itself() -> None:
    shared: Schema = {"type": "integer"}
    endless_schema: Schema = {"properties": {"a": shared, "b": shared}}
    endless_schema["not"] = endless_schema

    assert told({"properties": {"a": shared, "b": shared}}, {"b": "x"}) == ['b: expected integer, got "x"']
    assert faults(endless_schema) == [("", "Recursion limit reached")]
    assert [path for path, _ in faults({"allOf": [shared, shared], "$ref": "#/no"})] == ["$ref"]


def test_an_embedded_schema_with_a_name_of_its_own_is_followed() -> None:
    closed = {"properties": {"abc": {}}, "additionalProperties": False}
    inner = {"$id": "x:inner", "properties": {"o": closed}}

    assert told({"$ref": "x:inner", "$defs": {"i": inner}}, {"o": {"abd": 1}}) == ["o.abd: no such property"]


def test_a_recursive_schema_takes_values_up_to_a_depth() -> None:
    schema: Schema = {"properties": {"left": {"$ref": "#"}}}

    assert compile_schema(schema).check(nested(400, lambda inner: {"left": inner})) == ()
    assert told(schema, nested(600, lambda inner: {"left": inner})) == ["nested more than 500 levels deep"]


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        {"anyOf": [{"$ref": "#"}, {"type": "string"}]},
        {"$dynamicRef": "#x", "$dynamicAnchor": "x"},
        {"if": {"$ref": "#"}, "then": {}},
    ],
)
def test_a_schema_that_refers_to_itself_without_end_gets_a_verdict(schema: Schema) -> None:
    assert isinstance(compile_schema(schema).check({"a": 1}), tuple | list)


# Hostile schemas


def choices(levels: int) -> Schema:
    """Return a small schema with 2 to the power of `levels` ways through it."""
    names = [f"a{number}" for number in range(levels + 1)]
    inner = {
        name: {"anyOf": [{"$ref": f"#/$defs/{following}"}, {"$ref": f"#/$defs/{following}"}]}
        for name, following in itertools.pairwise(names)
    }
    return {"$ref": "#/$defs/a0", "$defs": {**inner, names[-1]: {"type": "string"}}}


def test_choices_within_choices_are_decided_and_explained_as_far_as_that_is_quick() -> None:
    assert told(choices(3), 1) == ["expected string, got 1"]
    assert told(choices(18), 1) == ["does not fit its schema"]
    assert compile_schema(choices(18)).check("x") == ()


def test_a_chain_of_thousands_of_references_is_no_problem() -> None:
    links: Schema = {f"a{number}": {"anyOf": [{"$ref": f"#/$defs/a{number + 1}"}]} for number in range(2_000)}
    last = {"type": "object", "properties": {"x": {"default": 1}}}
    schema = {"$ref": "#/$defs/a0", "$defs": {**links, "a2000": last}}

    assert compile_schema(schema).check({}) == ()
    assert told(schema, 5) == ["does not fit its schema"]


@pytest.mark.parametrize(
    ("pattern", "text"),
    [("^(a+)+$", "a" * 40 + "!"), ("^(?=(a+)+$)x", "a" * 40 + "!"), (r"^(a|a)*\b(?!x)$", "a" * 10_000 + "!")],
)
def test_a_pattern_made_to_be_slow_gets_an_answer(pattern: str, text: str) -> None:
    assert len(told({"pattern": pattern}, text)) == 1


@pytest.mark.parametrize("schema", [{"pattern": "(a|b)*" * 400}, {"patternProperties": {"(a|b)*" * 400: {}}}])
def test_a_pattern_too_long_to_compile_is_refused(schema: Schema) -> None:
    (path, message), *_ = faults({"properties": {"x": schema}})

    assert path == f"properties.x.{next(iter(schema))}"
    assert message == "a pattern has at most 2,000 characters"


NOWHERE = "http://nowhere.invalid/x"
FAULTS: list[tuple[Any, list[tuple[str, str]]]] = [
    ({"type": "strin"}, [("type", '"integer", "null", "number", "object", "string"], got "strin"')]),
    ({"type": 5}, [("type", "must be one of")]),
    ({"properties": []}, [("properties", "expected object, got []")]),
    ({"required": "a"}, [("required", 'expected array, got "a"')]),
    ({"required": ["a", "a"]}, [("required", "has non-unique elements")]),
    ({"minLength": -1}, [("minLength", "-1 is less than the minimum of 0")]),
    ({"properties": {"a": {"pattern": "["}}}, [("properties.a.pattern", '"[" is not a valid regex')]),
    ({"$schema": 5}, [("$schema", "expected string, got 5")]),
    ({"$schema": "http://json-schema.org/draft-07/schema#", "type": "strin"}, [("type", "must be one of")]),
    ({"$schema": NOWHERE, "minLength": "a"}, [("minLength", "expected integer")]),
    ({"$schema": NOWHERE}, [("", f"Unknown meta-schema: '{NOWHERE}'")]),
    ({"$schema": "http://json-schema.org/draft-04/schema#", "exclusiveMaximum": True}, [("maximum", "missing")]),
    ({"$ref": "#/nope"}, [("$ref", 'there is nothing at "#/nope"')]),
    ({"properties": {"a": {"$ref": NOWHERE}}}, [("properties.a.$ref", f"a schema may not refer to {NOWHERE}")]),
    (
        {"allOf": [{"$ref": "file:///etc/passwd"}, {"$ref": "#/no"}]},
        [("allOf[0].$ref", "may not refer to file:///etc/passwd"), ("allOf[1].$ref", 'there is nothing at "#/no"')],
    ),
    ({"$dynamicRef": f"{NOWHERE}#x"}, [("$dynamicRef", "a schema may not refer to")]),
    ({"$ref": "other.json"}, [("$ref", "a schema may not refer to other.json")]),
    ({"$ref": "#nowhere"}, [("", "")]),
    ({"$id": "http://[bad"}, [("", "Invalid URI reference 'http://[bad'")]),
    ([1], [("", "expected boolean or object, got [1]")]),
    ({"enum": {1, 2}}, [("", "Unsupported type: 'set'")]),
    ({1: 2}, [("", "Dict key must be str")]),
    ({"const": "\ud800"}, [("", "Failed to get UTF-8 representation")]),
    ({"maximum": 10**5000}, [("", "Failed to convert large integer")]),
    (nested(300, lambda inner: {"not": inner}), [("", "Recursion limit reached")]),
    (nested(50_000, lambda inner: {"not": inner}), [("", "Recursion limit reached")]),
]


@pytest.mark.parametrize(("schema", "expected"), FAULTS, ids=[str(number) for number in range(len(FAULTS))])
def test_what_is_not_a_schema_is_refused_where_it_is_wrong(schema: Any, expected: list[tuple[str, str]]) -> None:
    found = faults(schema)

    assert [path for path, _ in found] == [path for path, _ in expected]
    assert [message for (_, message), (_, part) in zip(found, expected, strict=True) if part not in message] == []


DRAFTS = [
    None,
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-04/schema#",
]


@pytest.mark.parametrize("draft", DRAFTS)
def test_every_fault_of_a_schema_is_told_at_once(draft: str | None) -> None:
    schema: Schema = {"type": "x", "minimum": "5", "required": "a", "properties": {"b": {"type": "y"}}}
    schema |= {"$schema": draft} if draft else {}

    assert {path for path, _ in faults(schema)} == {"type", "minimum", "required", "properties.b.type"}


def test_a_bad_pattern_is_told_beside_other_faults() -> None:
    schema = {"type": "x", "properties": {"b": {"pattern": "["}}, "patternProperties": {"(": {}}}

    assert {path for path, _ in faults(schema)} == {"type", "properties.b.pattern", "patternProperties"}


def test_a_schema_with_endless_faults_is_refused_with_twenty() -> None:
    assert len(faults({"properties": {f"p{number}": {"type": "x"} for number in range(5_000)}})) == 20


def test_the_one_fault_of_a_huge_schema_is_found() -> None:
    properties: Schema = {f"p{number}": {"type": "string"} for number in range(2_000)}

    assert [path for path, _ in faults({"properties": {**properties, "last": {"type": "x"}}})] == [
        "properties.last.type"
    ]


def test_a_schema_error_is_a_value_error_that_lists_its_violations() -> None:
    error = SchemaError([Violation(("a", 0), "bad", "type"), Violation((), "worse", "x", "mend it")])

    assert isinstance(error, ValueError)
    assert str(error) == "a[0]: bad; worse; mend it"


@contextmanager
def a_listener() -> Iterator[tuple[str, list[bytes]]]:
    """Listen on loopback and collect what anyone who connects sends."""
    heard: list[bytes] = []
    server = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(5)
                heard.append(connection.recv(1_000))
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.getsockname()[1]}", heard
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join(10)


REMOTE: list[Callable[[str], Any]] = [
    lambda url: {"$ref": url},
    lambda url: {"$ref": f"{url}/x#/y"},
    lambda url: {"$dynamicRef": f"{url}#x"},
    lambda url: {"$recursiveRef": url, "type": "nope"},
    lambda url: {"$id": f"{url}/a", "$ref": "b"},
    lambda url: {"$schema": url},
    lambda url: {"$schema": url, "type": "nope"},
    lambda url: {"$schema": url, "properties": {"a": {"$ref": f"{url}/x"}}},
    lambda url: {"$schema": url, "$vocabulary": {url: True}},
    lambda url: {"properties": {"a": {"$schema": url, "$id": f"{url}/z", "type": "nope"}}},
]


def test_nothing_in_a_schema_makes_the_gateway_call_anyone() -> None:
    with a_listener() as (url, heard):
        for make in REMOTE:
            with pytest.raises(SchemaError):
                compile_schema(make(url))
        with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), timeout=5) as own:
            own.sendall(b"the listener listens")
            own.recv(100)

    assert heard == [b"the listener listens"]


# Defaults


X: Schema = {"properties": {"x": {"default": 1}}}
ODDLY_NAMED: Schema = {"allOf": [True, {"$defs": {"/a~b c": {"default": 3}}}]}


@pytest.mark.parametrize(
    ("schema", "value", "filled"),
    [
        ({"properties": {"b": {"default": 5}}}, {"a": 1}, {"a": 1, "b": 5}),
        ({"properties": {"b": {"default": 5}}}, {"b": None}, {"b": None}),
        ({"properties": {"b": {"default": None}}}, {}, {"b": None}),
        ({"properties": {"o": X}}, {"o": {}}, {"o": {"x": 1}}),
        ({"properties": {"o": X}}, {}, {}),
        ({"properties": {"o": X}}, {"o": 5}, {"o": 5}),
        ({"properties": {"o": {"default": {}, **X}}}, {}, {"o": {"x": 1}}),
        ({"properties": {"l": {"items": X}}}, {"l": [{}, {"x": 2}, 3]}, {"l": [{"x": 1}, {"x": 2}, 3]}),
        ({"properties": {"o": {"$ref": "#/$defs/o"}}, "$defs": {"o": X}}, {"o": {}}, {"o": {"x": 1}}),
        ({"properties": {"o": {"$ref": "#/$defs/o"}}, "$defs": {"o": {"default": 7}}}, {}, {"o": 7}),
        ({"properties": {"o": {"$ref": "#/$defs/o", "default": 8}}, "$defs": {"o": {"default": 7}}}, {}, {"o": 8}),
        (
            {"properties": {"o": {"$ref": "#/$defs/o"}}, "$defs": {"o": {"$ref": "#/$defs/o", "default": 9}}},
            {},
            {"o": 9},
        ),
        ({"properties": {"o": {"$ref": "#/allOf/1/$defs/~1a~0b%20c"}}, **ODDLY_NAMED}, {}, {"o": 3}),
        ({"$ref": "#/$defs/o", "$defs": {"o": X}}, {}, {"x": 1}),
        ({"$ref": "#anchored", "$defs": {"o": {"$anchor": "anchored", **X}}}, {}, {}),
        ({"allOf": [X, True]}, {}, {"x": 1}),
        ({"anyOf": [X]}, {}, {}),
        (
            {"properties": {"t": {"$ref": "#"}, **X["properties"]}},
            {"t": {"t": {}}},
            {"x": 1, "t": {"x": 1, "t": {"x": 1}}},
        ),
        ({"properties": {"default": {"type": "string"}, "t": True}}, {"t": {}}, {"t": {}}),
    ],
)
def test_defaults_are_filled_in_however_deep_they_stand(schema: Schema, value: Any, filled: Any) -> None:
    assert compile_schema(schema).with_defaults(value) == filled


def test_filling_in_defaults_leaves_the_arguments_and_the_schema_alone() -> None:
    schema: Schema = {"properties": {"tags": {"default": ["a"]}, "o": {"properties": {"x": {"default": {}}}}}}
    given_value: Schema = {"o": {}}
    compiled = compile_schema(schema)

    filled = compiled.with_defaults(given_value)
    filled["tags"].append("b")
    filled["o"]["x"]["y"] = 1

    assert given_value == {"o": {}}
    assert compiled.with_defaults({"o": {}}) == {"o": {"x": {}}, "tags": ["a"]}


def test_a_default_that_calls_for_itself_ends() -> None:
    once: Schema = {"properties": {"a": {"$ref": "#", "default": {}}}}
    many: Schema = {"properties": {f"a{number}": {"$ref": "#", "default": {}} for number in range(50)}}

    assert compile_schema(once).with_defaults({}) == {"a": {"a": {}}}
    assert set(compile_schema(many).with_defaults({})) == {f"a{number}" for number in range(50)}


def test_many_items_all_get_their_defaults() -> None:
    schema: Schema = {
        "properties": {"l": {"items": {"properties": {"o": {"default": {}, "properties": {"x": {"default": 1}}}}}}}
    }

    filled = compile_schema(schema).with_defaults({"l": [{} for _ in range(5_000)]})

    assert filled["l"] == [{"o": {"x": 1}}] * 5_000


def test_without_defaults_the_arguments_are_copied() -> None:
    value = {"a": [{"b": (1, 2)}]}

    copied = compile_schema({"type": "object"}).with_defaults(value)

    assert copied == value
    assert copied["a"] is not value["a"]
    assert copied["a"][0]["b"] is value["a"][0]["b"]


def test_arguments_too_deep_to_copy_are_an_error_for_the_caller_to_word() -> None:
    with pytest.raises(RecursionError):
        copy_json(nested(100_000, lambda inner: [inner]))


def test_a_compiled_schema_keeps_what_it_was_made_of() -> None:
    schema: Schema = {"type": "object"}

    assert compile_schema(schema).schema is schema
    assert isinstance(compile_schema(schema), CompiledSchema)
    assert compile_schema(schema).is_valid({}) is True


PATHS: list[tuple[Path, str]] = [(("a", 0, "b"), "a[0].b: x"), ((), "x")]


@pytest.mark.parametrize(("path", "text"), PATHS)
def test_a_violation_is_written_with_its_path(path: Path, text: str) -> None:
    assert str(Violation(path, "x", "type")) == text


def deep(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"n": value}
    return value


CHOOSING_AGAIN = {
    "$defs": {
        "n": {
            "anyOf": [
                {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}, "required": [key]} for key in ("y", "z")
            ]
        }
    },
    "$ref": "#/$defs/n",
}


@pytest.mark.parametrize("levels", [1, 3, 12, 64, 400])
def test_choices_offered_again_at_every_level_are_not_all_walked_to_explain(levels: int) -> None:
    # Walked in full, 30 levels would take all the memory there is: the test would not end.
    assert compile_schema(CHOOSING_AGAIN).check(deep(levels))
