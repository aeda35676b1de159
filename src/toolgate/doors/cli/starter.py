"""What `toolgate init` writes."""

TOOLS_YAML = """\
# yaml-language-server: $schema=.toolgate/tools.schema.json
#
# The tools of this gateway. The line above lets your editor complete and check this file
# (`toolgate schema` prints that schema again).
#
#   toolgate validate             check this file
#   toolgate list                 what is here
#   toolgate call add a=1 b=2     try a tool
#   toolgate serve                serve all tools over REST and MCP

tools:
  - name: add
    description: Add two numbers and return the sum.
    tool_type: python
    implementation_config:
      module: my_tools          # my_tools.py beside this file, or any module that can be imported
      function_name: add
    input_schema:               # JSON Schema of the arguments; nothing else reaches the function
      type: object
      properties:
        a: {type: number, description: The first number}
        b: {type: number, description: The second number}
      required: [a, b]
      additionalProperties: false
    output_schema: {type: number}
    metadata:
      category: math
      tags: [arithmetic]
      side_effect_class: pure   # pure | idempotent | external: what a call leaves behind; rules retries
    examples:
      - args: {a: 1, b: 2}
        output: 3

  - name: greet
    description: Greet somebody by name.
    tool_type: python
    implementation_config:
      module: my_tools
      function_name: greet
    input_schema:
      type: object
      properties:
        name: {type: string, minLength: 1}
        greeting: {type: string, default: Hello}   # a default is filled in before the call
      required: [name]
      additionalProperties: false
    timeout: 5                  # seconds; 30 unless given
    metadata:
      tags: [demo]
      side_effect_class: pure
      # permissions: [fs:read]  # what a caller must have been granted
      # requires_approval: true # a person must agree to each call

  # Copy an entry to add a tool of your own; change its name, what it runs and its schema.
"""

MY_TOOLS = '''\
"""The functions that tools.yaml names. Arguments arrive checked against each tool's input_schema."""


def add(a: float, b: float) -> float:
    return a + b


def greet(name: str, greeting: str = "Hello") -> str:
    return f"{greeting}, {name}!"
'''
