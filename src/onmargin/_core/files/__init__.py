"""Parsers of files."""
