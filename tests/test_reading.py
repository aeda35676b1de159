"""YAML is read strictly: plain values by the 1.2 core schema, the place of each, and every problem at once."""

import gc
import math
from datetime import date
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.files import read, told, value_of, where
from toolgate.errors import Place
from toolgate.places import MOST_PROBLEMS, REMOTE, TOO_MANY, Limits, Path
from toolgate.reading import collection_paused, read_document

# Scalars


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("~", None),
        ("null", None),
        ("Null", None),
        ("NULL", None),
        ("", None),
        ("nULL", "nULL"),
        ("true", True),
        ("True", True),
        ("TRUE", True),
        ("tRUE", "tRUE"),
        ("false", False),
        ("False", False),
        ("FALSE", False),
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("Off", "Off"),
        ("y", "y"),
        ("0", 0),
        ("-0", 0),
        ("+12", 12),
        ("-12", -12),
        ("0755", 755),
        ("0o17", 15),
        ("0o18", "0o18"),
        ("0xfF", 255),
        ("-0x1", "-0x1"),
        ("0b11", "0b11"),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("1.5", 1.5),
        ("1.", 1.0),
        (".5", 0.5),
        ("-.5e-3", -0.0005),
        ("1e3", 1000.0),
        ("1E+3", 1000.0),
        ("1e-999", 0.0),
        (".", "."),
        ("-", None),
        ("+", "+"),
        ("..", ".."),
        ("1e", "1e"),
        ("1.2.3", "1.2.3"),
        ("2001-01-01", "2001-01-01"),
        ("=", "="),
        ("<<", "<<"),
        ("-9223372036854775808", -(2**63)),
        ("18446744073709551615", 2**64 - 1),
        ("'12'", "12"),
        ('"true"', "true"),
        ('""', ""),
    ],
)
def test_a_plain_scalar_means_what_the_core_schema_says(text: str, value: Any) -> None:
    found = value_of(f"- {text}\n" if text != "-" else "-\n")[0]

    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        ".inf",
        "-.INF",
        "+.Inf",
        ".nan",
        ".NaN",
        "1e999",
        "-1e999",
        "18446744073709551616",
        "-9223372036854775809",
        "9" * 5000,
        "0x1ffffffffffffffff",
        "0o" + "7" * 30,
    ],
)
def test_a_number_that_json_cannot_hold_is_refused_where_it_stands(text: str) -> None:
    document = read(f"a: 1\nb: {text}\n")

    assert where(document.problems) == ["2:4"]
    assert document.problems[0].hint == "put it in quotes to keep it as text"
    assert value_of(f"b: '{text}'") == {"b": text}


# The same as PyYAML, but for the named differences

SAME = [
    "a: 1",
    "a: b c d",
    "a:\n  b:\n    c: d",
    "- a\n- b",
    "-\n  - a\n  -\n    - b",
    "- - a\n  - b\n- c",
    "a:\n- b\n- c",
    "a: [1, two, 3.5, true, ~]",
    "a: {b: c, d: [e, {f: g}]}",
    "{}",
    "[]",
    "a: {}\nb: []",
    "{a, b: 1}",
    "{a: , b}",
    "[a: 1, b]",
    "[a, b, ]",
    "{a: 1, }",
    "? a\n: b",
    "? a",
    "? a\n? b",
    '? "a b"\n: c',
    "a: 'it''s'",
    'a: "tab\\there"',
    'a: "\\u00e9\\x41\\U0001F600"',
    'a: "line\\nbreak"',
    'a: "folded\n  text"',
    'a: "folded\n\n  twice"',
    "a: 'folded\n  text'",
    'a: "ends \\\n  here"',
    "a: plain\n  on two lines",
    "a: plain\n\n  with a blank",
    "a: |\n  one\n  two\n",
    "a: |-\n  one\n  two\n",
    "a: |+\n  one\n\n",
    "a: |2\n    indented\n",
    "a: >\n  one\n  two\n\n  three\n",
    "a: >-\n  one\n  two\n",
    "a: >\n  one\n    kept\n  two\n",
    "a: |\n  # no comment\nb: 1",
    "# comment\na: 1 # another\n# last",
    "a: b#c",
    "a: 'b' # c",
    "---\na: 1\n...\n",
    "--- a",
    "--- |\n  text",
    "a: http://x/?y#z",
    "a: b:c",
    "a: -1",
    "a: (b)",
    "a: [b, 'c', \"d\"]",
    "a: &x 1\nb: *x",
    "a: &x {b: 1}\nc: *x\nd: [*x, *x]",
    "a: &x\nb: *x",
    "",
    "# only a comment",
    "\ufeffa: 1",
    "a: 1\r\nb:\r\n  - 2\r\n",
    "a: 1\rb: 2\r",
    "é: ü\n日本: 語",
    "\"a\": 1\n'b': 2",
    "a:   spaced   \nb:\t tabbed\t",
    '"<<": 1',
    "a: 1.5\nb: -0.5\nc: .5\nd: 1.",
    "a: 0x1F\nb: +3\nc: -3\nd: 0",
    "a: True\nb: FALSE\nc: ~\nd: NULL",
    'a: "\\0"',
    "a: 😀",
]


@pytest.mark.parametrize("text", SAME)
def test_a_document_means_what_it_means_to_pyyaml(text: str) -> None:
    assert value_of(text) == yaml.load(text, yaml.CSafeLoader)


# text -> what YAML 1.1 makes of it, what YAML 1.2 makes of it
DIFFERENT: dict[str, tuple[Any, Any]] = {
    "yes": (True, "yes"),
    "No": (False, "No"),
    "on": (True, "on"),
    "OFF": (False, "OFF"),
    "0755": (493, 755),
    "0o17": ("0o17", 15),
    "1:30": (90, "1:30"),
    "190:20:30.15": (685230.15, "190:20:30.15"),
    "1_000": (1000, "1_000"),
    "0b11": (3, "0b11"),
    "-0x1F": (-31, "-0x1F"),
    "2001-01-01": (date(2001, 1, 1), "2001-01-01"),
    "1e3": ("1e3", 1000.0),
    "1.5e3": ("1.5e3", 1500.0),
    "089": ("089", 89),
}


@pytest.mark.parametrize(("text", "meanings"), DIFFERENT.items())
def test_where_yaml_1_1_and_1_2_differ_the_newer_one_is_read(text: str, meanings: tuple[Any, Any]) -> None:
    assert (yaml.safe_load(text), value_of(text)) == meanings


PLAIN_TEXT = st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), max_size=12)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | PLAIN_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(PLAIN_TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(VALUES, st.booleans())
@settings(max_examples=50, deadline=None, derandomize=True)
def test_whatever_pyyaml_writes_is_read_back(value: Any, flow: bool) -> None:
    assert value_of(yaml.dump(value, Dumper=Quoting, default_flow_style=flow, allow_unicode=True)) == value


class Quoting(yaml.SafeDumper):
    """Writes text in quotes and floats with all their digits, as 1.1 and 1.2 differ on when either can be left out."""


Quoting.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"'))
Quoting.add_representer(float, lambda dumper, number: dumper.represent_scalar("tag:yaml.org,2002:float", repr(number)))


def places_by_pyyaml(node: yaml.Node, path: Path = ()) -> dict[Path, tuple[int, int]]:
    """Return the line and column of every value, worked out by PyYAML's own composer."""
    found = {path: (node.start_mark.line + 1, node.start_mark.column + 1)}
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            found |= places_by_pyyaml(value, (*path, key.value))
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            found |= places_by_pyyaml(value, (*path, index))
    return found


@given(VALUES, st.booleans())
@settings(max_examples=50, deadline=None, derandomize=True)
def test_every_value_has_the_place_that_pyyaml_gives_it(value: Any, flow: bool) -> None:
    text = yaml.dump({"": value}, Dumper=Quoting, default_flow_style=flow, allow_unicode=True)
    document = read(text)
    expected = places_by_pyyaml(yaml.compose(text, yaml.SafeLoader))
    del expected[()]

    found = {path: document.place(path) for path in expected}

    assert {path: (place.line, place.column) for path, place in found.items()} == expected


# Mistakes

MISTAKES = {
    "a key given twice": ("a: 1\nb: 2\na: 3", ['3:1 the key "a" is given twice']),
    "a key given twice in flow": ("{a: 1, 'a': 2}", ['1:8 the key "a" is given twice']),
    "a key given three times": (
        "a: 1\na: 2\na: 3",
        ['2:1 the key "a" is given twice', '3:1 the key "a" is given twice'],
    ),
    "a merge key": ("a: &a {x: 1}\nb:\n  <<: *a", ['3:3 merge keys ("<<") are not allowed']),
    "a merge key in flow": ("{<<: {a: 1}}", ['1:2 merge keys ("<<") are not allowed']),
    "a tag": ("a: !!str 1", ["1:4 the tag tag:yaml.org,2002:str is not allowed"]),
    "a tag of one's own": ("a: !env X", ["1:4 the tag !env is not allowed"]),
    "a tag that builds an object": (
        "a: !!python/object:os.system x",
        ["1:4 the tag tag:yaml.org,2002:python/object:os.system is not allowed"],
    ),
    "a tag on a key": ("!!str a: 1", ["1:1 the tag tag:yaml.org,2002:str is not allowed"]),
    "a tag on a mapping": ("a: !!map {b: 1}", ["1:4 the tag tag:yaml.org,2002:map is not allowed"]),
    "a tag on a list": ("!!seq [a]", ["1:1 the tag tag:yaml.org,2002:seq is not allowed"]),
    "the tag that is nothing but a mark": ("a: ! '12'", ["1:4 the tag ! is not allowed"]),
    "a whole number as a key": ("a: 1\n2: b", ["2:1 the key 2 is not text"]),
    "a boolean as a key": ("true: b", ["1:1 the key true is not text"]),
    "null as a key": ("~: b", ["1:1 the key ~ is not text"]),
    "nothing as a key": ("? \n: b", ["1:2 the key null is not text"]),
    "infinity as a key": (".inf: b", ["1:1 the key .inf is not text"]),
    "a huge number as a key": ("9999999999999999999999: b", ["1:1 the key 9999999999999999999999 is not text"]),
    "a list as a key": ("? [a]\n: b", ["1:3 a key must be text"]),
    "a mapping as a key": ("? {a: 1}\n: b", ["1:3 a key must be text"]),
    "an alias as a key": ("a: &x b\n*x : c", ["2:1 a key must be text"]),
    "an alias without an anchor": ("a: *nope", ["1:4 the alias *nope has no anchor before it"]),
    "an alias before its anchor": ("a: *x\nb: &x 1", ["1:4 the alias *x has no anchor before it"]),
    "an alias inside its own anchor": ("a: &x [*x]", ["1:8 the alias *x has no anchor before it"]),
    "a second document": ("a: 1\n---\nb: 2", ["2:1 a second document is not allowed"]),
    "a version directive": ("%YAML 1.1\n---\na: 1", ["1:1 directives (%YAML, %TAG) are not allowed"]),
    "a tag directive": ("%TAG !e! tag:x,2000:\n---\na: 1", ["1:1 directives (%YAML, %TAG) are not allowed"]),
    "an unknown directive": ("%NOPE x\n---\na: 1", ["1:6 found unknown directive name"]),
    "an unclosed quote": ('a: 1\nb: "x', ["2:6 found unexpected end of stream"]),
    "an unclosed bracket": ("a: [1,\n", ["2:1 did not find expected node content"]),
    "a tab for indentation": ("a:\n\tb: 1", ["2:1 found character that cannot start any token"]),
    "a mapping within a line": ("a: b: c", ["1:5 mapping values are not allowed in this context"]),
    "a list beside a mapping": ("a: 1\n- b", ["2:1 did not find expected key"]),
    "a reserved character": ("a: @b", ["1:4 found character that cannot start any token"]),
    "an unknown escape": ('a: "\\q"', ["1:5 found unknown escape character"]),
    "half a surrogate pair": ('a: "\\ud800"', ["1:7 found invalid Unicode character escape code"]),
}


@pytest.mark.parametrize(("text", "expected"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_problem_where_it_stands(text: str, expected: list[str]) -> None:
    assert told(read(text).problems) == expected


def test_reading_goes_on_after_a_mistake_and_finds_the_next() -> None:
    document = read("a: 1\na: 2\nb: !x 3\n4: c\nd: .inf\ne: *f\ng: ok\n")

    assert where(document.problems) == ["2:1", "3:4", "4:1", "5:4", "6:4"]
    assert document.value == {"a": 1, "b": 3, "d": None, "e": None, "g": "ok"}


def test_the_first_of_two_equal_keys_is_kept_and_named() -> None:
    document = read("\n\nrequires_approval: true\nrequires_approval: false\n")

    assert document.value == {"requires_approval": True}
    assert document.problems[0].hint == "the first one is on line 3"


def test_a_syntax_error_says_what_was_being_read_and_that_the_rest_was_not() -> None:
    (problem,) = read("a: 1\nb: 'x\nc: 2\n").problems

    assert problem.hint == (
        "while scanning a quoted scalar that begins on line 2, column 4; what follows was not checked"
    )


def test_a_quoted_value_stays_text_even_behind_a_mark() -> None:
    assert read('a: ! "12"').value == {"a": "12"}


def test_an_anchor_may_be_given_anew() -> None:
    assert value_of("a: &x [1]\nb: *x\nc: &x [2]\nd: *x") == {"a": [1], "b": [1], "c": [2], "d": [2]}


def test_an_anchor_on_a_key_can_be_used() -> None:
    assert value_of("&k key: 1\nother: *k") == {"key": 1, "other": "key"}


@pytest.mark.parametrize("bad", ["!%ed%a0%80", "!<%c0%80>", "!<%f8%88%80%80%80>", "!%ff"])
def test_a_tag_whose_escapes_are_not_utf_8_is_a_problem_and_no_crash(bad: str) -> None:
    document = read(f"a: {bad} x")

    assert document.value is None
    assert len(document.problems) == 1


def test_columns_count_characters_and_not_bytes() -> None:
    assert where(read("é: 1\nüü: {ß: 1, ß: 2}").problems) == ["2:12"]


def test_a_byte_order_mark_takes_no_column() -> None:
    document = read("\ufeffa: 1\na: 2")

    assert document.value == {"a": 1}
    assert str(document.place(("a",))) == "tools.yaml:1:4"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_counted_whatever_ends_them(end: str) -> None:
    assert where(read(end.join(["a: 1", "", "b: 2", "b: 3"])).problems) == ["4:1"]


def test_problems_are_listed_up_to_a_limit_and_the_list_says_so() -> None:
    document = read("".join(f"{number}: x\n" for number in range(1_000)))

    assert len(document.problems) == MOST_PROBLEMS + 1
    assert document.problems[-1].message == TOO_MANY
    assert document.value is None


def test_a_syntax_error_after_a_full_list_of_problems_is_still_a_verdict() -> None:
    almost = "".join(f"{number}: x\n" for number in range(MOST_PROBLEMS - 1))

    document = read(almost + "a: [")

    assert len(document.problems) == MOST_PROBLEMS
    assert document.value is None


# Bytes


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b"\xff\xfea\x00", "1:1"),
        (b"a: \xff", "1:4"),
        (b"a: 1\nb: \xc3\xa9\xc3", "2:5"),
        (b"a: 1\rb: \xff", "2:4"),
        (b"\xef\xbb\xbfa: \xff", "1:4"),
        (b"a: \xed\xa0\x80", "1:4"),
        (b"a: \xc0\x80", "1:4"),
        (b"a: \xf4\x90\x80\x80", "1:4"),
        ("a: 1".encode("utf-16"), "1:1"),
        ("a: é".encode("latin-1"), "1:4"),
    ],
)
def test_what_is_not_utf_8_is_refused_where_it_starts(data: bytes, place: str) -> None:
    document = read(data)

    assert document.value is None
    assert where(document.problems) == [place]
    assert document.problems[0].message.startswith("not UTF-8: ")


CONTROLS = [*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF]
REFUSED = [chr(code) for code in CONTROLS if chr(code) not in "\t\n\r"]


@pytest.mark.parametrize("char", REFUSED, ids=lambda char: f"U+{ord(char):04X}")
@pytest.mark.parametrize(("name", "text"), [("x.yaml", "a: 1\n# b{}c\n"), ("x.json", '{{"a":\n"bb{}c"}}')])
def test_a_control_character_is_refused_wherever_it_stands(char: str, name: str, text: str) -> None:
    document = read(text.format(char), name)

    assert document.value is None
    assert told(document.problems) == [f"2:4 the character U+{ord(char):04X} is not allowed"]


@pytest.mark.parametrize("separator", ["\x85", "\u2028", "\u2029"])
def test_a_key_cannot_hide_in_a_comment_behind_a_line_end_that_editors_do_not_show(separator: str) -> None:
    document = read(f"requires_approval: true\n# harmless{separator}is_dangerous: false\n")

    assert document.value is None
    assert where(document.problems) == ["2:11"]


def test_a_file_over_the_limit_is_refused_before_it_is_read() -> None:
    document = read(b"a: 1 # x", limits=Limits(max_bytes=7))

    assert document.value is None
    assert [str(problem) for problem in document.problems] == ["tools.yaml  the file is 8 bytes; the limit is 7"]
    assert document.problems[0].place == Place("tools.yaml")


# Limits


@pytest.mark.parametrize(
    ("opening", "closing"),
    [("[", "]"), ("{a: ", "}"), ("{? ", "}"), ("[{a: ", "}]")],
    ids=["list", "map", "key", "both"],
)
def test_nesting_is_allowed_up_to_the_limit(opening: str, closing: str) -> None:
    limits, levels = Limits(max_depth=6), opening.count("[") + opening.count("{")

    def problems_at(depth: int) -> list[str]:
        times = depth // levels
        messages = [
            problem.message for problem in read(opening * times + "x" + closing * times, limits=limits).problems
        ]
        return [message for message in messages if message != "a key must be text"]

    assert problems_at(6) == []
    assert problems_at(6 + levels) == ["nested more than 6 levels deep"]


def test_aliases_cannot_nest_deeper_than_the_limit() -> None:
    limits = Limits(max_depth=6)
    two_more = "a: &a [[x]]\nb: &b [[*a]]\nc: {}"

    assert read(f"{two_more}\nd: [*b]", limits=limits).problems == []
    assert told(read(f"{two_more}\nd: [[*b]]", limits=limits).problems) == ["4:6 nested more than 6 levels deep"]


def test_a_scalar_behind_an_alias_adds_no_depth() -> None:
    assert read("a: &a x\nb: [[*a]]", limits=Limits(max_depth=3)).problems == []


def test_aliases_share_their_value_and_are_counted_by_what_is_in_it() -> None:
    text = "a: &a [1, 2, 3]\nb: *a\nc: *a\n"

    document = read(text, limits=Limits(max_aliased=8))

    assert document.problems == []
    assert document.value["b"] is document.value["c"]
    assert told(read(text, limits=Limits(max_aliased=7)).problems) == ["3:4 aliases repeat too much"]


def test_a_long_text_counts_as_more_than_one_value_when_it_is_repeated() -> None:
    text = f"a: &a {'x' * 6400}\nb: *a\n"

    assert read(text, limits=Limits(max_aliased=101)).problems == []
    assert told(read(text, limits=Limits(max_aliased=100)).problems) == ["2:4 aliases repeat too much"]


def test_a_remote_document_may_not_use_aliases_at_all() -> None:
    assert told(read("a: &a 1\nb: *a\n", limits=REMOTE).problems) == ["2:4 aliases are not allowed here"]
    assert read("a: &a 1\n", limits=REMOTE).problems == []


@pytest.mark.parametrize("text", ["[1, 1, 1, 1]", "{a: 1, b: 1}", "- 1\n- 1\n- 1\n- 1", "{a: {b: c}}"])
def test_a_document_may_hold_only_so_many_values(text: str) -> None:
    assert read(text, limits=Limits(max_values=5)).problems == []
    assert [problem.message for problem in read(text, limits=Limits(max_values=4)).problems] == ["more than 4 values"]


# The collector


@pytest.mark.parametrize("name", ["x.yaml", "x.json"])
def test_the_garbage_collector_runs_again_afterwards_whatever_the_file_holds(name: str) -> None:
    for data in (b"{}", b"[", b"\xff", b"[" * 1000):
        read_document(data, name)
        assert gc.isenabled()


def test_the_garbage_collector_stays_off_for_someone_who_had_it_off() -> None:
    gc.disable()
    try:
        with collection_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_file_is_json_by_its_name() -> None:
    assert value_of("{a: 1}", "x.yaml") == {"a": 1}
    assert read("{a: 1}", "x.JSON").problems != []
    assert math.isclose(value_of("1e3", "x.json"), 1000)
