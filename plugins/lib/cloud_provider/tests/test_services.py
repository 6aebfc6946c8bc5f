"""What every provider reads from a Service in the same way."""

import pytest
from hyperkube_lib.cloud_provider.services import balancer_name, local_check_port, protocol_of, source_ranges

from hyperkube.hookspecs.cloud import CloudFailed

ANNOTATION = "service.beta.kubernetes.io/load-balancer-source-ranges"


def service(annotations=None, **spec):
    return {"metadata": {"name": "a", "uid": "1-2-3", "annotations": annotations or {}}, "spec": spec}


@pytest.mark.parametrize(
    ("given", "ranges"),
    [
        (service(), ["0.0.0.0/0"]),
        (service({ANNOTATION: " "}), ["0.0.0.0/0"]),
        (service({ANNOTATION: "192.0.2.7/24, 10.0.0.0/8"}), ["10.0.0.0/8", "192.0.2.0/24"]),
        (service({ANNOTATION: "192.0.2.0/24"}, loadBalancerSourceRanges=["2001:db8::/32"]), ["2001:db8::/32"]),
    ],
)
def test_the_fields_ranges_come_before_the_annotations(given, ranges):
    assert source_ranges(given) == ranges


def test_a_range_that_is_none_is_told_in_kubernetes_words():
    with pytest.raises(
        CloudFailed, match=rf"service annotation {ANNOTATION}: here is not valid. Expecting a comma-separated"
    ):
        source_ranges(service({ANNOTATION: "here"}))


def test_names_and_checks():
    assert balancer_name(service()) == "a123"
    assert local_check_port(service(externalTrafficPolicy="Local", healthCheckNodePort=31000)) == 31000
    assert local_check_port(service(externalTrafficPolicy="Cluster", healthCheckNodePort=31000)) == 0


@pytest.mark.parametrize(
    ("protocols", "message"),
    [([], "no ports"), (["TCP", "UDP"], "mixed protocol is not supported"), (["SCTP"], "invalid protocol SCTP")],
)
def test_one_protocol_of_two(protocols, message):
    with pytest.raises(CloudFailed, match=message):
        protocol_of(service(ports=[{"port": 1, "protocol": each} for each in protocols]))
    assert protocol_of(service(ports=[{"port": 1}])) == "TCP"
