"""Write the golden files of this version: python -m tests.io.write_golden [ESTIMATOR ...], by default all of them.

Files of earlier versions do not change.
"""

import base64
import json
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from textwrap import wrap

import numpy as np

import onmargin
from tests.saved import CASES, answers

GOLDEN = Path(__file__).parent / "golden"


def main():
    folder = GOLDEN / version("onmargin")
    folder.mkdir(exist_ok=True)
    cases = {case.name: case for case in CASES if not case.parameters and case.sparse}
    for name in sys.argv[1:] or cases:
        case = cases[name]
        model, X = case.half_way(), case.half(1)[0]
        with tempfile.TemporaryDirectory() as temporary:
            path = Path(temporary, "model.safetensors")
            onmargin.save(model, path)
            content = base64.b64encode(path.read_bytes()).decode()
        golden = {"answers": answers(model, X), "dtype": np.dtype(case.dtype).name, "file": wrap(content, 110)}
        folder.joinpath(f"{name}.json").write_text(json.dumps(golden, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
