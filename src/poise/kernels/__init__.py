"""Compiled numerical functions over tuples and arrays; they import nothing about figures or files."""
