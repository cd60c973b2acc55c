"""river's linear learners, one example at a time."""

from collections.abc import Sequence

import numpy as np
from peer import Best, best
from river import base, linear_model, multiclass, optim
from scipy.sparse import csr_matrix, issparse
from workloads import Workload

MOST = 15_000  # stored values times columns of weights that it processes in a few seconds
MODELS: dict[str, base.Classifier] = {
    **{
        f"logistic {rate:g}": linear_model.LogisticRegression(optim.SGD(rate))
        for rate in (0.001, 0.01, 0.03, 0.1, 0.3, 1.0)
    },
    **{f"ALMA {alpha:g}": linear_model.ALMAClassifier(alpha=alpha) for alpha in (0.5, 0.9)},
    **{f"PA-I {C:g}": linear_model.PAClassifier(C=C) for C in (0.001, 0.01, 0.1, 1.0)},
}


def river(works: Sequence[Workload]) -> Best | None:
    columns = len(works[0].classes) if len(works[0].classes) > 2 else 1
    if csr_matrix(works[0].X).nnz * columns > MOST:
        return None
    errors: dict[str, list[float]] = {}
    for work in works:
        examples = examples_of(work)
        for name, model in MODELS.items():
            learner = multiclass.OneVsRestClassifier(model) if columns > 1 else model
            errors.setdefault(name, []).append(error_of(learner.clone(), examples))
    return best(errors)


def examples_of(work: Workload) -> list[tuple[dict[int, float], int | bool]]:
    rows = csr_matrix(work.X) if issparse(work.X) else work.X
    labels = work.y.tolist() if len(work.classes) > 2 else (work.y == 1).tolist()
    if not issparse(rows):
        return [(dict(enumerate(row)), label) for row, label in zip(rows.tolist(), labels, strict=True)]
    parts = zip(np.split(rows.indices, rows.indptr[1:-1]), np.split(rows.data, rows.indptr[1:-1]), strict=True)
    dicts = [dict(zip(indices.tolist(), values.tolist(), strict=True)) for indices, values in parts]
    return list(zip(dicts, labels, strict=True))


def error_of(model: base.Classifier, examples: list[tuple[dict[int, float], int | bool]]) -> float:
    mistakes = 0
    for x, y in examples:
        mistakes += model.predict_one(x) != y
        model.learn_one(x, y)
    return 100 * mistakes / len(examples)
