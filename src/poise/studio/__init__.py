"""The studio: an application in the browser for posing figures."""
