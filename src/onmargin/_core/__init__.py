"""The compiled rounds: rows, tasks, steps, geometries and the loop that runs them."""
