"""The web server: pages, routes, and the guard that checks the key."""
