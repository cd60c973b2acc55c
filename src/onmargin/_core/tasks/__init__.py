"""Tasks: what an example asks of the scores."""
