"""`toolgate schema`: the JSON Schemas of what toolgate reads and writes."""

import jsonschema_rs
import pytest

from tests.doors.cli.typist import TOOLS_YAML, Toolgate
from toolgate.reading import read_document


def test_the_schema_of_a_gateway_file_is_printed_unless_another_is_named(toolgate: Toolgate) -> None:
    schema = toolgate("schema").json

    assert schema == toolgate("schema", "tools").json
    jsonschema_rs.validate(schema, read_document(TOOLS_YAML.encode(), "tools.yaml").value)


@pytest.mark.parametrize(("name", "key"), [("event", "event_id"), ("result", "call_id")])
def test_other_schemas_are_printed_by_name(toolgate: Toolgate, name: str, key: str) -> None:
    schema = toolgate("schema", name, "--json").json

    jsonschema_rs.meta.validate(schema)
    assert key in schema["properties"]
