"""Write the golden files that are missing: python -m tests.stream.write_golden. Existing files are not changed."""

import base64
import json
import tempfile
from importlib.metadata import version
from pathlib import Path
from textwrap import wrap

import onmargin
from tests.stream.cases import MODELS, Case

GOLDEN = Path(__file__).parent / "golden"
CASES = {name: Case(name, "texts", {"idf": True}) for name in MODELS}


def answers(model, X):
    """Return the predictions of a model, as JSON."""
    return [model.scores_one(x) for x in X]


def main():
    folder = GOLDEN / version("onmargin")
    folder.mkdir(exist_ok=True, parents=True)
    for name, case in CASES.items():
        path = folder / f"{name}.json"
        if path.exists():
            continue
        model = case.half_way()
        with tempfile.TemporaryDirectory() as temporary:
            saved = Path(temporary, "model.safetensors")
            onmargin.save(model, saved)
            content = base64.b64encode(saved.read_bytes()).decode()
        golden = {"answers": answers(model, case.half(1)[0]), "file": wrap(content, 110)}
        path.write_text(json.dumps(golden, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
