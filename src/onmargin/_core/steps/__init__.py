"""Steps: how far to go along each half-space."""
