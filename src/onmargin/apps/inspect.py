"""Inspection of model files."""

from typing import Any

from onmargin.apps.learners import is_fitted, leading, model_in, n_features
from onmargin.apps.report import Report, Tables
from onmargin.apps.run import describe_recipe
from onmargin.io import load_with_notes
from onmargin.io.format import Recipe
from onmargin.learner import is_predict_only

_SHOWN = 20  # maximum number of classes whose heaviest features are shown


def inspect(path: str, top: int) -> Report:
    """Return the parameters, totals, classes and heaviest features of a model."""
    saved, notes = load_with_notes(path)
    model = model_in(saved)
    report: Report = {"model": path, "class": type(model).__name__}
    if saved is not model:
        report["coverage"] = saved.coverage
    if "task" in notes:
        report |= {"task": notes["task"], "format": notes["recipe"]["format"]}
    if "recipe" in notes:
        report["recipe"] = describe_recipe(Recipe.from_notes(notes["recipe"], {}), model)
    if "position" in notes:
        passes, files, records = notes["position"]
        report |= {"passes": passes, "files": notes["options"]["files"]}
        if files or records:
            report["unfinished"] = f"{files} files and {records} records into pass {passes + 1}"
    classes = [str(label) for label in getattr(model, "classes_", [])]
    if classes:
        report |= {"n_classes": len(classes)} | ({"classes": classes} if len(classes) <= _SHOWN else {})
    report["features"] = n_features(model)
    report["parameters"] = {name: shown(value) for name, value in sorted(model.get_params(deep=False).items())}
    if is_fitted(model):
        if is_predict_only(model):
            report["predict_only"] = True
        report["totals"] = dict(model.totals_)
        if (leader := leading(model)) is not None:
            report["leading_model"] = leader
        report |= _heaviest(model, top, _first_index(notes))
        if top and hasattr(model, "strongest_transitions"):
            steps = model.strongest_transitions(top)
            report["strongest_transitions"] = {f"{a} -> {b}": weight for (a, b), weight in steps.items()}
    return report


def shown(value: Any) -> Any:
    """Return a parameter in a form for tables and JSON."""
    return value if isinstance(value, str | int | bool | None) else repr(value)


def _first_index(notes: dict[str, Any]) -> int:
    """Return the index of the first feature, which is 1 in most files of rows."""
    return int(not notes.get("recipe", {}).get("dialect", {}).get("zero_based", True))


def _heaviest(model: Any, top: int, first: int) -> Report:
    """Return the heaviest features of each class, or of the single weight vector."""
    classes = list(getattr(model, "classes_", []))
    if not top or len(classes) > _SHOWN:
        return {}
    results = getattr(model, "experts_", None)
    if results is not None and results.coef[results.leader] is None:  # such as a forest, without weights by feature
        linear = [m for m, weights in enumerate(results.coef) if weights is not None and weights.any()]
        if not linear:
            return {}
        best = min(linear, key=lambda m: results.lost[m])
        report = _of_coefficients(model, results.coef[best], classes, top, first)
        return {"heaviest_features_of": results.names[best], **report}
    if hasattr(model, "weights"):
        try:
            return {"heaviest_features": _named(model.weights(None, top), first)}
        except ValueError:  # each class has its own weights
            found = Tables({str(label): _named(model.weights(label, top), first) for label in classes})
            return {"heaviest_features": found}
    return _of_coefficients(model, getattr(model, "coef_", None), classes, top, first)


def _named(weights: dict[Any, float], first: int = 0) -> dict[str, float]:
    return {name if isinstance(name, str) else str(name + first): float(value) for name, value in weights.items()}


def _of_coefficients(model: Any, coef: Any, classes: list[Any], top: int, first: int) -> Report:
    """Return the heaviest features of weights that are a matrix, as those of estimators are."""
    import numpy as np

    if coef is None:
        return {}
    rows = np.atleast_2d(coef.toarray() if hasattr(coef, "toarray") else coef)
    names = getattr(model, "feature_names_", None)
    labels = classes if len(rows) == len(classes) else [None] * len(rows)
    found = Tables()
    for label, row in zip(labels, rows, strict=True):
        order = np.argsort(-np.abs(row), kind="stable")[:top]
        heaviest = {names[k] if names is not None else int(k): row[k] for k in order if row[k] != 0}
        found[str(label)] = _named(heaviest, first)
    return {"heaviest_features": found["None"] if labels == [None] else found}
