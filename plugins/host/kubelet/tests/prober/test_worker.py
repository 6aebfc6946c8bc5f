"""The thresholds of a probe, as transcripts: results of checks → whether the container passes."""

import pytest
from hyperkube_host.kubelet.probe.result import ProbeResult
from hyperkube_host.kubelet.prober.probe_type import ProbeType
from hyperkube_host.kubelet.prober.worker import ProbeKey, ProbeWorker

RESULTS = {"+": ProbeResult.SUCCESS, "-": ProbeResult.FAILURE, "!": ProbeResult.ERROR}
SHOWN = {True: "+", False: "-", None: "?"}


def passes_after_each(checks, passes, **spec):
    worker = ProbeWorker(ProbeKey("id", ProbeType.READINESS), spec, {}, {}, "127.0.0.1", passes)
    shown = ""
    for check in checks:
        before = worker.passes
        assert worker.record(RESULTS[check]) is (worker.passes is not before)
        shown += SHOWN[worker.passes]
    return shown


@pytest.mark.parametrize(
    ("checks", "shown", "spec"),
    [
        ("+---", "+++-", {}),
        ("--+--", "??+++", {}),
        ("---", "??-", {}),
        ("-+", "-+", {"failureThreshold": 1}),
        ("+-++", "???+", {"successThreshold": 2}),
        ("+--!-", "++++-", {}),
    ],
    ids=["three failures", "success resets", "never passed", "one is enough", "two in a row", "an error is no check"],
)
def test_a_threshold_of_results_in_a_row_counts(checks, shown, spec):
    assert passes_after_each(checks, None, **spec) == shown


def test_a_liveness_probe_passes_until_it_fails():
    assert passes_after_each("--+---", True) == "+++++-"
