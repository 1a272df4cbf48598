"""The papers' own tables and figures, computed again."""
