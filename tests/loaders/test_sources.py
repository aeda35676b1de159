"""Entries of `sources:`: what their `${NAME}` hold reaches the loader and is never shown, whatever goes wrong."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from toolgate import ConfigError, Gateway, SpecLoader, ToolgateError, ToolSpecRegistry
from toolgate.loaders import ConfiguredLoader, Surroundings, source_loaders
from toolgate.loaders.file import FileSpecLoader

CANARY = "canary-4711-never-shown"
OWN = "plugins: {loaders: [kinds]}\nsources: [{type: own, url: 'https://h/?key=${TOOLGATE_TEST_CANARY}'%s}]"
PLUGIN = """\
from pathlib import Path

from toolgate import ConfigError, MCPConnectionError, Place, Problem, SpecLoader

class OwnLoader(SpecLoader):
    def __init__(self, url, fails_with=None):
        if fails_with == "making":
            raise RuntimeError(f"what a url: {url}")
        self.url, self.fails_with = url, fails_with

    @property
    def name(self):
        return f"own {self.url}"

    async def load_specs(self):
        if self.fails_with == "os":
            raise OSError(f"cannot reach {self.url}")
        if self.fails_with == "exit":
            raise SystemExit(f"cannot reach {self.url}")
        if self.fails_with == "tool":
            raise MCPConnectionError(f"cannot reach {self.url}", server_url=self.url)
        if self.fails_with == "config":
            problem = Problem(f"{self.url}: bad", Place(f"/{self.url}", 3, 5), f"at.{self.url}", f"look at {self.url}")
            raise ConfigError([problem, Problem("no place")])
        return []
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TOOLGATE_ENV", raising=False)
    monkeypatch.setenv("TOOLGATE_TEST_CANARY", CANARY)
    (tmp_path / "kinds").mkdir()
    (tmp_path / "kinds" / "own.py").write_text(PLUGIN)
    return tmp_path


def loaders(text: str) -> list[SpecLoader]:
    Path("toolgate.yaml").write_text(text)
    catalogue = FileSpecLoader.of_gateway().read()
    return source_loaders(catalogue.config, Surroundings(Path().absolute(), catalogue.executors))


async def failure(loader: SpecLoader) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        await loader.load_specs()
    return caught.value


def shown(error: BaseException) -> str:
    """Return everything of an error that could be printed, and of what it came from."""
    problems = [problem.to_dict() for problem in getattr(error, "problems", ())]
    before = [each for each in (error.__cause__, error.__context__) if each is not None]
    return f"{error} {error!r} {error.args} {vars(error)} {problems}" + "".join(map(shown, before))


@pytest.mark.anyio
async def test_a_source_of_ones_own_gets_its_secrets_and_nobody_sees_them() -> None:
    (loader,) = loaders(OWN % "")

    assert isinstance(loader, ConfiguredLoader)
    assert vars(loader.inner)["url"] == f"https://h/?key={CANARY}"
    assert loader.name == "own https://h/?key=***"
    assert CANARY not in repr(loader)
    assert await loader.load_specs() == []
    config = FileSpecLoader.of_gateway().read().config
    assert CANARY not in repr(config) + config.model_dump_json()


def test_a_source_without_variables_is_the_loader_itself() -> None:
    (loader,) = loaders("sources: [more.yaml]")

    assert isinstance(loader, FileSpecLoader)


def test_a_source_that_quotes_a_secret_when_it_cannot_be_made_is_scrubbed() -> None:
    with pytest.raises(ConfigError) as caught:
        loaders(OWN % ", fails_with: making")

    assert str(caught.value) == (
        'sources: a "own" source cannot be made from these options: RuntimeError: what a url: https://h/?key=***'
    )
    assert CANARY not in shown(caught.value)


def test_a_kind_from_a_variable_is_not_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLGATE_TEST_KIND", "file")

    with pytest.raises(ConfigError, match=r'a "\*\*\*" source cannot be made'):
        loaders("sources: [{type: '${TOOLGATE_TEST_KIND}'}]")


@pytest.mark.anyio
async def test_a_path_from_a_variable_that_is_not_there_is_told_without_its_value() -> None:
    (loader,) = loaders("sources: ['${TOOLGATE_TEST_CANARY}/tools.yaml']")

    error = await failure(loader)

    assert loader.name == "${TOOLGATE_TEST_CANARY}/tools.yaml"
    assert str(error) == "***/tools.yaml  there is no such file; run `toolgate init` to write one"
    assert CANARY not in shown(error)


@pytest.mark.anyio
async def test_a_mistake_in_a_file_below_a_variable_keeps_its_line(here: Path) -> None:
    (here / CANARY).mkdir()
    (here / CANARY / "tools.yaml").write_text("tools:\n  - name: t\n    description: d\n    tool_typ: custom\n")
    (loader,) = loaders("sources: ['${TOOLGATE_TEST_CANARY}/tools.yaml']")

    error = await failure(loader)

    assert [str(problem).partition(";")[0] for problem in error.problems] == [
        '***/tools.yaml:2:5  tools[0] t: "tool_type" is missing',
        "***/tools.yaml:4:5  tools[0] t: tool_typ: no such key",
    ]
    assert CANARY not in shown(error)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("fails_with", "expected"),
    [
        ("os", "own https://h/?key=***: OSError: cannot reach https://h/?key=***"),
        ("exit", "own https://h/?key=***: SystemExit: cannot reach https://h/?key=***"),
        ("tool", "own https://h/?key=***: MCPConnectionError: cannot reach https://h/?key=***"),
        (
            "config",
            "/https://h/?key=***:3:5  at.https://h/?key=***: https://h/?key=***: bad; look at https://h/?key=***\n"
            "no place",
        ),
    ],
)
async def test_whatever_a_source_raises_is_scrubbed(fails_with: str, expected: str) -> None:
    (loader,) = loaders(OWN % f", fails_with: {fails_with}")

    error = await failure(loader)

    assert str(error) == expected
    assert CANARY not in shown(error)


@pytest.mark.anyio
async def test_a_secret_that_has_left_the_environment_since_is_still_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    (loader,) = loaders(OWN % ", fails_with: os")
    monkeypatch.delenv("TOOLGATE_TEST_CANARY")

    assert CANARY not in shown(await failure(loader))


@pytest.mark.anyio
@pytest.mark.parametrize(
    "secret",
    [f"{CANARY}\nof two lines", f"{CANARY}\\\t'\"", CANARY * 30, f"{CANARY}\n" * 300, "x" * 470 + CANARY],
    ids=["two lines", "escapes", "long", "long of many lines", "cut inside"],
)
async def test_a_secret_that_a_problem_had_to_escape_or_cut_is_not_shown_in_part(
    secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLGATE_TEST_CANARY", secret)
    (loader,) = loaders(OWN % ", fails_with: config")

    error = await failure(loader)

    assert not any(part in shown(error) for part in (CANARY[:6], "of two", "xxxx", "\\t"))
    assert [problem.place and problem.place.line for problem in error.problems] == [3, None]


@pytest.mark.anyio
async def test_a_problem_that_was_cut_elsewhere_is_left_as_it_is(here: Path) -> None:
    (here / "kinds" / "own.py").write_text(PLUGIN.replace('Problem("no place")', 'Problem("y" * 600)'))
    (loader,) = loaders(OWN % ", fails_with: config")

    assert (await failure(loader)).problems[1].message == "y" * 499 + "…"


async def errors_of_registry() -> tuple[ToolgateError, ...]:
    return (await ToolSpecRegistry().load_all()).errors


async def errors_of_gateway() -> tuple[ToolgateError, ...]:
    async with Gateway.open() as gate:
        return gate.report.errors


@pytest.mark.anyio
@pytest.mark.parametrize("errors", [errors_of_registry, errors_of_gateway])
@pytest.mark.parametrize(
    "text", ["sources: ['${TOOLGATE_TEST_CANARY}/tools.yaml']", OWN % ", fails_with: os", OWN % ", fails_with: config"]
)
async def test_no_report_and_no_log_shows_what_a_variable_holds(
    text: str,
    errors: Callable[[], Awaitable[tuple[ToolgateError, ...]]],
    here: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    (here / "toolgate.yaml").write_text(text)

    (error,) = await errors()

    assert "***" in str(error)
    assert CANARY not in shown(error) + caplog.text
