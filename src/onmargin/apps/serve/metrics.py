"""Metrics of a service, for Prometheus and for the page."""

import time
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

# Upper ends of the histogram buckets in seconds.
ENDS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Times:
    """Histogram of durations."""

    def __init__(self) -> None:
        self.counts = [0] * (len(ENDS) + 1)
        self.sum = 0.0

    def observe(self, seconds: float) -> None:
        self.counts[bisect_left(ENDS, seconds)] += 1
        self.sum += seconds

    @property
    def n(self) -> int:
        return sum(self.counts)

    def lines(self, name: str, labels: str) -> list[str]:
        lines, below = [], 0
        for end, count in zip((*map(str, ENDS), "+Inf"), self.counts, strict=True):
            below += count
            lines.append(f'{name}_bucket{{{labels}le="{end}"}} {below}')
        labels = f"{{{labels.rstrip(',')}}}" if labels else ""
        return [*lines, f"{name}_sum{labels} {self.sum}", f"{name}_count{labels} {below}"]


def quantile(counts: Sequence[int], q: float) -> float | None:
    """Return the upper end of the bucket that contains a quantile, or None if there are no counts."""
    total = sum(counts)
    rest = q * total
    for end, count in zip((*ENDS, ENDS[-1]), counts, strict=True):
        rest -= count
        if rest <= 0 and total:
            return end
    return None


class Throughput:
    """Number of examples that a model has learned and predicted, in total and in the last minutes."""

    SECONDS = 5  # length of a bucket
    BUCKETS = 120

    def __init__(self) -> None:
        self.learned = 0
        self.predicted = 0
        self._buckets: dict[int, list[int]] = {}

    def count(self, learned: int = 0, predicted: int = 0) -> None:
        self.learned += learned
        self.predicted += predicted
        now = int(time.monotonic() // self.SECONDS)
        if (bucket := self._buckets.get(now)) is None:
            bucket = self._buckets[now] = [0, 0]
            while len(self._buckets) > self.BUCKETS:
                del self._buckets[next(iter(self._buckets))]
        bucket[0] += learned
        bucket[1] += predicted

    def history(self) -> list[tuple[float, float, float]]:
        """Return tuples of seconds ago and examples learned and predicted per second, the oldest first.

        The bucket that is being filled is omitted.
        """
        moment = time.monotonic()
        now = int(moment // self.SECONDS)
        first = max(min(self._buckets, default=now), now - self.BUCKETS)
        rows = ((k, self._buckets.get(k, (0, 0))) for k in range(first, now))
        return [(moment - (k + 0.5) * self.SECONDS, n / self.SECONDS, m / self.SECONDS) for k, (n, m) in rows]


class Metrics:
    """Counters since the service started."""

    def __init__(self) -> None:
        self.learned = 0
        self.predicted = 0
        self.refused = 0
        self.refused_full = 0
        self.disk_full = False  # since the last request to learn
        self.failed_snapshots = 0
        self.dropped = 0
        self.commits = Times()
        self.requests: dict[str, Times] = {"learn": Times(), "predict": Times(), "other": Times()}
        self.statuses: dict[int, int] = {}

    def observe(self, kind: str, status: int, seconds: float) -> None:
        """Count an answer."""
        self.requests.get(kind, self.requests["other"]).observe(seconds)
        self.statuses[status] = self.statuses.get(status, 0) + 1

    def problem(self, service: Any) -> str | None:
        """Return the reason why nothing is learned; None if there is none."""
        full = "the disk is full: nothing is learned until there is room" if self.disk_full else None
        return service.problem or full

    def text(self, service: Any) -> str:
        """Return all metrics in Prometheus format."""
        lines: list[str] = []

        def family(name: str, kind: str, words: str, *samples: str) -> None:
            lines.extend((f"# HELP onmargin_{name} {words}", f"# TYPE onmargin_{name} {kind}"))
            lines.extend(f"onmargin_{sample}" for sample in samples)

        def by_model(name: str, kind: str, words: str, value: Any) -> None:
            family(name, kind, words, *(f'{name}{{model="{m.name}"}} {value(m)}' for m in service.models.values()))

        family("learned_total", "counter", "Examples learned.", f"learned_total {self.learned}")
        family("predicted_total", "counter", "Examples predicted.", f"predicted_total {self.predicted}")
        family("refused_total", "counter", "Requests to learn that were refused.", f"refused_total {self.refused}")
        full = f"refused_full_total {self.refused_full}"
        family("refused_full_total", "counter", "Requests to learn that were refused because the disk is full.", full)
        family("waiting", "gauge", "Examples that wait to be learned.", f"waiting {service.waiting}")
        learning = f"learning {int(self.problem(service) is None)}"
        family("learning", "gauge", "1 while the journal can be written.", learning)
        failures = f"failed_snapshots_total {self.failed_snapshots}"
        family("failed_snapshots_total", "counter", "Snapshots that could not be written.", failures)
        dropped = f"dropped_predictions_total {self.dropped}"
        family("dropped_predictions_total", "counter", "Kept predictions dropped without a label.", dropped)
        answers = (f'answers_total{{status="{status}"}} {n}' for status, n in sorted(self.statuses.items()))
        family("answers_total", "counter", "Answers by status.", *answers)
        times = (t for kind, seen in self.requests.items() for t in seen.lines("request_seconds", f'kind="{kind}",'))
        family("request_seconds", "histogram", "Time to an answer.", *times)
        family("commit_seconds", "histogram", "Time to write a group.", *self.commits.lines("commit_seconds", ""))
        by_model("seq", "gauge", "Examples learned by a model.", lambda m: m.state.seq)
        by_model(
            "mistakes", "gauge", "Mistakes, each made before learning.", lambda m: m.state.progressive.mistakes or 0
        )
        by_model("loss", "gauge", "Losses, each suffered before learning.", lambda m: m.state.totals.loss)
        by_model("changes", "gauge", "Times that mistakes became more frequent since the start.", lambda m: m.changes)
        by_model("kept_predictions", "gauge", "Predictions whose labels have not arrived.", lambda m: m.n_kept)
        by_model("features", "gauge", "Features of a model.", lambda m: m.state.learner.features)
        return "\n".join(lines) + "\n"
