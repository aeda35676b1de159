"""Names become aliases that providers take and lead back, and versions are compared by semantic versioning."""

import re
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolgate.errors import ToolRegistrationError
from toolgate.names import alias, aliases, split_version, version_key, version_range

NAMES = st.text(string.ascii_letters + string.digits + "_.:-", min_size=1, max_size=128)
SAFE = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("add", "add"),
        ("search:web", "search__web"),
        ("a.b:c-d_e", "a__b__c-d_e"),
        ("9lives", "_9lives"),
        ("-x", "_-x"),
        (":", "__"),
        ("_", "_"),
        ("a" * 64, "a" * 64),
    ],
)
def test_an_alias_is_the_name_with_what_providers_refuse_replaced(name: str, expected: str) -> None:
    assert alias(name) == expected


def test_a_long_name_is_cut_and_told_apart_by_its_digest() -> None:
    one, other = alias("a" * 65), alias("a" * 66)

    assert one != other
    assert len(one) == len(other) == 64
    assert one.startswith("a" * 55 + "_")


@given(NAMES)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_every_alias_is_safe_and_stays_itself(name: str) -> None:
    assert SAFE.fullmatch(alias(name))
    assert alias(alias(name)) == alias(name)
    assert alias(name) == name or not SAFE.fullmatch(name)


@given(st.lists(NAMES, max_size=20, unique=True))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_aliases_lead_back_to_their_names_or_are_refused(names: list[str]) -> None:
    try:
        table = aliases(names)
    except ToolRegistrationError:
        assert len({alias(name) for name in names}) < len(names)
    else:
        assert {table[alias(name)] for name in names} == set(names)


@pytest.mark.parametrize("pair", [("a.b", "a:b"), ("a__b", "a.b"), ("1a", "_1a")])
def test_two_names_with_one_alias_are_refused_and_both_named(pair: tuple[str, str]) -> None:
    with pytest.raises(ToolRegistrationError) as caught:
        aliases(pair)

    assert str(caught.value) == f'"{pair[0]}" and "{pair[1]}" would both be exported as "{alias(pair[0])}"'
    assert caught.value.hint == "rename one of them"


def test_a_name_given_twice_is_one_name() -> None:
    assert aliases(["a.b", "a.b"]) == {"a__b": "a.b"}


@pytest.mark.parametrize(
    ("reference", "parts"),
    [("add", ("add", None)), ("add@^1", ("add", "^1")), ("add@", ("add", "")), ("add@1@2", ("add", "1@2"))],
)
def test_a_reference_is_a_name_and_perhaps_a_range(reference: str, parts: tuple[str, str | None]) -> None:
    assert split_version(reference) == parts


def test_versions_sort_as_semantic_versioning_says() -> None:
    in_order = [
        "0.0.1",
        "0.9.0",
        "0.10.0",
        "1.0.0-1",
        "1.0.0-2",
        "1.0.0-10",
        "1.0.0-" + "9" * 5000,
        "1.0.0-alpha",
        "1.0.0-alpha.1",
        "1.0.0-alpha.beta",
        "1.0.0-beta",
        "1.0.0-beta.2",
        "1.0.0-beta.11",
        "1.0.0-rc.1",
        "1.0.0",
        "1.0.1",
        "2.0.0-rc.1",
        "10.0.0",
        "999999999.999999999.999999999",
    ]

    shuffled = sorted(in_order, key=hash)

    assert sorted(shuffled, key=version_key) == in_order
    assert len({version_key(version) for version in in_order}) == len(in_order)


def test_a_build_does_not_make_a_version_newer() -> None:
    assert version_key("1.0.0+b2") == version_key("1.0.0")


@pytest.mark.parametrize(
    "version", ["1", "1.0", "01.0.0", "1.0.0.0", "v1.0.0", "1.0.0-", "", "1.0.x", "１.0.0", "-1.0.0"]
)
def test_what_is_not_a_version_is_refused(version: str) -> None:
    with pytest.raises(ValueError, match=r"is not a version like 1\.0\.0"):
        version_key(version)


# range -> versions in it, versions out of it
RANGES: dict[str, tuple[list[str], list[str]]] = {
    "1.2.3": (["1.2.3", "1.2.3+b1"], ["1.2.4", "1.2.3-rc.1"]),
    "=1.2.3": (["1.2.3"], ["1.2.2"]),
    "1.2.3-rc.1": (["1.2.3-rc.1"], ["1.2.3", "1.2.3-rc.2", "1.2.3-rc.1.1"]),
    "1.2.3+b1": (["1.2.3+b1"], ["1.2.3", "1.2.3+b2"]),
    "1": (["1.0.0", "1.9.9"], ["0.9.9", "2.0.0", "1.5.0-rc.1"]),
    "1.2": (["1.2.0", "1.2.9"], ["1.1.9", "1.3.0"]),
    "=1.2": (["1.2.0", "1.2.9"], ["1.3.0"]),
    "^1": (["1.0.0", "1.9.9"], ["0.9.9", "2.0.0", "2.0.0-rc.1", "1.1.0-rc.1"]),
    "^1.2": (["1.2.0", "1.9.0"], ["1.1.9", "2.0.0"]),
    "^1.2.3": (["1.2.3", "1.3.0"], ["1.2.2", "2.0.0"]),
    "^0": (["0.0.0", "0.9.9"], ["1.0.0"]),
    "^0.2": (["0.2.0", "0.2.9"], ["0.3.0", "0.1.9"]),
    "^0.2.3": (["0.2.3", "0.2.9"], ["0.2.2", "0.3.0", "1.0.0"]),
    "^0.0": (["0.0.0", "0.0.9"], ["0.1.0"]),
    "^0.0.3": (["0.0.3"], ["0.0.2", "0.0.4", "0.1.0"]),
    "^1.2.3-beta.2": (["1.2.3-beta.2", "1.2.3-rc.1", "1.2.3", "1.9.0"], ["1.2.3-beta.1", "1.2.4-beta.2", "2.0.0-rc.1"]),
    "~1": (["1.0.0", "1.9.9"], ["2.0.0"]),
    "~1.2": (["1.2.0", "1.2.9"], ["1.3.0", "1.1.9", "1.3.0-rc.1"]),
    "~1.2.3": (["1.2.3", "1.2.9"], ["1.2.2", "1.3.0"]),
    "~0.0.3": (["0.0.3", "0.0.9"], ["0.1.0"]),
    ">=1,<2": (["1.0.0", "1.9.9"], ["0.9.9", "2.0.0", "2.0.0-rc.1", "1.0.0-rc.1"]),
    ">= 1.0 , < 2": (["1.0.0"], ["2.0.0"]),
    ">1": (["2.0.0", "3.1.4"], ["1.0.0", "1.9.9", "2.0.0-rc.1"]),
    ">1.2": (["1.3.0"], ["1.2.9"]),
    ">1.2.3": (["1.2.4", "2.0.0"], ["1.2.3", "1.2.3-rc.1"]),
    ">1.2.3-rc.1": (["1.2.3-rc.2", "1.2.3", "1.2.4"], ["1.2.3-rc.1", "1.2.4-rc.1"]),
    "<=1": (["0.1.0", "1.9.9"], ["2.0.0", "2.0.0-rc.1"]),
    "<=1.2.3": (["1.2.3", "0.0.1"], ["1.2.4"]),
    "<1.2.3": (["1.2.2"], ["1.2.3", "1.2.3-rc.1"]),
    "<1.2.3-rc.1": (["1.2.2", "1.2.3-beta"], ["1.2.3-rc.1", "1.2.3", "1.2.2-beta"]),
    ">=2,<1": ([], ["1.0.0", "2.0.0"]),
    "*": (["0.0.0", "1.0.0", "999999999.0.0"], ["1.0.0-rc.1"]),
    "*,>=1.0.0-rc.1": (["1.0.0-rc.1", "1.0.0"], ["1.0.0-beta"]),
}


@pytest.mark.parametrize(("wanted", "expected"), RANGES.items(), ids=RANGES)
def test_a_range_takes_what_it_should_and_nothing_else(wanted: str, expected: tuple[list[str], list[str]]) -> None:
    inside, outside = expected
    fits = version_range(wanted)

    assert [version for version in inside if not fits(version)] == []
    assert [version for version in outside if fits(version)] == []


@pytest.mark.parametrize(
    "wanted",
    [
        "",
        "latest",
        "^",
        "1.x",
        "1 || 2",
        "==1",
        "1.0.0.0",
        "^1,",
        "^01",
        "v1",
        "^１",
        "1-",
        "1.0.0+",
        "^1+b",
        "1" * 10,
    ],
)
def test_what_is_not_a_range_is_refused(wanted: str) -> None:
    with pytest.raises(ValueError, match="is not a version"):
        version_range(wanted)
