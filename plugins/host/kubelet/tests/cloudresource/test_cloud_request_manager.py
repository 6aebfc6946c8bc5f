"""What the kubelet's own cloud says of its node, and what the node tells of it."""

import threading
from dataclasses import replace

import pytest
from hyperkube_host.kubelet.cloudresource.cloud_request_manager import CloudRequestManager
from hyperkube_host.kubelet.command import COMMAND
from hyperkube_host.kubelet.nodestatus.cloud_addresses import cloud_addresses
from hyperkube_host.kubelet.nodestatus.initial_node import initial_node
from hyperkube_host.kubelet.options import NodeOptions

from hyperkube.hookspecs.cloud import Cloud, CloudFailed, CloudUnavailable, InstanceMetadata
from hyperkube.machinery.clock import SystemClock
from hyperkube.plugin.flags import FlagValues
from hyperkube.testing.waiting import eventually

INTERNAL = {"type": "InternalIP", "address": "10.0.0.4"}
SECOND = {"type": "InternalIP", "address": "10.0.0.5"}
EXTERNAL = {"type": "ExternalIP", "address": "203.0.113.9"}
NAMED = {"type": "Hostname", "address": "ip-10-0-0-4"}
OWN = {"type": "Hostname", "address": "n1"}
KNOWN = InstanceMetadata(
    provider_id="aws:///us-east-1a/i-1",
    instance_type="m5.large",
    addresses=(INTERNAL,),
    zone="us-east-1a",
    region="us-east-1",
)


class Instances:
    """A cloud that answers what it is told to; it notes for which node it was asked."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), []

    def metadata(self, node):
        self.asked.append(node)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


def options_of(**values):
    named = {key.replace("_", "-"): value for key, value in values.items()}
    return NodeOptions.of(FlagValues.of(COMMAND.all_flags(), {"hostname-override": "n1", **named}))


def manager_of(*answers, **values):
    instances = Instances(*answers)
    return CloudRequestManager(Cloud(name="c", instances=instances), options_of(**values), SystemClock()), instances


def test_nothing_is_known_before_the_first_good_answer_and_why_is_told():
    manager, _ = manager_of(CloudUnavailable("no route"), KNOWN)

    with pytest.raises(CloudFailed, match="has not answered yet"):
        manager.known()
    manager.ask()
    with pytest.raises(CloudFailed, match="failed to get node address from cloud provider: no route"):
        manager.known()
    manager.ask()

    assert manager.known() == KNOWN


def test_the_last_good_answer_holds_while_the_cloud_is_away():
    newer = replace(KNOWN, addresses=(INTERNAL, EXTERNAL))
    manager, _ = manager_of(KNOWN, TimeoutError("late"), newer)

    manager.ask()
    manager.ask()
    assert manager.known() == KNOWN
    manager.ask()

    assert manager.known() == newer


def test_it_asks_again_and_again_until_it_is_closed():
    manager, instances = manager_of(KNOWN, provider_id="aws:///z/i-1", node_status_update_frequency="10ms")

    manager.start()
    eventually(lambda: len(instances.asked) > 2)
    manager.close()
    eventually(lambda: all(thread.name != "cloud-requests" for thread in threading.enumerate()))

    assert instances.asked[0]["metadata"] == {"name": "n1"}
    assert instances.asked[0]["spec"] == {"providerID": "aws:///z/i-1"}


@pytest.mark.parametrize(
    ("cloud", "values", "rows"),
    [
        ([], {}, [OWN]),
        ([INTERNAL, NAMED], {"hostname_override": ""}, [INTERNAL, NAMED]),
        ([INTERNAL, NAMED], {}, [INTERNAL, OWN]),
        ([INTERNAL], {}, [INTERNAL, OWN]),
        ([INTERNAL, {"type": "InternalDNS", "address": "n1"}], {}, None),
        ([INTERNAL, SECOND, EXTERNAL], {"node_ip": "10.0.0.5"}, [SECOND, EXTERNAL, OWN]),
    ],
    ids=["none", "the-clouds-name", "overridden", "overridden-without", "dns-name", "node-ip"],
)
def test_addresses_are_the_clouds(cloud, values, rows):
    assert cloud_addresses(cloud, options_of(**values)) == (rows or [*cloud, OWN])


def test_an_address_that_the_machine_has_not_is_refused():
    with pytest.raises(CloudFailed, match=r"matches ip: 10\.0\.0\.9"):
        cloud_addresses([INTERNAL], options_of(node_ip="10.0.0.9"))


def test_a_node_registers_with_what_its_cloud_says():
    node = initial_node(options_of(), KNOWN)

    assert node["spec"] == {"providerID": "aws:///us-east-1a/i-1"}
    assert {key: value for key, value in node["metadata"]["labels"].items() if not key.endswith(("arch", "os"))} == {
        "kubernetes.io/hostname": "n1",
        "beta.kubernetes.io/instance-type": "m5.large",
        "node.kubernetes.io/instance-type": "m5.large",
        "failure-domain.beta.kubernetes.io/zone": "us-east-1a",
        "topology.kubernetes.io/zone": "us-east-1a",
        "failure-domain.beta.kubernetes.io/region": "us-east-1",
        "topology.kubernetes.io/region": "us-east-1",
    }


def test_an_id_that_was_given_is_not_the_clouds():
    assert initial_node(options_of(provider_id="mine://1"), KNOWN)["spec"]["providerID"] == "mine://1"
