"""Has the stream changed? An alarm on what a learner gets wrong."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from onmargin._core.alarm import AdaptiveWindow
from onmargin.models.rules import Number, Rule, Word, check_parameters

_NUMBERS = (float, int, np.bool_, Real)  # the usual ones first, which is quicker


class ChangeAlarm:
    r"""An alarm that goes off where the losses of a learner rise, with nothing to tune.

    It keeps the losses as far back as their mean has not changed: a window W, which grows as long as the stream stays
    what it is. Where some cut of W into an older part :math:`W_0` and a newer part :math:`W_1` has

    .. math:: |\mu_0 - \mu_1| > \sqrt{\tfrac2m \sigma^2 \ln\tfrac2{\delta'}} + \tfrac2{3m} \ln\tfrac2{\delta'},
        \qquad \tfrac1m = \tfrac1{|W_0|} + \tfrac1{|W_1|}, \qquad \delta' = \frac\delta{\max(1, \ln|W|)},

    with :math:`\sigma^2` the variance of W, the older part is forgotten.

    Use it beside a learner in service: give it 1 for a mistake and 0 otherwise, before the example is learned. An alarm
    says that a new model, a larger C or a look at the data is due. It needs some hundred losses to know what is usual;
    where the old stream and the new are known, compare them directly. :func:`onmargin.evaluate.progressive` plays a
    stream with one.

    Parameters
    ----------
    delta : float, default=0.002
        About how often an alarm in a stream without change is allowed at each round, between 0 and 1. Smaller is
        quieter and slower.
    direction : {"rise", "both"}, default="rise"
        Which changes raise the alarm. A learner's losses fall while it learns, which is no change of the stream; the
        window forgets them all the same. "both": falls do so too.
    buckets : int, default=5
        The losses are kept in sums of 1, 2, 4, ... losses, at most so many of each, and the window is cut between sums
        only. More of them find a change a little sooner, for more memory and time.

    Attributes
    ----------
    changes_ : list of int
        The rounds at which the alarm went off, counted from 1.
    mean_ : float
        Mean of the losses in the window: what the learner loses now. nan before the first loss.
    width_ : int
        Losses in the window.
    rounds_ : int
        Losses seen.

    See Also
    --------
    progressive : Lets a model predict and learn a stream, with an alarm if one is given.

    Notes
    -----
    The algorithm ADWIN2 of [ADWIN]. A loss costs O(log of the width) memory and time. With a threshold of Hoeffding's
    kind the paper proves that, as long as nothing has changed, a round forgets anything with probability at most delta
    (theorem 3.1). The threshold above is its sharper one by the variance, which rests on the normal approximation; on
    streams without change it has stayed well below delta. After a change from a mean loss of :math:`\mu_0` to
    :math:`\mu_1` the alarm comes after about :math:`2 \sigma^2 \ln(2/\delta') / (\mu_1 - \mu_0)^2 + 2 \ln(2/\delta') /
    3(\mu_1 - \mu_0)` rounds, if many came before.

    Two deviations. W is cut where the means differ by the largest multiple of the threshold, where the paper drops the
    oldest losses bit by bit and finds the same change again and again. And :math:`\delta'` is never above delta, also
    where the window has one or two losses.

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
        """Take in the loss of a round.

        Parameters
        ----------
        loss : float or bool
            From 0 to 1, such as True for a mistake.

        Returns
        -------
        alarm : bool
            Whether the alarm goes off: here the losses are known to have changed.
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
        """Losses in the window."""
        return self._window.width

    def __repr__(self) -> str:
        return f"ChangeAlarm(delta={self.delta!r}, direction={self.direction!r}, buckets={self.buckets!r})"
