"""Quasi-additive classification: the Perceptron, the p-norm Perceptron, Winnow, and their aggressive kin."""

from __future__ import annotations

from math import nan
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from onmargin._checks import check_classes, check_labels
from onmargin._core.geometries.additive import Entropic
from onmargin._core.rows import Rows
from onmargin._core.steps.step import Aggressive, Fixed, Optimal, Step
from onmargin._core.tasks.task import Binary, Multiclass, Task
from onmargin.estimators._checks import check_weight, live
from onmargin.estimators._classes import label_codes
from onmargin.estimators._geometries import GEOMETRIES
from onmargin.estimators._online import MatrixLike, OnlineLearner, warn_of_margin
from onmargin.learner import Learner, Vector, as_rows
from onmargin.models.rules import FLAG, NOTHING, Number, Rule, Word
from onmargin.models.updates import check_combination

STEPS = {"fixed": Fixed, "aggressive": Aggressive, "optimal": Optimal}


class QuasiAdditiveClassifier(ClassifierMixin, OnlineLearner):  # type: ignore[misc]
    r"""Quasi-additive classifier: examples are added up, and the weights are a link of the sum.

    With :math:`z_t` the direction that example t asks the weights to go (:math:`y_t x_t` for two classes), the learner
    keeps :math:`\theta_{t+1} = \theta_t + \alpha_t z_t` and predicts with :math:`w_t = \nabla G(\theta_t)`. G is the
    geometry: :math:`\tfrac12\|\theta\|^2` (plain weights), :math:`\ln(\tfrac1n \sum_i e^{\theta_i})` (weights on the
    simplex) or :math:`\tfrac12\|\theta\|_p^2`. Every step climbs the dual of :math:`F(w) + C \sum_t [\gamma - z_t \cdot
    w]_+`, where F is the conjugate of G and :math:`\gamma` the margin.

    Use the entropic or a p-norm geometry where few of very many features matter: their mistakes grow with the logarithm
    of the number of features, those of plain weights with the squared norms of the rows. Where most features matter a
    little, plain weights are better, and :class:`PassiveAggressiveClassifier` has more for them.

    Parameters
    ----------
    geometry : {"euclidean", "entropic", "pnorm"}, default="euclidean"
        What the weights are.
    p : float or None, default=None
        Of "pnorm", from 2 to 500: 2 is plain weights, larger ones are nearer to the entropic. None: 2 ln(n_features).
    step : {"fixed", "aggressive", "optimal"}, default="optimal"
        :math:`\alpha_t`: "fixed" is C for a mistake and nothing otherwise; "aggressive" is min(C, loss), for rows of
        curvature at most 1; "optimal" the maximiser of the dual over [0, C].
    C : float, default=1.0
        The largest step, above 0. "fixed" has a mistake bound for C below twice the margin.
    margin : float or None, default=None
        The margin asked for, above 0. None: 1, and 0.1 for the entropic geometry, whose scores are at most the largest
        number of a row.
    balanced : bool, default=True
        Whether the entropic weights have either sign: they are then those of the features less those of their
        negatives, which are on the simplex together. False: they are on the simplex, and rows that are never negative
        have no negative scores.
    fit_intercept : bool, default=False
        Whether to learn an intercept; for the Euclidean geometry. For others append a constant feature.
    intercept_scaling : "auto" or float, default="auto"
        Value of its coordinate, above 0. "auto" is 0.3 times the norm of the first non-zero row seen, then fixed.
    max_iter : int, default=1000
        Most passes that `fit` makes. `partial_fit` makes one.
    tol : float or None, default=1e-3
        `fit` stops after `n_iter_no_change` passes in a row whose mean loss was not better by `tol` than the best
        before. None: all `max_iter` passes are made.
    n_iter_no_change : int, default=5
        Passes without improvement that end `fit`.
    shuffle : bool, default=True
        Whether `fit` shuffles before each pass. `partial_fit` never does.
    verbose : int, default=0
        Above 0: `fit` prints a line a pass.
    random_state : int, RandomState or None, default=None
        Seed of the shuffling.
    warm_start : bool, default=False
        Whether `fit` goes on from the weights it finds.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights; with two classes one row. A copy, but for the Euclidean geometry.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts; minus the threshold, where there is one.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the data had names.
    n_iter_ : int
        Passes made by the last call.
    t_ : float
        One plus the number of rounds.
    totals_ : Totals
        Rounds, mistakes, updates, losses and the dual value so far. `max_squared_norm` is the square of the largest
        number of a row, or its curvature where the step looked at it, but for the Euclidean geometry.

    See Also
    --------
    Perceptron : The fixed step with plain weights.
    PNormPerceptron : The fixed step with a p-norm.
    Winnow : The fixed step on the simplex.

    Notes
    -----
    [PD]. A round costs O(non-zeros), whatever the number of features: slopes and their sum are kept beside
    :math:`\theta`, in units that follow its largest number. Rows are float64. With more than two classes there is one
    column a class and the weights of all of them are one vector; all classes must be known at the first call.

    With curvatures at most 1 and :math:`C < 2\gamma` the mistakes of "fixed" are at most :math:`P^* / (\gamma C -
    \tfrac12 C^2)`, and those of the other steps at most :math:`P^* / \lambda` with :math:`\lambda = \gamma C -
    \tfrac12 C^2` if :math:`C \le \gamma` and :math:`\tfrac12 \gamma^2` otherwise, where :math:`P^*` is the smallest
    :math:`F(u) + C \sum_t \ell^*_t` of any weights u.

    References
    ----------
    [PD] S. Shalev-Shwartz, Y. Singer, *A Primal-Dual Perspective of Online Learning Algorithms*, Machine Learning
    69:115-142, 2007.

    Examples
    --------
    Three of 500 features decide:

    >>> import numpy as np
    >>> from onmargin import QuasiAdditiveClassifier
    >>> X = np.random.default_rng(0).choice([-1.0, 1.0], (2000, 500))
    >>> y = np.sign(X[:, 3] + X[:, 70] - X[:, 400])
    >>> for geometry, C in ("euclidean", 1.0), ("pnorm", 1.0), ("entropic", 0.1):
    ...     model = QuasiAdditiveClassifier(geometry=geometry, C=C).partial_fit(X, y)
    ...     print(f"{geometry:9} {model.totals_.mistakes} mistakes")
    euclidean 323 mistakes
    pnorm     25 mistakes
    entropic  40 mistakes
    """

    _dtypes = (np.dtype(np.float64),)
    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = OnlineLearner._rules | {
        "C": (Number(0, above=True, below=True),),
        "geometry": (Word(*GEOMETRIES),),
        "p": (Number(2, 500), NOTHING),
        "step": (Word(*STEPS),),
        "margin": (Number(0, above=True, below=True), NOTHING),
        "balanced": (FLAG,),
        "fit_intercept": (FLAG,),
        "intercept_scaling": (Number(0, above=True, below=True), Word("auto")),
    }

    classes_: NDArray[Any]
    geometry: str = "euclidean"
    step: str = "fixed"
    p: float | None = None
    margin: float | None = None
    balanced: bool = False
    fit_intercept: bool = False
    intercept_scaling: float | str = "auto"

    def __init__(
        self,
        *,
        geometry: str = "euclidean",
        p: float | None = None,
        step: str = "optimal",
        C: float = 1.0,
        margin: float | None = None,
        balanced: bool = True,
        fit_intercept: bool = False,
        intercept_scaling: float | str = "auto",
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
    ) -> None:
        self.geometry = geometry
        self.p = p
        self.step = step
        self.C = C
        self.margin = margin
        self.balanced = balanced
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.verbose = verbose
        self.random_state = random_state
        self.warm_start = warm_start

    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from all the data in as many passes as it takes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples; dense C-contiguous or CSR float64 are learned in place.
        y : array-like of shape (n_samples,)
            Labels, of at least two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C; an example of weight 0 is skipped.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with self._all_or_nothing():
            self._check_combination()
            warm = self._go_on()
            X, y, rows = self._validate(X, y, keep=warm)
            check_labels(y, *([self.classes_] if warm else []))
            weight = check_weight(sample_weight, len(y))
            if not warm:
                self._begin(X, weight, np.unique(live(y, weight)))
            target = self._target(y, weight)
            self._check_rows(X, weight)
            self._prepare()
            self._run_passes(rows, target, weight)
        return self

    def partial_fit(
        self, X: MatrixLike, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn these examples in the given order, one round each. How a stream is cut into calls makes no difference.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples; dense C-contiguous or CSR float64 are learned in place.
        y : array-like of shape (n_samples,)
            Labels.
        classes : array-like of shape (n_classes,), default=None
            All labels; needed in the first call if its `y` does not have them all.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C; an example of weight 0 is skipped.

        Returns
        -------
        self : object
            The estimator, having learned.
        """
        with self._all_or_nothing():
            _, rows, target, weight = self._receive(X, y, classes, sample_weight)
            self._prepare()
            self._learner.learn(rows, target, weight)
            self.n_iter_ = 1
        return self

    def _receive(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> tuple[Any, Rows, Vector, Vector | None]:
        """X, its rows, their targets and weights, all checked; begins if nothing was learned yet."""
        self._check_combination()
        first = not hasattr(self, "_learner")
        X, y, rows = self._validate(X, y, keep=not first)
        known = None if classes is None else check_classes(classes)
        check_labels(y, *([] if known is None else [known]), *([] if first else [self.classes_]))
        weight = check_weight(sample_weight, len(y))
        if first:
            self._begin(X, weight, np.unique(live(y, weight)) if known is None else known)
        target = self._target(y, weight)
        self._check_rows(X, weight)
        return X, rows, target, weight

    def decision_function(self, X: MatrixLike) -> NDArray[np.float64]:
        """Scores: how far on the side of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            With two classes one score, positive for ``classes_[1]``; otherwise one a class.
        """
        scores = self._scores(X)
        return scores if len(self.classes_) > 2 else scores[:, 0]

    def predict(self, X: MatrixLike) -> NDArray[Any]:
        """The class of highest score.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            A label for each example; of equal scores the first class wins, and with two classes a score of zero is
            ``classes_[1]``.
        """
        scores = self._scores(X)
        labels: NDArray[Any] = self.classes_[self._learner.task.decode(scores)]
        return labels

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights, one row a column of scores."""
        coef: NDArray[np.float64] = self._fitted().geometry.mean()[0]
        return coef

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """Intercepts in score units."""
        intercept: NDArray[np.float64] = self._fitted().geometry.mean()[1]
        return intercept

    def _scores(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        return self._learner.scores(as_rows(X if self._is_plain(X) else self._checked(X, keep=True)))

    def _asked(self) -> float:
        """The margin."""
        return (0.1 if self.geometry == "entropic" else 1.0) if self.margin is None else float(self.margin)

    def _task(self) -> Task:
        return Binary(self._asked()) if len(self.classes_) == 2 else Multiclass(self._asked())

    def _step(self) -> Step:
        return STEPS[self.step](self.C)

    def _bias(self) -> float:
        if not self.fit_intercept:
            return 0.0
        return nan if self.intercept_scaling == "auto" else float(self.intercept_scaling)

    def _threshold(self) -> float:
        """What is taken off the scores of weights on the simplex."""
        return 0.0

    def _check_combination(self) -> None:
        check_combination("fit_intercept", {"geometry='euclidean'": self._bias() == 0 or self.geometry == "euclidean"})

    def _check_rows(self, X: Any, weight: Vector | None) -> None:
        """Refuse rows that the geometry cannot learn from; those of weight 0 are not learned."""

    def _begin(self, X: Any, weight: Vector | None, classes: NDArray[Any]) -> None:
        if len(classes) < 2:
            raise ValueError(
                f"at least two classes are needed, and there is one class only: {classes[:1].tolist()}. Name them all "
                "with classes= in the first call of partial_fit."
            )
        self.classes_ = classes
        self._learner = self._new_learner(X, 1 if len(classes) == 2 else len(classes))
        geometry = self._learner.geometry
        if isinstance(geometry, Entropic):
            X = live(X, weight)
            warn_of_margin(self._asked(), float(max(X.max() - geometry.threshold, geometry.threshold - X.min())))

    def _new_learner(self, X: Any, n_columns: int) -> Learner[Any]:
        """One that has seen nothing, for rows like those of X."""
        return Learner(Task(), self._step(), GEOMETRIES[self.geometry](self.n_features_in_, n_columns, X, self))

    def _target(self, y: NDArray[Any], weight: Vector | None) -> Vector:
        remedy = "Name them all with classes= in the first call of partial_fit."
        codes = label_codes(y, self.classes_, weight, remedy=remedy).astype(np.float64)
        return 2 * codes - 1 if len(self.classes_) == 2 else codes
