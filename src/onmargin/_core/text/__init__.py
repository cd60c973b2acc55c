"""Names, hashing, words and records."""
