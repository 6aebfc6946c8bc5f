import pytest
from hyperkube_admission.limit_ranger import LimitRanger

from hyperkube.kinds.resources import LIMIT_RANGES, PERSISTENT_VOLUME_CLAIMS, PODS
from hyperkube.machinery.errors import Forbidden
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract

RANGE = {
    "metadata": {"name": "lr", "namespace": "ns"},
    "spec": {
        "limits": [
            {
                "type": "Container",
                "max": {"cpu": "2", "memory": "1Gi"},
                "min": {"cpu": "50m"},
                "default": {"cpu": "500m", "memory": "256Mi"},
                "defaultRequest": {"cpu": "100m", "memory": "256Mi"},
                "maxLimitRequestRatio": {"cpu": "10"},
            },
            {"type": "Pod", "max": {"cpu": "3"}},
            {"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}, "max": {"storage": "5Gi"}},
        ]
    },
}
NOTE = "kubernetes.io/limit-ranger"


def pod(*resources, init=()):
    def listed(entries, letter):
        return [{"name": f"{letter}{place or ''}", "resources": dict(entry)} for place, entry in enumerate(entries)]

    spec = {"containers": listed(resources or ({},), "c"), "initContainers": listed(init, "i")}
    return {"metadata": {"name": "p", "namespace": "ns"}, "spec": spec}


def claim(size):
    return {"metadata": {"name": "c", "namespace": "ns"}, "spec": {"resources": {"requests": {"storage": size}}}}


@pytest.fixture
def rig():
    rig = AdmissionRig(LimitRanger)
    rig.seed(LIMIT_RANGES, RANGE)
    return rig


class TestPromises(AdmissionContract):
    plugin = LimitRanger

    def populate(self, rig):
        rig.client.seed(LIMIT_RANGES, RANGE)

    def concerned(self, rig):
        return [rig.request("CREATE", PODS, pod())]


def test_a_pod_that_asks_for_nothing_gets_the_defaults(rig):
    made = rig.create(PODS, pod({}, init=({},)))

    assert made["spec"]["containers"][0]["resources"] == {
        "requests": {"cpu": "100m", "memory": "256Mi"},
        "limits": {"cpu": "500m", "memory": "256Mi"},
    }
    assert made["metadata"]["annotations"][NOTE] == (
        "LimitRanger plugin set: cpu, memory request for container c; cpu, memory limit for container c; "
        "cpu, memory request for init container i; cpu, memory limit for init container i"
    )


def test_what_a_pod_asks_for_is_kept(rig):
    made = rig.create(PODS, pod({"requests": {"cpu": "200m"}}))

    assert made["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "200m"
    assert made["metadata"]["annotations"][NOTE] == (
        "LimitRanger plugin set: memory request for container c; cpu, memory limit for container c"
    )


@pytest.mark.parametrize(
    ("resources", "message"),
    [
        (
            [{"requests": {"cpu": "9"}, "limits": {"cpu": "9"}}],
            "[maximum cpu usage per Container is 2, but limit is 9, maximum cpu usage per Pod is 3, but limit is 9]",
        ),
        ([{"limits": {"memory": "2Gi"}}], "maximum memory usage per Container is 1Gi, but limit is 2Gi"),
        (
            [{"requests": {"cpu": "10m"}}],
            (
                "[minimum cpu usage per Container is 50m, but request is 10m, "
                "cpu max limit to request ratio per Container is 10, but provided ratio is 50.000000]"
            ),
        ),
        (
            [{"requests": {"cpu": "50m"}, "limits": {"cpu": "1"}}],
            "cpu max limit to request ratio per Container is 10, but provided ratio is 20.000000",
        ),
        (
            [{"requests": {"cpu": "2"}, "limits": {"cpu": "2"}}] * 2,
            "maximum cpu usage per Pod is 3, but limit is 4",
        ),
    ],
)
def test_bounds_are_kept(rig, resources, message):
    with pytest.raises(Forbidden) as caught:
        rig.create(PODS, pod(*resources))

    assert caught.value.message == message


@pytest.mark.parametrize(
    ("size", "message"),
    [
        ("500Mi", "minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 500Mi"),
        ("10Gi", "maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 10Gi"),
    ],
)
def test_claims_have_bounds_too(rig, size, message):
    with pytest.raises(Forbidden) as caught:
        rig.create(PERSISTENT_VOLUME_CLAIMS, claim(size))

    assert caught.value.message == message
    rig.create(PERSISTENT_VOLUME_CLAIMS, claim("2Gi"))


def test_what_must_be_said_and_is_not_is_refused():
    rig = AdmissionRig(LimitRanger)
    limits = [
        {"type": "Container", "min": {"cpu": "1"}, "max": {"memory": "1Gi"}, "maxLimitRequestRatio": {"cpu": "2"}}
    ]
    rig.seed(LIMIT_RANGES, {"metadata": {"name": "lr", "namespace": "ns"}, "spec": {"limits": limits}})

    with pytest.raises(Forbidden) as caught:
        rig.create(PODS, pod())

    assert caught.value.message == (
        "[minimum cpu usage per Container is 1.  No request is specified, "
        "maximum memory usage per Container is 1Gi.  No limit is specified, "
        "cpu max limit to request ratio per Container is 2, but no request is specified or request is 0]"
    )


def test_updates_of_pods_and_other_namespaces_are_left_alone(rig):
    huge = pod({"limits": {"cpu": "99"}})

    rig.update(PODS, huge, huge)
    rig.create(PODS, huge, namespace="other")
