"""The web server: pages, routes and the guard in front of them."""
