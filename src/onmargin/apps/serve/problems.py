"""Errors of requests, with their HTTP status."""


class ProblemError(Exception):
    """Error with the reason why a request is refused, for the client."""

    status = 400
    retry_after: int | None = None

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status or self.status


class BadExampleError(ProblemError):
    """An example that the model cannot learn or predict; nothing has changed."""

    status = 422


class NoModelError(ProblemError):
    """There is no model with this name."""

    status = 404


class ConflictError(ProblemError):
    """The request conflicts with the current state."""

    status = 409


class BusyError(ProblemError):
    """Too many requests: try again later."""

    status = 429

    def __init__(self, message: str, retry_after: int = 1) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class DiskError(ProblemError):
    """The journal could not be written, and the examples sent are not learned."""

    status = 503
