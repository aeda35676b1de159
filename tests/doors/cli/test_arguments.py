"""How `toolgate call` reads its words: every case goes through a tool that returns what it was given."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.doors.cli.typist import Toolgate, one_tool, write_gateway

PROPERTIES: dict[str, Any] = {
    "text": {"type": "string"},
    "whole": {"type": "integer"},
    "number": {"type": "number"},
    "flag": {"type": "boolean"},
    "nothing": {"type": "null"},
    "list": {"type": "array", "items": {"type": "integer"}},
    "grid": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
    "words": {"type": "array", "items": {"type": "string"}},
    "loose": {"type": "array"},
    "box": {
        "type": "object",
        "properties": {"width": {"type": "integer"}, "inner": {"type": "object", "properties": {"name": {}}}},
    },
    "dotted.name": {"type": "string"},
    "anything": {},
    "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    "maybe_text": {"type": ["string", "null"]},
    "id": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
    "zip": {"anyOf": [{"type": "string", "pattern": "^[0-9]{5}$"}, {"type": "integer", "maximum": 10}]},
    "few": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]},
    "one_or_many": {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
    "level": {"enum": [1, 2, "high"]},
    "fixed": {"const": 7},
    "referred": {"$ref": "#/$defs/count"},
    "far": {"$ref": "#/$defs/a%20list/anyOf/0"},
    "all": {"allOf": [{"type": ["integer", "string"]}, {"type": ["integer", "boolean"]}]},
    "person": {"anyOf": [{"$ref": "#/$defs/person"}, {"type": "null"}]},
    "endless": {"$ref": "#/$defs/endless"},
    "never": False,
}
SCHEMA = {
    "type": "object",
    "properties": PROPERTIES,
    "$defs": {
        "count": {"$ref": "#/$defs/a~1b"},
        "a/b": {"type": "integer"},
        "a list": {"anyOf": [{"type": "object", "properties": {"name": {"type": "string"}}}]},
        "person": {"type": "object", "properties": {"age": {"type": "integer"}}},
        "endless": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/endless"}}, {"$ref": "#/$defs/endless"}]},
    },
}


@pytest.fixture
def call(folder: Path, toolgate: Toolgate) -> Toolgate:
    write_gateway(folder, one_tool("echo", input_schema=SCHEMA))
    return lambda *words, **more: toolgate("call", "echo", *words, **more)


@pytest.mark.parametrize(
    ("words", "value"),
    [
        (["text=hello"], {"text": "hello"}),
        (["text=12"], {"text": "12"}),
        (["text="], {"text": ""}),
        (["text=a=b"], {"text": "a=b"}),
        (["text=--json"], {"text": "--json"}),
        (['text="quoted"'], {"text": '"quoted"'}),
        (["text=null"], {"text": "null"}),
        (["text=@file"], {"text": "@file"}),
        (["whole=-3"], {"whole": -3}),
        (["whole=4.0"], {"whole": 4.0}),
        (["number=3"], {"number": 3}),
        (["number=2.5e3"], {"number": 2500.0}),
        (["flag=true"], {"flag": True}),
        (["flag=False"], {"flag": False}),
        (["nothing=null"], {"nothing": None}),
        (["list=[1, 2]"], {"list": [1, 2]}),
        (["list=1", "list=2"], {"list": [1, 2]}),
        (["list=1"], {"list": [1]}),
        (["grid=[[1],[2]]"], {"grid": [[1], [2]]}),
        (["grid=[1]", "grid=[2]"], {"grid": [[1], [2]]}),
        (["words=12", "words=a,b"], {"words": ["12", "a,b"]}),
        (["loose=1", "loose=x"], {"loose": [1, "x"]}),
        (["words:=[]"], {"words": []}),
        (['box={"width": 3}'], {"box": {"width": 3}}),
        (["box.width=3"], {"box": {"width": 3}}),
        (["box.width=3", "box.inner.name=x"], {"box": {"width": 3, "inner": {"name": "x"}}}),
        (["dotted.name=x"], {"dotted.name": "x"}),
        (["text.name=x"], {"text.name": "x"}),
        (["un.known=1"], {"un.known": 1}),
        (["anything=5"], {"anything": 5}),
        (["anything=five"], {"anything": "five"}),
        (["anything={}"], {"anything": {}}),
        (["maybe=5"], {"maybe": 5}),
        (["maybe=null"], {"maybe": None}),
        (["maybe_text=null"], {"maybe_text": None}),
        (["maybe_text=5"], {"maybe_text": "5"}),
        (["id=5"], {"id": 5}),
        (["id=five"], {"id": "five"}),
        (['id:="5"'], {"id": "5"}),
        (["zip=12345"], {"zip": "12345"}),
        (["zip=7"], {"zip": 7}),
        (["few=1", "few=2"], {"few": [1, 2]}),
        (["few=1"], {"few": [1]}),
        (["few=null"], {"few": None}),
        (["one_or_many=a"], {"one_or_many": "a"}),
        (["one_or_many=a", "one_or_many=b"], {"one_or_many": ["a", "b"]}),
        (["level=2"], {"level": 2}),
        (["level=high"], {"level": "high"}),
        (["fixed=7"], {"fixed": 7}),
        (["referred=5"], {"referred": 5}),
        (["far.name=5"], {"far": {"name": "5"}}),
        (["all=5"], {"all": 5}),
        (["person.age=30"], {"person": {"age": 30}}),
        (["new=1"], {"new": 1}),
        (["endless=1"], {"endless": 1}),
        (['{"list": [1], "new": "x"}'], {"list": [1], "new": "x"}),
        ([' {"text": "x"}'], {"text": "x"}),
        ([], {}),
    ],
)
def test_words_become_arguments_of_the_types_the_schema_names(
    call: Toolgate, words: list[str], value: dict[str, Any]
) -> None:
    ran = call(*words)

    assert (ran.err, ran.code) == ("", 0)
    assert json.dumps(ran.json, sort_keys=True) == json.dumps(value, sort_keys=True)  # as text, 1 is not True


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["whole=x"], 'whole: expected integer, got "x"'),
        (["flag=yes"], 'flag: expected boolean, got "yes"'),
        (["number="], "number: "),
        (["list=[1,"], "list: not JSON"),
        (["list=x"], 'list[0]: expected integer, got "x"'),
        (["box=x"], "box: not JSON"),
        (["box=[1]"], "box: "),
        (["box.width=x"], "box.width: expected integer"),
        (["box.inner:={"], "box.inner: not JSON"),
        (["anything:=five"], "anything: not JSON"),
        (["text=a", "text=b"], "text: it is given twice"),
        (["box.width=1", "box.width=2"], "box.width: it is given twice"),
        (["box={}", "box.width=1"], "box: it is given both as a whole and in parts"),
        (["never=1"], "never: "),
        (["all=x"], "all: "),
        (["words:=[]", 'words:="a"'], "words[0]: expected string"),
        (["hello"], '"hello" is not an argument'),
        (["=x"], '"=x" is not an argument'),
        (["--jsn"], '"--jsn" is not an option of this command'),
        (["--jsn=x"], '"--jsn=x" is not an option of this command'),
        (["-", "text=x"], '"-" is not an option of this command'),
        (["{"], "the arguments are not JSON"),
        (["[1]"], "the arguments must be a JSON object"),
        (['{"a": 1, "a": 2}'], 'the key "a" is given twice'),
    ],
)
def test_words_that_do_not_fit_are_refused_by_name(call: Toolgate, words: list[str], told: str) -> None:
    ran = call(*words)

    assert ran.code == 2
    assert ran.out == ""
    assert told in ran.err.removeprefix("error[invalid_arguments]: ").splitlines()[0]
    assert "(VALIDATION_ERROR)" in ran.err


def test_a_dash_reads_the_arguments_from_standard_input(call: Toolgate) -> None:
    assert call("-", stdin='{"text": "größer"}'.encode()).json == {"text": "größer"}


@pytest.mark.parametrize("stdin", [b"", b"{", b'"text"', b'{"text": "\xff"}'])
def test_standard_input_that_is_no_json_object_is_refused(call: Toolgate, stdin: bytes) -> None:
    ran = call("-", stdin=stdin)

    assert ran.code == 2
    assert ran.err.startswith("error[invalid_arguments]: the arguments ")


def test_a_schema_that_leads_nowhere_and_everywhere_is_read_at_once(folder: Path, toolgate: Toolgate) -> None:
    again = {"$ref": "#/$defs/again"}
    schema = {
        "type": "object",
        "properties": {"many": again, "ring": {"$ref": "#/properties/ring"}},
        "$defs": {"again": {"anyOf": [again] * 60, "oneOf": [again]}},
    }
    write_gateway(folder, one_tool("echo", input_schema=schema))

    assert toolgate("call", "echo", "many=1").code in (0, 2)
    assert toolgate("call", "echo", "ring=1").code in (0, 2)
