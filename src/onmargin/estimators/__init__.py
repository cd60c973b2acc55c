"""Estimators with the interface of scikit-learn, one file per task."""
