"""Two arrays in a model file got the same name if their paths read alike, and the second replaced the first."""

import numpy as np

from onmargin.io._values import Reader, Writer


def test_arrays_whose_paths_read_alike_are_both_kept():
    values = {"a": {"b": np.arange(3.0)}, "a.b": np.arange(4.0)}
    writer = Writer()
    content = writer.encode(values, "state")
    again = Reader(writer.arrays.__getitem__).decode(content)
    assert len(writer.arrays) == 2
    assert np.array_equal(again["a"]["b"], values["a"]["b"])
    assert np.array_equal(again["a.b"], values["a.b"])
