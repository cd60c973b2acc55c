"""Online feature scaling."""

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
from onmargin.features._transactional import Transactional
from onmargin.learner import as_rows
from onmargin.models.rules import Rule, Word, check_parameters

# Anything that scikit-learn's validation accepts: arrays, data frames, sparse matrices, lists of lists.
MatrixLike = Any


class RunningScaler(OneToOneFeatureMixin, TransformerMixin, Transactional):  # type: ignore[misc]
    r"""Online feature scaling: divide each feature by its scale so far, without centering.

    The scale of feature j after t rows is the root of its mean square, or its largest absolute value:

    .. math:: s_j = \sqrt{\tfrac1t \sum_{i \le t} x_{ij}^2} \qquad\text{or}\qquad s_j = \max_{i \le t} |x_{ij}|.

    Nothing is subtracted, so sparse rows stay sparse, and a row costs O(non-zeros). The result does not depend on the
    units of the features.

    Use it when features have different units, before a learner with one step size for all features, such as the
    passive-aggressive learners; :class:`onmargin.features.Scaled` combines the two. A passive-aggressive learner with
    ``geometry="normalized"`` does not need a scaler, and its weights stay in the original units.
    :class:`onmargin.AutoClassifier` and :class:`onmargin.AutoRegressor` do not need one either. Do not use it for text
    whose rows already have length 1, where the sizes of the values carry meaning, or when features drift: old rows are
    never forgotten.

    Parameters
    ----------
    by : {"rms", "max"}, default="rms"
        The scale. With "rms", the mean square of each scaled feature is 1; a rare feature has a small scale, so its
        scaled values are large. With "max", all values are in [-1, 1]; it is sensitive to outliers.

    Attributes
    ----------
    scale_ : ndarray of shape (n_features,)
        The scale that each feature is divided by; 1 for a feature that was always zero.
    n_samples_seen_ : int
        Number of rows learned.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the data had names.

    See Also
    --------
    Scaled : A learner with a running scaler.
    sklearn.preprocessing.StandardScaler : Standardization with centering.
    sklearn.preprocessing.MaxAbsScaler : Equivalent to ``by="max"`` after `fit`.

    Notes
    -----
    A scale is stored as the largest absolute value and a sum of squares relative to it, in double precision. Squares
    therefore cannot overflow, and multiplying a feature by a power of two does not change a bit of the result.

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
    _squares: NDArray[np.float64]  # sums of (x / largest)^2 by feature

    def __init__(self, *, by: str = "rms") -> None:
        self.by = by

    def fit(self, X: MatrixLike, y: ArrayLike | None = None) -> Self:
        """Compute the scales from these rows alone.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like, default=None
            Not used, present for compatibility with scikit-learn.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        with self._transaction():
            _, rows = self._check_input(X, keep=False)
            self._pass_over(rows, learn=True)
        return self

    def partial_fit(self, X: MatrixLike, y: ArrayLike | None = None) -> Self:
        """Update the scales with these rows. How a stream is divided into calls makes no difference.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like, default=None
            Not used, present for compatibility with scikit-learn.

        Returns
        -------
        self : object
            The updated transformer.
        """
        with self._transaction():
            _, rows = self._check_input(X, keep=True)
            self._pass_over(rows, learn=True)
        return self

    def transform(self, X: MatrixLike) -> Any:
        """Return rows divided by the scales so far.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        X : {ndarray, csr_matrix} of shape (n_samples, n_features)
            The scaled rows. A feature that was always zero so far is not changed.
        """
        check_is_fitted(self)
        self._check_parameters()
        return self._scale_rows(*self._check_input(X, keep=True), learn=False)

    def learn_transform(self, X: MatrixLike, y: ArrayLike | None = None) -> Any:
        """Update the scales with each row, and return it divided by them (progressive use).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like, default=None
            Not used: scales do not depend on targets.

        Returns
        -------
        X : {ndarray, csr_matrix} of shape (n_samples, n_features)
            The scaled rows. How a stream is divided into calls makes no difference.
        """
        with self._transaction():
            return self._scale_rows(*self._check_input(X, keep=True), learn=True)

    @contextmanager
    def _start_learning(self, X: MatrixLike) -> Iterator[Any]:
        """Context manager that yields the result of `learn_transform`; an error in its body restores the scales."""
        with self._transaction():
            X, rows = self._check_input(X, keep=True)
            touched: Any = slice(None) if rows.owners[1] is None else rows.owners[1]
            before = self._largest[touched].copy(), self._squares[touched].copy()
            try:
                yield self._scale_rows(X, rows, learn=True)
            except BaseException:
                self._largest[touched], self._squares[touched] = before
                raise

    def _scale_rows(self, X: Any, rows: Rows, *, learn: bool) -> Any:
        """Return a scaled copy of X that shares no array with it."""
        values, indices, indptr = rows.owners
        out = np.empty_like(values)
        self._pass_over(rows, learn=learn, out=out)
        return out if indices is None else type(X)((out, indices.copy(), np.array(indptr)), shape=X.shape)

    def _pass_over(self, rows: Rows, *, learn: bool, out: NDArray[Any] | None = None) -> None:
        """Scale the rows, and update the scales if `learn`; called once nothing can fail any more."""
        by_largest, seen = self.by == "max", self.n_samples_seen_
        scale(rows, self._largest, self._squares, seen, by_largest=by_largest, learn=learn, out=out)
        self.n_samples_seen_ = seen + rows.n_rows * learn

    def _check_input(self, X: Any, *, keep: bool) -> tuple[Any, Rows]:
        """Return the validated X and its rows; reset the scales unless `keep` is true and rows were learned."""
        keep = keep and self.__sklearn_is_fitted__()
        dtypes = [np.dtype(np.float64), np.dtype(np.float32)]
        X = validate_data(self, check_sparse(X, dtypes), reset=not keep, accept_sparse="csr", dtype=dtypes, order="C")
        if not keep:
            self._largest, self._squares = np.zeros((2, X.shape[1]))
            self.n_samples_seen_ = 0
        return X, as_rows(X)

    @property
    def scale_(self) -> NDArray[np.float64]:
        """The scale that each feature is divided by."""
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
