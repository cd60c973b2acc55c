"""A column of weights for each label, and one for the calibration label."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.metrics import label_ranking_average_precision_score
from sklearn.utils.validation import check_is_fitted

from onmargin._core.rows import Rows
from onmargin.estimators._checks import check_numbers
from onmargin.estimators._kernel import KernelOption
from onmargin.estimators._label_sets import LabelSets, read_label_sets, read_labels, shown
from onmargin.estimators._online import MatrixLike
from onmargin.learner import as_rows
from onmargin.models.columns import mix_labels


class LabelColumns(KernelOption):
    """An estimator with a column of weights a label, and with `calibrate` a last one for the calibration label.

    Margins and moves depend on the differences of columns alone: what is shown are those to the calibration label.
    """

    calibrate: bool

    classes_: NDArray[Any]
    _calibrated: bool
    _indicator: bool  # whether the labels came as an indicator matrix at first

    def _examples(self, X: Any, *, keep: bool) -> tuple[Any, Rows]:
        if not (keep and self._is_plain(X)):
            X = self._checked(X, keep=keep)
        return X, as_rows(X)

    def _admit(self, X: Any, sets: LabelSets, classes: Any = None, *, new: bool) -> None:
        """Begin if `new`; refuse labels that do not fit those known, and make room for those given as classes."""
        if new:
            self._calibrated, self._indicator = bool(self.calibrate), sets.width is not None
            self.classes_ = np.zeros(0, dtype=np.int64)
            self._begin(X)
            self._meet(np.arange(sets.width or 0))
        elif self._calibrated != self.calibrate:
            raise ValueError(
                f"calibrate was {self._calibrated} when this model began to learn, and cannot become {self.calibrate}: "
                "set it back, or learn anew with clone(model).fit"
            )
        self.densify()
        if classes is not None:
            if isinstance(classes, str) or not isinstance(classes, Iterable):
                raise ValueError(f"classes must be a list or one-dimensional array of labels; got {shown(classes)}")
            given = read_labels(list(classes), lambda k: "classes")
            self._check_labels(given, None)
            self._meet(given)
        self._check_labels(sets.labels, sets.width)

    def _check_labels(self, labels: NDArray[Any], width: int | None) -> None:
        """Refuse an indicator matrix of another width than was learned, and labels of another kind."""
        n = len(self.classes_)
        numbered = np.array_equal(self.classes_, np.arange(n))
        if width is not None and not (numbered and width == n):
            fix = f"give a matrix of {n} columns" if numbered and n else "give a list of label sets"
            raise ValueError(
                f"Y is an indicator matrix of {width} columns, but the {n} labels learned so far are "
                f"{shown(self.classes_.tolist())}: {fix}, or begin anew with fit"
            )
        if len(labels) and n and (labels.dtype.kind == "U") != (self.classes_.dtype.kind == "U"):
            raise ValueError(
                f"labels must be all strings or all integers: {shown(labels[0])} is new, and "
                f"{shown(self.classes_[0])} was learned already. Convert them with str or int."
            )
        new = LabelSets(labels, np.array([0, len(labels)])).unknown(self.classes_)
        if self._indicator and new.any():
            raise ValueError(
                f"the label {shown(labels[new][0])} is none of 0 to {n - 1}, the columns of the indicator matrix that "
                "this model began with. To let labels turn up in a stream, begin with label sets."
            )

    def _meet(self, labels: NDArray[Any]) -> None:
        """Make room for labels not seen before; the calibration label stays last."""
        known, geometry = self.classes_, self._learner.geometry
        # Without known ones the new ones alone say what kind they are. As a list: no strings wider than the widest.
        classes = np.array(np.union1d(known, labels).tolist() if len(known) else sorted(set(labels.tolist())))
        if len(classes) > len(known):
            places = np.searchsorted(classes, known)
            mixing = mix_labels(places, len(classes), geometry.n_columns, calibrated=self._calibrated)
            self._learner.geometry = geometry.recombined(mixing)
            self.classes_ = classes

    def _differences(self, columns: NDArray[Any]) -> NDArray[Any]:
        """Those of the labels, along the first axis, less that of the calibration label."""
        n = len(self.classes_)
        return np.asarray(columns[:n] - columns[n:] if self._calibrated else columns[:n])

    def _scores(self, X: Any) -> NDArray[np.float64]:
        scores = super()._scores(X)
        return self._differences(scores.T).T if self._sparse_coef is None else scores

    def _start_from(self, coef: ArrayLike | None, intercept: ArrayLike | None) -> None:
        """The calibration label gets weights of zero."""
        self._ask_for_weights("setting weights")
        geometry, shown = self._learner.geometry, (self.coef_, self.intercept_)
        given = []
        for name, value, old in zip(("coef_", "intercept_"), (coef, intercept), shown, strict=True):
            new = old if value is None else check_numbers(value, name, geometry.dtype)
            if new.shape != old.shape:
                raise ValueError(f"{name} must have shape {old.shape}, got {new.shape}")
            given.append(np.zeros((geometry.n_columns, *old.shape[1:])))
            given[-1][: len(new)] = new
        geometry.assign(*given)

    @property
    def coef_(self) -> Any:
        """Weights, one row a label, less those of the calibration label; averaged ones if `average` is on."""
        self._fitted()
        return self._differences(self._weights()) if self._sparse_coef is None else self._sparse_coef

    @coef_.setter
    def coef_(self, value: ArrayLike) -> None:
        self.densify()._start_from(value, None)

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """Intercepts in score units, likewise."""
        return self._differences(self._fitted().geometry.mean()[1])

    @intercept_.setter
    def intercept_(self, value: ArrayLike) -> None:
        self.densify()._start_from(None, value)

    @property
    def dual_coef_(self) -> NDArray[np.float64]:
        """Coefficients of the supports, one row a label, likewise."""
        return self._differences(super().dual_coef_)

    def sparsify(self) -> Self:
        """Keep the weights as a sparse matrix: less memory where most are zero; learning on makes them dense again.

        Returns
        -------
        self : object
            The estimator with a sparse ``coef_``.
        """
        check_is_fitted(self)
        self._ask_for_weights("sparsify")
        if self._sparse_coef is None:
            self._sparse_coef = sparse.csr_matrix(self.coef_)
            self._learner.geometry = self._learner.geometry.resized(0)
        return self

    def densify(self) -> Self:
        """Keep the weights as a dense array, as after fitting.

        Returns
        -------
        self : object
            The estimator with a dense ``coef_``.
        """
        check_is_fitted(self)
        if self._sparse_coef is not None:
            coef, intercept = self._sparse_coef.toarray(), self.intercept_
            self._learner.geometry = self._learner.geometry.resized(self.n_features_in_)
            self._sparse_coef = None
            self._start_from(coef, intercept)
        return self

    def score(self, X: MatrixLike, Y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Label ranking average precision: among the labels above each relevant one, how many are relevant.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.
        Y : {ndarray, sparse matrix} of shape (n_samples, n_labels), or list of label sets
            What is relevant. Labels never learned come last in the ranking.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the examples in the mean.

        Returns
        -------
        precision : float
            Mean over the examples, between 0 and 1, of
            :func:`sklearn.metrics.label_ranking_average_precision_score`.
        """
        scores = self._scores(X)
        sets = read_label_sets(Y, len(scores))
        self._check_labels(sets.labels, sets.width)
        classes = np.union1d(self.classes_, sets.labels[sets.unknown(self.classes_)])
        padded = np.repeat(scores.min(axis=1, keepdims=True, initial=0) - 1, len(classes), axis=1)
        padded[:, np.isin(classes, self.classes_)] = scores
        return float(label_ranking_average_precision_score(sets.matrix(classes), padded, sample_weight=sample_weight))
