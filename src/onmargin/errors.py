"""Errors that carry data, so that nobody has to parse a message."""

from collections.abc import Iterable


class ParameterError(ValueError):
    """A parameter has a value that is not accepted, or parameters do not go together.

    Parameters
    ----------
    message : str
        What was wrong, what is accepted, and how to fix it.
    names : iterable of str
        The parameters concerned.

    Attributes
    ----------
    names : tuple of str
        The parameters concerned.
    """

    def __init__(self, message: str, names: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.names = tuple(names)


class ExampleError(ValueError):
    """An example of several was refused; those before it were learned.

    Parameters
    ----------
    message : str
        What was wrong with it.
    index : int
        Which example it was, counted from 0.

    Attributes
    ----------
    index : int
        Which example it was, counted from 0.
    """

    def __init__(self, message: str, index: int) -> None:
        super().__init__(message)
        self.index = index
