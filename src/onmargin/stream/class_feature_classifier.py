"""Classification of streams with joint features of example and class."""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from onmargin._core.rows import Rows
from onmargin._core.stream import check_weight
from onmargin._core.tasks.trial import Ranking
from onmargin._core.text.names import Names
from onmargin.errors import ParameterError
from onmargin.learner import as_rows, matrix_of
from onmargin.models.costs import classes_of_cost
from onmargin.models.described import described
from onmargin.models.explanation import Explanation
from onmargin.models.label_sets import LabelSets
from onmargin.models.labels import Label, Labels, check_label, check_label_set, code_of
from onmargin.models.model import Model
from onmargin.models.phi import Call, TransformerPhi, undoing
from onmargin.models.plan import Plan, Shape
from onmargin.models.trials import ClassFeatureOptions, for_label_sets, transform_ahead
from onmargin.stream._learner import Classes, StreamLearner
from onmargin.stream._loops import TrialLoop


@described
@dataclass(kw_only=True, eq=False, repr=False)
class ClassFeatureClassifier(Classes, StreamLearner, ClassFeatureOptions):
    r"""Classifier of streams with one weight vector over joint features :math:`\phi(x, r)` of example x and class r.

    The predicted class has the highest :math:`w \cdot \phi(x, r)`. An example whose right class beats every rival by a
    margin of 1 (or of `margin`) does not change the weights; any other moves them just far enough, as for
    :class:`onmargin.ClassFeatureClassifier`. An example may have any number of relevant labels, each of which should
    beat every other label.

    Use it where features describe how well an example and a class match, and where classes come and go: the weights
    belong to features, not to classes, so a new class can be predicted from its features. For data that are there at
    once, :class:`onmargin.ClassFeatureClassifier` is faster and has `fit`.

    Parameters
    ----------
    phi : None, callable or transformer, default=None
        Source of the joint features. If None, an example is a dict of the features of each class that competes for it,
        by label. A callable ``phi(x, label)`` returns the features of one example and class; x may be anything. The
        features of a class are a dict, a list of names, a text or a vector, which may be a list of numbers. A
        transformer with ``learn_transform`` and ``transform``, such as :class:`onmargin.features.ClassTermFeatures`,
        takes examples that are dicts, lists of names, texts or vectors, and is updated during training; a copy of it is
        used.

    Attributes
    ----------
    classes_ : list
        The labels seen so far, sorted.

    See Also
    --------
    onmargin.ClassFeatureClassifier : The estimator for matrices.
    onmargin.features.ClassTermFeatures : Features from how frequent the words of a message are in a class so far.
    PassiveAggressiveClassifier : One prototype per class, over features of the example alone.

    Notes
    -----
    [JMLR] sec. 7 and 8 and [SIMPROJ] sec. 3. The weights are bit for bit those of
    :class:`onmargin.ClassFeatureClassifier`, which documents the bounds, trained on the same features. Features that
    were never learned have weight 0.

    With ``phi=None`` only the classes of an example compete for it. With `cost` as a matrix or a word, which
    depends on the order of all classes, an example must have features of every class seen so far; with a dict of costs
    it need not.

    References
    ----------
    [JMLR] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer, *Online Passive-Aggressive Algorithms*,
    JMLR 7:551-585, 2006.
    [SIMPROJ] Y. Amit, S. Shalev-Shwartz, Y. Singer, *Online Learning of Complex Prediction Problems Using Simultaneous
    Projections*, JMLR 9:1399-1435, 2008.

    Examples
    --------
    >>> from onmargin import stream
    >>> model = stream.ClassFeatureClassifier()
    >>> near, far = {"distance": 1.0, "shared words": 2.0}, {"distance": 3.0, "popular": 1.0}
    >>> model = model.learn_one({"Paris, Texas": near, "Paris, France": far}, "Paris, Texas")
    >>> model.predict_one({"Rome, Italy": {"distance": 2.0}, "Rome, Georgia": {"distance": 0.5, "shared words": 1.0}})
    'Rome, Georgia'
    """

    task = "classify"
    _loop_type = TrialLoop

    def _check_parameters(self) -> None:
        super()._check_parameters()
        classes_of_cost(self.cost)

    def _check_model(self, model: Model) -> None:
        counting = vars(self).get("_phi")
        if self._counts != (counting is not None):
            raise ValueError(f"features are counted by {counting!r:.100}, and phi={self.phi!r:.100}")
        if counting is not None:
            counting.check(self.phi)
            if getattr(counting.transformer, "n_features_in_", 0) > model.learner.geometry.n_features:
                raise ValueError("the transformer has more features than there are weights")
            if counting.classes.tolist() != self.classes_:
                raise ValueError(f"features are those of {counting.classes!r:.100}, not of {self.classes_!r:.100}")
        plan = for_label_sets(self.plan(), self) if isinstance(model.learner.task, Ranking) else self.plan()
        model.labels.check()
        model.check(plan, add_labels=lambda twin, labels: None)  # all classes share one vector

    @property
    def _counts(self) -> bool:
        """Whether a transformer computes the features, from the examples so far."""
        return hasattr(self.phi, "learn_transform")

    def learn_one(self, x: Any, y: Label | Iterable[Label], weight: float = 1.0) -> Self:
        """Learn an example.

        Parameters
        ----------
        x : dict of features by label, or what `phi` takes
            The example. The first one learned determines whether features are identified by name or by position.
        y : str or int, or set, list or tuple of them
            The label, or the relevant labels, possibly none; a new label becomes a class. All labels must be strings,
            or all integers.
        weight : float, default=1.0
            Factor on C, at least 0; an example of weight 0 is skipped.

        Returns
        -------
        self : object
            The updated model.
        """
        weight = check_weight(weight)
        if weight > 0:
            labels, single = self._check_target(y)
            plan = self.plan() if single else for_label_sets(self.plan(), self)
            with self._turns:
                if self._counts:
                    self._count_and_learn(x, labels, plan, weight, single=single)
                else:
                    classes, examples = self._compete(x, labels)
                    with self._open_loop(examples[0]) as loop:
                        rows = loop.rows_of(examples, learn=True)
                        codes = [classes.index(label) for label in labels]
                        self._run(plan, classes, rows, codes, weight, single=single)
        return self

    def _count_and_learn(self, x: Any, labels: list[Any], plan: Plan, weight: float, *, single: bool) -> None:
        """Learn an example whose features a transformer computes, which then counts it."""
        with self._open_loop(x) as loop:
            counting, rounds = self._phi, self._n_rounds()
            row = matrix_of(loop.rows_of([x], learn=True))
            undo = undoing(counting.transformer, row)
            try:
                counting.widen(row.shape[1])
                own = np.array(labels) if labels else np.zeros(0, np.int64)
                sets = LabelSets(own, np.array([0, len(labels)], np.intp), single=single)
                parts = counting.learn(row, Call(sets, None, np.ones(1, bool), transform_ahead(self)))
                matrix, _, codes = next(parts)
                self._run(plan, counting.classes.tolist(), self._wide(matrix), codes, weight, single=single)
            except BaseException:
                if self._n_rounds() == rounds:
                    undo()
                raise

    def _run(self, plan: Plan, classes: list[Any], rows: Rows, codes: Any, weight: float, *, single: bool) -> None:
        """Run the round of an example with one row per class."""
        known = self.classes_
        self._model.use_plan(plan)
        self._model.labels = Labels(classes)
        self._model.set_task()
        self._model.labels = Labels(known).with_new(classes)[0]
        self._get_loop().run_trial(rows, np.array(codes, np.float64), weight, single=single)  # type: ignore[union-attr]

    def _start(self, x: Any, shape: Shape, plan: Plan) -> None:
        if self._counts:
            if isinstance(self._names, Names) and not hasattr(self.phi, "widen"):
                raise ParameterError(
                    f"a {type(self.phi).__name__} has no method widen for new features: hash their names, with "
                    "features=RecordFeatures(n_features=2**18), or learn vectors",
                    ["features"],
                )
            shape = shape._replace(sparse=True)
            self._phi = TransformerPhi.of(self.phi)
        super()._start(x, shape, plan)

    def _wide(self, matrix: Any) -> Rows:
        """Return rows that are as wide as the weights, which have room for more features."""
        from scipy import sparse

        geometry = self._learner.geometry
        if matrix.shape[1] > geometry.n_features:
            raise ValueError(
                f"phi must give at most as many features as examples have, {geometry.n_features}; got {matrix.shape[1]}"
            )
        return as_rows(sparse.csr_matrix(matrix, dtype=geometry.dtype)).widened(geometry.n_features)

    def _check_target(self, y: Any) -> tuple[list[Any], bool]:
        """Return the labels, sorted, and whether there is one label and not a set of them."""
        single = isinstance(y, str | bytes | Mapping) or not isinstance(y, Iterable)
        labels = [check_label(y, self.classes_)] if single else sorted(check_label_set(y, self.classes_))
        known = classes_of_cost(self.cost)
        if known and not set(labels) <= set(known):
            raise ValueError(f"cost is a matrix for the classes 0 to {len(known) - 1}; got the label {y!r:.100}")
        return labels, single

    def _compete(self, x: Any, labels: Iterable[Any] = ()) -> tuple[list[Any], list[Any]]:
        """Return the classes that compete for an example with these labels, in their order, and their features."""
        if self.phi is not None:
            classes = sorted({*self.classes_, *labels, *classes_of_cost(self.cost)})
            if not classes:
                raise ValueError("y has no label, and no class is known yet")
            return classes, [_as_features(self.phi(x, label)) for label in classes]
        if not isinstance(x, Mapping) or not x:
            raise TypeError(
                "x must be a dict of the features of each class, such as {'sport': {...}, 'news': {...}}; got "
                f"{x!r:.100}. With phi= a function or a transformer, x may be anything that it takes."
            )
        given: dict[Any, Any] = {}
        for label, features in x.items():
            given[check_label(label, self.classes_ or list(given))] = _as_features(features)
        if missing := [label for label in labels if label not in given]:
            raise ValueError(f"x has no features of class {missing[0]!r:.100}, which is in y; got those of {list(x)}")
        by_place = self.cost is not None and not isinstance(self.cost, Mapping)
        if by_place and (absent := {*self.classes_, *classes_of_cost(self.cost)} - given.keys()):
            raise ValueError(
                f"x has no features of class {min(absent)!r:.100}: this cost is one of all classes. Costs by name, "
                "cost={'right': {'predicted': 2.0}}, let any classes compete."
            )
        classes = sorted(given)
        return classes, [given[label] for label in classes]

    def _rows(self, x: Any) -> tuple[list[Any], Rows]:
        """Return the classes that compete for an example to be predicted, and one row of features per class."""
        loop: Any = self._get_loop()
        if self._counts:
            row = matrix_of(loop.rows_of([x]))
            return self.classes_, self._wide(self._phi.read(row))
        classes, examples = self._compete(x)
        return classes, loop.rows_of(examples)

    def check_one(self, x: Any, y: Any = None, weight: float = 1.0) -> None:
        """Raise the error that `learn_one` would raise for an example, without learning it.

        Parameters
        ----------
        x : dict of features by label, or what `phi` takes
            The example, as for `learn_one`.
        y : object, default=None
            The target, as for `learn_one`.
        weight : float, default=1.0
            Its weight.

        Raises
        ------
        TypeError, ValueError
            If `learn_one` would raise it.
        """
        check_weight(weight)
        labels, _ = self._check_target(y)
        if self._get_loop() is None:
            deepcopy(self).learn_one(x, y)
            return
        with self._turns:
            self._rows(x)
            if self.phi is None:
                self._compete(x, labels)
            self.names_one(x)

    def names_one(self, x: Any) -> list[str]:
        """Return the names of the features of an example and its classes, known or not.

        Parameters
        ----------
        x : dict of features by label, or what `phi` takes
            The example, as for `learn_one`.

        Returns
        -------
        names : list of str
            The names, each once, before hashing; empty for vectors.
        """
        if not self._counts and self.phi is not None and not self.classes_:
            return []
        examples = [x] if self._counts else self._compete(x)[1]
        return list(dict.fromkeys(name for one in examples for name in StreamLearner.names_one(self, one)))

    def predict_one(self, x: Any) -> Any:
        """Predict the class of highest score.

        Parameters
        ----------
        x : dict of features by label, or what `phi` takes
            The example, as for `learn_one`; features that were never learned are ignored.

        Returns
        -------
        label : str or int or None
            The label. Ties go to the first class. None if nothing was learned yet.
        """
        scores = self.scores_one(x)
        return max(scores, key=scores.__getitem__) if scores else None

    def rank_one(self, x: Any) -> list[Label]:
        """Return the labels, from the most to the least relevant.

        Parameters
        ----------
        x : dict of features by label, or what `phi` takes
            The example, as for `learn_one`; features that were never learned are ignored.

        Returns
        -------
        labels : list
            All classes that compete. Ties are in the order of ``classes_``.
        """
        scores = self.scores_one(x)
        return sorted(scores, key=lambda label: -scores[label])

    def scores_one(self, x: Any) -> dict[Label, float]:
        """Return the score of each class that competes for an example.

        Parameters
        ----------
        x : dict of features by label, or what `phi` takes
            The example, as for `learn_one`; features that were never learned are ignored.

        Returns
        -------
        scores : dict
            Scores by label; empty if nothing was learned yet.
        """
        if self._get_loop() is None:
            return {}
        with self._turns:
            classes, rows = self._rows(x)
            return dict(zip(classes, self._model.scores(rows)[:, 0].tolist(), strict=True))

    def explain(self, x: Any, label: Any = None, top: int | None = None) -> Explanation:
        """Return the contribution of each feature to the score of a class; they sum to the score.

        Parameters
        ----------
        x : dict of features by label, or what `phi` takes
            The example.
        label : str or int or None, default=None
            The class. If None, the predicted one.
        top : int or None, default=None
            Maximum number of features. If None, all with a non-zero contribution.

        Returns
        -------
        contributions : Explanation
            A dict of weight times value by the name of the feature; with hashing and for vectors, by its index. The
            largest absolute values come first. Its attributes are the explained `label`, the `intercept`, which is 0,
            and the `score`.
        """
        if self._get_loop() is None:
            return Explanation({}, label, 0.0, 0.0)
        with self._turns:
            classes, rows = self._rows(x)
            label = self.predict_one(x) if label is None else label
            place = code_of(label, classes)
            row = matrix_of(rows.part(place, place + 1))
            values = np.asarray(row.toarray() if hasattr(row, "toarray") else row)[0]
            with np.errstate(over="ignore"):
                found = np.nan_to_num(self._model.mean()[0][0] * values)
            return Explanation(self._name_values(range(len(values)), found, top), label, 0.0, float(found.sum()))

    def _direction(self, label: Any) -> tuple[NDArray[np.float64], float]:
        return np.ones(1), 0.0  # all classes share the weights, and an intercept would be the same for all


def _as_features(given: Any) -> Any:
    """Return the features of a class; a list of numbers is a vector."""
    if isinstance(given, list | tuple) and given and all(isinstance(value, Real | np.bool_) for value in given):
        return np.array(given, dtype=np.float64)
    return given
