"""Robots by name: files of robots that are installed on this machine."""
