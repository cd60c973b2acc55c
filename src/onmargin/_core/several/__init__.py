"""Several models that learn from the same examples."""
