"""What every server tells of itself."""

from hyperkube_lib.serving.component_metrics import FeatureGates, Release, registry_of
from prometheus_client import generate_latest


def told(*collectors):
    lines = generate_latest(registry_of(*collectors)).decode().splitlines()
    return dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))


def test_the_process_tells_its_traffic_and_its_limit():
    values = told(Release())

    assert float(values["process_virtual_memory_max_bytes"]) > 0
    assert float(values["process_network_receive_bytes_total"]) >= 0
    assert float(values["process_network_transmit_bytes_total"]) >= 0


def test_feature_gates_are_told_as_they_are():
    values = told(FeatureGates({"CoordinatedLeaderElection": False, "Given": True}, lambda: ["Locked"]))

    assert values['kubernetes_feature_enabled{name="Locked",stage=""}'] == "1.0"
    assert values['kubernetes_feature_enabled{name="Given",stage=""}'] == "1.0"
    assert values['kubernetes_feature_enabled{name="CoordinatedLeaderElection",stage=""}'] == "0.0"
