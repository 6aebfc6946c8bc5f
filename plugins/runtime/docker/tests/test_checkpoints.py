"""What is remembered of sandboxes: read back as it was, shared with the dockershim, and believed with its checksum only."""

import json
import logging

import pytest
from hyperkube_runtime.docker.checkpoints import SandboxCheckpoint, SandboxCheckpoints, printed_as_go

PORTS = [{"host_port": 8080, "container_port": 80, "protocol": "UDP", "host_ip": "127.0.0.1"}]
CHECKPOINT = SandboxCheckpoint(name="web", namespace="shop", uid="u", port_mappings=tuple(PORTS), ips=("10.1.0.2",))


@pytest.fixture
def folder(tmp_path):
    checkpoints = SandboxCheckpoints(tmp_path)
    checkpoints.load()
    checkpoints.write("s", CHECKPOINT)
    return tmp_path


def again(folder):
    checkpoints = SandboxCheckpoints(folder)
    checkpoints.load()
    return checkpoints


def test_a_checkpoint_is_read_back_as_it_was(folder):
    assert again(folder).read("s") == CHECKPOINT


def test_ports_are_written_as_the_dockershim_reads_them(folder):
    written = json.loads((folder / "sandbox" / "s").read_text())

    port = {"protocol": "udp", "container_port": 80, "host_port": 8080, "host_ip": "127.0.0.1"}
    assert written["data"]["port_mappings"] == [port]
    assert printed_as_go(written["data"]) == (
        "(dockershim.CheckpointData){PortMappings:([]*dockershim.PortMapping)[<*>{Protocol:(*dockershim.Protocol)udp "
        "ContainerPort:(*int32)80 HostPort:(*int32)8080 HostIP:(string)127.0.0.1}] HostNetwork:(bool)false}"
    )


@pytest.mark.parametrize(
    ("data", "checksum", "host_network"), [({}, 815459779, False), ({"host_network": True}, 996107268, True)]
)
def test_a_dockershims_checkpoint_is_taken_over(folder, data, checksum, host_network):
    content = {"version": "v1", "name": "old", "namespace": "kube-system", "data": data, "checksum": checksum}
    (folder / "sandbox" / "old").write_text(json.dumps(content))

    found = again(folder).read("old")

    assert (found.name, found.namespace, found.host_network) == ("old", "kube-system", host_network)


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content["data"].update(host_network=True),
        lambda content: content["data"].update(ips=["10.1.0.3"]),
        lambda content: content.pop("checksum"),
    ],
    ids=["dockershims-part", "our-part", "no-checksum"],
)
def test_a_checkpoint_that_was_changed_is_removed(folder, change, caplog):
    path = folder / "sandbox" / "s"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))

    with caplog.at_level(logging.WARNING):
        found = again(folder).read("s")

    assert found is None
    assert not path.exists()
    assert "is corrupted and removed" in caplog.text
