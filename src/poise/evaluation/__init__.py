"""Repeat the evaluations of the papers: their tables and figures, computed with this implementation."""

from poise.extras import require

require("matplotlib", "an evaluation or a report with charts")
