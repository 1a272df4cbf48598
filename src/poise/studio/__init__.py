"""The studio: figures posed in the browser."""
