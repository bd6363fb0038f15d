"""Prometheus figures. Labels are route templates and closed sets: no id, title or text."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

__all__ = ["CONTENT_TYPE", "Metrics"]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Metrics:
    """The figures of one server; each has its own registry, so that tests do not share any."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Histogram(
            "tideline_http_request_seconds",
            "Time to answer, by route template.",
            ("route", "method", "status"),
            registry=self.registry,
            buckets=_SECONDS,
        )
        self.connections = Gauge(
            "tideline_websocket_connections", "Open editors.", registry=self.registry
        )
        self._rooms = Gauge("tideline_rooms", "Documents in memory.", registry=self.registry)
        self.edits = Counter("tideline_edits", "Edits committed.", registry=self.registry)
        self._commits = Histogram(
            "tideline_commit_seconds",
            "Time from command to durable commit.",
            registry=self.registry,
            buckets=_SECONDS,
        )
        self._runs = Counter(
            "tideline_runs", "Runs ended.", ("state", "stop_reason"), registry=self.registry
        )
        self._passes = Counter("tideline_passes", "Passes of ended runs.", registry=self.registry)
        self._run_seconds = Histogram(
            "tideline_run_seconds",
            "Time from request to the end of a run.",
            registry=self.registry,
            buckets=_SECONDS,
        )
        self.dropped_frames = Counter(
            "tideline_dropped_pass_frames",
            "Pass frames replaced by a newer one before they were sent.",
            registry=self.registry,
        )
        self.dropped_connections = Counter(
            "tideline_dropped_connections",
            "Editors closed because they did not keep up.",
            registry=self.registry,
        )

    def observe_request(self, route: str, method: str, status: int, total_s: float) -> None:
        self._requests.labels(route, method, str(status)).observe(total_s)

    def set_rooms(self, count: int) -> None:
        self._rooms.set(count)

    def observe_commit(self, total_s: float) -> None:
        self._commits.observe(total_s)

    def observe_run(self, state: str, stop_reason: str, passes: int, total_s: float) -> None:
        self._runs.labels(state, stop_reason).inc()
        self._passes.inc(passes)
        self._run_seconds.observe(total_s)

    def render(self) -> bytes:
        """Return the text format that Prometheus scrapes."""
        return generate_latest(self.registry)
