"""Malformed sparse matrices, with indices out of the rows or the weights, raise errors and never crash."""

import subprocess
import sys

import joblib
import numpy as np
import pytest
from scipy import sparse

from onmargin import PassiveAggressiveClassifier
from tests.contracts.test_errors import STAGES, D, N, Y
from tests.contracts.test_errors import X as SIGNED
from tests.saved import CASES

X = np.abs(SIGNED)  # which every estimator takes


def matrix(*, kind=sparse.csr_matrix, width=np.int32, **parts):
    """Return a valid matrix with items of some arrays replaced: {position: value}, or a slice of the array."""
    broken = kind(X)
    for name in ("indices", "indptr"):
        setattr(broken, name, getattr(broken, name).astype(width))
    for name, change in parts.items():
        array = getattr(broken, name)
        if isinstance(change, slice):
            setattr(broken, name, array[change])
        else:
            array[list(change)] = list(change.values())
    return broken


def ended(by):
    broken = matrix()
    broken.indptr = np.append(broken.indptr, broken.indptr[-1])[:by]
    return broken


def entry_below():
    broken = sparse.coo_matrix(X)
    broken.row[7] = FAR
    return broken


FAR = 10**8
MALFORMED = {
    "index too large": lambda: matrix(indices={7: FAR}),
    "index one too large": lambda: matrix(indices={4: D}),
    "index negative": lambda: matrix(indices={5: -FAR}),
    "index that wraps around": lambda: matrix(width=np.int64, indices={5: 2**32}),
    "negative index that wraps around": lambda: matrix(width=np.int64, indices={5: -(2**32)}),
    "row that ends before it begins": lambda: matrix(indptr={5: 3}),
    "row that ends too late": lambda: matrix(indptr={9: FAR}),
    "row that ends too late, wide": lambda: matrix(width=np.int64, indptr={9: 2**40}),
    "last row that ends too late": lambda: matrix(indptr={-1: FAR}),
    "last row that ends before the first": lambda: matrix(indptr={-1: -FAR}),
    "first row that begins before": lambda: matrix(indptr={0: -FAR}),
    "first row that begins late": lambda: matrix(indptr={0: 1}),
    "fewer indices than values": lambda: matrix(indices=slice(-20)),
    "fewer values than indices": lambda: matrix(data=slice(-20)),
    "one end too few": lambda: ended(N),
    "one end too many": lambda: ended(N + 2),
    "no ends": lambda: ended(0),
    "column with an index too large": lambda: matrix(kind=sparse.csc_matrix, indices={7: FAR}),
    "column that ends too late": lambda: matrix(kind=sparse.csc_matrix, indptr={2: FAR}),
    "entry below the last row": entry_below,
}


# Matrices for every estimator; the others are tried with one estimator.
TO_ALL = {"index too large", "index that wraps around", "row that ends too late", "fewer indices than values"}


def models(name):
    """Yield a name and a function for each estimator of rows, untrained and trained."""
    for stage, make in STAGES.items():
        yield stage, lambda make=make: make(PassiveAggressiveClassifier), Y
    for case in CASES if name in TO_ALL else []:
        rows, targets = case.data()
        ranks_only = case.parameters.get("calibrate") is False  # it has no predictions
        if sparse.issparse(rows) and rows.dtype == np.float64 and not ranks_only:
            y = None if targets is None else targets[:N]
            yield f"new {case}", case.model, y
            yield f"learned {case}", lambda case=case, y=y: case.model().partial_fit(sparse.csr_matrix(X), y), y


def answer(name):
    """Return how the estimators handle a malformed matrix: "refused", or what they do instead."""
    wrong = []
    for stage, make, y in models(name):
        for method in ("fit", "partial_fit", "predict"):
            if stage.startswith("new") and method == "predict":
                continue
            model = make()
            before = joblib.hash(model)
            print(f"{name}\tcrash of {method}, {stage}", flush=True)  # noqa: T201 (the last line of a name counts)
            try:
                getattr(model, method)(MALFORMED[name](), *[] if method == "predict" else [y])
                wrong.append(f"{stage} {method}: accepted")
            except ValueError as error:
                if "X" not in str(error):
                    wrong.append(f"{stage} {method}: says {str(error)!r}")
            except Exception as error:
                wrong.append(f"{stage} {method}: raises {error!r}")
            if joblib.hash(model) != before:
                wrong.append(f"{stage} {method}: changes the model")
    return "; ".join(wrong) or "refused"


@pytest.fixture(scope="module")
def answers(request):
    """Return the results of a subprocess, which is restarted after each matrix that crashes it."""
    own = [item for item in request.session.items if item.path == request.path]
    found, left = {}, [item.callspec.params["name"] for item in own]
    while left:
        command = [sys.executable, "-m", "tests.contracts.test_malformed", *left]
        done = subprocess.run(command, cwd=request.config.rootpath, capture_output=True, text=True, check=False)
        found |= dict(line.split("\t") for line in done.stdout.splitlines())
        assert left[0] in found, done.stderr
        left = [name for name in left if name not in found]
    return found


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_matrix_is_refused(name, answers):
    assert answers[name] == "refused"


if __name__ == "__main__":
    for case in sys.argv[1:]:
        print(case, answer(case), sep="\t", flush=True)  # noqa: T201
