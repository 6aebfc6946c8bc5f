"""What ``/metrics/probes`` shows."""

from hyperkube_host.kubelet.metrics.probe_metrics import probe_metrics
from hyperkube_host.kubelet.probe.result import ProbeResult
from hyperkube_host.kubelet.prober.probe_type import ProbeType
from hyperkube_host.kubelet.prober.worker import ProbeKey, ProbeWorker

POD = {"metadata": {"name": "p", "namespace": "n", "uid": "u"}}


def worker(probe_type=ProbeType.LIVENESS):
    return ProbeWorker(ProbeKey("id", probe_type), {}, POD, {"name": "c"}, "10.0.0.1")


def test_checks_are_counted_by_their_result():
    one = worker()
    for result in (ProbeResult.SUCCESS, ProbeResult.SUCCESS, ProbeResult.FAILURE, ProbeResult.ERROR):
        one.measure(result, 0.02)

    page = probe_metrics([one])

    where = 'container="c",namespace="n",pod="p",probe_type="Liveness"'
    for result, count in (("successful", 2), ("failed", 1), ("unknown", 1)):
        assert f'prober_probe_total{{{where},pod_uid="u",result="{result}"}} {count}\n' in page


def test_durations_are_a_histogram():
    one = worker(ProbeType.READINESS)
    for seconds in (0.005, 0.3, 60.0):
        one.measure(ProbeResult.SUCCESS, seconds)

    lines = probe_metrics([one]).splitlines()

    where = 'container="c",namespace="n",pod="p",probe_type="Readiness"'
    name = "prober_probe_duration_seconds"
    assert f"# TYPE {name} histogram" in lines
    counts = [line.rsplit(" ", 1)[1] for line in lines if line.startswith(f"{name}_bucket{{{where},le=")]
    assert counts == ["1"] * 6 + ["2"] * 5 + ["3"]
    assert f'{name}_bucket{{{where},le="+Inf"}} 3' in lines
    assert f"{name}_sum{{{where}}} 60.305" in lines
    assert f"{name}_count{{{where}}} 3" in lines


def test_a_probe_that_has_not_run_shows_nothing():
    assert probe_metrics([worker()]) == ""
