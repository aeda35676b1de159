"""Whatever a file holds, it gets a verdict: what it says, or a short list of what is wrong with it."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.test_specfile import TWELVE
from toolgate.errors import ConfigError, Problem
from toolgate.loaders import Surroundings
from toolgate.places import MOST_PROBLEMS
from toolgate.reading import parse_json, read_document
from toolgate.specfile import SpecFileReader

ROOT = Path(__file__).parent.parent
SMALL, BIG, DEEP = 60_000, 10_000_000, 100_000
EXECUTORS = Surroundings().executors


def verdict(text: str | bytes, name: str = "x.yaml") -> list[Problem]:
    """Return what is wrong with a file, having made sure that it can be told to anyone."""
    data = text.encode() if isinstance(text, str) else text
    document = read_document(data, name)
    try:
        SpecFileReader(EXECUTORS, env={}).read([document])
    except ConfigError as error:
        found = list(error.problems)
    else:
        found = []
    assert len(found) <= MOST_PROBLEMS + 2
    assert all(str(problem).isprintable() and len(str(problem)) < 1_500 for problem in found)
    lines = data.count(b"\n") + data.count(b"\r") + 2
    assert all(1 <= (problem.place.line or 1) <= lines for problem in found if problem.place)
    return found


def fill(unit: str, size: int, start: str = "", end: str = "") -> str:
    return start + unit * (size // len(unit)) + end


def count(unit: str, size: int, start: str = "", end: str = "") -> str:
    """Return `unit` over and over, with a number in it each time."""
    return start + "".join(unit.replace("#", str(number)) for number in range(size // (len(unit) + 4))) + end


# Bombs


def laughs(levels: int) -> str:
    rows = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    rows += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]" for level in range(1, levels)]
    return "\n".join(rows)


@pytest.mark.parametrize("levels", [6, 9, 50, 500])
def test_the_billion_laughs_end_at_the_first_thousands(levels: int) -> None:
    (problem,) = verdict(laughs(levels))

    assert str(problem) == "x.yaml:5:45  aliases repeat too much"


def test_a_few_laughs_are_fine() -> None:
    assert [problem.message for problem in verdict(laughs(3))] == ["no such key"] * 3


def test_aliases_cannot_build_depth_bit_by_bit() -> None:
    rows = ["a0: &a0 " + "[" * 60 + "]" * 60]
    rows += [f"a{level}: &a{level} " + "[" * 60 + f"*a{level - 1}" + "]" * 60 for level in range(1, 40)]

    (problem,) = verdict("\n".join(rows))

    assert str(problem) == "x.yaml:2:69  nested more than 64 levels deep"


def test_a_long_text_cannot_be_repeated_into_gigabytes() -> None:
    (problem,) = verdict(f"a: &a {'x' * 100_000}\nb: [{'*a, ' * 10_000}]")

    assert problem.message == "aliases repeat too much"


# Depth

DEPTHS: dict[str, tuple[str, str]] = {
    "flow lists": ("x.yaml", "["),
    "flow mappings": ("x.yaml", "{"),
    "flow keys and values": ("x.yaml", "{a: "),
    "flow keys": ("x.yaml", "{? "),
    "block lists": ("x.yaml", "- "),
    "block keys": ("x.yaml", "? "),
    "lists in block keys": ("x.yaml", "? - "),
    "lists of flow mappings": ("x.yaml", "[{a: "),
    "anchored lists": ("x.yaml", "&a ["),
    "tagged lists": ("x.yaml", "!!seq ["),
    "json lists": ("x.json", "["),
    "json objects": ("x.json", '{"a":'),
    "json lists of objects": ("x.json", '[{"a":'),
}


@pytest.mark.parametrize(("name", "unit"), DEPTHS.values(), ids=DEPTHS)
def test_a_hundred_thousand_levels_get_a_verdict(name: str, unit: str) -> None:
    for text in (unit * DEEP, unit * DEEP + "x" + "]" * DEEP):
        messages = {problem.message for problem in verdict(text, name)}

        assert "nested more than 64 levels deep" in messages


def test_deep_indentation_gets_a_verdict() -> None:
    rows = "".join(" " * level + "a:\n" for level in range(1_000))

    assert [str(problem) for problem in verdict(rows)] == ["x.yaml:65:65  nested more than 64 levels deep"]


def test_deep_json_from_a_caller_is_refused() -> None:
    for unit in ("[", '{"a":', '[{"a":'):
        with pytest.raises(ValueError, match="nested more than 64 levels deep"):
            parse_json(unit * DEEP)


# Shapes

TOOLS = "tools:\n"


def a_tool(start: str = "", kind: str = "q") -> str:
    """Return a file with one tool, up to the beginning of its next key."""
    return f"tools:\n- name: t\n  description: d\n  tool_type: {kind}\n{start}"


SHAPES: dict[str, Callable[[int], str | bytes]] = {
    "one plain scalar": lambda size: "a: " + "x" * size,
    "one quoted scalar": lambda size: 'a: "' + "x" * size + '"',
    "one scalar of escapes": lambda size: fill("\\u00e9", size, 'a: "', '"'),
    "one scalar of quotes": lambda size: fill("''", size, "a: '", "'"),
    "a literal": lambda size: fill("  line\n", size, "a: |\n"),
    "a folded scalar": lambda size: fill("  line\n", size, "a: >\n"),
    "a folded scalar of blank lines": lambda size: "a: >\n  x\n" + "\n" * size + "  y\n",
    "a scalar on many lines": lambda size: fill("  word\n", size, "a: x\n"),
    "a quoted scalar on many lines": lambda size: fill("w\n  ", size, 'a: "', '"'),
    "keys": lambda size: count("k#: 1\n", size),
    "equal keys": lambda size: fill("k: 1\n", size),
    "list items": lambda size: fill("- 1\n", size, TOOLS),
    "empty list items": lambda size: fill("-\n", size, TOOLS),
    "a flow list": lambda size: fill("1,", size, "tools: [", "]"),
    "a flow mapping": lambda size: count("k#: 1, ", size, "{", "}"),
    "a flow mapping of keys": lambda size: count("k#,", size, "{", "}"),
    "flow mappings": lambda size: fill("{},", size, "[", "]"),
    "flow lists": lambda size: fill("[],", size, "[", "]"),
    "flow pairs": lambda size: fill("a: b,", size, "[", "]"),
    "flow keys without names": lambda size: fill("? ,", size, "{", "}"),
    "commas": lambda size: "[" + "," * size,
    "question marks": lambda size: fill("?\n", size),
    "colons": lambda size: fill(":\n", size),
    "one anchor again and again": lambda size: count("k#: &a 1\n", size),
    "anchors": lambda size: count("k#: &a# 1\n", size),
    "aliases": lambda size: fill("- *a\n", size, "a: &a 1\nb:\n"),
    "aliases without an anchor": lambda size: fill("- *a\n", size),
    "tags": lambda size: fill("- !x 1\n", size),
    "tag directives": lambda size: count("%TAG !a#! x\n", size, end="---\na: 1\n"),
    "tag directives behind carriage returns": lambda size: count("%TAG !a#! x\r", size, end="---\ra: 1\r"),
    "tag directives of a second document": lambda size: count("%TAG !a#! x\n", size, "a: 1\n...\n", "---\n"),
    "version directives": lambda size: fill("%YAML 1.1\n", size),
    "documents": lambda size: fill("---\n", size),
    "document ends": lambda size: fill("...\n", size),
    "merge keys": lambda size: fill("<<: 1\n", size),
    "a long key": lambda size: "k" * size + ": 1",
    "a long explicit key": lambda size: "? " + "k" * size + "\n: 1",
    "long equal keys": lambda size: fill("? " + "k" * 2_000 + "\n: 1\n", size),
    "tabs": lambda size: "\t" * size,
    "spaces": lambda size: " " * size,
    "newlines": lambda size: "\n" * size,
    "carriage returns": lambda size: "\r" * size,
    "comments": lambda size: fill("# c\n", size),
    "an unclosed double quote": lambda size: 'a: "' + "x" * size,
    "an unclosed single quote": lambda size: "a: '" + "x" * size,
    "an unclosed list": lambda size: fill("x, ", size, "a: ["),
    "an unclosed mapping": lambda size: count("x#, ", size, "a: {"),
    "brackets that close": lambda size: "]" * size,
    "backslashes": lambda size: 'a: "' + "\\" * size,
    "a long anchor": lambda size: "a: &" + "a" * size + " 1",
    "a long alias": lambda size: "a: *" + "a" * size,
    "a long tag": lambda size: "a: !" + "a" * size + " 1",
    "a long escaped tag": lambda size: fill("%41", size, "a: !<", "> 1"),
    "a long whole number": lambda size: "a: " + "9" * size,
    "a long fraction": lambda size: "a: 1." + "9" * size,
    "a long exponent": lambda size: "a: 1e" + "9" * size,
    "a long hexadecimal number": lambda size: "a: 0x" + "f" * size,
    "infinities": lambda size: fill("- .inf\n", size),
    "not utf-8": lambda size: b"\xff" * size,
    "not utf-8 at the end of a long line": lambda size: "é".encode() * (size // 2) + b"\xff",
    "utf-16": lambda size: ("a: " + "x" * (size // 2)).encode("utf-16"),
    "utf-32": lambda size: ("a: " + "x" * (size // 4)).encode("utf-32"),
    "zeros": lambda size: b"\0" * size,
    "control characters": lambda size: "a: " + "\x01" * size,
    "line separators": lambda size: fill("# x\u2028key: v\n", size),
    "byte order marks": lambda size: "\ufeff" * (size // 3),
    "characters above the plane": lambda size: "a: " + "😀" * (size // 4),
    "unknown keys": lambda size: count("tool#: 1\n", size),
    "tools that are text": lambda size: fill("- x\n", size, TOOLS),
    "tiny tools": lambda size: count("- {name: t#, description: d, tool_type: q}\n", size, TOOLS),
    "tools of nearly known types": lambda size: count("- {name: t#, description: d, tool_type: pyton}\n", size, TOOLS),
    "twins": lambda size: fill("- {name: t, description: d, tool_type: q}\n", size, TOOLS),
    "empty tools": lambda size: fill("- {}\n", size, TOOLS),
    "unknown keys of a tool": lambda size: count("  key#: 1\n", size, a_tool()),
    "metadata of one's own": lambda size: count("    own#: 1\n", size, a_tool("  metadata:\n")),
    "misspelt metadata": lambda size: count("    requires_aproval#: 1\n", size, a_tool("  metadata:\n")),
    "tags of a tool": lambda size: count("t#, ", size, a_tool("  metadata: {tags: ["), "]}"),
    "bad tags of a tool": lambda size: fill("1, ", size, a_tool("  metadata: {tags: ["), "]}"),
    "permissions": lambda size: count("p#, ", size, a_tool("  metadata: {permissions: ["), "]}"),
    "properties": lambda size: count("p#: {}, ", size, a_tool("  input_schema: {properties: {"), "}}"),
    "bad properties": lambda size: count("p#: {type: x}, ", size, a_tool("  input_schema: {properties: {"), "}}"),
    "bad choices": lambda size: fill("{type: x}, ", size, a_tool("  input_schema: {anyOf: ["), "]}"),
    "a long pattern": lambda size: fill("(a|b)*", size, a_tool("  input_schema: {pattern: '"), "'}"),
    "references to oneself": lambda size: fill("{$ref: '#'}, ", size, a_tool("  input_schema: {allOf: ["), "]}"),
    "remote references": lambda size: count("{$ref: 'http://x/#'}, ", size, a_tool("  input_schema: {allOf: ["), "]}"),
    "variables": lambda size: fill("'${A}', ", size, a_tool("  implementation_config: {a: ["), "]}"),
    "variables in one text": lambda size: fill("${A}", size, a_tool("  implementation_config: {a: '"), "'}"),
    "unfinished variables": lambda size: fill("${A:-", size, a_tool("  implementation_config: {a: '"), "'}"),
    "unknown keys of a config": lambda size: count(
        "    key#: 1\n", size, a_tool("  implementation_config:\n", "python")
    ),
    "a long command": lambda size: fill("{a} ", size, a_tool("  implementation_config: {command: 'x ", "shell"), "'}"),
    "defaults for many tools": lambda size: (
        count("    own#: 1\n", size // 2, "defaults:\n  metadata:\n")
        + count("- {name: t#, description: d, tool_type: q}\n", size // 2, TOOLS)
    ),
    "sources": lambda size: fill("- 1\n", size, "sources:\n"),
    "extensions": lambda size: fill("- {use: 'a b'}\n", size, "extensions:\n"),
    "a long name": lambda size: a_tool().replace("name: t", "name: " + "n" * size),
    "a long type": lambda size: a_tool(kind="p" * size),
}

JSON_SHAPES: dict[str, Callable[[int], str]] = {
    "one text": lambda size: '"' + "x" * size + '"',
    "keys": lambda size: count('"k#":1,', size, "{", '"z":1}'),
    "equal keys": lambda size: fill('"k":1,', size, "{", '"z":1}'),
    "items": lambda size: fill("1,", size, "[", "1]"),
    "lists": lambda size: fill("[],", size, "[", "1]"),
    "objects": lambda size: fill("{},", size, "[", "1]"),
    "an unclosed text": lambda size: '["' + "x" * size,
    "a long number": lambda size: "9" * size,
    "a long fraction": lambda size: "1." + "9" * size,
    "blanks": lambda size: " " * size,
    "half surrogate pairs": lambda size: fill('"\\ud800",', size, "[", "1]"),
    "half surrogate pairs as keys": lambda size: fill('"\\ud800":1,', size, "{", '"z":1}'),
    "escapes": lambda size: fill("\\u00e9", size, '"', '"'),
    "letters": lambda size: "a" * size,
    "big numbers": lambda size: fill("9" * 30 + ",", size, "[", "1]"),
    "blanks between": lambda size: fill("1 , ", size, "[", "1]"),
    "commas": lambda size: "[" + "," * size,
}

RIGHT = {"spaces", "newlines", "carriage returns", "comments", "tiny tools", "tags of a tool", "properties"}
RIGHT |= {"references to oneself"}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_yaml_file_of_any_shape_gets_a_verdict(shape: str) -> None:
    assert bool(verdict(SHAPES[shape](SMALL))) == (shape not in RIGHT)


@pytest.mark.parametrize("shape", JSON_SHAPES)
def test_a_json_file_of_any_shape_gets_a_verdict(shape: str) -> None:
    assert verdict(JSON_SHAPES[shape](SMALL), "x.json")


READABLE = {"one text", "keys", "items", "lists", "objects", "a long fraction", "escapes", "blanks between"}


@pytest.mark.parametrize("shape", JSON_SHAPES)
def test_json_of_any_shape_from_a_caller_is_read_or_refused(shape: str) -> None:
    text = JSON_SHAPES[shape](SMALL)
    if shape in READABLE:
        assert parse_json(text) == json.loads(text)
        return
    with pytest.raises(ValueError, match=r".") as caught:
        parse_json(text)
    assert len(str(caught.value)) < 200


EARLY = [
    "one quoted scalar",
    "equal keys",
    "tag directives",
    "documents",
    "a long key",
    "an unclosed single quote",
    "a long fraction",
    "not utf-8 at the end of a long line",
    "line separators",
    "a long pattern",
    "a long name",
]


@pytest.mark.parametrize("shape", EARLY)
def test_ten_megabytes_get_a_verdict(shape: str) -> None:
    assert verdict(SHAPES[shape](BIG))


@pytest.mark.parametrize("unit", ["[", "- ", "&a ["])
def test_ten_megabytes_of_depth_get_a_verdict(unit: str) -> None:
    assert "nested more than 64 levels deep" in {problem.message for problem in verdict(fill(unit, BIG))}


@pytest.mark.parametrize("name", ["x.yaml", "x.json"])
def test_more_than_sixteen_megabytes_are_not_looked_at(name: str) -> None:
    (problem,) = verdict(b"\xff" * (16 * 1024 * 1024 + 1), name)

    assert problem.message == "the file is 16,777,217 bytes; the limit is 16,777,216"


# Accidents

SEEDS: list[tuple[str, str]] = [
    ("x.yaml", TWELVE),
    ("x.yaml", (ROOT / "tools.yaml").read_text("utf-8")),
    ("x.yaml", (ROOT / "toolgate.yaml").read_text("utf-8")),
    ("x.json", json.dumps(read_document((ROOT / "tools.yaml").read_bytes(), "tools.yaml").value, indent=1)),
    (
        "x.json",
        json.dumps({"tools": [{"name": "t", "description": "d", "tool_type": "custom", "metadata": {"a": [1]}}]}),
    ),
]
TOKENS = [
    *"[]{}:,-?&*!|>%@`'\"#\\\n\r\t \0\x85\ufeff\u2028",
    "<<",
    "${",
    "}",
    "---",
    "...",
    "!!str ",
    "&a ",
    "*a",
    ": ",
    "- ",
]
TOKENS += [
    "~",
    "1e999",
    ".nan",
    "0x",
    "\\ud800",
    "%TAG ! x\n",
    "tools:",
    "metadata:",
    "\udcff",
    "9" * 40,
    "\n  ",
    "true",
]


def mutated(text: str, rolls: random.Random) -> bytes:
    """Return `text` with a few accidents: pieces lost, moved, doubled, or replaced by something odd."""
    data = text
    for _ in range(rolls.randint(1, 4)):
        start = rolls.randrange(len(data) + 1)
        end = min(len(data), start + rolls.choice([0, 1, 1, 5, 40, 400]))
        piece = data[start:end]
        new = rolls.choice(["", piece * 2, piece[::-1], rolls.choice(TOKENS), rolls.choice(TOKENS) + piece])
        data = data[:start] + new + data[end:]
    return data.encode("utf-8", "surrogateescape")


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("name", "text"), SEEDS, ids=["mistakes", "tools", "settings", "json", "short json"])
def test_a_file_after_an_accident_gets_a_verdict(name: str, text: str, seed: int) -> None:
    rolls = random.Random(seed)
    sizes = {len(verdict(mutated(text, rolls), name)) for _ in range(25)}

    assert len(sizes) > 1


def test_random_bytes_get_a_verdict() -> None:
    rolls = random.Random(11)

    for name in ("x.yaml", "x.json"):
        assert all(verdict(rolls.randbytes(rolls.randint(5, 500)), name) for _ in range(150))


@given(st.lists(st.sampled_from(TOKENS) | st.text(max_size=3), max_size=40), st.sampled_from(["x.yaml", "x.json"]))
@settings(max_examples=150, deadline=None, derandomize=True)
def test_any_heap_of_tokens_gets_a_verdict(tokens: list[str], name: str) -> None:
    data = "".join(tokens).encode("utf-8", "surrogatepass")

    assert isinstance(verdict(data, name), list)


@given(st.binary(max_size=200), st.sampled_from(["x.yaml", "x.json"]))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_any_bytes_get_a_verdict(data: bytes, name: str) -> None:
    assert isinstance(verdict(data, name), list)


KEYS = ["tools", "defaults", "name", "metadata", "tool_type", "input_schema", "implementation_config", "server"]
KEYS += ["properties", "type", "command", "module", "permissions", "sources", "extensions", "options", "timeout_ms"]
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 2**64 - 1) | st.text(max_size=4) | st.sampled_from(["custom", "${A}"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(["tools", "defaults", "server", "sources", "extensions", "plugins"]), ANYTHING))
@settings(max_examples=120, deadline=None, derandomize=True)
def test_any_values_under_known_keys_get_a_verdict(value: dict[str, Any]) -> None:
    assert isinstance(verdict(json.dumps(value), "x.json"), list)
