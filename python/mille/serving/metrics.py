"""What /metrics counts, in the text form of Prometheus."""
from __future__ import annotations

import prometheus_client as prometheus
from prometheus_client.core import GaugeMetricFamily

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .models import Model


class Metrics:
    """The counters of one server."""
    type = prometheus.CONTENT_TYPE_LATEST

    def __init__(self, models: dict[str, Model]):
        self.models = models
        self.registry = prometheus.CollectorRegistry()
        self.requests = prometheus.Counter(
            "mille_requests", "Requests that were answered",
            ["path", "status"], registry=self.registry)
        self.seconds = prometheus.Histogram(
            "mille_request_seconds", "Time from a request to its answer",
            ["path"], registry=self.registry)
        self.tokens = prometheus.Counter(
            "mille_tokens", "Tokens that were computed", ["model"], registry=self.registry)
        self.registry.register(self)

    def collect(self) -> list[GaugeMetricFamily]:
        """What the queues say at this moment."""
        waiting = GaugeMetricFamily("mille_waiting_texts",
                                    "Texts that wait for a batch",
                                    labels=["model"])
        batches = GaugeMetricFamily("mille_batches", "Batches that have run",
                                    labels=["model"])
        for name, model in self.models.items():
            waiting.add_metric([name], model.joiner.waiting)
            batches.add_metric([name], model.joiner.batches)
        return [waiting, batches]

    def text(self) -> bytes:
        """All that is counted, as Prometheus reads it."""
        return prometheus.generate_latest(self.registry)
