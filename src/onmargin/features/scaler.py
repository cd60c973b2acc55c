"""Features in units of their own size so far."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from onmargin._checks import check_sparse
from onmargin._core.restore import whole
from onmargin._core.rows import Rows
from onmargin._core.scaling import scale
from onmargin.features._whole import Whole
from onmargin.learner import as_rows
from onmargin.models.rules import Rule, Word, check_parameters

# What scikit-learn's validation takes: arrays, frames, sparse matrices, lists of lists.
MatrixLike = Any


class RunningScaler(OneToOneFeatureMixin, TransformerMixin, Whole):  # type: ignore[misc]
    r"""Divide each feature by its size so far; zeros stay zeros.

    The size of feature j after t rows is the root of its mean square, or the largest absolute value:

    .. math:: s_j = \sqrt{\tfrac1t \sum_{i \le t} x_{ij}^2} \qquad\text{or}\qquad s_j = \max_{i \le t} |x_{ij}|.

    Nothing is subtracted, so that sparse rows stay sparse, and a row costs O(non-zeros). The units of a feature make no
    difference to what comes out.

    Use it before a learner whose step has one length for all features, passive-aggressive ones among them, where the
    features have different units: :class:`onmargin.features.Scaled` puts it there. With ``geometry="normalized"`` a
    passive-aggressive learner needs none, and its weights keep their meaning; neither do
    :class:`onmargin.AutoClassifier` and :class:`onmargin.AutoRegressor` need one. Not for text whose rows have length 1
    already, where the sizes of words carry meaning, and not where a feature drifts: old rows are never forgotten.

    Parameters
    ----------
    by : {"rms", "max"}, default="rms"
        The size. "rms" makes the squares of a feature 1 in the mean; one that is rare is small in it, and its values
        come out large. "max" brings all values into [-1, 1], and listens to outliers.

    Attributes
    ----------
    scale_ : ndarray of shape (n_features,)
        What each feature is divided by; 1 where it was always zero.
    n_samples_seen_ : int
        Rows learned.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the data had names.

    See Also
    --------
    Scaled : A learner with a scaler before it.
    sklearn.preprocessing.StandardScaler : Subtracts means, for data that are at hand as a whole.
    sklearn.preprocessing.MaxAbsScaler : What ``by="max"`` is after `fit`.

    Notes
    -----
    Sizes are kept as the largest value and a sum of squares in units of it, in double precision: squares that no number
    can hold do no harm, and a feature in units that are a power of two away gives the same numbers, to the last bit.

    Examples
    --------
    >>> from onmargin.features import RunningScaler
    >>> scaler = RunningScaler()
    >>> scaler.learn_transform([[3.0, 1000.0], [4.0, 0.0]]).round(3)
    array([[1.   , 1.   ],
           [1.131, 0.   ]])
    >>> scaler.transform([[1.0, 1000.0]]).round(3)
    array([[0.283, 1.414]])
    """

    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = {"by": (Word("rms", "max"),)}

    n_samples_seen_: int
    n_features_in_: int
    _largest: NDArray[np.float64]
    _squares: NDArray[np.float64]  # sums of (x / largest)^2

    def __init__(self, *, by: str = "rms") -> None:
        self.by = by

    def fit(self, X: MatrixLike, y: ArrayLike | None = None) -> Self:
        """Learn the sizes of these rows alone.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like, default=None
            Not used, present for scikit-learn's sake.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        with self._all_or_nothing():
            _, rows = self._checked(X, keep=False)
            self._pass_over(rows, learn=True)
        return self

    def partial_fit(self, X: MatrixLike, y: ArrayLike | None = None) -> Self:
        """Learn the sizes of these rows too. How a stream is cut into calls makes no difference.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like, default=None
            Not used, present for scikit-learn's sake.

        Returns
        -------
        self : object
            The transformer, having learned.
        """
        with self._all_or_nothing():
            _, rows = self._checked(X, keep=True)
            self._pass_over(rows, learn=True)
        return self

    def transform(self, X: MatrixLike) -> Any:
        """Rows in units of the sizes so far.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        X : {ndarray, csr_matrix} of shape (n_samples, n_features)
            The same, scaled; a feature that was always zero is left as it is.
        """
        check_is_fitted(self)
        self._check_parameters()
        return self._scaled(*self._checked(X, keep=True), learn=False)

    def learn_transform(self, X: MatrixLike, y: ArrayLike | None = None) -> Any:
        """Each row in units of the sizes up to and including it, which are learned: the progressive use.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like, default=None
            Not used: sizes do not depend on targets.

        Returns
        -------
        X : {ndarray, csr_matrix} of shape (n_samples, n_features)
            The same, scaled; how a stream is cut into calls makes no difference.
        """
        with self._all_or_nothing():
            return self._scaled(*self._checked(X, keep=True), learn=True)

    @contextmanager
    def _learning(self, X: MatrixLike) -> Iterator[Any]:
        """What `learn_transform` gives, for use in a `with`: an error there leaves the sizes as they were."""
        with self._all_or_nothing():
            X, rows = self._checked(X, keep=True)
            touched: Any = slice(None) if rows.owners[1] is None else rows.owners[1]
            before = self._largest[touched].copy(), self._squares[touched].copy()
            try:
                yield self._scaled(X, rows, learn=True)
            except BaseException:
                self._largest[touched], self._squares[touched] = before
                raise

    def _scaled(self, X: Any, rows: Rows, *, learn: bool) -> Any:
        """X in units of the sizes, of which no array is shared with it."""
        values, indices, indptr = rows.owners
        out = np.empty_like(values)
        self._pass_over(rows, learn=learn, out=out)
        return out if indices is None else type(X)((out, indices.copy(), np.array(indptr)), shape=X.shape)

    def _pass_over(self, rows: Rows, *, learn: bool, out: NDArray[Any] | None = None) -> None:
        """Go over the rows, when nothing can fail any more."""
        by_largest, seen = self.by == "max", self.n_samples_seen_
        scale(rows, self._largest, self._squares, seen, by_largest=by_largest, learn=learn, out=out)
        self.n_samples_seen_ = seen + rows.n_rows * learn

    def _checked(self, X: Any, *, keep: bool) -> tuple[Any, Rows]:
        """X as scikit-learn checks it, and its rows; starts over if nothing was learned, or is to be kept."""
        keep = keep and self.__sklearn_is_fitted__()
        dtypes = [np.dtype(np.float64), np.dtype(np.float32)]
        X = validate_data(self, check_sparse(X, dtypes), reset=not keep, accept_sparse="csr", dtype=dtypes, order="C")
        if not keep:
            self._largest, self._squares = np.zeros((2, X.shape[1]))
            self.n_samples_seen_ = 0
        return X, as_rows(X)

    @property
    def scale_(self) -> NDArray[np.float64]:
        """What each feature is divided by."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError("no rows have been learned yet: call fit, partial_fit or learn_transform first")
        if self.by == "max":
            size = self._largest.copy()
        else:
            size = self._largest * np.sqrt(self._squares / max(self.n_samples_seen_, 1))
        size[self._largest == 0] = 1
        return size

    def _check_parameters(self) -> None:
        check_parameters(self, self._rules)

    def _check_learned(self) -> None:
        if not self.__sklearn_is_fitted__():
            return
        whole(self.n_samples_seen_, "n_samples_seen_")
        shape = (whole(self.n_features_in_, "n_features_in_"),)
        for name in ("_largest", "_squares"):
            sizes = getattr(self, name)
            if sizes.shape != shape or sizes.dtype != np.float64:
                raise ValueError(f"{name} must be float64 of shape {shape}; got {sizes.dtype} of shape {sizes.shape}")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_largest")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
