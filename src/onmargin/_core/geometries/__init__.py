"""Geometries: what holds the weights and moves them."""
