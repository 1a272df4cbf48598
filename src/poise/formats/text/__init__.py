"""Code shared by readers and writers: XML, TOML and JSON, unique names, and safe reading and writing of files."""
