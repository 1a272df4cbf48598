"""What readers and writers of text files share: XML, TOML, names, safe files."""
