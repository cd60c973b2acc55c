"""Models with the interface of river, backed by the compiled learners of ``onmargin.stream``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import hypot
from typing import TYPE_CHECKING, Any, ClassVar

from river import base

from onmargin import stream
from onmargin._frames import like_frame, like_frames, records_of
from onmargin.features.records import RecordFeatures, reading
from onmargin.models.auto import AutoClassifierOptions, AutoRegressorOptions
from onmargin.models.described import described
from onmargin.models.dual_ascent import DualAscentOptions, DualAscentRegressorOptions
from onmargin.models.gradient import ExponentiatedGradientOptions, GradientDescentOptions, OnlineLogisticOptions
from onmargin.models.label_ranking import LabelRankerOptions
from onmargin.models.ordinal import OrdinalRegressorOptions
from onmargin.models.passive_aggressive import ClassifierOptions, RegressorOptions
from onmargin.models.quasi_additive import (
    PerceptronOptions,
    PNormPerceptronOptions,
    QuasiAdditiveOptions,
    WinnowOptions,
)
from onmargin.models.ridge import OnlineRidgeOptions
from onmargin.models.second_order import (
    AROWClassifierOptions,
    AROWRegressorOptions,
    NHERDClassifierOptions,
    SCWClassifierOptions,
)
from onmargin.models.uniclass import UniclassOptions

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "AROWClassifier",
    "AROWRegressor",
    "AutoClassifier",
    "AutoRegressor",
    "DualAscentClassifier",
    "DualAscentRegressor",
    "ExponentiatedGradientRegressor",
    "GradientDescentRegressor",
    "LabelRanker",
    "NHERDClassifier",
    "OnlineLogisticClassifier",
    "OnlineRidgeRegressor",
    "OrdinalRegressor",
    "PNormPerceptron",
    "PassiveAggressiveClassifier",
    "PassiveAggressiveRegressor",
    "PassiveAggressiveUniclass",
    "Perceptron",
    "QuasiAdditiveClassifier",
    "SCWClassifier",
    "Winnow",
]


def _with_names(x: dict[Any, Any]) -> dict[Any, Any]:
    """Return the example with strings as feature names; river accepts any type of name."""
    if not isinstance(x, Mapping) or not x or type(next(iter(x))) is str:
        return x  # texts and other examples are accepted or refused by the learner
    return {str(name): value for name, value in x.items()}


@dataclass(kw_only=True, eq=False, repr=False)
class Learner:
    """Base class of the river models: each wraps a learner of `onmargin.stream` and has its options.

    Parameters
    ----------
    features : RecordFeatures or None, default=None
        How examples are read: whether names are kept or hashed, the type of the weights. If None, ``RecordFeatures()``.

    Attributes
    ----------
    model : learner of onmargin.stream
        The wrapped learner, which has the same name in ``onmargin.stream``, with weights and explanations.
    """

    features: RecordFeatures | None = reading()

    learner: ClassVar[type[Any]]  # the class of `model`

    def __post_init__(self) -> None:
        self.model = self.learner(**self.get_params())

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            Not used, present for compatibility with scikit-learn.

        Returns
        -------
        parameters : dict
            The parameters of the constructor.
        """
        parameters: dict[str, Any] = self._get_params()  # type: ignore[attr-defined]
        return parameters

    def _check_parameters(self) -> None:
        self.model._check_parameters()

    def _check_learned(self) -> None:
        """Refuse a state loaded from a file whose learner does not match the parameters."""
        if type(self.model) is not self.learner or repr(self.model) != repr(self.learner(**self.get_params())):
            raise ValueError(
                f"the learner must be {self.learner.__name__} with the same parameters; got {self.model!r}"
            )

    def predict_many(self, X: pd.DataFrame) -> pd.Series:
        """Predict the rows of a frame; the same as calling `predict_one` for each.

        Parameters
        ----------
        X : DataFrame
            Features by name, of pandas, Polars or PyArrow.

        Returns
        -------
        predictions : Series
            One prediction per row, of the same library.
        """
        return like_frame(self._predictions(X), X)

    def _predictions(self, X: Any) -> list[Any]:
        predictions: list[Any] = self.model.predict_many(X)
        return predictions


class _Supervised(Learner):
    """Base class of models that learn from targets."""

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> None:
        """Learn an example.

        Parameters
        ----------
        x : dict
            Features by name: numbers or categories.
        y : bool, int, str or float
            Label or target of the example.
        w : float, default=1.0
            Weight of the example, a factor on C.
        """
        self.model.learn_one(_with_names(x), y, w)

    def learn_many(self, X: pd.DataFrame, y: pd.Series) -> None:
        """Learn the rows of a frame; the same as calling `learn_one` for each.

        Parameters
        ----------
        X : DataFrame
            Features by name.
        y : Series
            Labels or targets of the rows.
        """
        self.model.learn_many(X, y)


class Classifier(_Supervised, base.MiniBatchClassifier):  # type: ignore[misc]
    """Base class of river classifiers."""

    @property
    def _multiclass(self) -> bool:
        return True

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> Any:
        """Return the class of highest score.

        Parameters
        ----------
        x : dict
            Features by name.
        **kwargs : dict
            Not used, present for compatibility with river.

        Returns
        -------
        label : bool or int or str or None
            The label, or None if nothing was learned yet.
        """
        return self.model.predict_one(_with_names(x))

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """Return the probability of each class, calibrated on the stream learned so far.

        Parameters
        ----------
        x : dict
            Features by name.
        **kwargs : dict
            Not used, present for compatibility with river.

        Returns
        -------
        probabilities : dict
            Probabilities by label; empty if nothing was learned yet.
        """
        probabilities: dict[Any, float] = self.model.predict_proba_one(_with_names(x))
        return probabilities

    def predict_proba_many(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return the probabilities of the rows of a frame; the same as calling `predict_proba_one` for each.

        Parameters
        ----------
        X : DataFrame
            Features by name.

        Returns
        -------
        probabilities : DataFrame
            One column per class.
        """
        return like_frames(self.model.predict_proba_many(X), X)


class Regressor(_Supervised, base.MiniBatchRegressor):  # type: ignore[misc]
    """Base class of river regressors."""

    def predict_one(self, x: dict[Any, Any]) -> float:
        """Return the predicted target.

        Parameters
        ----------
        x : dict
            Features by name.

        Returns
        -------
        y : float
            The prediction; 0 if nothing was learned yet.
        """
        prediction: float = self.model.predict_one(_with_names(x))
        return prediction


class MultiLabelClassifier(Learner, base.MultiLabelClassifier):  # type: ignore[misc]
    """Base class of river multi-label classifiers."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.labels: dict[Any, None] = {}  # all labels of the examples, in order of appearance

    def _check_learned(self) -> None:
        super()._check_learned()
        if type(self.labels) is not dict or {*self.labels.values()} - {None}:
            raise ValueError(f"the labels must be a dict of None by label; got {self.labels!r:.100}")

    def learn_one(self, x: dict[Any, Any], y: dict[Any, bool], w: float = 1.0) -> None:
        """Learn an example.

        Parameters
        ----------
        x : dict
            Features by name: numbers or categories.
        y : dict
            Whether each label is relevant.
        w : float, default=1.0
            Weight of the example, a factor on C.
        """
        self.model.learn_one(_with_names(x), [label for label, relevant in y.items() if relevant], w)
        self.labels.update(dict.fromkeys(y))

    def learn_many(self, X: pd.DataFrame, y: pd.DataFrame) -> None:
        """Learn the rows of a frame; the same as calling `learn_one` for each.

        Parameters
        ----------
        X : DataFrame
            Features by name.
        y : DataFrame
            One column per label: whether it is relevant to each row.
        """
        labels = getattr(y, "column_names", None) or list(y.columns)  # an Arrow table has its columns in `columns`
        rows = records_of(y, "y")
        relevant = [[label for label, here in zip(labels, row.values(), strict=True) if here] for row in rows]
        try:
            self.model.learn_many(X, relevant)
        finally:  # if a row is refused, those before it were learned
            self.labels.update(dict.fromkeys(labels))

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, bool]:
        """Return which labels are relevant.

        Parameters
        ----------
        x : dict
            Features by name.
        **kwargs : dict
            Not used, present for compatibility with river.

        Returns
        -------
        labels : dict
            Whether each label that was seen is relevant.
        """
        return self._relevant(self.model.predict_one(_with_names(x)))

    def _predictions(self, X: Any) -> list[Any]:
        return [self._relevant(labels) for labels in self.model.predict_many(X)]

    def _relevant(self, labels: Any) -> dict[Any, bool]:
        return {label: label in labels for label in self.labels}


class AnomalyDetector(Learner, base.AnomalyDetector):  # type: ignore[misc]
    """Base class of river anomaly detectors."""

    def learn_one(self, x: dict[Any, Any], w: float = 1.0) -> None:
        """Learn an example.

        Parameters
        ----------
        x : dict
            Features by name: numbers or categories.
        w : float, default=1.0
            Weight of the example, a factor on C.
        """
        self.model.learn_one(_with_names(x), weight=w)

    def learn_many(self, X: pd.DataFrame) -> None:
        """Learn the rows of a frame; the same as calling `learn_one` for each.

        Parameters
        ----------
        X : DataFrame
            Features by name.
        """
        self.model.learn_many(X)

    def predict_one(self, x: dict[Any, Any]) -> int:
        """Return whether an example is normal.

        Parameters
        ----------
        x : dict
            Features by name.

        Returns
        -------
        inlier : int
            1 for a normal example, -1 for an anomaly.
        """
        return int(self.model.predict_one(_with_names(x)))

    def score_one(self, x: dict[Any, Any]) -> float:
        """Return how far outside the ball an example is, from 0 to 1.

        Parameters
        ----------
        x : dict
            Features by name.

        Returns
        -------
        score : float
            ``d**2 / (d**2 + r**2)``, where d is the distance from the center and r the largest one of normal examples
            (``-model.offset_``): anomalies have scores above 0.5. 0 if nothing was learned yet.
        """
        radius = -self.model.offset_
        distance = radius - self.model.scores_one(_with_names(x))
        size = hypot(distance, radius)
        return (distance / size) ** 2 if size > 0 and self.model._has_begun else 0.0


@described
@dataclass(kw_only=True, eq=False, repr=False)
class PassiveAggressiveClassifier(Classifier, ClassifierOptions):
    """Passive-aggressive classifier, binary and multiclass.

    Use it like any river classifier: in pipelines, in ``evaluate.progressive_val_score``, next to other models. Unlike
    ``river.linear_model.PAClassifier``, it learns any number of classes, jointly, and includes the intercept in the
    norm of an example.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from onmargin.river import PassiveAggressiveClassifier
    >>> model = preprocessing.StandardScaler() | PassiveAggressiveClassifier(C=0.01, average=True)
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 88.63%
    """

    learner = stream.PassiveAggressiveClassifier


@described
@dataclass(kw_only=True, eq=False, repr=False)
class PassiveAggressiveRegressor(Regressor, RegressorOptions):
    """Passive-aggressive regressor.

    Use it like any river regressor. Unlike ``river.linear_model.PARegressor``, it includes the intercept in the norm of
    an example, so a step reaches the tube and does not overshoot. Scale the features first.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from onmargin.river import PassiveAggressiveRegressor
    >>> model = preprocessing.StandardScaler() | PassiveAggressiveRegressor()
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 1.003348
    """

    learner = stream.PassiveAggressiveRegressor


@described
@dataclass(kw_only=True, eq=False, repr=False)
class AutoClassifier(Classifier, AutoClassifierOptions):
    """Automatic model selection for classification: several kinds of learners, trained in one pass, that vote.

    Use it to avoid tuning. It takes several times as long as a single learner.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from onmargin.river import AutoClassifier
    >>> model = preprocessing.StandardScaler() | AutoClassifier()
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 91.03%
    """

    learner = stream.AutoClassifier


@described
@dataclass(kw_only=True, eq=False, repr=False)
class AutoRegressor(Regressor, AutoRegressorOptions):
    """Automatic model selection for regression: several kinds of learners, trained in one pass and averaged.

    Use it to avoid tuning. It takes several times as long as a single learner.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from onmargin.river import AutoRegressor
    >>> model = preprocessing.StandardScaler() | AutoRegressor()
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0.195068
    """

    learner = stream.AutoRegressor


@described
@dataclass(kw_only=True, eq=False, repr=False)
class AROWClassifier(Classifier, AROWClassifierOptions):
    """AROW for classification: weights with a per-weight variance, robust to noisy labels.

    Use it for text and other data with rare and frequent features.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from onmargin.river import AROWClassifier
    >>> model = preprocessing.StandardScaler() | AROWClassifier()
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 88.79%
    """

    learner = stream.AROWClassifier


@described
@dataclass(kw_only=True, eq=False, repr=False)
class SCWClassifier(Classifier, SCWClassifierOptions):
    """Soft confidence-weighted learning (SCW): the required margin grows with the uncertainty of the weights.

    Use it for text and other data with rare and frequent features.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from onmargin.river import SCWClassifier
    >>> model = preprocessing.StandardScaler() | SCWClassifier()
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 89.03%
    """

    learner = stream.SCWClassifier


@described
@dataclass(kw_only=True, eq=False, repr=False)
class NHERDClassifier(Classifier, NHERDClassifierOptions):
    """Gaussian herding (NHERD): classification that moves a Gaussian distribution of weights as a whole.

    Use it for text and other data with rare and frequent features.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from onmargin.river import NHERDClassifier
    >>> model = preprocessing.StandardScaler() | NHERDClassifier()
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 88.39%
    """

    learner = stream.NHERDClassifier


@described
@dataclass(kw_only=True, eq=False, repr=False)
class AROWRegressor(Regressor, AROWRegressorOptions):
    """AROW for regression: weights with a per-weight variance.

    Use it where features have different scales or some are rare.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from onmargin.river import AROWRegressor
    >>> model = preprocessing.StandardScaler() | AROWRegressor()
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 1.625662
    """

    learner = stream.AROWRegressor


@described
@dataclass(kw_only=True, eq=False, repr=False)
class QuasiAdditiveClassifier(Classifier, QuasiAdditiveOptions):
    """Quasi-additive classifier: the weights are a link function of a weighted sum of the examples.

    Use the entropic geometry, with hashed names, or a p-norm, with `p` or hashed names, where few of very many features
    matter. Where most features matter a little, :class:`PassiveAggressiveClassifier` has more options.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from onmargin.river import QuasiAdditiveClassifier
    >>> model = preprocessing.StandardScaler() | QuasiAdditiveClassifier(C=0.1)
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 87.43%
    """

    learner = stream.QuasiAdditiveClassifier


@described
@dataclass(kw_only=True, eq=False, repr=False)
class Perceptron(Classifier, PerceptronOptions):
    """Perceptron, binary and multiclass: updates the weights by a fixed step on each mistake.

    Use it as a baseline; :class:`AROWClassifier` almost always makes fewer mistakes. Unlike
    ``river.linear_model.Perceptron`` it learns any number of classes, jointly.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from onmargin.river import Perceptron
    >>> model = preprocessing.StandardScaler() | Perceptron()
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 84.55%
    """

    learner = stream.Perceptron


@described
@dataclass(kw_only=True, eq=False, repr=False)
class PNormPerceptron(Classifier, PNormPerceptronOptions):
    """The p-norm Perceptron: between the Perceptron (p = 2) and Winnow (large p).

    Use it where few of very many features matter. It requires `p` or hashed names.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from onmargin.river import PNormPerceptron
    >>> model = preprocessing.StandardScaler() | PNormPerceptron(p=3.0)
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 84.23%
    """

    learner = stream.PNormPerceptron


@described
@dataclass(kw_only=True, eq=False, repr=False)
class Winnow(Classifier, WinnowOptions):
    """Winnow: multiplicative updates on mistakes, with weights on the simplex.

    Use it where few of very many features matter. It requires hashed names, and features that are not negative unless
    `balanced` is on.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from onmargin.features import RecordFeatures
    >>> from onmargin.river import Winnow
    >>> model = preprocessing.StandardScaler() | Winnow(features=RecordFeatures(n_features=2**6), balanced=True)
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 84.31%
    """

    learner = stream.Winnow


@described
@dataclass(kw_only=True, eq=False, repr=False)
class DualAscentClassifier(Classifier, DualAscentOptions):
    """Dual ascent for classification: each round maximizes the dual over the most recent examples.

    Use it on short streams, where examples are expensive and computing is cheap. Kernels are not supported here.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from onmargin.river import DualAscentClassifier
    >>> model = preprocessing.StandardScaler() | DualAscentClassifier(C=0.1)
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 87.67%
    """

    learner = stream.DualAscentClassifier


@described
@dataclass(kw_only=True, eq=False, repr=False)
class OnlineRidgeRegressor(Regressor, OnlineRidgeOptions):
    """Online ridge regression (recursive least squares), with a regret bound.

    Use it for records with few features, at most 1000, which may be correlated; it needs no scaling and no learning
    rate.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from onmargin.river import OnlineRidgeRegressor
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), OnlineRidgeRegressor(), metrics.MAE())
    MAE: 0.586388
    """

    learner = stream.OnlineRidgeRegressor


@described
@dataclass(kw_only=True, eq=False, repr=False)
class DualAscentRegressor(Regressor, DualAscentRegressorOptions):
    """Dual ascent for regression: each round maximizes the dual over the most recent examples.

    Use it on short streams, where examples are expensive and computing is cheap.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from onmargin.river import DualAscentRegressor
    >>> model = preprocessing.StandardScaler() | DualAscentRegressor(C=0.1)
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 2.991893
    """

    learner = stream.DualAscentRegressor


@described
@dataclass(kw_only=True, eq=False, repr=False)
class GradientDescentRegressor(Regressor, GradientDescentOptions):
    """Online gradient descent on the squared loss, with a constant learning rate.

    Use it as a baseline. With ``rate=None`` the first example determines the rate: set it unless all examples have
    about the same norm. There is no intercept: add a constant feature.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from onmargin.river import GradientDescentRegressor
    >>> model = preprocessing.StandardScaler() | GradientDescentRegressor(rate=0.01)
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 2.264544
    """

    learner = stream.GradientDescentRegressor


@described
@dataclass(kw_only=True, eq=False, repr=False)
class ExponentiatedGradientRegressor(Regressor, ExponentiatedGradientOptions):
    """Exponentiated gradient: regression with weights on the simplex.

    Use it where the target is a mixture of few of very many features. It requires hashed names. With ``rate=None`` the
    first example determines the rate.

    Examples
    --------
    >>> from onmargin.features import RecordFeatures
    >>> from onmargin.river import ExponentiatedGradientRegressor
    >>> model = ExponentiatedGradientRegressor(features=RecordFeatures(n_features=2**4), rate=1.0)
    >>> for day in range(200):
    ...     model.learn_one({"wind": day % 5, "sun": day % 3}, 0.5 * (day % 5) + 0.5 * (day % 3))
    >>> round(model.predict_one({"wind": 4, "sun": 2}), 1)
    3.0
    """

    learner = stream.ExponentiatedGradientRegressor


@described
@dataclass(kw_only=True, eq=False, repr=False)
class OnlineLogisticClassifier(Classifier, OnlineLogisticOptions):
    """Online logistic regression: gradient descent on the log loss, binary and multiclass.

    Use it if the probabilities matter more than the number of mistakes. Unlike
    ``river.linear_model.LogisticRegression``, it learns any number of classes.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from onmargin.river import OnlineLogisticClassifier
    >>> model = preprocessing.StandardScaler() | OnlineLogisticClassifier()
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 89.67%
    """

    learner = stream.OnlineLogisticClassifier


@described
@dataclass(kw_only=True, eq=False, repr=False)
class PassiveAggressiveUniclass(AnomalyDetector, UniclassOptions):
    """Anomaly detection with a passive-aggressive uniclass learner: an enclosing ball, updated online.

    Use it like any river anomaly detector, if normal examples form one cluster. Scale the features first.

    Examples
    --------
    >>> from onmargin.river import PassiveAggressiveUniclass
    >>> model = PassiveAggressiveUniclass(C=0.1)
    >>> for i in range(100):
    ...     model.learn_one({"load": 0.5 + i % 3 / 10})
    >>> round(model.score_one({"load": 0.6}), 1), round(model.score_one({"load": 9.6}), 1)
    (0.0, 1.0)
    """

    learner = stream.PassiveAggressiveUniclass


@described
@dataclass(kw_only=True, eq=False, repr=False)
class LabelRanker(MultiLabelClassifier, LabelRankerOptions):
    """Label ranking for multi-label data: every relevant label should score above every other label by a margin.

    Use it like any river multi-label classifier, for tags and topics. `predict_one` needs ``calibrate=True``; the
    ranking is ``model.model.rank_one(x)``.

    Examples
    --------
    >>> from onmargin.river import LabelRanker
    >>> model = LabelRanker()
    >>> for _ in range(5):
    ...     model.learn_one({"sun": 1, "waves": 1}, {"beach": True, "winter": False})
    ...     model.learn_one({"snow": 1}, {"beach": False, "winter": True})
    >>> model.predict_one({"waves": 1})
    {'beach': True, 'winter': False}
    """

    learner = stream.LabelRanker


@described
@dataclass(kw_only=True, eq=False, repr=False)
class OrdinalRegressor(Classifier, OrdinalRegressorOptions):
    """Ordinal regression: one linear score, and thresholds that divide it into ranks.

    Use it like any river classifier, if the classes have an order, such as ratings.

    Parameters
    ----------
    ranks : sequence of str or int
        The ranks from low to high, at least two.

    Examples
    --------
    >>> from onmargin.river import OrdinalRegressor
    >>> model = OrdinalRegressor(ranks=["bad", "fair", "good"])
    >>> for _ in range(5):
    ...     model.learn_one({"awful": 1}, "bad")
    ...     model.learn_one({"decent": 1}, "fair")
    ...     model.learn_one({"great": 1}, "good")
    >>> model.predict_one({"great": 1})
    'good'
    """

    learner = stream.OrdinalRegressor
