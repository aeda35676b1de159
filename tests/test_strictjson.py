"""JSON is read as strictly as YAML, fast for callers and with places for files."""

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.files import read, told, value_of, where
from toolgate.places import MOST_PROBLEMS, TOO_MANY, Limits, Path
from toolgate.strictjson import bounded_int, finite_float, parse_json

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
# What a file may not hold at all: control characters outside of escapes, and those that end lines unseen.
SHOWN = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc", "Zl", "Zp", "Cf", "Cn"]), max_size=8)
NUMBERS = st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)


def json_values(texts: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    return st.recursive(
        st.none() | st.booleans() | NUMBERS | texts,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
        max_leaves=15,
    )


@given(json_values(TEXTS), st.booleans(), st.sampled_from([None, 2]))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_every_json_value_is_read_as_the_standard_library_reads_it(value: Any, ascii_only: bool, indent: Any) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)

    assert parse_json(text) == parse_json(text.encode()) == json.loads(text)
    assert repr(parse_json(text)) == repr(json.loads(text))


@given(json_values(TEXTS), st.sampled_from([None, 2]))
@settings(max_examples=50, deadline=None, derandomize=True)
def test_a_json_file_is_read_as_the_standard_library_reads_it(value: Any, indent: Any) -> None:
    text = json.dumps(value, indent=indent)

    assert repr(value_of(text, "x.json")) == repr(json.loads(text))


class Writer:
    """Writes JSON with blanks of its own choosing, and remembers where each key and value begins."""

    def __init__(self, rolls: random.Random) -> None:
        self.rolls = rolls
        self.text = ""
        self.starts: dict[Path, tuple[int, int]] = {}

    def blank(self) -> None:
        self.text += "".join(self.rolls.choices([" ", "\t", "\n", "\r\n", "\r"], k=self.rolls.randint(0, 3)))

    def write(self, value: Any, path: Path = (), key_at: int | None = None) -> None:
        self.blank()
        self.starts[path] = (len(self.text) if key_at is None else key_at, len(self.text))
        if not isinstance(value, dict | list):
            self.text += json.dumps(value, ensure_ascii=False)
            return
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        self.text += opening
        for count, (step, item) in enumerate(value.items() if isinstance(value, dict) else enumerate(value)):
            self.text += "," if count else ""
            self.blank()
            at = None
            if isinstance(value, dict):
                at = len(self.text)
                self.text += json.dumps(step, ensure_ascii=False)
                self.blank()
                self.text += ":"
            self.write(item, (*path, step), at)
            self.blank()
        self.text += closing

    def line_and_column(self, offset: int) -> tuple[int, int]:
        lines = self.text[:offset].replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return len(lines), len(lines[-1]) + 1


@given(json_values(SHOWN), st.integers(0, 10**6))
@settings(max_examples=50, deadline=None, derandomize=True)
def test_every_key_and_value_of_a_json_file_has_its_real_line_and_column(value: Any, seed: int) -> None:
    writer = Writer(random.Random(seed))
    writer.write({"root": value})
    document = read(writer.text, "x.json")

    for path, (key_at, value_at) in writer.starts.items():
        if path:
            key, found = document.place(path, key=True), document.place(path)
            assert (key.line, key.column) == writer.line_and_column(key_at)
            assert (found.line, found.column) == writer.line_and_column(value_at)


MISTAKES = {
    "a key given twice": ('{"a": 1,\n "a": 2}', ['2:2 the key "a" is given twice']),
    "a key given twice by escape": ('{"a": 1, "\\u0061": 2}', ['1:10 the key "a" is given twice']),
    "a comma at the end of a list": ("[1, ]", ["1:5 a comma must not come last"]),
    "a comma at the end of an object": ('{"a": 1,}', ["1:9 a comma must not come last"]),
    "a comma at the start": ("[,1]", ["1:2 expected a value, found ',1]'"]),
    "no comma": ("[1 2]", ["1:4 expected \",\", found '2]'"]),
    "no colon": ('{"a" 1}', ["1:6 expected \":\", found '1}'"]),
    "no value": ('{"a": }', ["1:7 expected a value, found '}'"]),
    "a key without quotes": ("{a: 1}", ["1:2 expected a key in quotes, found 'a: 1}'"]),
    "a key in single quotes": ("{'a': 1}", ["1:2 expected a key in quotes, found \"'a': 1}\""]),
    "a number as a key": ("{1: 2}", ["1:2 expected a key in quotes, found '1: 2}'"]),
    "not a number": ("[NaN]", ["1:2 expected a value, found 'NaN]'"]),
    "infinity": ("[Infinity]", ["1:2 expected a value, found 'Infinity]'"]),
    "minus infinity": ("[-Infinity]", ["1:2 expected a value, found '-Infinity]'"]),
    "a huge number": ("[1e999]", ["1:2 the number 1e999 is too big"]),
    "a huge whole number": ("[18446744073709551616]", ["1:2 the number 18446744073709551616 is too big"]),
    "an endless number": (f"[{'9' * 5000}]", ["1:2 the number is too big"]),
    "a leading zero": ("[01]", ["1:3 expected \",\", found '1]'"]),
    "a leading plus": ("[+1]", ["1:2 expected a value, found '+1]'"]),
    "a bare minus": ("[-]", ["1:2 expected a value, found '-]'"]),
    "a bare point": ("[.5]", ["1:2 expected a value, found '.5]'"]),
    "a word": ("[nul]", ["1:2 expected a value, found 'nul]'"]),
    "a longer word": ("[truest]", ["1:2 expected a value, found 'truest]'"]),
    "half a surrogate pair": ('["\\ud800"]', ["1:2 the text holds half of a surrogate pair"]),
    "half a surrogate pair in a key": ('{"\\udc00x": 1}', ["1:2 the text holds half of a surrogate pair"]),
    "a tab in text": ('["a\tb"]', ["1:4 invalid control character at"]),
    "a line end in text": ('["a\nb"]', ["1:4 invalid control character at"]),
    "an unknown escape": ('["\\q"]', ["1:3 invalid \\escape"]),
    "an unfinished escape": ('["\\u12"]', ["1:4 invalid \\uxxxx escape"]),
    "an unclosed text": ('["abc', ["1:2 unterminated string starting at"]),
    "an unclosed list": ("[1", ['1:3 expected ",", found the end']),
    "an unclosed object": ('{"a": 1', ['1:8 expected ",", found the end']),
    "nothing": ("", ["1:1 expected a value, found the end"]),
    "only blanks": (" \n ", ["2:2 expected a value, found the end"]),
    "something after the value": ("{} x", ["1:4 nothing may follow the value"]),
    "two values": ("1\n2", ["2:1 nothing may follow the value"]),
    "a comment": ("// x\n1", ["1:1 expected a value, found '// x'"]),
    "a form feed as a blank": ("[1,\u00a02]", ["1:4 expected a value, found '\\xa02]'"]),
}


@pytest.mark.parametrize(("text", "expected"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_problem_where_it_stands_and_callers_are_refused_too(text: str, expected: list[str]) -> None:
    assert told(read(text, "x.json").problems) == expected
    with pytest.raises(ValueError, match=r"."):
        parse_json(text)


def test_reading_goes_on_after_a_mistake_and_finds_the_next() -> None:
    document = read('{"a": 1, "a": 2,\n "b": 1e999,\n "c": "\\ud800",\n "d": true}', "x.json")

    assert where(document.problems) == ["1:10", "2:7", "3:7"]
    assert document.value == {"a": 1, "b": None, "c": "\\ud800", "d": True}
    assert document.problems[0].hint == "the first one is on line 1"


def test_two_keys_that_are_both_half_pairs_are_not_called_the_same() -> None:
    assert len(read('{"\\ud800": 1, "\\ud801": 2}', "x.json").problems) == 2


def test_problems_are_listed_up_to_a_limit_and_the_list_says_so() -> None:
    document = read(f"[{','.join(['1e999'] * 500)}]", "x.json")

    assert len(document.problems) == MOST_PROBLEMS + 1
    assert document.problems[-1].message == TOO_MANY
    assert document.value is None


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_nesting_is_allowed_up_to_the_limit(opening: str, closing: str) -> None:
    limits = Limits(max_depth=5)

    assert read(opening * 5 + "1" + closing * 5, "x.json", limits).problems == []
    assert [problem.message for problem in read(opening * 6 + "1" + closing * 6, "x.json", limits).problems] == [
        "nested more than 5 levels deep"
    ]


@pytest.mark.parametrize("text", ["[1, 1, 1, 1]", '{"a": 1, "b": 1}', '{"a": {"b": 1}}'])
def test_a_file_may_hold_only_so_many_values(text: str) -> None:
    assert read(text, "x.json", Limits(max_values=5)).problems == []
    messages = [problem.message for problem in read(text, "x.json", Limits(max_values=4)).problems]
    assert messages == ["more than 4 values"]


# What callers send


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"\xff", "utf-8"),
        (b"\xef\xbb\xbf1", "Expecting value"),
        ("NaN", "NaN is not JSON"),
        ("[-Infinity]", "-Infinity is not JSON"),
        ('{"a": 1, "b": 2, "a": 3}', 'the key "a" is given twice'),
        ('{"a": 1, "b": 2, "b": 3, "c": 4}', 'the key "b" is given twice'),
        ('{"x": {"a": 1, "a": 1}}', 'the key "a" is given twice'),
        ("1e999", "the number 1e999 is too big"),
        ("9" * 5000, "the number is too big"),
        ('"\\ud800"', "half of a surrogate pair"),
        ('{"\\udfff": 1}', "half of a surrogate pair"),
        ('"\ud800"', "half of a surrogate pair"),
        ("[" * 65 + "]" * 65, "nested more than 64 levels deep"),
        ("[" * 100_000, "nested more than 64 levels deep"),
        ('{"a":' * 100_000, "nested more than 64 levels deep"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str | bytes) else None,
)
def test_callers_are_told_why_their_json_is_refused(text: str | bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_json(text)


def test_callers_may_nest_as_deep_as_files_do() -> None:
    assert parse_json("[" * 64 + "]" * 64) == json.loads("[" * 64 + "]" * 64)


def test_a_whole_surrogate_pair_and_an_escaped_backslash_are_fine() -> None:
    assert parse_json('"\\ud83d\\ude00"') == "😀"
    assert parse_json('"\\\\ud800"') == "\\ud800"
    assert parse_json('"😀"') == "😀"


def test_one_repeated_key_among_very_many_is_found() -> None:
    pairs = ",".join(f'"k{number}":1' for number in range(100_000))

    with pytest.raises(ValueError, match='the key "k99999" is given twice'):
        parse_json(f'{{{pairs},"k99999":2}}')


def test_a_repeated_key_of_any_length_gives_a_short_message() -> None:
    with pytest.raises(ValueError, match="is given twice") as caught:
        parse_json(f'{{"{"k" * 10**5}": 1, "{"k" * 10**5}": 2}}')
    assert len(str(caught.value)) < 100


@pytest.mark.parametrize(("text", "value"), [("0", 0), ("-0", 0), ("0x10", 16), ("0o10", 8), ("+7", 7), ("007", 7)])
def test_whole_numbers_are_read(text: str, value: int) -> None:
    assert bounded_int(text) == value


@pytest.mark.parametrize("text", ["18446744073709551616", "-9223372036854775809", "0x10000000000000000", "1" * 25])
def test_whole_numbers_over_64_bits_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="too big"):
        bounded_int(text)


def test_numbers_of_any_length_are_read_or_refused() -> None:
    assert finite_float("1." + "0" * 10**6) == 1.0
    assert finite_float("0." + "0" * 10**6 + "1") == 0.0
    with pytest.raises(ValueError, match="too big") as caught:
        finite_float("1" + "0" * 10**6)
    assert len(str(caught.value)) < 100
