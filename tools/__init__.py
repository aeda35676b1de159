"""The demo gateway's Python tools."""
