"""The cases of kubernetes pkg/apis/core/v1/helper/qos/qos_test.go, and those in which copies of the rule differed."""

import pytest

from hyperkube.kinds.qos import computed_qos_class, qos_class

GUARANTEED = ("100m 100Mi", "100m 100Mi")
NOTHING = ("", "")


def listed(text):
    """Return the ResourceList of ``cpu memory``; a dash stands for neither."""
    found = dict(zip(("cpu", "memory"), [*text.split(" "), "", ""], strict=False))
    return {name: amount for name, amount in found.items() if amount not in {"", "-"}}


def resources(requests, limits, **more):
    return {"requests": listed(requests) | more, "limits": listed(limits) | more}


def container(requests, limits, **more):
    return {"name": "c", "resources": resources(requests, limits, **more)}


def pod(*pairs, **spec):
    return {"spec": {"containers": [container(*pair) for pair in pairs], **spec}}


CASES = {
    "guaranteed": (pod(GUARANTEED), "Guaranteed"),
    "two guaranteed": (pod(GUARANTEED, GUARANTEED), "Guaranteed"),
    "best effort": (pod(NOTHING), "BestEffort"),
    "two best effort": (pod(NOTHING, NOTHING), "BestEffort"),
    "best effort beside burstable": (pod(NOTHING, ("1", "2")), "Burstable"),
    "best effort beside guaranteed": (pod(NOTHING, ("10m 100Mi", "10m 100Mi")), "Burstable"),
    "memory alone": (pod(("- 100Mi", "- 100Mi")), "Burstable"),
    "no limits": (pod(("100m 100Mi", "")), "Burstable"),
    "burstable beside guaranteed": (pod(("1 100Mi", "2 100Mi"), GUARANTEED), "Burstable"),
    "sums match but one has no limits": (pod(("100m 100Mi", "200m 200Mi"), ("100m 100Mi", "")), "Burstable"),
    "less than the limits": (pod(("10m 100Mi", "100m 200Mi")), "Burstable"),
    "requests of zero below limits": (pod(("0 0", "100m 200Mi")), "Burstable"),
    "requests of zero": (pod(("0 0", "")), "BestEffort"),
    "limits of zero": (pod(("", "0 0")), "BestEffort"),
    "no containers": (pod(), "BestEffort"),
    "huge pages do not count": (
        {"spec": {"containers": [container("0 0", "0 0", **{"hugepages-2Mi": "1Gi"})]}},
        "BestEffort",
    ),
    "extended resources do not count": (
        {"spec": {"containers": [container("", "", **{"nvidia.com/gpu": "1"})]}},
        "BestEffort",
    ),
    "init containers count": (
        pod(NOTHING, initContainers=[container("10m 100Mi", "100m 200Mi")]),
        "Burstable",
    ),
    "an init container without limits": (pod(GUARANTEED, initContainers=[container("", "")]), "Burstable"),
    "ephemeral containers do not count": (pod(GUARANTEED, ephemeralContainers=[{"name": "e"}]), "Guaranteed"),
    "the same amount in other words": (pod(("1 1Gi", "1000m 1024Mi")), "Guaranteed"),
    "limits without requests": (pod(("", "1 1Gi")), "Burstable"),
    "a pod's own resources": (pod(NOTHING, resources=resources("10m 100Mi", "10m 100Mi")), "Guaranteed"),
    "a pod's own beside a container's": (
        pod(("3m 10Mi", "5m 20Mi"), resources=resources("10m 100Mi", "10m 100Mi")),
        "Guaranteed",
    ),
    "a pod's own below its limits": (pod(NOTHING, resources=resources("10m 10Mi", "20m 50Mi")), "Burstable"),
    "a pod's own below its limits beside a container's": (
        pod(("5m 10Mi", "5m 10Mi"), resources=resources("10m 10Mi", "20m 50Mi")),
        "Burstable",
    ),
    "a pod's own requests": (pod(("5m 10Mi", ""), resources=resources("10m 10Mi", "")), "Burstable"),
    "a pod's own limit of cpu alone": (
        pod(("5m 10Mi", ""), ("5m 10Mi", "5m 10Mi"), resources=resources("10m 10Mi", "5m")),
        "Burstable",
    ),
    "a pod's own empty resources do not count": (pod(GUARANTEED, resources={}), "Guaranteed"),
    "a pod's own empty lists do not count": (pod(GUARANTEED, resources=resources("", "")), "Guaranteed"),
}


@pytest.mark.parametrize(("subject", "quality"), CASES.values(), ids=CASES)
def test_quality_of_service_follows_from_cpu_and_memory(subject, quality):
    assert computed_qos_class(subject) == quality


def test_what_the_status_says_goes_before_what_would_be_computed():
    subject = {**pod(NOTHING), "status": {"qosClass": "Burstable"}}

    assert qos_class(subject) == "Burstable"
    assert computed_qos_class(subject) == "BestEffort"
    assert qos_class(pod(GUARANTEED)) == "Guaranteed"
