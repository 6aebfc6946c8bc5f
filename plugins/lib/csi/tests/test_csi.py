"""CSI's words for volumes, and a driver behind a real socket."""

import pytest
from hyperkube_lib.csi import CONTROLLER, IDENTITY, NODE, CsiFailed, access_mode, volume_capability
from hyperkube_lib.csi.client import CsiClient
from hyperkube_lib.csi.memory_driver import MemoryDriver
from hyperkube_lib.csi.schema import csi_schema
from hyperkube_lib.grpc_messages import GrpcServer


@pytest.mark.parametrize(
    ("modes", "driver", "found"),
    [
        (["ReadWriteOnce"], [], "SINGLE_NODE_WRITER"),
        (["ReadWriteOnce"], ["SINGLE_NODE_MULTI_WRITER"], "SINGLE_NODE_MULTI_WRITER"),
        (["ReadWriteOncePod"], [], "SINGLE_NODE_WRITER"),
        (["ReadWriteOncePod"], ["SINGLE_NODE_MULTI_WRITER"], "SINGLE_NODE_SINGLE_WRITER"),
        (["ReadWriteOnce", "ReadOnlyMany"], [], "MULTI_NODE_READER_ONLY"),
        (["ReadWriteMany", "ReadWriteOnce"], [], "MULTI_NODE_MULTI_WRITER"),
    ],
)
def test_access_modes(modes, driver, found):
    assert access_mode(modes, driver) == found


def test_how_a_volume_is_to_be_used():
    assert volume_capability("M", is_block=True) == {"access_mode": {"mode": "M"}, "block": {}}
    assert volume_capability("M", is_block=False, fs_type="xfs", mount_flags=["ro"], mount_group="5") == {
        "access_mode": {"mode": "M"},
        "mount": {"fs_type": "xfs", "mount_flags": ["ro"], "volume_mount_group": "5"},
    }


def test_which_failures_leave_nothing_behind():
    assert CsiFailed("INVALID_ARGUMENT", "").is_final
    assert not CsiFailed("DEADLINE_EXCEEDED", "").is_final


def test_a_driver_behind_a_socket(tmp_path):
    driver, server = MemoryDriver(), GrpcServer(2)
    names = {IDENTITY: ["GetPluginInfo"], CONTROLLER: ["CreateVolume"], NODE: ["NodeGetCapabilities", "NodeGetInfo"]}
    for service, methods in names.items():
        handlers = {m: lambda request, s=service, m=m: driver.call(s, m, request) for m in methods}
        server.add_service(csi_schema().service(service), handlers)
    server.listen(str(tmp_path / "csi.sock"))
    server.start()
    client = CsiClient(f"unix://{tmp_path / 'csi.sock'}", 60)
    try:
        wanted = {"name": "a", "capacity_range": {"required_bytes": 5}}
        capability = {"access_mode": {"mode": "SINGLE_NODE_WRITER"}, "mount": {}}
        made = client.call(CONTROLLER, "CreateVolume", {**wanted, "volume_capabilities": [capability]})
        info = client.call(NODE, "NodeGetInfo", {})

        assert made["volume"] == {"volume_id": "vol-a", "capacity_bytes": 5}
        assert info["accessible_topology"]["segments"] == {"topology.example.com/node": "n1"}
        assert client.call(IDENTITY, "GetPluginInfo", {})["name"] == "memory.csi.example.com"
        assert client.capabilities(NODE) == driver.capabilities(NODE)
        with pytest.raises(CsiFailed, match="code = Unimplemented"):
            client.call(NODE, "NodeStageVolume", {"volume_id": "x"})
    finally:
        client.close()
        server.stop()
