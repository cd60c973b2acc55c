"""Certificates for the examples in the journal: the same learner on the same stream, as a matrix.

Finding the best competitor takes time and a whole core, so it runs in a separate process, which reads the name of the
learner, its task and parameters, and then the examples as lines of JSON, and exits after its answer.
"""

import asyncio
import os
import sys
from inspect import signature
from typing import Any

import msgspec
import numpy as np

from onmargin.apps.serve import schema
from onmargin.apps.serve.journal import ModelRow
from onmargin.apps.serve.json_learner import JsonLearner, Room, read
from onmargin.apps.serve.problems import ConflictError
from onmargin.apps.serve.restoring import learner_of
from onmargin.apps.serve.state import decode

N_POINTS = 200  # number of points of the curve


async def spawn_certificate(kept: ModelRow, bodies: list[bytes]) -> schema.Certificate:
    """Return a certificate from a separate process, which is ended if the caller is canceled."""
    # -P: do not import modules from the folder in which the service was started.
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", __name__, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    try:
        given = b"\n".join([msgspec.json.encode(learner_of(kept)[:3]), *bodies])
        answer, _ = await process.communicate(given)
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()  # also to the end of its output, so that nothing of it is left open
    if process.returncode == 0:
        return msgspec.json.decode(answer, type=schema.Certificate)
    raise ConflictError(answer.decode() or "the examples could not be certified")


def main() -> None:
    """Run the process, from standard input to standard output."""
    if hasattr(os, "nice"):
        os.nice(10)
    first, *bodies = sys.stdin.buffer.read().split(b"\n")
    model, task, parameters = msgspec.json.decode(first)
    learner = JsonLearner.begin(model, task, parameters, Room())
    try:
        answer = msgspec.json.encode(certificate(learner, [decode(body) for body in bodies]))
    except ConflictError as error:
        sys.stdout.write(str(error))
        sys.exit(1)
    sys.stdout.buffer.write(answer)


def check_certifiable(learner: JsonLearner) -> None:
    """Refuse learners that no theorem covers, whatever the examples."""
    if learner.reading.idf:
        raise ConflictError("no theorem covers texts whose features change their weights (idf)")
    if learner.n_models > 1:
        raise ConflictError("no theorem covers several models at once: see the progress of each model")


def certificate(learner: JsonLearner, examples: list[schema.Example]) -> schema.Certificate:
    """Return the bound of a theorem on these examples, and the result of the learner on them."""
    if any(example.weight != 1 for example in examples):
        raise ConflictError("no theorem covers examples with weights")
    check_certifiable(learner)
    learner.learn(examples[0])  # determines the kind of the examples
    import onmargin
    from onmargin.theory import certify

    kind = getattr(onmargin, type(learner.model).__name__)
    given = learner.model.get_params()
    model = kind(**{name: given[name] for name in signature(kind).parameters if name in given})
    X = _matrix(learner, [read(learner.task, example.x) for example in examples])
    y = None if learner.task == "novelty" else [example.y for example in examples]
    try:
        found = certify(model, X, y, classes=getattr(learner.model, "ranks", None))
    except ValueError as error:  # no theorem, or a stream without one, such as a single class
        raise ConflictError(str(error)) from error
    bounds = found.along()
    rounds = np.unique(np.linspace(min(1, len(bounds)), len(bounds), N_POINTS).astype(int))
    return schema.Certificate(
        found.theorem,
        found.counted,
        len(examples),
        float(found.suffered),
        float(found.bound),
        found.holds,
        [schema.Condition(one.needs, one.measured, bool(one.met)) for one in found.conditions],
        [(int(t), float(bounds[t - 1])) for t in rounds if t],
    )


def _matrix(learner: JsonLearner, X: list[Any]) -> Any:
    """Return the examples as rows; sequences are unchanged."""
    if learner.task == "tag":
        return X
    if isinstance(X[0], np.ndarray):
        return np.array(X, dtype=learner.reading.dtype)
    names = learner.reading.index()
    reader = learner.reading.reader(names)
    for x in X:
        reader.read(x)
    from scipy import sparse

    return sparse.csr_array(reader.arrays(), shape=(len(X), max(1, len(names))))


if __name__ == "__main__":
    main()
