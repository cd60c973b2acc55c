"""Change detection (ADWIN) on the losses of a learner."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from onmargin._core.alarm import AdaptiveWindow
from onmargin.models.rules import Number, Rule, Word, check_parameters

_NUMBERS = (float, int, np.bool_, Real)  # the most common types first, for speed


class ChangeAlarm:
    r"""Change detection (ADWIN): an alarm when the losses of a learner rise, with no parameters to tune.

    It keeps a window W of the most recent losses, as far back as their mean has not changed. The window grows while the
    stream does not change. If some cut of W into an older part :math:`W_0` and a newer part :math:`W_1` satisfies

    .. math:: |\mu_0 - \mu_1| > \sqrt{\tfrac2m \sigma^2 \ln\tfrac2{\delta'}} + \tfrac2{3m} \ln\tfrac2{\delta'},
        \qquad \tfrac1m = \tfrac1{|W_0|} + \tfrac1{|W_1|}, \qquad \delta' = \frac\delta{\max(1, \ln|W|)},

    with :math:`\sigma^2` the variance of W, the older part is dropped.

    Use it to monitor a learner in production: pass 1 for a mistake and 0 otherwise, before the example is learned. An
    alarm is a reason to train a new model, to use a larger C or to inspect the data. The alarm needs a few hundred
    losses to estimate the usual mean. If it is known where the old stream ends and the new one begins, compare them
    directly. :func:`onmargin.evaluate.progressive` accepts an alarm.

    Parameters
    ----------
    delta : float, default=0.002
        Approximate probability of a false alarm in each round of a stream without change, between 0 and 1. Smaller
        values give fewer false alarms and detect changes later.
    direction : {"rise", "both"}, default="rise"
        Which changes raise the alarm. While a learner learns, its losses fall, although the stream does not change;
        with "rise", such a fall only shortens the window. With "both", it also raises the alarm.
    buckets : int, default=5
        The losses are kept as sums of 1, 2, 4, ... losses, with at most this many sums of each size, and the window is
        cut only between sums. Larger values detect a change slightly earlier and take more memory and time.

    Attributes
    ----------
    changes_ : list of int
        The rounds at which the alarm went off, counted from 1.
    mean_ : float
        Mean of the losses in the window: the current loss of the learner. It is nan before the first loss.
    width_ : int
        Number of losses in the window.
    rounds_ : int
        Number of losses seen.

    See Also
    --------
    progressive : Test-then-train evaluation of a model on a stream, optionally with an alarm.

    Notes
    -----
    This is the algorithm ADWIN2 of [ADWIN]. A loss costs O(log of the width) memory and time. For a Hoeffding threshold
    the paper proves that, while the stream does not change, a round drops losses with probability at most delta
    (theorem 3.1). The threshold above is the paper's sharper, variance-based one, which relies on the normal
    approximation; on streams without change the rate of alarms has stayed well below delta. After a change of the mean
    loss from :math:`\mu_0` to :math:`\mu_1` the alarm comes after about :math:`2 \sigma^2 \ln(2/\delta') / (\mu_1 -
    \mu_0)^2 + 2 \ln(2/\delta') / 3(\mu_1 - \mu_0)` rounds, if there were many rounds before the change.

    There are two deviations from the paper. W is cut where the difference of the means is the largest multiple of the
    threshold, whereas the paper drops the oldest losses bit by bit and detects the same change repeatedly. And
    :math:`\delta'` is never above delta, even if the window has only one or two losses.

    References
    ----------
    [ADWIN] A. Bifet, R. Gavaldà, *Learning from Time-Changing Data with Adaptive Windowing*, Proceedings of the SIAM
    International Conference on Data Mining, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from onmargin.evaluate import ChangeAlarm
    >>> random = np.random.default_rng(0)
    >>> alarm = ChangeAlarm()
    >>> mistakes = np.concatenate([random.random(1000) < 0.1, random.random(200) < 0.5])
    >>> [t for t, mistake in enumerate(mistakes, start=1) if alarm.update(mistake)]
    [1018]
    >>> alarm.width_, round(alarm.mean_, 2)
    (208, 0.5)
    """

    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = {
        "delta": (Number(0, 1, above=True, below=True),),
        "direction": (Word("rise", "both"),),
        "buckets": (Number(1, 2**16, whole=True),),
    }

    changes_: list[int]
    rounds_: int

    def __init__(self, delta: float = 0.002, *, direction: str = "rise", buckets: int = 5) -> None:
        self.delta = delta
        self.direction = direction
        self.buckets = buckets
        check_parameters(self, self._rules)
        self.changes_ = []
        self.rounds_ = 0
        self._window = AdaptiveWindow(float(delta), int(buckets))

    def update(self, loss: Any) -> bool:
        """Add the loss of a round.

        Parameters
        ----------
        loss : float or bool
            The loss, from 0 to 1, such as True for a mistake.

        Returns
        -------
        alarm : bool
            Whether a change of the losses is detected in this round.
        """
        number: Any = loss if isinstance(loss, _NUMBERS) else np.nan
        if not 0 <= number <= 1:
            raise ValueError(f"loss must be a number from 0 to 1, such as 1 for a mistake; got {loss!r:.100}")
        change = self._window.update(float(number))
        self.rounds_ += 1
        alarm = change > 0 or (change < 0 and self.direction == "both")
        if alarm:
            self.changes_.append(self.rounds_)
        return alarm

    @property
    def mean_(self) -> float:
        """Mean of the losses in the window."""
        return self._window.mean

    @property
    def width_(self) -> int:
        """Number of losses in the window."""
        return self._window.width

    def __repr__(self) -> str:
        return f"ChangeAlarm(delta={self.delta!r}, direction={self.direction!r}, buckets={self.buckets!r})"
