"""Where a call comes in: the command line, REST and MCP. A door parses, hands over and renders; it holds no rule."""
