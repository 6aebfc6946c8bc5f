import pytest
from hyperkube_admission.image_policy_webhook import ImagePolicyWebhook
from hyperkube_testing.peers.peer import Failure, Peer

from hyperkube.kinds.resources import PODS
from hyperkube.machinery.errors import Forbidden, UsageError
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract


def pod(*images, annotations=None):
    meta = {"name": "p", "namespace": "ns", "annotations": annotations or {}}
    return {"metadata": meta, "spec": {"containers": [{"name": "c", "image": image} for image in images]}}


def review(body):
    allowed = all(row["image"].startswith("good/") for row in body["spec"]["containers"])
    status = {"allowed": allowed, "reason": "" if allowed else "not scanned", "auditAnnotations": {"seen": "yes"}}
    return {**body, "status": status}


@pytest.fixture
def peer(tmp_path):
    with Peer(tmp_path) as peer:
        peer.answers["/review"] = review
        yield peer


@pytest.fixture
def build(peer):
    rigs = []

    def made(**more):
        table = {"kubeConfigFile": peer.kubeconfig("/review"), "retryBackoff": 1, **more}
        rigs.append(AdmissionRig(ImagePolicyWebhook, settings={"imagePolicy": table}))
        return rigs[-1]

    yield made
    for rig in rigs:
        rig.plugin.close()


class TestPromises(AdmissionContract):
    plugin = ImagePolicyWebhook

    @pytest.fixture(autouse=True)
    def _build(self, build):
        self.rig = build

    def concerned(self, rig):
        return [rig.request("CREATE", PODS, pod("good/a")), rig.request("CREATE", PODS, pod("bad/a"))]


def test_the_webhook_says_which_images_run(build):
    rig = build()

    assert rig.create(PODS, pod("good/a"))
    with pytest.raises(Forbidden, match="image policy webhook backend denied one or more images: not scanned"):
        rig.create(PODS, pod("good/a", "bad/b"))


def test_the_review_holds_images_namespace_and_its_own_annotations(build, peer):
    build().create(PODS, pod("good/a", annotations={"x.image-policy.k8s.io/break-glass": "1", "other": "2"}))

    assert peer.bodies("/review")[0]["spec"] == {
        "containers": [{"image": "good/a"}],
        "annotations": {"x.image-policy.k8s.io/break-glass": "1"},
        "namespace": "ns",
    }


def test_the_webhooks_notes_are_for_the_audit_log(build):
    rig = build()

    request = rig.admit(rig.request("CREATE", PODS, pod("good/a")))

    assert request.annotations == {"imagepolicywebhook.image-policy.k8s.io/seen": "yes"}


def test_answers_are_remembered_for_their_time(build, peer):
    rig = build(allowTTL=10)

    rig.create(PODS, pod("good/a"))
    rig.clock.advance(9)
    rig.create(PODS, pod("good/a"))
    assert len(peer.asked) == 1
    rig.clock.advance(2)
    rig.create(PODS, pod("good/a"))

    assert len(peer.asked) == 2


def test_when_nobody_answers_the_settings_decide(build, peer):
    peer.answers["/review"] = lambda _body: Failure(403)
    open_rig, closed_rig = build(defaultAllow=True), build()

    request = open_rig.admit(open_rig.request("CREATE", PODS, pod("good/a")))

    assert request.annotations == {"imagepolicywebhook.image-policy.k8s.io/failed-open": "true"}
    with pytest.raises(Forbidden, match="answered 403"):
        closed_rig.create(PODS, pod("good/a"))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"kubeConfigFile": ""}, "kubeConfigFile is required"),
        ({"allowTTL": 5000}, "must be from 1 to 1800"),
        ({"alowTTL": 5}, "unknown field 'alowTTL'"),
    ],
    ids=repr,
)
def test_wrong_settings_are_refused_at_start(build, more, message):
    with pytest.raises(UsageError, match=message):
        build(**more)
