"""The scikit-learn face, one file a task."""
