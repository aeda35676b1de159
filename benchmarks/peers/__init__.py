"""One script a peer, run in that peer's own environment; the `.txt` beside it pins that environment."""
