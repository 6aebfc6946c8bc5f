"""The name of a node whose kubelet asks its cloud."""

import pytest
from hyperkube_host.kubelet.cloudresource.node_name import named_by_cloud
from hyperkube_host.kubelet.command import COMMAND
from hyperkube_host.kubelet.nodestatus.cloud_addresses import cloud_addresses
from hyperkube_host.kubelet.nodestatus.initial_node import initial_node
from hyperkube_host.kubelet.options import KubeletOptions

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.cloud import Cloud, CloudUnavailable
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import Plugin
from hyperkube.plugin.flags import FlagValues


class Here:
    """Machines that know which of them is this one."""

    answer, asked = "", []

    def current_node_name(self, hostname):
        self.asked.append(hostname)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def current_zone(self):
        return "z", "r"


class Nimbus(Plugin):
    """A cloud of such machines."""

    closed = False

    @hookimpl
    def cloud_provider(self):
        return Cloud(name="fake", instances=Here())

    def close(self):
        Nimbus.closed = True


@pytest.fixture
def nimbus(monkeypatch):
    pytest.importorskip("hyperkube_cloud.fake", reason="its place is taken")
    monkeypatch.setattr("hyperkube_cloud.fake.Fake", Nimbus)
    monkeypatch.setattr(Here, "asked", [])
    monkeypatch.setattr(Nimbus, "closed", False)


def options_of(**values):
    named = {key.replace("_", "-"): value for key, value in values.items()}
    return KubeletOptions.of(FlagValues.of(COMMAND.all_flags(), {"cloud-provider": "fake", **named}))


def test_the_cloud_names_the_node_and_the_host_keeps_its_own_name(nimbus, monkeypatch):
    monkeypatch.setattr(Here, "answer", "ip-10-0-0-4.ec2.internal")
    options = named_by_cloud(options_of(hostname_override="my-host"))

    assert (options.node.name, options.node.hostname) == ("ip-10-0-0-4.ec2.internal", "my-host")
    assert options.values["hostname-override"] == "ip-10-0-0-4.ec2.internal"
    assert Here.asked == ["my-host"]
    assert Nimbus.closed
    made = initial_node(options.node)["metadata"]
    assert (made["name"], made["labels"]["kubernetes.io/hostname"]) == ("ip-10-0-0-4.ec2.internal", "my-host")
    assert cloud_addresses([], options.node) == [{"type": "Hostname", "address": "my-host"}]


@pytest.mark.parametrize(
    ("answer", "text"), [(CloudUnavailable("no route"), "no route"), (OSError("reset"), "reset"), ("", "none")]
)
def test_a_cloud_that_does_not_tell_is_one_line(nimbus, monkeypatch, answer, text):
    monkeypatch.setattr(Here, "answer", answer)

    with pytest.raises(UsageError, match=f"error fetching current node name from cloud provider: .*{text}"):
        named_by_cloud(options_of())
    assert Nimbus.closed


@pytest.mark.parametrize("cloud", ["", "external", "auto-detect"])
def test_without_a_cloud_of_its_own_the_host_names_the_node(nimbus, cloud):
    options = options_of(cloud_provider=cloud)

    assert named_by_cloud(options) is options
    assert Here.asked == []


def test_a_cloud_that_does_not_know_where_it_is_asked_leaves_the_name():
    pytest.importorskip("hyperkube_cloud.fake", reason="knows no machine of its own")
    options = options_of()

    assert named_by_cloud(options) is options
