"""What a controller counts is there when it is read, and does not change while it is."""

from hyperkube_lib.controller_metrics import ControllerMetrics
from prometheus_client import CollectorRegistry

from hyperkube.hookspecs.base import PluginContext
from hyperkube.machinery.metric_families import Counter, Histogram


def test_what_was_counted_and_observed_is_told():
    things = Counter("things", "Things.", ("kind",))
    seconds = Histogram("seconds", "Seconds.", (1.0, 2.0))
    metrics, registry = ControllerMetrics(things, seconds), CollectorRegistry()
    metrics.register(PluginContext(name="x", metrics=registry))

    metrics.add(things, ("a",))
    metrics.add(things, ("a",), 2)
    metrics.add(things, ("b",), 0)
    metrics.observe(seconds, 1.5)

    assert registry.get_sample_value("things_total", {"kind": "a"}) == 3
    assert registry.get_sample_value("things_total", {"kind": "b"}) is None
    assert registry.get_sample_value("seconds_bucket", {"le": "2"}) == 1
    assert registry.get_sample_value("seconds_sum") == 1.5


def test_without_a_registry_it_counts_for_itself():
    things = Counter("things", "Things.")
    metrics = ControllerMetrics(things)

    metrics.register(PluginContext(name="x"))
    metrics.add(things)

    assert things.rows == {(): 1}
