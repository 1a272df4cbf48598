"""What goes between the server and the page: frames, geometry and the pointer."""
