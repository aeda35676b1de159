"""A file's mistakes are found all at once, each with its line and column, and secrets stay out of all of it."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from tests.files import TOOL, a_tool, catalogue_of, problems_of, told, where
from toolgate.config import GatewayConfig
from toolgate.errors import ConfigError, Problem
from toolgate.executors import KINDS, BaseExecutor
from toolgate.kinds import Kinds
from toolgate.loaders import Surroundings
from toolgate.mistakes import explain
from toolgate.places import MOST_PROBLEMS, TOO_MANY, Places
from toolgate.reading import read_document
from toolgate.specfile import SpecFileReader

CANARY = "canary-4711-never-shown"

TWELVE = """\
server: {port: 8080}
tool_timeout: 5
tools:
  - name: first
    description: Has a key twice, a merge key and a tag.
    description: Again.
    tool_type: python
    implementation_config:
      <<: {module: other}
      module: tools.first
      function_name: !!str run
    metadata:
      requires_approval: yes
      requires_aproval: true
      permissions: [fs:read, fs:reed]
  - name: second
    description: Has a key that tools do not have, a bad schema and a variable that is not set.
    tool_type: python
    tiemout: 3
    input_schema:
      type: object
      properties:
        a: {type: strin}
    implementation_config:
      module: tools.second
      function_name: ${NOT_SET_ANYWHERE}
  - name: third
    description: Has a command that needs a shell.
    tool_type: shell
    implementation_config: {command: "ls {path} | sort"}
    input_schema: {type: object, properties: {path: {type: string}}}
  - name: first
    description: Has the name of the first.
    tool_type: python
    implementation_config: {module: tools.first, function_name: run}
"""


def test_a_file_with_twelve_mistakes_yields_twelve_problems_each_at_its_place() -> None:
    assert [str(problem) for problem in problems_of(TWELVE)] == [
        "tools.yaml:2:1  tool_timeout: no such key",
        'tools.yaml:6:5  the key "description" is given twice; the first one is on line 5',
        'tools.yaml:9:7  merge keys ("<<") are not allowed; write the keys out',
        "tools.yaml:11:22  the tag tag:yaml.org,2002:str is not allowed; write a plain value",
        "tools.yaml:13:26  tools[0] first: metadata.requires_approval: expected true or false; "
        "write true or false, without quotes",
        "tools.yaml:14:7  tools[0] first: metadata.requires_aproval: no such metadata key; "
        'did you mean "requires_approval"?',
        'tools.yaml:15:30  tools[0] first: metadata.permissions[1]: unknown permission "fs:reed"; '
        'did you mean "fs:read"?',
        'tools.yaml:19:5  tools[1] second: tiemout: no such key; did you mean "timeout"?',
        "tools.yaml:23:19  tools[1] second: input_schema.properties.a.type: must be one of "
        '["array", "boolean", "integer", "null", "number", "object", "string"], got "strin"; '
        'did you mean "string"?',
        "tools.yaml:26:22  tools[1] second: implementation_config.function_name: the environment variable "
        "NOT_SET_ANYWHERE is not set; set it, or give a default: ${NOT_SET_ANYWHERE:-…}",
        'tools.yaml:30:38  tools[2] third: implementation_config.command: "|" needs a shell, '
        "and commands are run without one; write one command, or put the pipeline in a script",
        "tools.yaml:32:11  tools[3] first: name: a tool of this name and version is defined in "
        "tools.yaml:4:5 too; rename one of them, or give it another metadata.version",
    ]


BAD_NAME = "2:11 a tool name is 1 to 128 of the characters A-Z a-z 0-9 _ . : -"
NOT_SET = "the environment variable NOPE is not set"
MISTAKES: dict[str, tuple[str, list[str]]] = {
    "not a mapping": ("- a", ["1:1 a gateway file is a mapping with the key tools"]),
    "text": ("hello", ["1:1 a gateway file is a mapping with the key tools"]),
    "tools not a list": ("tools: {a: 1}", ["1:8 expected a list of tools"]),
    "tools left empty": ("tools:", ["1:7 expected a list of tools"]),
    "a tool that is text": ("tools:\n  - greet", ["2:5 expected a mapping with name, description and tool_type"]),
    "nothing but a name": ("tools:\n  - name: a", ['2:5 "description" is missing', '2:5 "tool_type" is missing']),
    "an empty tool": (
        "tools:\n  - {}",
        ['2:5 "description" is missing', '2:5 "name" is missing', '2:5 "tool_type" is missing'],
    ),
    "a bad name": (TOOL.replace("greet\n", "say hello\n", 1), [BAD_NAME]),
    "a name that only looks like ascii": (TOOL.replace("greet\n", "gr\u0435et\n", 1), [BAD_NAME]),
    "a number for a name": (TOOL.replace("greet\n", "5\n", 1), ["2:11 expected text"]),
    "a bad version": (a_tool(metadata="{version: '1.0'}"), ['5:25 a version is MAJOR.MINOR.PATCH, like "1.0.0"']),
    "a version that is a number": (a_tool(metadata="{version: 1.0}"), ["5:25 expected text"]),
    "a type that is nearly one": (a_tool().replace("custom", "pyton"), ['4:16 unknown tool type "pyton"']),
    "a type that is no name": (
        a_tool().replace("custom", "My Type"),
        ["4:16 a tool type is lower-case letters, digits and underscores"],
    ),
    "the place of origin": (a_tool(origin="{file: x}"), ["5:5 no such key"]),
    "a timeout in words": (a_tool(timeout="soon"), ["5:14 expected a number"]),
    "a timeout of nothing": (a_tool(timeout="0"), ["5:14 expected greater than 0"]),
    "metadata left empty": (a_tool(metadata=""), ["5:14 expected a mapping"]),
    "a flag in quotes": (a_tool(metadata="{is_dangerous: 'true'}"), ["5:30 expected true or false"]),
    "tags that are not a list": (a_tool(metadata="{tags: a}"), ["5:22 expected a list"]),
    "a tag that is a number": (a_tool(metadata="{tags: [a, 1]}"), ["5:26 expected text"]),
    "an empty tag": (a_tool(metadata="{tags: ['']}"), ["5:23 expected text that is not empty"]),
    "a choice of two kinds": (a_tool(metadata="{deprecated: 5}"), ["5:28 expected true or false or text"]),
    "an unknown class": (
        a_tool(metadata="{side_effect_class: none}"),
        ["5:35 expected 'pure', 'idempotent' or 'external'"],
    ),
    "an unknown key in an example": (a_tool(examples="[{arg: {}}]"), ["5:17 no such key"]),
    "a schema that is text": (a_tool(input_schema="object"), ["5:19 expected a mapping"]),
    "arguments that are no object": (a_tool(input_schema="{type: array}"), ["5:26 arguments are always an object"]),
    "a reference to the network": (
        a_tool(input_schema="{properties: {a: {$ref: 'http://x/y'}}}"),
        ["5:43 a schema may not refer to http://x/y"],
    ),
    "a bad output schema": (a_tool(output_schema="{minimum: low}"), ['5:30 expected number, got "low"']),
    "an unknown permission": (a_tool(metadata="{permissions: ['no:such']}"), ['5:30 unknown permission "no:such"']),
    "a variable where none is read": (a_tool(timeout="${SECONDS}"), ["5:14 expected a number"]),
    "defaults that are a list": ("defaults: []\n" + TOOL, ["1:11 expected a mapping of tool keys"]),
    "an unknown default": ("defaults: {timeuot: 1}\n" + TOOL, ["1:12 no such key"]),
    "a default name": ("defaults: {name: x}\n" + TOOL, ["1:12 no such key"]),
    "a wrong key in a config": (
        TOOL.replace("function_name", "functon_name"),
        [
            "5:28 a python tool needs function_name or class, and only one of them",
            '5:54 no such key for "python"',
        ],
    ),
    "a config for another type": (
        TOOL.replace("python", "shell"),
        ['5:29 no such key for "shell"', '5:5 "command" is missing', '5:54 no such key for "shell"'],
    ),
    "a module that is none": (
        TOOL.replace("tools.greetings", "'tools/greetings'"),
        ['5:37 a module is dotted names, like "tools.math_tools"'],
    ),
    "an unknown port": ("server: {port: 70000}", ["1:16 expected less than or equal to 65535"]),
    "a port that is true": ("server: {port: true}", ["1:16 expected a whole number"]),
    "a nearly known setting": ("server: {prot: 1}", ["1:10 no such key"]),
    "a source of the wrong kind": ("sources: [5]", ["1:11 expected a mapping or text"]),
    "a source whose type is a number": ("sources: [{type: 5}]", ["1:18 expected text"]),
    "an extension without a class": ("extensions:\n  - options: {}", ['2:5 "use" is missing']),
    "an extension that is no class": (
        "extensions: [{use: no-pe}]",
        ['1:20 expected the name of an extension, or "module:Class"'],
    ),
    "a local permission nobody declared": (
        "local_permissions: [fs:read, shell:exec]",
        ['1:30 unknown permission "shell:exec"'],
    ),
    "plug-in folders that are not there": (
        "plugins:\n  loaders: [nowhere]\n  executors: [gone]",
        ["2:13 there is no such folder", "3:15 there is no such folder"],
    ),
    "a setting whose variable is not set": ("server: {port: '${NOPE}'}", [f"1:16 {NOT_SET}"]),
    "a setting with a broken variable": ("server: {host: '${NOPE'}", ['1:16 "${" does not start a variable']),
    "a permission without a meaning": ("permissions: {billing: }", ["1:24 expected text"]),
}


@pytest.mark.parametrize(("text", "expected"), MISTAKES.values(), ids=MISTAKES)
def test_each_mistake_is_told_where_it_stands(text: str, expected: list[str]) -> None:
    assert sorted(told(problems_of(text))) == expected


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ('rm "{path}', "cannot split the command: no closing quotation"),
        ("rm {path", '"{path" is not a placeholder'),
        ("rm x{path}", '"x{path}" mixes text and placeholders'),
        ("{path}", "the program {path} comes from an argument"),
        ("rm {file}", "the placeholder {file} is not a declared argument"),
        ("rm {path} && ls", '"&" needs a shell, and commands are run without one'),
    ],
)
def test_a_broken_command_template_is_told_where_it_stands(command: str, message: str) -> None:
    text = a_tool(
        input_schema="{properties: {path: {type: string}}}", implementation_config=json.dumps({"command": command})
    ).replace("custom", "shell")

    assert told(problems_of(text)) == [f"6:40 {message}"]


def test_timeouts_that_disagree_do_not_hide_the_next_mistake() -> None:
    text = a_tool(timeout="3", timeout_ms="5000", bogus="1", metadata="{level: high}")

    assert told(problems_of(text)) == [
        "6:17 timeout and timeout_ms disagree; keep one of them",
        "7:5 no such key",
        "8:23 expected a whole number",
    ]
    assert problems_of(a_tool(timeout="3", timeout_ms="3000")) == []


def test_a_hint_names_what_was_meant() -> None:
    hints = {
        "tols: []": 'did you mean "tools"?',
        "server: {prot: 1}": 'did you mean "port"?',
        "extensions: [{use: 'a:B', optins: {}}]": 'did you mean "options"?',
        a_tool(descriptoin="x"): 'did you mean "description"?',
        TOOL.replace("module", "modul"): 'did you mean "module"?',
        TOOL.replace("function_name", "clas"): 'did you mean "class"?',
        "defaults: {timeuot: 1}": 'did you mean "timeout"?',
        "plugins: {executor: []}": 'did you mean "executors"?',
    }

    assert {text: [p.hint for p in problems_of(text) if p.hint] for text in hints} == {
        text: [hint] for text, hint in hints.items()
    }


def test_problems_come_in_the_order_of_the_file() -> None:
    problems = problems_of("zzz: 1\n" + TWELVE)

    assert where(problems) == [f"{line}:{column}" for line, column in sorted(positions(problems))]


def positions(problems: list[Problem]) -> list[tuple[int, int]]:
    return [(p.place.line or 0, p.place.column or 0) for p in problems if p.place]


def test_endless_problems_are_listed_up_to_a_limit_and_the_list_says_so() -> None:
    for text in (
        "tools:\n" + "- x\n" * 1_000,
        "".join(f"unknown{number}: 1\n" for number in range(1_000)),
        a_tool(metadata="{tags: [" + "1, " * 1_000 + "]}"),
        a_tool(metadata="{permissions: [" + ", ".join(f"p{number}" for number in range(1_000)) + "]}"),
        a_tool(implementation_config="[" + "'${NOPE}', " * 1_000 + "]").replace("[", "{a: [").replace("]", "]}"),
        "sources: [" + "1, " * 1_000 + "]",
    ):
        problems = problems_of(text)

        assert len(problems) == MOST_PROBLEMS + 1
        assert problems[-1] == Problem(TOO_MANY)


def test_a_tool_may_have_keys_of_its_own_but_not_endlessly_many() -> None:
    assert problems_of(a_tool(metadata="{owner: me, cost_centre: 7}")) == []
    many = "{" + ", ".join(f"own{number}: 1" for number in range(1_001)) + "}"
    assert told(problems_of(a_tool(metadata=many))) == ["5:15 more than 1,000 keys"]


# What is right


def test_a_tool_is_read_with_the_place_it_was_defined_at() -> None:
    (spec,) = catalogue_of(TOOL).specs

    assert spec.name == "greet"
    assert str(spec.origin) == "tools.yaml:2:5"
    assert spec.implementation_config == {"module": "tools.greetings", "function_name": "greet"}


@pytest.mark.parametrize("text", ["", "# nothing", "{}", "tools: []", "---\n...\n", "defaults: {timeout: 3}"])
def test_a_file_without_tools_is_fine(text: str) -> None:
    catalogue = catalogue_of(text)

    assert catalogue.specs == ()
    assert catalogue.config == GatewayConfig()


def test_versions_of_one_name_stand_side_by_side_and_twins_are_refused() -> None:
    tool = "  - {{name: t, description: d, tool_type: custom, metadata: {{version: '{}'}}}}\n"

    assert len(catalogue_of("tools:\n" + tool.format("1.0.0") + tool.format("2.0.0")).specs) == 2
    (problem,) = problems_of("tools:\n" + tool.format("1.0.0") * 2)
    assert str(problem).startswith(
        "tools.yaml:3:12  tools[1] t: name: a tool of this name and version is defined in tools.yaml:2:5 too"
    )


def test_defaults_lie_under_every_tool_and_mappings_are_merged() -> None:
    text = """\
defaults:
  timeout: 7
  metadata: {category: a, tags: [x]}
tools:
  - {name: one, description: d, tool_type: custom}
  - {name: two, description: d, tool_type: custom, timeout: 1, metadata: {tags: [y], owner: me}}
"""
    one, two = catalogue_of(text).specs

    assert (one.timeout, one.metadata.category, one.metadata.tags) == (7, "a", ("x",))
    assert (two.timeout, two.metadata.category, two.metadata.tags) == (1, "a", ("y",))
    assert two.metadata.model_extra == {"owner": "me"}


def test_a_mistake_in_a_default_is_told_at_the_default_for_each_tool_that_has_it() -> None:
    text = """\
defaults:
  timeout: soon
  metadata: {level: high}
tools:
  - {name: one, description: d, tool_type: custom}
  - {name: two, description: d, tool_type: custom, timeout: 1, metadata: {tags: [1]}}
"""

    assert [str(problem).replace("tools.yaml:", "") for problem in problems_of(text)] == [
        "2:12  tools[0] one: timeout: expected a number",
        "3:21  tools[0] one: metadata.level: expected a whole number",
        "3:21  tools[1] two: metadata.level: expected a whole number",
        "6:82  tools[1] two: metadata.tags[0]: expected text",
    ]


def test_defaults_cannot_multiply_a_file_into_something_huge() -> None:
    many = ", ".join(f"own{number}: 1" for number in range(900))
    tools = "".join(f"  - {{name: t{number}, description: d, tool_type: custom}}\n" for number in range(600))

    assert told(problems_of(f"defaults: {{metadata: {{{many}}}}}\ntools:\n{tools}")) == [
        "1:11 too much to repeat for 600 tools"
    ]


def test_a_schema_shared_by_many_tools_is_checked_once_and_blamed_on_each() -> None:
    text = "defaults: {input_schema: {minimum: x}}\ntools:\n" + "".join(
        f"  - {{name: t{number}, description: d, tool_type: custom}}\n" for number in range(3)
    )

    assert where(problems_of(text)) == ["1:36"] * 3


def test_settings_are_read_from_whichever_file_has_them() -> None:
    catalogue = catalogue_of("server: {port: 1}", "permissions: {'billing:write': Send bills.}\n" + TOOL)

    assert catalogue.config.server.port == 1
    assert catalogue.config.permissions == {"billing:write": "Send bills."}
    assert len(catalogue.specs) == 1


def test_a_setting_in_two_files_is_refused_and_both_are_named() -> None:
    (problem,) = problems_of("server: {}", "\nserver: {}")

    assert str(problem) == "tools1.yaml:2:1  server: this key is given in tools.yaml:1:1 too; keep one"


def test_every_file_may_have_tools_of_its_own_and_a_twin_is_found_across_files() -> None:
    assert len(catalogue_of(TOOL, TOOL.replace("name: greet", "name: other")).specs) == 2
    (problem,) = problems_of(TOOL, TOOL)
    assert str(problem.place) == "tools1.yaml:2:11"
    assert "tools.yaml:2:5" in problem.message


def test_a_source_holds_no_settings() -> None:
    with pytest.raises(ConfigError) as caught:
        catalogue_of("server: {}\nzzz: 1\n" + TOOL, allowed=("tools", "defaults"))

    assert told(caught.value.problems) == ["1:1 settings have no place in this source", "2:1 no such key"]


def test_permissions_an_operator_declares_may_be_required_and_granted() -> None:
    text = "permissions: {'billing:write': Send bills.}\nlocal_permissions: ['billing:write']\n"

    assert problems_of(text + a_tool(metadata="{permissions: ['billing:write']}")) == []


def test_a_broken_setting_does_not_make_a_declared_permission_unknown() -> None:
    text = "permissions: {'billing:write': Send bills.}\nserver: {port: '${NOPE}', host: 5}\n"

    problems = problems_of(text + a_tool(metadata="{permissions: ['billing:write']}"))

    assert told(problems) == ["2:16 the environment variable NOPE is not set"]


# Variables


def test_a_variable_in_a_config_is_kept_as_it_is_written() -> None:
    text = TOOL.replace("greet}", "'${FUNCTION}'}").replace("tools.greetings", "'${MODULE:-tools.greetings}'")

    (spec,) = catalogue_of(text, env={"FUNCTION": "run"}).specs

    assert spec.implementation_config == {"module": "${MODULE:-tools.greetings}", "function_name": "${FUNCTION}"}


def test_what_a_variable_holds_is_checked_but_not_shown() -> None:
    text = TOOL.replace("tools.greetings", "'${MODULE}'")

    assert problems_of(text, env={"MODULE": "tools.greetings"}) == []
    (problem,) = problems_of(text, env={"MODULE": f"not a module {CANARY}"})
    assert str(problem).replace("tools.yaml:", "") == (
        "5:37  tools[0] greet: implementation_config.module: does not fit once its variables are looked up"
    )


def test_a_mistake_beside_a_variable_keeps_its_own_words() -> None:
    text = TOOL.replace("tools.greetings", "'${MODULE}'").replace("greet}", "'not a name', clas: x}")

    for env in ({"MODULE": "tools.greetings"}, {}):
        messages = [problem.message for problem in problems_of(text, env=env)]
        assert "expected the plain name of something the module defines" in messages
        assert 'no such key for "python"' in messages


def test_settings_take_variables_and_numbers_in_them() -> None:
    text = "server: {host: '${HOST:-127.0.0.1}', port: '${PORT}'}"

    assert catalogue_of(text, env={"PORT": "99"}).config.server.port == 99
    assert told(problems_of(text, env={"PORT": "http"})) == ["1:44 expected a whole number"]


def test_the_environment_is_that_of_the_process_unless_another_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLGATE_TEST_PORT", "77")
    document = read_document(b"server: {port: '${TOOLGATE_TEST_PORT}'}", "tools.yaml")

    assert SpecFileReader(Surroundings().executors).read([document]).config.server.port == 77


SECRETIVE = """\
permissions: {"x:y": "${CANARY}"}
local_permissions: ["${CANARY}", "x:y"]
server: {port: "${CANARY}", host: "${CANARY}", allowed_hosts: "${CANARY}"}
sources: [{type: "${CANARY}", token: "${CANARY}"}, "${CANARY}"]
extensions: [{use: "${CANARY}", priority: "${CANARY}", options: {key: "${CANARY}"}}]
plugins: {executors: ["${CANARY}"]}
max_output_bytes: "${CANARY}"
tools:
  - name: one
    description: ${CANARY}
    tool_type: python
    timeout: ${CANARY}
    implementation_config: {module: "${CANARY}", function_name: "${CANARY}", nope: "${CANARY}"}
  - name: two
    description: d
    tool_type: shell
    implementation_config: {command: "rm ${CANARY} {x} ${CANARY", cwd: "${CANARY}"}
  - name: three
    description: d
    tool_type: shell
    implementation_config: {command: ["${CANARY}", "a{x}", "{${CANARY}}"]}
    metadata: {permissions: ["${CANARY}"]}
"""


def test_what_a_variable_holds_is_in_no_problem_whatever_is_wrong_with_it() -> None:
    for env in ({"CANARY": CANARY}, {"CANARY": f"{CANARY} | {{x}} '"}, {"CANARY": f"a.{CANARY}.b"}):
        with pytest.raises(ConfigError) as caught:
            catalogue_of(SECRETIVE, env=env)

        error = caught.value
        shown = [str(error), repr(error), repr(error.args), *(str(problem.to_dict()) for problem in error.problems)]
        assert [text for text in shown if CANARY in text] == []
        assert len(error.problems) > 8


def test_what_a_variable_holds_is_not_in_what_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY", CANARY)
    text = """\
sources: [{type: http, token: "${CANARY}"}]
extensions: [{use: "a:B", options: {key: ["${CANARY}"]}}]
tools:
  - name: one
    description: ${CANARY}
    tool_type: python
    implementation_config: {module: "${MODULE:-m}", function_name: run}
  - name: two
    description: d
    tool_type: custom
    implementation_config: {token: "${CANARY}", headers: {Authorization: ["Bearer ${CANARY}"]}}
"""
    catalogue = catalogue_of(text, env={"CANARY": CANARY})

    shown = [repr(catalogue), repr(catalogue.config), catalogue.config.model_dump_json()]
    for spec in catalogue.specs:
        shown += [repr(spec), str(spec), spec.model_dump_json(), str(spec.model_dump()), str(spec.planner_view())]
    assert [text for text in shown if CANARY in text] == []
    assert catalogue.config.extensions[0].options == {"key": [CANARY]}


# Executors of one's own


def reader(folder: Path) -> SpecFileReader:
    return SpecFileReader(Kinds("executors", KINDS, BaseExecutor, [folder]), env={"SECRET": CANARY})


def problems_with(folder: Path, plugin: str, text: str) -> list[Problem]:
    (folder / "own.py").write_text("from toolgate.executors import BaseExecutor\n" + plugin, "utf-8")
    with pytest.raises(ConfigError) as caught:
        reader(folder).read([read_document(text.encode(), "tools.yaml")])
    return list(caught.value.problems)


OWN = a_tool(implementation_config="{token: '${SECRET}', size: x}").replace("custom", "own")


@pytest.mark.parametrize(
    ("check", "expected"),
    [
        ("yield ('size',), 'too small', 'more'", ["5:55 too small"]),
        ("yield (), 'nothing fits', ''", ["5:28 nothing fits"]),
        (
            "yield ('token',), spec.implementation_config['token'], 'x'",
            ["5:36 does not fit once its variables are looked up"],
        ),
        (
            "raise RuntimeError(spec.implementation_config['token'])",
            ['4:16 "own" cannot check this tool: RuntimeError'],
        ),
        ("yield 1 / 0", ['4:16 "own" cannot check this tool: ZeroDivisionError']),
    ],
)
def test_an_executor_of_ones_own_checks_its_config_and_cannot_break_the_reading(
    tmp_path: Path, check: str, expected: list[str]
) -> None:
    plugin = f"""
class Own(BaseExecutor):
    @classmethod
    def check(cls, spec):
        {check}
    async def execute(self, spec, args, context): ...
"""
    problems = problems_with(tmp_path, plugin, OWN)

    assert told(problems) == expected
    assert CANARY not in str(problems)


def test_an_executor_without_a_model_takes_any_config(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "from toolgate.executors import BaseExecutor\nclass Own(BaseExecutor):\n    async def execute(self, *a): ...\n",
        "utf-8",
    )

    catalogue = reader(tmp_path).read([read_document(OWN.encode(), "tools.yaml")])

    assert catalogue.specs[0].tool_type == "own"


def test_a_broken_executor_is_one_problem_among_the_others(tmp_path: Path) -> None:
    problems = problems_with(tmp_path, "1 / 0\n", OWN + "zzz: 1\n")

    assert [problem.message for problem in problems] == [
        "cannot import the plug-in: ZeroDivisionError: division by zero",
        "no such key",
    ]


def test_plug_in_folders_are_found_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "kinds").mkdir()
    (tmp_path / "kinds" / "python.py").write_text("", "utf-8")
    text = b"plugins: {executors: [kinds]}\nzzz: 1"

    with pytest.raises(ConfigError) as caught:
        SpecFileReader(Surroundings().executors).read([read_document(text, str(tmp_path / "tools.yaml"))])

    assert [problem.message.partition(":")[0] for problem in caught.value.problems] == [
        '"python" is already a kind of executors',
        "no such key",
    ]


def test_a_tool_of_a_plug_ins_type_is_checked_by_it(tmp_path: Path) -> None:
    (tmp_path / "kinds").mkdir()
    (tmp_path / "kinds" / "own.py").write_text(
        "from pydantic import BaseModel\nfrom toolgate.executors import BaseExecutor\n"
        "class Config(BaseModel):\n    size: int\n"
        "class Own(BaseExecutor):\n    config_model = Config\n    async def execute(self, *a): ...\n",
        "utf-8",
    )
    text = "plugins: {executors: [kinds]}\n" + OWN.replace("${SECRET}", "x")

    with pytest.raises(ConfigError) as caught:
        SpecFileReader(Surroundings().executors).read([read_document(text.encode(), str(tmp_path / "tools.yaml"))])

    assert told(caught.value.problems) == ["6:47 expected a whole number"]


# Models in general


class Inner(BaseModel):
    size: int


class Outer(BaseModel):
    inner: list[Inner | str]
    both: Inner | int = 1


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"inner": [{"size": "x"}]}, [(("inner", 0, "size"), "expected a whole number")]),
        (
            {"inner": [{"size": "x"}, 5]},
            [(("inner", 0, "size"), "expected a whole number"), (("inner", 1), "expected a mapping or text")],
        ),
        ({"inner": [], "both": None}, [(("both",), "expected a mapping or a whole number")]),
        ({"inner": [], "both": "x"}, [(("both",), "expected a mapping or a whole number")]),
        ({}, [((), '"inner" is missing')]),
        ([], [((), "expected a mapping")]),
    ],
)
def test_of_several_things_that_could_stand_somewhere_the_one_that_got_furthest_was_meant(
    value: Any, expected: list[tuple[Any, str]]
) -> None:
    with pytest.raises(ValueError, match="Outer") as caught:
        Outer.model_validate(value)

    mistakes = explain(caught.value, value, Outer)  # type: ignore[arg-type]  # caught is typed by its base class
    assert [(mistake.path, mistake.message) for mistake in mistakes] == expected


def test_documents_that_share_places_are_told_apart() -> None:
    places = Places()
    one = read_document(b"zzz: 1", "one.yaml", places=places)
    two = read_document(b"\nyyy: 1", "two.yaml", places=places)

    with pytest.raises(ConfigError) as caught:
        SpecFileReader(Surroundings().executors).read([one, two])

    assert [str(problem.place) for problem in caught.value.problems] == ["one.yaml:1:1", "two.yaml:2:1"]
