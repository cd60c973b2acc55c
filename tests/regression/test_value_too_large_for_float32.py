"""A value too large for float32 in an svmlight file gave a warning of NumPy before the error that names its record."""

from tests.apps.program import onmargin


def test_values_that_do_not_fit(tmp_path):
    data = tmp_path / "a.svm"
    data.write_text("1 1:1\n-1 1:1e300\n")
    assert "record 1: X must hold finite numbers that fit float32" in onmargin(
        "train", data, "-o", tmp_path / "model", code=1
    )
