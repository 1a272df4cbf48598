"""Data between the server and the page: binary frames, geometry, and messages of the pointer."""
