"""The studio: an application in the browser for posing figures."""

from poise.extras import require

require("nicegui", "the studio")
