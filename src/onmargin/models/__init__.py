"""Options become models: which task, step and geometry, before any face is put on them."""
