"""``/metrics/probes``: how the probes of the containers that run now went.

Source: kubernetes ``pkg/kubelet/prober/prober_manager.go`` (ProberResults, ProberDuration), ``worker.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate

from hyperkube_host.kubelet.metrics.text_format import Sample, family, histogram
from hyperkube_host.kubelet.probe.result import ProbeResult
from hyperkube_host.kubelet.prober.worker import DURATION_BUCKETS, ProbeWorker

from hyperkube.machinery.objects import name_of, namespace_of, uid_of

_RESULTS = {
    ProbeResult.SUCCESS: "successful",
    ProbeResult.FAILURE: "failed",
    ProbeResult.ERROR: "unknown",
}


def probe_metrics(workers: Iterable[ProbeWorker]) -> str:
    """Return the page."""
    workers = list(workers)
    total = "[BETA] Cumulative number of a liveness, readiness or startup probe for a container by result."
    return family("prober_probe_total", "counter", total, _results(workers)) + histogram(
        "prober_probe_duration_seconds",
        "[ALPHA] Duration in seconds for a probe response.",
        DURATION_BUCKETS,
        ((_labels(one), list(accumulate(one.durations)), one.seconds) for one in workers if one.results),
    )


def _labels(worker: ProbeWorker) -> dict[str, str]:
    return {
        "container": worker.container["name"],
        "namespace": namespace_of(worker.pod),
        "pod": name_of(worker.pod),
        "probe_type": worker.key.type.value.capitalize(),
    }


def _results(workers: Iterable[ProbeWorker]) -> Iterator[Sample]:
    for worker in workers:
        labels: Mapping[str, str] = {**_labels(worker), "pod_uid": str(uid_of(worker.pod))}
        for result, count in sorted(worker.results.items(), key=lambda item: _RESULTS[item[0]]):
            yield Sample({**labels, "result": _RESULTS[result]}, count)
