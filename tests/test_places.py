"""Every value knows its line and column, through merging as well."""

import json
from typing import Any

import pytest

from tests.files import read
from toolgate.errors import Place
from toolgate.places import LOCAL, REMOTE, Document, Limits, Lines, Path, Places, dotted, place_of

TEXT = """\
tools:
  - name: add
    metadata: {tags: [a, b]}
  - name: sub
"""


@pytest.mark.parametrize(
    ("path", "value_at", "key_at"),
    [
        (("tools",), "2:3", "1:1"),
        (("tools", 0), "2:5", "2:5"),
        (("tools", 0, "name"), "2:11", "2:5"),
        (("tools", 0, "metadata", "tags", 1), "3:26", "3:26"),
        (("tools", 1, "name"), "4:11", "4:5"),
    ],
)
def test_values_and_keys_have_their_places(path: Path, value_at: str, key_at: str) -> None:
    document = read(TEXT)

    assert str(document.place(path)) == f"tools.yaml:{value_at}"
    assert str(document.place(path, key=True)) == f"tools.yaml:{key_at}"


@pytest.mark.parametrize(
    ("path", "nearest"),
    [
        (("tools", 0, "missing"), "2:5"),
        (("tools", 7), "2:3"),
        (("tools", "name"), "2:3"),
        (("tools", 0, "name", "deeper"), "2:11"),
        (("nowhere", "at", "all"), "1:1"),
        ((), "1:1"),
    ],
)
def test_what_is_not_there_stands_where_its_nearest_parent_does(path: Path, nearest: str) -> None:
    assert str(read(TEXT).place(path)) == f"tools.yaml:{nearest}"


def test_a_container_nobody_remembers_has_no_places() -> None:
    places = Places()

    assert places.marks({"a": 1}) == {}
    assert places.find({"a": 1}, ("a",)) is None


def test_merging_lays_mappings_over_each_other_and_keeps_both_sides_places() -> None:
    places = Places()
    mark = {name: Lines("", name).mark(0) for name in ("base", "over")}
    base: dict[str, Any] = {"a": {"x": 1, "y": [1]}, "kept": 1}
    over: dict[str, Any] = {"a": {"y": [2], "z": 3}, "new": 4}
    for name, tree in (("base", base), ("over", over)):
        for container in (tree, tree["a"]):
            places.remember(container, dict.fromkeys(container, (mark[name], mark[name])))

    merged = places.merged(base, over)

    assert merged == {"a": {"x": 1, "y": [2], "z": 3}, "kept": 1, "new": 4}
    assert base == {"a": {"x": 1, "y": [1]}, "kept": 1}
    files = {path: places.find(merged, path) for path in (("a", "x"), ("a", "y"), ("a", "z"), ("kept",), ("new",))}
    assert {path: place and place.file for path, place in files.items()} == {
        ("a", "x"): "base",
        ("a", "y"): "over",
        ("a", "z"): "over",
        ("kept",): "base",
        ("new",): "over",
    }


@pytest.mark.parametrize(
    ("base", "over"), [({"a": 1}, [1]), ([1], {"a": 1}), (1, None), ({"a": 1}, None), ([1, 2], [3])]
)
def test_what_is_not_two_mappings_is_replaced(base: object, over: object) -> None:
    assert Places().merged(base, over) is over


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), ""),
        (("tools", 3, "metadata", "tags", 0), "tools[3].metadata.tags[0]"),
        ((0, "a"), "[0].a"),
        (("a",), "a"),
    ],
)
def test_a_path_is_written_the_way_a_person_would(path: Path, text: str) -> None:
    assert dotted(path) == text


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_offsets_become_lines_and_columns_whatever_ends_the_lines(end: str) -> None:
    text = f"ab{end}{end}cd"
    lines = Lines(text, "f")

    assert place_of(lines.mark(0)) == Place("f", 1, 1)
    assert place_of(lines.mark(1)) == Place("f", 1, 2)
    assert place_of(lines.mark(2 + len(end))) == Place("f", 2, 1)
    assert place_of(lines.mark(len(text))) == Place("f", 3, 3)
    assert lines.mark(0).name == "f"


def test_a_document_without_places_points_at_its_start() -> None:
    assert Document("f", None, Places()).place(("a",)) == Place("f", 1, 1)


def test_remote_documents_may_not_use_aliases_and_otherwise_have_the_same_limits() -> None:
    assert REMOTE.max_aliased == 0
    assert Limits(max_aliased=0) == REMOTE
    assert LOCAL.max_aliased > 0


def test_a_text_may_hold_one_value_in_five_characters_and_a_short_one_more() -> None:
    limits = Limits(max_values=10)

    assert limits.values(20) == 10
    assert limits.values(500) == 100


def test_json_and_yaml_agree_on_places() -> None:
    text = json.dumps({"a": [1, {"b": None}], "c": "é"}, indent=2, ensure_ascii=False)
    paths: list[Path] = [("a",), ("a", 1), ("a", 1, "b"), ("c",)]

    as_json, as_yaml = read(text, "x.json"), read(text, "x.yaml")

    assert as_json.value == as_yaml.value
    for path in paths:
        for key in (True, False):
            one, other = as_json.place(path, key=key), as_yaml.place(path, key=key)
            assert (one.line, one.column) == (other.line, other.column)
