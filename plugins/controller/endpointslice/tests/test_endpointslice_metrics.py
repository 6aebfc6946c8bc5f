"""What the endpointslice controller tells of itself at /metrics."""

from hyperkube_controller.endpointslice.metrics import PREFIX, EndpointSliceMetrics
from hyperkube_controller.endpointslice.reconciler import SlicePlan
from prometheus_client import CollectorRegistry


def value(metrics, name, **labels):
    registry = CollectorRegistry()
    registry.register(metrics)
    return registry.get_sample_value(PREFIX + name, labels)


def plan(*sizes, family="IPv4", added=0, removed=0):
    return SlicePlan(family, sizes=[*sizes], added=added, removed=removed)


def test_services_are_summed_up_and_forgotten():
    metrics = EndpointSliceMetrics(100)
    metrics.planned("d/a", [plan((150, 2), (30, 1)), plan((5, 1), family="IPv6")], "PreferClose")
    metrics.planned("d/b", [plan((0, 1))], "PreferSameNode")

    assert value(metrics, "endpoints_desired") == 185
    assert value(metrics, "num_endpoint_slices") == 5
    assert value(metrics, "desired_endpoint_slices") == 5
    assert value(metrics, "services_count_by_traffic_distribution", traffic_distribution="PreferClose") == 1
    assert value(metrics, "services_count_by_traffic_distribution", traffic_distribution="ImplementationSpecific") == 1

    metrics.forget("d/a")

    assert value(metrics, "endpoints_desired") == 0
    assert value(metrics, "num_endpoint_slices") == 1


def test_a_service_that_is_planned_again_is_counted_once():
    metrics = EndpointSliceMetrics(100)
    for size in ((150, 3), (10, 1)):
        metrics.planned("d/a", [plan(size, added=7, removed=2)], "")

    assert value(metrics, "endpoints_desired") == 10
    assert value(metrics, "endpoints_added_per_sync_sum") == 14
    assert value(metrics, "endpoints_removed_per_sync_sum") == 4
    assert value(metrics, "endpoints_added_per_sync_count") == 2


def test_writes_and_syncs_are_counted():
    metrics = EndpointSliceMetrics(100)

    for operation in ("create", "update", "delete", "create"):
        metrics.written(operation)
    metrics.changed(3, topology=False, distribution="PreferClose")
    metrics.changed(1, topology=True, distribution="")
    metrics.synced("success")

    changed = "endpointslices_changed_per_sync_sum"
    assert value(metrics, "changes", operation="create") == 2
    assert value(metrics, "changes", operation="delete") == 1
    assert value(metrics, changed, topology="Disabled", traffic_distribution="PreferClose") == 3
    assert value(metrics, changed, topology="Auto", traffic_distribution="") == 1
    assert value(metrics, "syncs", result="success") == 1
