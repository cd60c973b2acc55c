"""What a request can run into; each has its HTTP status."""


class ProblemError(Exception):
    """A request that is not granted, and why, for the client."""

    status = 400
    retry_after: int | None = None

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status or self.status


class BadExampleError(ProblemError):
    """An example that the model cannot learn or predict; nothing has changed."""

    status = 422


class NoModelError(ProblemError):
    """A name that no model has."""

    status = 404


class ConflictError(ProblemError):
    """What is asked for does not go with what is there."""

    status = 409


class BusyError(ProblemError):
    """Too many requests: try again later."""

    status = 429

    def __init__(self, message: str, retry_after: int = 1) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class DiskError(ProblemError):
    """The journal could not be written: what was sent is not learned."""

    status = 503
