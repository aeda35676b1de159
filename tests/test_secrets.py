"""`${NAME}` is looked up when it is used, and what it holds is never shown."""

from typing import Any

import pytest

from toolgate.secrets import mentions_variables, missing, references, resolve, scrub

ENV = {"TOKEN": "s3cret", "EMPTY": "", "HOME_URL": "http://x", "BRACES": "${TOKEN}"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("${TOKEN}", "s3cret"),
        ("Bearer ${TOKEN}!", "Bearer s3cret!"),
        ("${TOKEN}${HOME_URL}", "s3crethttp://x"),
        ("${EMPTY}", ""),
        ("${UNSET:-plain}", "plain"),
        ("${UNSET:-}", ""),
        ("${EMPTY:-plain}", "plain"),
        ("${TOKEN:-plain}", "s3cret"),
        ("${UNSET:-a b:-c}", "a b:-c"),
        ("$${TOKEN}", "${TOKEN}"),
        ("$${TOKEN} ${TOKEN}", "${TOKEN} s3cret"),
        ("$${not a variable}", "${not a variable}"),
        ("$TOKEN", "$TOKEN"),
        ("{TOKEN}", "{TOKEN}"),
        ("$5 and 100%", "$5 and 100%"),
        ("${BRACES}", "${TOKEN}"),
        ("", ""),
    ],
)
def test_text_is_looked_up_once_and_may_be_escaped(text: str, value: str) -> None:
    assert resolve(text, ENV) == value
    assert list(missing(text, ENV)) == []


def test_values_of_every_shape_are_looked_up_and_the_original_is_left_alone() -> None:
    written = {"a": ["${TOKEN}", 1, None, True, 2.5], "b": {"${TOKEN}": ("x", "${TOKEN}")}}

    assert resolve(written, ENV) == {"a": ["s3cret", 1, None, True, 2.5], "b": {"${TOKEN}": ["x", "s3cret"]}}
    assert written["a"][0] == "${TOKEN}"  # type: ignore[index]  # a list, by what is written above


def test_the_environment_is_read_at_the_moment_of_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLGATE_TEST_VARIABLE", "one")
    assert resolve("${TOOLGATE_TEST_VARIABLE}") == "one"
    monkeypatch.setenv("TOOLGATE_TEST_VARIABLE", "two")
    assert resolve("${TOOLGATE_TEST_VARIABLE}") == "two"
    assert list(missing("${TOOLGATE_TEST_VARIABLE}")) == []
    assert scrub("it is two.", "${TOOLGATE_TEST_VARIABLE}") == "it is ***."


def test_a_variable_that_is_not_set_is_an_error() -> None:
    with pytest.raises(KeyError, match="UNSET"):
        resolve({"a": "${UNSET}"}, ENV)


def test_references_are_found_with_their_paths() -> None:
    value = {"a": ["x", "${TOKEN} ${UNSET:-d}"], "b": "$${TOKEN}", "c": {"d": "${TOKEN}"}, "e": 5}

    assert list(references(value)) == [
        (("a", 1), "TOKEN", False),
        (("a", 1), "UNSET", True),
        (("c", "d"), "TOKEN", False),
    ]


def test_a_reference_repeated_in_one_text_is_listed_once() -> None:
    assert list(references("${A}${A}${A:-x}${A}")) == [((), "A", False), ((), "A", True)]


@pytest.mark.parametrize("value", ["${A}", ["x", "${"], {"a": {"b": "$${"}}])
def test_what_may_hold_a_variable_is_told_from_what_cannot(value: Any) -> None:
    assert mentions_variables(value)


@pytest.mark.parametrize("value", ["$A", ["x", "{"], {"${a}": 1}, None, 5])
def test_what_cannot_hold_a_variable_is_left_alone(value: Any) -> None:
    assert not mentions_variables(value)
    assert resolve(value, {}) == value


def test_each_variable_that_is_not_set_is_a_problem_that_names_it() -> None:
    found = list(missing({"a": "${UNSET}", "b": ["${GONE} ${TOKEN}", "${UNSET:-x}"]}, ENV))

    assert [(path, problem.message) for path, problem in found] == [
        (("a",), "the environment variable UNSET is not set"),
        (("b", 0), "the environment variable GONE is not set"),
    ]
    assert found[0][1].hint == "set it, or give a default: ${UNSET:-…}"
    assert found[1][1].path == "b[0]"


@pytest.mark.parametrize(
    "text",
    [
        "${",
        "${}",
        "${A",
        "${ A }",
        "${1A}",
        "${A-b}",
        "${A:b}",
        "${A:-${TOKEN}}",
        "${A:-{}}",
        "${É}",
        "${TOKEN} ${",
        "$${a} ${b c}",
    ],
)
def test_what_only_looks_like_a_variable_is_a_problem_that_does_not_quote_it(text: str) -> None:
    problems = [problem for _, problem in missing({"password": text}, ENV)]

    assert [problem.message for problem in problems] == ['"${" does not start a variable']
    assert problems[0].path == "password"
    assert "$${" in problems[0].hint


@pytest.mark.parametrize(
    "text", ["${A:-" * 50_000, "${" * 100_000, "${A" * 50_000, "$" * 200_000, "${A:-" + "x" * 10**6]
)
def test_a_text_full_of_unfinished_variables_gets_a_verdict(text: str) -> None:
    assert len(list(missing(text, {}))) == ("${" in text)
    assert resolve(text, {}) == text


def test_what_variables_hold_is_blanked_out_longest_first() -> None:
    env = {"SHORT": "abc", "LONG": "abcdef", "TINY": "x"}
    config = {"a": "${SHORT}", "b": ["${LONG:-d}"], "c": "${TINY} ${UNSET}"}

    assert scrub("abcdef abc x", config, env) == "*** *** x"
    assert scrub("abcdef", {"a": "plain"}, env) == "abcdef"
