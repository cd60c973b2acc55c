"""Look-alikes of python-crfsuite and sklearn-crfsuite: changing the import is all that a program needs.

They train a :class:`onmargin.SequenceTagger`, and their model files are files of onmargin. Two algorithms of CRFsuite
have counterparts: "pa" (passive-aggressive) and "ap" (averaged perceptron). The others are replaced by "pa", with a
warning. A warning also lists the parameters that have no effect.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from onmargin._warnings import warn_caller
from onmargin.estimators.sequence_tagger import SequenceTagger
from onmargin.io.model_file import from_bytes, load, save

__all__ = ["CRF", "Info", "ItemSequence", "Tagger", "Trainer"]

# Sequences from which the temperature of probabilities is set, unless others are given.
CALIBRATED = 1000
_GRAPHICAL = {"feature.minfreq": 0.0, "feature.possible_states": False, "feature.possible_transitions": False}
# The parameters of each algorithm of CRFsuite, with their defaults there.
ALGORITHMS: dict[str, dict[str, Any]] = {
    "lbfgs": {
        **_GRAPHICAL,
        "c1": 0.0,
        "c2": 1.0,
        "max_iterations": 2**31 - 1,
        "num_memories": 6,
        "epsilon": 1e-5,
        "period": 10,
        "delta": 1e-5,
        "linesearch": "MoreThuente",
        "max_linesearch": 20,
    },
    "l2sgd": {
        **_GRAPHICAL,
        "c2": 1.0,
        "max_iterations": 1000,
        "period": 10,
        "delta": 1e-6,
        "calibration.eta": 0.1,
        "calibration.rate": 2.0,
        "calibration.samples": 1000.0,
        "calibration.candidates": 10,
        "calibration.max_trials": 20,
    },
    "ap": {**_GRAPHICAL, "max_iterations": 100, "epsilon": 0.0},
    "pa": {
        **_GRAPHICAL,
        "type": 1,
        "c": 1.0,
        "error_sensitive": True,
        "averaging": True,
        "max_iterations": 100,
        "epsilon": 0.0,
    },
    "arow": {**_GRAPHICAL, "variance": 1.0, "gamma": 1.0, "max_iterations": 100, "epsilon": 0.0},
}
_LONG_NAMES = {
    "averaged-perceptron": "ap",
    "passive-aggressive": "pa",
}
# What the parameters of "pa" and "ap" are called by `SequenceTagger`, and their values there.
_COUNTERPARTS: dict[str, dict[str, Any]] = {
    "pa": {
        "c": lambda value: {"C": float(value)},
        "type": lambda value: {0: {"C": inf}, 1: {}, 2: {"loss": "squared_hinge"}}[int(value)],
        "averaging": lambda value: {"average": bool(value)},
        "max_iterations": lambda value: {"max_iter": int(value)},
    },
    "ap": {"max_iterations": lambda value: {"max_iter": int(value), "average": True}},
}
# The only values with the effect that everything here has: every label has a weight for each feature and label before.
_AS_HERE = {"feature.minfreq": 0, "feature.possible_states": True, "feature.possible_transitions": True}


def _check_algorithm(name: str) -> str:
    """Return the short name of an algorithm."""
    algorithm = _LONG_NAMES.get(name, name)
    if algorithm not in ALGORITHMS:
        raise ValueError(f"algorithm must be one of {', '.join(ALGORITHMS)}; got {name!r}")
    return algorithm


def _make_tagger(algorithm: str, given: Mapping[str, Any], *, verbose: bool) -> SequenceTagger:
    """Return an untrained tagger for the parameters of an algorithm; warn of those without effect."""
    counterparts = _COUNTERPARTS.get(algorithm, {})
    options: dict[str, Any] = {"average": True, "update": "perceptron"} if algorithm == "ap" else {"average": True}
    # Plain PA has no C, whatever it is.
    for name in sorted(given, key=lambda name: name == "type"):
        if name in counterparts:
            options |= counterparts[name](given[name])
    unused = [
        f"{name}={value!r}"
        for name, value in given.items()
        if name not in counterparts and not (name in _AS_HERE and value == _AS_HERE[name])
        if not (name in {"epsilon", "error_sensitive"} and value == ALGORITHMS[algorithm].get(name) and counterparts)
    ]
    problems = [f"parameters without effect: {', '.join(unused)}"] if unused else []
    if not counterparts:
        problems.insert(
            0,
            f"algorithm={algorithm!r} has no counterpart, and the tagger is trained by passive-aggressive updates, "
            "algorithm='pa'",
        )
    if problems:
        warn_caller("; ".join(problems), UserWarning)
    return SequenceTagger(**options, random_state=0, verbose=int(verbose))


def _train(tagger: SequenceTagger, X: list[Any], y: list[Any], held_out: tuple[list[Any], list[Any]]) -> None:
    """Fit a tagger, and set the temperature of its probabilities."""
    tagger.fit(X, y)
    known = set(tagger.classes_.tolist())
    fits = [i for i, labels in enumerate(held_out[1]) if labels and known.issuperset(labels)]
    if fits:
        tagger.calibrate([held_out[0][i] for i in fits], [held_out[1][i] for i in fits])
    else:
        tagger.calibrate(X[:CALIBRATED], y[:CALIBRATED])


class ItemSequence:
    """The items of a sequence.

    Parameters
    ----------
    pyseq : iterable
        The items, each a list of feature names or a dict, as for `SequenceTagger`.
    """

    def __init__(self, pyseq: Any) -> None:
        self._items = list(pyseq)

    def items(self) -> list[Any]:
        """Return the items."""
        return self._items

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)


class Trainer:
    """Trainer with the interface of ``pycrfsuite.Trainer``.

    Parameters
    ----------
    algorithm : {"lbfgs", "l2sgd", "ap", "pa", "arow"} or None, default=None
        The algorithm. If None, "lbfgs", as in CRFsuite. All except "pa" and "ap" are replaced by "pa", with a warning.
    params : dict or None, default=None
        Parameters of the algorithm, as for `set_params`.
    verbose : bool, default=True
        Whether `train` prints the mean loss of each pass.

    Notes
    -----
    "pa" and "ap" make `max_iterations` passes, or 10 if it is not set. CRFsuite makes 100.

    Examples
    --------
    >>> import os, tempfile
    >>> from onmargin.crfsuite import Tagger, Trainer
    >>> trainer = Trainer(algorithm="pa", verbose=False)
    >>> for sentence, labels in [("the dog barks", "D N V"), ("a cat sees the dog", "D N V D N")]:
    ...     trainer.append([[f"w={word}"] for word in sentence.split()], labels.split())
    >>> path = os.path.join(tempfile.mkdtemp(), "tagger.model")
    >>> trainer.train(path)
    >>> tagger = Tagger()
    >>> tagger.open(path).tag([["w=the"], ["w=cat"], ["w=barks"]])
    ['D', 'N', 'V']
    """

    def __init__(
        self, algorithm: str | None = None, params: Mapping[str, Any] | None = None, verbose: bool = True
    ) -> None:
        self.verbose = verbose
        self._given: dict[str, Any] = {}
        self.clear()
        self.select(algorithm or "lbfgs")
        self.set_params(params or {})

    def append(self, xseq: Any, yseq: Sequence[Any], group: int = 0) -> None:
        """Add a sequence with its labels; `train` can hold out one `group`."""
        items, labels = list(xseq), list(yseq)
        if len(items) != len(labels):
            raise ValueError(f"a sequence needs one label per item, {len(items)}; got {len(labels)}")
        self._examples.append((items, labels, group))

    def clear(self) -> None:
        """Remove all sequences."""
        self._examples: list[tuple[list[Any], list[Any], int]] = []

    def select(self, algorithm: str, type: str = "crf1d") -> None:
        """Set the algorithm; its parameters return to their defaults."""
        if type != "crf1d":
            raise ValueError(f"type must be 'crf1d'; got {type!r}")
        self._algorithm = _check_algorithm(algorithm)
        self._given = {}

    def params(self) -> list[str]:
        """Return the names of the parameters of the algorithm."""
        return list(ALGORITHMS[self._algorithm])

    def set(self, name: str, value: Any) -> None:
        """Set a parameter."""
        if name not in ALGORITHMS[self._algorithm]:
            raise ValueError(f"{self._algorithm} has no parameter {name!r}; it has {', '.join(self.params())}")
        self._given[name] = value

    def set_params(self, params: Mapping[str, Any]) -> None:
        """Set several parameters."""
        for name, value in params.items():
            self.set(name, value)

    def get(self, name: str) -> Any:
        """Return the value of a parameter: CRFsuite's default, if it was not set."""
        if name not in ALGORITHMS[self._algorithm]:
            raise ValueError(f"{self._algorithm} has no parameter {name!r}; it has {', '.join(self.params())}")
        return self._given.get(name, ALGORITHMS[self._algorithm][name])

    def get_params(self) -> dict[str, Any]:
        """Return the parameters by name."""
        return {name: self.get(name) for name in self.params()}

    def train(self, model: str | os.PathLike[str], holdout: int = -1) -> None:
        """Train on the sequences and write the model file; probabilities are calibrated on the group `holdout`.

        If no sequence is in that group, they are calibrated on the training data, and overconfident.
        """
        learned = [(x, y) for x, y, group in self._examples if group != holdout]
        held_out = [(x, y) for x, y, group in self._examples if group == holdout]
        if not learned:
            raise ValueError("there is nothing to train on: call append first")
        tagger = _make_tagger(self._algorithm, self._given, verbose=self.verbose)
        _train(
            tagger,
            [x for x, _ in learned],
            [y for _, y in learned],
            ([x for x, _ in held_out], [y for _, y in held_out]),
        )
        save(tagger, model)


@dataclass(frozen=True)
class Info:
    """The contents of a model.

    Attributes
    ----------
    transitions : dict
        Weights by the label before and the label.
    state_features : dict
        Weights that are not zero, by feature and label.
    labels, attributes : dict
        The index of each label, and of each feature, as strings.
    """

    transitions: dict[tuple[Any, Any], float]
    state_features: dict[tuple[str, Any], float]
    labels: dict[Any, str]
    attributes: dict[str, str]

    @classmethod
    def of(cls, tagger: SequenceTagger) -> Self:
        """Return the contents of a tagger."""
        labels, names, coef = tagger.classes_.tolist(), tagger.feature_names_, tagger.coef_
        return cls(
            {
                (a, b): float(w)
                for a, row in zip(labels, tagger.transitions_, strict=True)
                for b, w in zip(labels, row, strict=True)
            },
            {(names[j], labels[c]): float(coef[c, j]) for c, j in zip(*np.nonzero(coef[:, : len(names)]), strict=True)},
            {label: str(k) for k, label in enumerate(labels)},
            {name: str(k) for k, name in enumerate(names)},
        )


class Tagger:
    """Tagger with the interface of ``pycrfsuite.Tagger``.

    Its attribute `tagger` is the :class:`~onmargin.SequenceTagger`, which can continue to learn and to be saved.

    Examples
    --------
    >>> from onmargin.crfsuite import Tagger
    >>> Tagger().tag([["w=the"]])
    Traceback (most recent call last):
        ...
    ValueError: the tagger is not opened: call open first
    """

    _tagger: SequenceTagger | None = None
    _sequence: list[Any] | None = None
    _marginals: Any = None

    @property
    def tagger(self) -> SequenceTagger:
        """The model."""
        if self._tagger is None:
            raise ValueError("the tagger is not opened: call open first")
        return self._tagger

    def _take(self, model: Any) -> Self:
        if not isinstance(model, SequenceTagger):
            raise ValueError(f"the file must have a SequenceTagger; got a {type(model).__name__}")
        self.close()
        self._tagger = model
        return self

    def open(self, name: str | os.PathLike[str]) -> Self:
        """Open a model file of `Trainer`, `CRF` or `onmargin.save`."""
        return self._take(load(name))

    def open_inmemory(self, value: bytes) -> Self:
        """Open the bytes of a model file."""
        return self._take(from_bytes(value))

    def close(self) -> None:
        """Forget the model."""
        self._tagger = self._sequence = self._marginals = None

    def labels(self) -> list[Any]:
        """Return the labels."""
        return self.tagger.classes_.tolist()

    def info(self) -> Info:
        """Return the weights of the model."""
        return Info.of(self.tagger)

    def set(self, xseq: Any) -> None:
        """Set the sequence for `tag`, `probability` and `marginal`."""
        self._sequence, self._marginals = list(xseq), None

    def _current(self) -> list[Any]:
        if self._sequence is None:
            raise ValueError("there is no sequence: call set or tag with one first")
        return self._sequence

    def tag(self, xseq: Any = None) -> list[Any]:
        """Return the labels of a sequence, by default of the one that was set."""
        tagger = self.tagger
        if xseq is not None:
            self.set(xseq)
        return tagger.predict_one(self._current())

    def probability(self, yseq: Sequence[Any]) -> float:
        """Return the probability of labels of the sequence that was set."""
        return self.tagger.labels_proba_one(self._current(), yseq)

    def marginal(self, y: Any, pos: int) -> float:
        """Return the probability of a label at a position of the sequence that was set."""
        labels = self.labels()
        if y not in labels:
            raise ValueError(f"y must be one of {labels!r:.200}; got {y!r}")
        if self._marginals is None:
            (self._marginals,) = self.tagger.predict_marginals([self._current()])
        return float(self._marginals[pos, labels.index(y)])


class CRF(BaseEstimator):  # type: ignore[misc]
    """Sequence tagger with the interface of ``sklearn_crfsuite.CRF``.

    It has the parameters of ``sklearn_crfsuite.CRF``, all None by default. `algorithm` is "lbfgs", "l2sgd", "ap", "pa"
    or "arow"; if None, "lbfgs". All except "pa" and "ap" are replaced by "pa", with a warning. With "pa", `c`,
    `pa_type`, `averaging` and `max_iterations` have the meaning of CRFsuite; with "ap", `max_iterations` has. A warning
    lists the parameters without effect.

    Attributes
    ----------
    classes_ : list
        The labels.
    tagger_ : Tagger
        The tagger; ``tagger_.tagger`` is the :class:`~onmargin.SequenceTagger`.
    attributes_ : list of str
        The names of the features.
    state_features_, transition_features_ : dict
        The weights, as in `Info`.

    Notes
    -----
    `predict_marginals` is calibrated on ``X_dev`` and ``y_dev`` of `fit`; without them on training data, which gives
    overconfident probabilities.

    Examples
    --------
    >>> from onmargin.crfsuite import CRF
    >>> X = [[{"w": word} for word in sentence.split()] for sentence in ("the dog barks", "a cat sees the dog")]
    >>> crf = CRF(algorithm="pa", max_iterations=20).fit(X, ["D N V".split(), "D N V D N".split()])
    >>> crf.predict([[{"w": "the"}, {"w": "cat"}, {"w": "barks"}]])
    [['D', 'N', 'V']]
    """

    def __init__(  # noqa: PLR0917  # programs may pass them by position
        self,
        algorithm: str | None = None,
        min_freq: float | None = None,
        all_possible_states: bool | None = None,
        all_possible_transitions: bool | None = None,
        c1: float | None = None,
        c2: float | None = None,
        max_iterations: int | None = None,
        num_memories: int | None = None,
        epsilon: float | None = None,
        period: int | None = None,
        delta: float | None = None,
        linesearch: str | None = None,
        max_linesearch: int | None = None,
        calibration_eta: float | None = None,
        calibration_rate: float | None = None,
        calibration_samples: float | None = None,
        calibration_candidates: int | None = None,
        calibration_max_trials: int | None = None,
        pa_type: int | None = None,
        c: float | None = None,
        error_sensitive: bool | None = None,
        averaging: bool | None = None,
        variance: float | None = None,
        gamma: float | None = None,
        verbose: bool = False,
        model_filename: str | None = None,
        keep_tempfiles: bool | None = False,
        trainer_cls: Any = None,
    ) -> None:
        values = locals()
        for name in self._get_param_names():
            setattr(self, name, values[name])

    def _given(self) -> dict[str, Any]:
        """Return the parameters of the algorithm that are set, by their names in CRFsuite."""
        names = {
            "min_freq": "feature.minfreq",
            "all_possible_states": "feature.possible_states",
            "all_possible_transitions": "feature.possible_transitions",
            "pa_type": "type",
        }
        own = {"algorithm", "verbose", "model_filename", "keep_tempfiles", "trainer_cls"}
        given = {name: value for name, value in self.get_params().items() if name not in own and value is not None}
        return {names.get(name, name.replace("calibration_", "calibration.")): value for name, value in given.items()}

    def fit(self, X: Any, y: Any, X_dev: Any = None, y_dev: Any = None) -> Self:
        """Train on sequences; probabilities are calibrated on `X_dev` and `y_dev`."""
        if self.trainer_cls is not None:
            raise ValueError(f"trainer_cls must be None: other trainers are not used; got {self.trainer_cls!r:.100}")
        if (X_dev is None) != (y_dev is None):
            raise ValueError("X_dev and y_dev must be given together")
        given = self._given() | ({"keep_tempfiles": True} if self.keep_tempfiles else {})
        tagger = _make_tagger(_check_algorithm(self.algorithm or "lbfgs"), given, verbose=self.verbose)
        sequences, labels = list(map(list, X)), list(map(list, y))
        _train(
            tagger, sequences, labels, ([] if X_dev is None else list(map(list, X_dev)), list(map(list, y_dev or [])))
        )
        self.tagger_ = Tagger()._take(tagger)
        if self.model_filename is not None:
            save(tagger, self.model_filename)
        return self

    def partial_fit(self, X: Any, y: Any) -> Self:
        """Continue to learn; labels and features may be new."""
        check_is_fitted(self)
        self.tagger_.tagger.partial_fit(list(map(list, X)), list(map(list, y)))
        return self

    def predict(self, X: Any) -> list[list[Any]]:
        """Return the labels of sequences."""
        check_is_fitted(self)
        return self.tagger_.tagger.predict(list(map(list, X)))

    def predict_single(self, xseq: Any) -> list[Any]:
        """Return the labels of a sequence."""
        return self.predict([xseq])[0]

    def predict_marginals(self, X: Any) -> list[list[dict[Any, float]]]:
        """Return the probability of each label, by item and sequence."""
        check_is_fitted(self)
        found = self.tagger_.tagger.predict_marginals(list(map(list, X)))
        return [[dict(zip(self.classes_, row, strict=True)) for row in rows.tolist()] for rows in found]

    def predict_marginals_single(self, xseq: Any) -> list[dict[Any, float]]:
        """Return the probability of each label, by item of a sequence."""
        return self.predict_marginals([xseq])[0]

    def score(self, X: Any, y: Any) -> float:
        """Return the fraction of items that are labeled right."""
        check_is_fitted(self)
        return self.tagger_.tagger.score(list(map(list, X)), list(map(list, y)))

    @property
    def classes_(self) -> list[Any]:
        return self.tagger_.labels()

    @property
    def attributes_(self) -> list[str]:
        return self.tagger_.tagger.feature_names_

    @property
    def state_features_(self) -> dict[tuple[str, Any], float]:
        return self.tagger_.info().state_features

    @property
    def transition_features_(self) -> dict[tuple[Any, Any], float]:
        return self.tagger_.info().transitions
