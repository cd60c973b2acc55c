"""Passive-aggressive models for river: its interface, and the compiled learners of ``onmargin.stream`` behind it."""

from typing import Any

from river import base

from onmargin import stream

__all__ = ["PassiveAggressiveClassifier", "PassiveAggressiveRegressor", "PassiveAggressiveUniclass"]


def _named(x: dict[Any, Any]) -> dict[Any, Any]:
    """An example whose features have strings for names; river takes anything for one."""
    if not x or type(next(iter(x))) is str:
        return x
    return {str(name): value for name, value in x.items()}


class PassiveAggressiveClassifier(base.Classifier):  # type: ignore[misc]
    """Passive-aggressive classifier, binary and multiclass.

    Use it as any classifier of river: in pipelines, in ``evaluate.progressive_val_score``, beside other models. Unlike
    ``river.linear_model.PAClassifier`` it learns any number of classes, jointly, and counts the intercept in the norm
    of an example. It predicts labels, not probabilities.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness, above 0. Smaller is more cautious and better under noise; ``inf`` gives plain PA.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        "hinge" is PA-I, "squared_hinge" is PA-II.
    update : str, default="max"
        Which rivals of the right class a round moves, as for :class:`onmargin.PassiveAggressiveClassifier`.
    strategy : {"joint", "ovr"}, default="joint"
        With more than two classes, "joint" learns the right class against its best rival, "ovr" each class against
        all others.
    fit_intercept : bool, default=True
        Whether to learn an intercept.
    intercept_scaling : "auto" or float, default="auto"
        Value of its coordinate, above 0. "auto" is 0.3 times the norm of the first example that is not zero.
    average : bool or int, default=False
        Whether to predict with the mean of the weights after each round; an integer above 1 is the round it starts at.
    n_features : int or None, default=None
        None: weights grow with the names of features. A power of two: names are hashed to so many places.

    Attributes
    ----------
    model : onmargin.stream.Classifier
        The learner, with its weights and explanations; ``onmargin.save`` takes it.

    See Also
    --------
    onmargin.stream.Classifier : The same with text, vectors, weights and explanations.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from onmargin.river import PassiveAggressiveClassifier
    >>> model = preprocessing.StandardScaler() | PassiveAggressiveClassifier(C=0.01, average=True)
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 88.79%
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        loss: str = "hinge",
        update: str = "max",
        strategy: str = "joint",
        fit_intercept: bool = True,
        intercept_scaling: float | str = "auto",
        average: bool | int = False,
        n_features: int | None = None,
    ) -> None:
        self.C = C
        self.loss = loss
        self.update = update
        self.strategy = strategy
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.average = average
        self.n_features = n_features
        self.model = stream.Classifier(**self._get_params())

    @property
    def _multiclass(self) -> bool:
        return True

    def learn_one(self, x: dict[Any, Any], y: Any) -> None:
        """Learn an example.

        Parameters
        ----------
        x : dict
            Features by name: numbers or categories.
        y : bool or int or str
            Its label.
        """
        self.model.learn_one(_named(x), y)

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> Any:
        """The class of highest score.

        Parameters
        ----------
        x : dict
            Features by name.
        **kwargs : dict
            Not used, present for river's sake.

        Returns
        -------
        label : bool or int or str or None
            A label. None: nothing was learned yet.
        """
        return self.model.predict_one(_named(x))


class PassiveAggressiveRegressor(base.Regressor):  # type: ignore[misc]
    """Passive-aggressive regressor.

    Use it as any regressor of river. Unlike ``river.linear_model.PARegressor`` it counts the intercept in the norm of
    an example, so that a step reaches the tube and not beyond. Scale the features first.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness, above 0. Smaller is more cautious and better under noise; ``inf`` gives plain PA.
    epsilon : float, default=0.1
        Half the width of the tube in which predictions are right; at least 0.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        The first is PA-I, the second PA-II.
    fit_intercept : bool, default=True
        Whether to learn an intercept.
    intercept_scaling : "auto" or float, default="auto"
        Value of its coordinate, above 0. "auto" is 0.3 times the norm of the first example that is not zero.
    average : bool or int, default=False
        Whether to predict with the mean of the weights after each round; an integer above 1 is the round it starts at.
    n_features : int or None, default=None
        None: weights grow with the names of features. A power of two: names are hashed to so many places.

    Attributes
    ----------
    model : onmargin.stream.Regressor
        The learner, with its weights and explanations; ``onmargin.save`` takes it.

    See Also
    --------
    onmargin.stream.Regressor : The same with text, vectors, weights and explanations.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from onmargin.river import PassiveAggressiveRegressor
    >>> model = preprocessing.StandardScaler() | PassiveAggressiveRegressor()
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 1.003348
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        epsilon: float = 0.1,
        loss: str = "epsilon_insensitive",
        fit_intercept: bool = True,
        intercept_scaling: float | str = "auto",
        average: bool | int = False,
        n_features: int | None = None,
    ) -> None:
        self.C = C
        self.epsilon = epsilon
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.average = average
        self.n_features = n_features
        self.model = stream.Regressor(**self._get_params())

    def learn_one(self, x: dict[Any, Any], y: float) -> None:
        """Learn an example.

        Parameters
        ----------
        x : dict
            Features by name: numbers or categories.
        y : float
            Its target.
        """
        self.model.learn_one(_named(x), y)

    def predict_one(self, x: dict[Any, Any]) -> float:
        """The predicted target.

        Parameters
        ----------
        x : dict
            Features by name.

        Returns
        -------
        y : float
            A number; 0 if nothing was learned yet.
        """
        return self.model.predict_one(_named(x))


class PassiveAggressiveUniclass(base.AnomalyDetector):  # type: ignore[misc]
    """Passive-aggressive uniclass learner: what is far from the centre of a stream is an anomaly.

    Use it as any anomaly detector of river, where the usual examples are one cloud. Scale the features first.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness, above 0: the farthest the centre moves for one example (PA-I).
    epsilon : float, default=0.1
        The radius with ``radius="fixed"``; at least 0.
    radius : {"fixed", "learn"}, default="fixed"
        "learn": the radius grows with what is seen, and never beyond `max_radius`.
    max_radius : float or None, default=None
        The bound on a learned radius, above 0. Needed with ``radius="learn"``.
    init : {"first", "zero"}, default="first"
        Where the centre starts: at the first example, or at the origin.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        The first is PA-I, the second PA-II.
    n_features : int or None, default=None
        None: the centre grows with the names of features. A power of two: names are hashed to so many places.

    Attributes
    ----------
    model : onmargin.stream.Uniclass
        The learner, with its centre and explanations; ``onmargin.save`` takes it.

    See Also
    --------
    onmargin.stream.Uniclass : The same with text, vectors and explanations.

    Examples
    --------
    >>> from onmargin.river import PassiveAggressiveUniclass
    >>> model = PassiveAggressiveUniclass(C=0.1)
    >>> for i in range(100):
    ...     model.learn_one({"load": 0.5 + i % 3 / 10})
    >>> round(model.score_one({"load": 0.6}), 1), round(model.score_one({"load": 9.6}), 1)
    (-0.1, 8.9)
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        epsilon: float = 0.1,
        radius: str = "fixed",
        max_radius: float | None = None,
        init: str = "first",
        loss: str = "epsilon_insensitive",
        n_features: int | None = None,
    ) -> None:
        self.C = C
        self.epsilon = epsilon
        self.radius = radius
        self.max_radius = max_radius
        self.init = init
        self.loss = loss
        self.n_features = n_features
        self.model = stream.Uniclass(**self._get_params())

    def learn_one(self, x: dict[Any, Any]) -> None:
        """Learn an example.

        Parameters
        ----------
        x : dict
            Features by name: numbers or categories.
        """
        self.model.learn_one(_named(x))

    def score_one(self, x: dict[Any, Any]) -> float:
        """How far outside the ball an example is.

        Parameters
        ----------
        x : dict
            Features by name.

        Returns
        -------
        score : float
            The distance from the centre less the radius: the higher, the more unusual; 0 if nothing was learned yet.
        """
        return -self.model.scores_one(_named(x))
