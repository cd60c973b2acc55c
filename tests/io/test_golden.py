"""Files of this and earlier versions stay readable. Each is stored as text, with its predictions."""

import base64
import json
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

import onmargin
from tests.io.write_golden import GOLDEN
from tests.saved import ESTIMATORS, Case, answers

FILES = sorted(GOLDEN.glob("*/*.json"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_is_read(file, tmp_path):
    golden = json.loads(file.read_text(encoding="utf-8"))
    path = Path(tmp_path, "model.safetensors")
    path.write_bytes(base64.b64decode("".join(golden["file"])))
    case = Case(file.stem, dtype=np.dtype(golden["dtype"]), sparse=True)
    model = onmargin.load(path, parameters=case.given)
    # The sums of another machine may be rounded otherwise.
    np.testing.assert_allclose(answers(model, case.half(1)[0]), golden["answers"], rtol=1e-6, atol=1e-6)
    model.partial_fit(*case.half(1))


def test_there_is_one_for_every_estimator():
    assert {file.stem for file in FILES if file.parent.name == version("onmargin")} == set(ESTIMATORS)
