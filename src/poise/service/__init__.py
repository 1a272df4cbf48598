"""`poise serve`: poses figures for other programs, which talk to it by JSON messages over a web socket."""

from poise.extras import require

require("uvicorn", "poise serve")
