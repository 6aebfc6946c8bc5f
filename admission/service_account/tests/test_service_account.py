import pytest
from hyperkube_admission.service_account import MOUNT_PATH, ServiceAccount

from hyperkube.kinds.resources import PODS, SERVICE_ACCOUNTS
from hyperkube.machinery.errors import Forbidden
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract


def account(name="default", **more):
    annotations = more.pop("annotations", {})
    return {"metadata": {"name": name, "namespace": "ns", "annotations": annotations}, **more}


def pod(**spec):
    containers = spec.pop("containers", [{"name": "c"}])
    return {"metadata": {"name": "p", "namespace": "ns"}, "spec": {"containers": containers, **spec}}


@pytest.fixture
def rig():
    rig = AdmissionRig(ServiceAccount)
    rig.seed(SERVICE_ACCOUNTS, account(imagePullSecrets=[{"name": "pull"}]))
    return rig


class TestPromises(AdmissionContract):
    plugin = ServiceAccount

    def populate(self, rig):
        rig.client.seed(SERVICE_ACCOUNTS, account())

    def concerned(self, rig):
        return [rig.request("CREATE", PODS, pod())]


def test_a_pod_gets_account_token_and_pull_secrets(rig):
    spec = rig.create(PODS, pod(initContainers=[{"name": "i"}]))["spec"]

    assert (spec["serviceAccountName"], spec["serviceAccount"]) == ("default", "default")
    assert spec["imagePullSecrets"] == [{"name": "pull"}]
    (volume,) = spec["volumes"]
    assert volume["name"].startswith("kube-api-access-")
    assert volume["projected"]["defaultMode"] == 420
    assert volume["projected"]["sources"][0] == {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}}
    for container in (*spec["containers"], *spec["initContainers"]):
        assert container["volumeMounts"] == [{"name": volume["name"], "readOnly": True, "mountPath": MOUNT_PATH}]


def test_pods_of_one_account_name_the_volume_alike_unless_that_name_is_taken(rig):
    (volume,) = rig.create(PODS, pod())["spec"]["volumes"]
    (same,) = rig.create(PODS, pod())["spec"]["volumes"]
    taken = {"name": volume["name"], "emptyDir": {}}
    _, other = rig.create(PODS, pod(volumes=[taken]))["spec"]["volumes"]

    assert same == volume
    assert other["name"].startswith("kube-api-access-")
    assert other["name"] != volume["name"]


def test_a_container_may_have_something_else_at_that_place(rig):
    own = {"name": "mine", "mountPath": MOUNT_PATH}

    spec = rig.create(PODS, pod(containers=[{"name": "c", "volumeMounts": [own]}]))["spec"]

    assert spec["containers"][0]["volumeMounts"] == [own]
    assert "volumes" not in spec


@pytest.mark.parametrize(
    ("of_pod", "of_account", "mounted"),
    [(None, None, True), (None, False, False), (True, False, True), (False, True, False)],
)
def test_the_pod_decides_about_the_token_before_its_account(of_pod, of_account, mounted):
    rig = AdmissionRig(ServiceAccount)
    rig.seed(SERVICE_ACCOUNTS, account(automountServiceAccountToken=of_account))

    spec = rig.create(PODS, pod(automountServiceAccountToken=of_pod))["spec"]

    assert bool(spec.get("volumes")) is mounted


def test_a_missing_account_is_refused(rig):
    with pytest.raises(Forbidden) as caught:
        rig.create(PODS, pod(serviceAccountName="nope"))

    assert caught.value.message == 'error looking up service account ns/nope: serviceaccount "nope" not found'


def test_the_default_account_is_waited_for():
    rig = AdmissionRig(ServiceAccount)
    slept = []

    def sleep(seconds):
        slept.append(seconds)
        if len(slept) == 3:
            rig.client.seed(SERVICE_ACCOUNTS, account())

    rig.clock.sleep = sleep

    assert rig.create(PODS, pod())["spec"]["serviceAccountName"] == "default"
    assert len(slept) == 3


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"serviceAccountName": "x"}, "a mirror pod may not reference service accounts"),
        ({"volumes": [{"name": "v", "secret": {"secretName": "s"}}]}, "a mirror pod may not reference secrets"),
        (
            {"volumes": [{"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}]},
            "a mirror pod may not use ServiceAccountToken volume projections",
        ),
    ],
)
def test_mirror_pods_have_no_identity(rig, spec, message):
    mirror = pod(**spec)
    mirror["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}

    with pytest.raises(Forbidden, match=message):
        rig.create(PODS, mirror)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            {"volumes": [{"name": "v", "secret": {"secretName": "s"}}]},
            'volume with secret.secretName="s" is not allowed because service account strict does not reference that secret',
        ),
        (
            {"imagePullSecrets": [{"name": "q"}]},
            (
                'imagePullSecrets[0].name="q" is not allowed because service account strict does not reference that '
                "imagePullSecret"
            ),
        ),
    ],
)
def test_an_account_may_restrict_secrets(rig, spec, message):
    rig.seed(SERVICE_ACCOUNTS, account("strict", annotations={"kubernetes.io/enforce-mountable-secrets": "true"}))

    with pytest.raises(Forbidden) as caught:
        rig.create(PODS, pod(serviceAccountName="strict", **spec))

    assert caught.value.message == message
