"""Exceptions with data attributes, so that callers need not parse messages."""

from collections.abc import Iterable


class ExampleError(ValueError):
    """Exception for an example that cannot be learned.

    Parameters
    ----------
    reason : str
        The problem with the example.
    index : int
        Position of the example in the call, from 0.

    Attributes
    ----------
    reason : str
        The problem with the example, without its position.
    index : int
        Position of the example in the call, from 0. The examples before it were learned.

    Examples
    --------
    >>> from onmargin import ExampleError
    >>> from onmargin.stream import PassiveAggressiveRegressor
    >>> model = PassiveAggressiveRegressor()
    >>> try:
    ...     model.learn_many([{"size": 1.0}, {"size": float("inf")}], [1.0, 2.0])
    ... except ExampleError as error:
    ...     print(error.index, model.totals_.rounds)
    1 1
    """

    def __init__(self, reason: str, index: int) -> None:
        super().__init__(reason, index)
        self.reason = reason
        self.index = index

    def __str__(self) -> str:
        return f"example {self.index}: {self.reason}"

    @classmethod
    def wrap(cls, error: Exception, index: int) -> "ExampleError":
        """Return an error that says which example caused another error.

        Parameters
        ----------
        error : Exception
            The error that the example caused.
        index : int
            Position of the example in the call, from 0.

        Returns
        -------
        wrapped : ExampleError
            The error to raise. If `error` is a TypeError, so is this.
        """
        kind = ExampleTypeError if isinstance(error, TypeError) else cls
        return kind(str(error), index)


class ExampleTypeError(ExampleError, TypeError):
    """Exception for an example that cannot be learned because it, its target or its weight has a wrong type."""


class ParameterError(ValueError):
    """Exception for parameters with invalid or incompatible values.

    Parameters
    ----------
    problem : str
        The problem, with the accepted and the given values.
    names : iterable of str
        Names of the parameters.
    advice : str, default=""
        The call that fixes it, as a sentence without the period.

    Attributes
    ----------
    problem : str
        The problem, with the accepted and the given values.
    names : tuple of str
        Names of the parameters.
    advice : str
        The call that fixes it; empty if there is none.

    Examples
    --------
    >>> from onmargin import ParameterError
    >>> error = ParameterError("C must be greater than 0; got -1", ["C"], "Set it with set_params(C=...)")
    >>> error.names
    ('C',)
    >>> str(error)
    'C must be greater than 0; got -1. Set it with set_params(C=...).'
    """

    def __init__(self, problem: str, names: Iterable[str], advice: str = "") -> None:
        self.problem = problem
        self.names = tuple(names)
        self.advice = advice
        super().__init__(problem, self.names, advice)

    def __str__(self) -> str:
        return f"{self.problem}. {self.advice}." if self.advice else self.problem
