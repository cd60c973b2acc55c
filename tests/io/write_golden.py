"""Write the golden files of this version: python -m tests.io.write_golden. Those of earlier ones stay as they are."""

import base64
import json
import tempfile
from importlib.metadata import version
from pathlib import Path
from textwrap import wrap

import onmargin
from tests.saved import CASES

GOLDEN = Path(__file__).parent / "golden"


def answers(model, X):
    """What a model says, as JSON."""
    answer = model.decision_function if hasattr(model, "decision_function") else model.predict
    return answer(X).tolist()


def main():
    folder = GOLDEN / version("onmargin")
    folder.mkdir(exist_ok=True)
    cases = {case.name: case for case in CASES if not case.parameters and case.sparse}
    for name, case in cases.items():
        model, X = case.half_way(), case.half(1)[0]
        with tempfile.TemporaryDirectory() as temporary:
            path = Path(temporary, "model.safetensors")
            onmargin.save(model, path)
            content = base64.b64encode(path.read_bytes()).decode()
        golden = {"answers": answers(model, X), "dtype": str(X.dtype), "file": wrap(content, 110)}
        folder.joinpath(f"{name}.json").write_text(json.dumps(golden, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
