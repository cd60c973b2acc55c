"""A learner with online feature scaling."""

from typing import Any, ClassVar, Self

from numpy.typing import NDArray
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from onmargin.features._transactional import Transactional
from onmargin.features.scaler import MatrixLike, RunningScaler
from onmargin.models.rules import Member, Rule, check_parameters


def _learner_has(name: str) -> Any:
    def has(self: "Scaled") -> bool:
        getattr(self.__dict__.get("estimator_", self.estimator), name)
        return True

    return has


class Scaled(MetaEstimatorMixin, Transactional):  # type: ignore[misc]
    """Learner with online feature scaling: each row updates a running scaler and then the learner.

    scikit-learn's pipelines have no `partial_fit`, and a scaler fitted beforehand has seen rows that the learner has
    not seen yet. Here a row is learned with the scale up to and including that row, and predicted with the scale of all
    rows so far.

    Use it when features have different units, with any learner that has `partial_fit`. See
    :class:`onmargin.features.RunningScaler` for when not to use it.

    Parameters
    ----------
    estimator : estimator
        The learner for the scaled rows. It is copied and not modified.
    by : {"rms", "max"}, default="rms"
        The scale of a feature: "rms" is the root of its mean square so far, "max" its largest absolute value so far.

    Attributes
    ----------
    estimator_ : estimator
        The trained copy. Its weights apply to scaled features.
    scaler_ : RunningScaler
        The scaler.
    classes_ : ndarray of shape (n_classes,)
        The labels, if the estimator has any.
    totals_ : Totals
        The totals of the estimator, if it has any.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the data had names.

    See Also
    --------
    RunningScaler : The scaler alone.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from onmargin import PassiveAggressiveClassifier
    >>> from onmargin.features import Scaled
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> for model in PassiveAggressiveClassifier(), Scaled(PassiveAggressiveClassifier()):
    ...     print(model.partial_fit(X, y, classes=[0, 1]).totals_.mistakes)
    75
    62
    """

    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = {
        "estimator": (Member("partial_fit", words="an estimator with partial_fit"),),
        "by": RunningScaler._rules["by"],
    }

    estimator_: Any
    scaler_: RunningScaler

    def __init__(self, estimator: Any, *, by: str = "rms") -> None:
        self.estimator = estimator
        self.by = by

    @available_if(_learner_has("fit"))  # type: ignore[untyped-decorator]
    def fit(self, X: MatrixLike, y: Any = None, **given: Any) -> Self:
        """Fit the scaler to all rows, then fit the estimator to the scaled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.
        y : array-like of shape (n_samples,), default=None
            Targets.
        **given : dict
            Passed to the estimator's `fit`, such as ``sample_weight``.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with self._transaction():
            scaler = RunningScaler(by=self.by)
            self.estimator_ = clone(self.estimator).fit(scaler.fit_transform(X), y, **given)
            self.scaler_ = scaler
        return self

    def partial_fit(self, X: MatrixLike, y: Any = None, **given: Any) -> Self:
        """Update the scaler and the estimator; each row is scaled by the rows up to and including it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.
        y : array-like of shape (n_samples,), default=None
            Targets.
        **given : dict
            Passed to the estimator's `partial_fit`, such as ``classes``.

        Returns
        -------
        self : object
            The updated estimator.
        """
        with self._transaction():
            if not self.__sklearn_is_fitted__():
                self.estimator_, self.scaler_ = clone(self.estimator), RunningScaler(by=self.by)
            with self.scaler_._start_learning(X) as rows:
                self.estimator_.partial_fit(rows, y, **given)
        return self

    @available_if(_learner_has("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: MatrixLike) -> NDArray[Any]:
        """Return the estimator's predictions for the scaled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        predictions : ndarray of shape (n_samples,)
            Labels or numbers.
        """
        rows = self._scale_rows(X)
        return self.estimator_.predict(rows)

    @available_if(_learner_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: MatrixLike) -> NDArray[Any]:
        """Return the estimator's decision function for the scaled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        scores : ndarray
            The scores of the estimator.
        """
        rows = self._scale_rows(X)
        return self.estimator_.decision_function(rows)

    @available_if(_learner_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: MatrixLike) -> NDArray[Any]:
        """Return the estimator's class probabilities for the scaled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            One column per class, in the order of ``classes_``.
        """
        rows = self._scale_rows(X)
        return self.estimator_.predict_proba(rows)

    @available_if(_learner_has("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: MatrixLike) -> NDArray[Any]:
        """Return the logarithms of the estimator's class probabilities for the scaled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            The natural logarithms, in the order of ``classes_``.
        """
        rows = self._scale_rows(X)
        return self.estimator_.predict_log_proba(rows)

    @available_if(_learner_has("score"))  # type: ignore[untyped-decorator]
    def score(self, X: MatrixLike, y: Any = None, **given: Any) -> float:
        """Return the estimator's score on the scaled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.
        y : array-like of shape (n_samples,), default=None
            Targets.
        **given : dict
            Passed to the estimator's `score`.

        Returns
        -------
        score : float
            Accuracy for a classifier, R² for a regressor.
        """
        rows = self._scale_rows(X)
        return float(self.estimator_.score(rows, y, **given))

    def _scale_rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return self.scaler_.transform(X)

    def _check_parameters(self) -> None:
        check_parameters(self, self._rules)

    def _check_learned(self) -> None:
        if not self.__sklearn_is_fitted__():
            return
        if type(self.estimator_) is not type(self.estimator) or not isinstance(self.scaler_, RunningScaler):
            raise ValueError(f"a {type(self.estimator_).__name__} and a {type(self.scaler_).__name__} were learned")

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, sorted."""
        return self._part("estimator_").classes_

    @property
    def totals_(self) -> Any:
        """Totals of the rounds so far."""
        return self._part("estimator_").totals_

    @property
    def _learner(self) -> Any:
        return self._part("estimator_")._learner

    @property
    def n_features_in_(self) -> int:
        """Number of features."""
        return self._part("scaler_").n_features_in_

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the features."""
        return self._part("scaler_").feature_names_in_

    def _part(self, name: str) -> Any:
        if not self.__sklearn_is_fitted__():
            raise AttributeError(
                f"this {type(self).__name__} has not learned anything yet: call partial_fit or fit first"
            )
        return vars(self)[name]

    def __sklearn_is_fitted__(self) -> bool:
        return "estimator_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags, own = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type, tags.target_tags = own.estimator_type, own.target_tags
        tags.classifier_tags, tags.regressor_tags = own.classifier_tags, own.regressor_tags
        tags.input_tags.sparse = own.input_tags.sparse
        return tags
