"""Models: options are turned into a task, a step and a geometry, independent of the interface."""
