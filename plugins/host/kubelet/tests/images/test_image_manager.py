"""Images of containers and volumes: policies, credentials, back-off, and what is said of them."""

import base64
import threading

import orjson
import pytest
from hyperkube_host.kubelet.images.image_manager import ImageManager, ImageUnavailable
from hyperkube_host.kubelet.images.puller import ImagePuller, PullOptions
from hyperkube_host.kubelet.images.pullmanager.image_pull_manager import ImagePullManager
from hyperkube_host.kubelet.images.pullmanager.policy import ImagePullPolicyEnforcer
from hyperkube_host.kubelet.images.pullmanager.records import PullRecords

from hyperkube.hookspecs.runtime import Image, RuntimeFailed
from hyperkube.machinery.clock import FakeClock, SystemClock
from hyperkube.machinery.errors import NotFound

NAME = "registry.test/app:1"
SANDBOX = {"metadata": {"name": "p"}, "annotations": {"a": "b"}}


class Images:
    """A runtime's images; pulls of names with `errors` fail, each error once."""

    def __init__(self, clock):
        self.clock = clock
        self.present = {}
        self.errors = {}
        self.pulls = []

    def image(self, reference):
        if isinstance(self.present.get(reference), Exception):
            raise self.present[reference]
        return self.present.get(reference)

    def pull_image(self, image, credentials, sandbox_config):
        self.pulls.append((image, credentials and (credentials.username, credentials.password), sandbox_config))
        if self.errors.get(image["image"]):
            raise self.errors[image["image"]].pop(0)
        self.clock.advance(1.25)
        self.present[image["image"]] = Image(id="sha256:1", tags=(image["image"],), size=1000)
        return self.present[image["image"]]


class Recorder:
    def __init__(self):
        self.events = []

    def container_event(self, pod, container, kind, reason, message):
        self.events.append((container["name"], reason, message))

    def pod_event(self, pod, kind, reason, message, *, field_path=""):
        self.events.append(("", reason, message))


class Rig:
    def __init__(self, root, *, verify=True):
        self.clock = FakeClock()
        self.runtime, self.recorder, self.secrets = Images(self.clock), Recorder(), {}
        enforcer = ImagePullPolicyEnforcer("NeverVerifyPreloadedImages")
        pulls = ImagePullManager(PullRecords(root), enforcer, self.clock) if verify else None
        puller = ImagePuller(PullOptions(burst=3), self.clock)
        self.manager = ImageManager(
            self.runtime, self.clock, self.recorder, puller, pulls, self.secret, lambda image, pod: []
        )

    def secret(self, namespace, name):
        if name not in self.secrets:
            raise NotFound(name)
        return self.secrets[name]

    def add_secret(self, name, username):
        raw = orjson.dumps({"registry.test": {"username": username, "password": "pw"}})
        self.secrets[name] = {
            "metadata": {"name": name, "namespace": "ns", "uid": name},
            "type": "kubernetes.io/dockercfg",
            "data": {".dockercfg": base64.b64encode(raw).decode()},
        }

    def ensure(self, image=NAME, policy="IfNotPresent", secrets=(), uid="u"):
        pod = {
            "metadata": {"name": "p", "namespace": "ns", "uid": uid},
            "spec": {"imagePullSecrets": [{"name": name} for name in secrets]},
        }
        return self.manager.ensure_image(pod, {"name": "c", "image": image, "imagePullPolicy": policy}, SANDBOX).id

    def refused(self, *args, **more):
        with pytest.raises(ImageUnavailable) as caught:
            self.ensure(*args, **more)
        return caught.value.waiting.reason, caught.value.waiting.message

    def said(self):
        return [event[1:] for event in self.recorder.events]


@pytest.fixture
def rig(tmp_path):
    return Rig(tmp_path)


def test_an_absent_image_is_pulled_with_a_tag_and_the_pods_annotations(rig):
    assert rig.ensure("registry.test/app") == "sha256:1"

    assert rig.runtime.pulls == [({"image": "registry.test/app:latest", "annotations": {"a": "b"}}, None, SANDBOX)]
    done = 'Successfully pulled image "registry.test/app" in 1.25s (1.25s including waiting). Image size: 1000 bytes.'
    assert rig.said() == [("Pulling", 'Pulling image "registry.test/app"'), ("Pulled", done)]


def test_a_present_image_is_not_pulled(rig):
    rig.runtime.present[NAME] = Image(id="sha256:0", tags=(NAME,))

    assert rig.ensure() == "sha256:0"
    text = f'Container image "{NAME}" already present on machine and can be accessed by the pod'
    assert rig.said() == [("Pulled", text)]
    assert rig.runtime.pulls == []


def test_without_verification_what_is_there_is_for_all(tmp_path):
    rig = Rig(tmp_path, verify=False)
    rig.add_secret("s", "joe")
    rig.ensure(secrets=["s"])

    assert rig.ensure(uid="other") == "sha256:1"
    assert rig.said()[-1] == ("Pulled", f'Container image "{NAME}" already present on machine')


def test_always_pulls_what_is_there(rig):
    rig.runtime.present[NAME] = Image(id="sha256:0", tags=(NAME,))

    assert rig.ensure(policy="Always") == "sha256:1"


def test_never_does_not_pull(rig):
    text = f'Container image "{NAME}" is not present with pull policy of Never'

    assert rig.refused(policy="Never") == ("ErrImageNeverPull", text)
    assert rig.said() == [("ErrImageNeverPull", text)]


def test_what_another_pods_secret_pulled_has_to_be_pulled_again(rig):
    rig.add_secret("s", "joe")
    rig.ensure(secrets=["s"])
    rig.ensure(uid="other")

    assert [used for _, used, _ in rig.runtime.pulls] == [("joe", "pw"), None]
    rig.add_secret("t", "joe")
    rig.ensure(uid="third", secrets=["t"])
    assert len(rig.runtime.pulls) == 2


def test_what_may_not_be_used_is_not_there_for_never(rig):
    rig.add_secret("s", "joe")
    rig.ensure(secrets=["s"])

    assert rig.refused(policy="Never", uid="other")[0] == "ErrImageNeverPull"


@pytest.mark.parametrize(
    ("error", "waiting"),
    [
        (
            RuntimeFailed("rpc error: code = NotFound desc = no"),
            ("ErrImagePull", "rpc error: code = NotFound desc = no"),
        ),
        (
            RuntimeFailed("RegistryUnavailable: down"),
            ("RegistryUnavailable", f"image pull failed for {NAME} because the registry is unavailable: down"),
        ),
        (
            RuntimeFailed("SignatureValidationFailed: bad"),
            ("SignatureValidationFailed", f"image pull failed for {NAME} because the signature validation failed: bad"),
        ),
    ],
)
def test_a_failed_pull_is_shown_and_then_held_back_with_the_reason(rig, error, waiting):
    rig.runtime.errors[NAME] = [error]

    assert rig.refused() == waiting
    assert rig.said()[-1] == ("Failed", f'Failed to pull image "{NAME}": {error}')
    back_off = f'Back-off pulling image "{NAME}"'
    assert rig.refused() == ("ImagePullBackOff", f"{back_off}: {': '.join(waiting)}")
    assert rig.said()[-1] == ("BackOff", back_off)
    rig.clock.advance(10.1)
    assert rig.ensure() == "sha256:1"


def test_each_of_several_credentials_is_tried_and_all_errors_are_told(rig):
    for name in ("one", "two"):
        rig.add_secret(name, name)
    rig.runtime.errors[NAME] = [RuntimeFailed("denied one"), RuntimeFailed("denied two")]

    assert rig.refused(secrets=["one", "two"]) == ("ErrImagePull", "[denied one, denied two]")

    rig.clock.advance(10.1)
    rig.runtime.errors[NAME] = [RuntimeFailed("denied one")]
    rig.ensure(secrets=["one", "two"])
    assert [used[0] for _, used, _ in rig.runtime.pulls] == ["one", "two", "one", "two"]


def test_pull_secrets_that_are_not_there_are_told_of(rig):
    rig.ensure(secrets=["gone", "lost"])

    text = "Unable to retrieve some image pull secrets (gone, lost); attempting to pull the image may not succeed."
    assert ("", "FailedToRetrieveImagePullSecret", text) in rig.recorder.events


def test_a_name_that_is_none_is_told(rig):
    why = 'couldn\'t parse image name "a b": invalid reference format'
    text = f'Failed to apply default image tag "a b": {why}'

    assert rig.refused("a b") == ("InvalidImageName", text)
    assert rig.said() == [("InspectFailed", text)]


def test_a_runtime_that_cannot_tell_is_told_of(rig):
    rig.runtime.present[NAME] = RuntimeFailed("down")

    assert rig.refused() == ("ImageInspectError", f'Failed to inspect image "{NAME}": down')


def test_before_a_pull_and_only_then_is_told_that_it_may_take_long(rig):
    told = []
    pod = {"metadata": {"name": "p", "namespace": "ns", "uid": "u"}, "spec": {}}

    def ensure(image):
        container = {"name": "c", "image": image}
        rig.manager.ensure_image(pod, container, SANDBOX, lambda: told.append((image, len(rig.runtime.pulls))))

    rig.runtime.present[NAME] = Image(id="sha256:0", tags=(NAME,))
    ensure(NAME)
    ensure("registry.test/other")

    assert told == [("registry.test/other", 0)]


def test_events_about_volumes_are_the_pods(rig):
    pod = {"metadata": {"name": "p", "namespace": "ns", "uid": "u"}, "spec": {}}

    assert rig.manager.ensure_volume_image(pod, {"reference": NAME}, SANDBOX).id == "sha256:1"
    assert {event[0] for event in rig.recorder.events} == {""}


def test_no_more_pulls_than_the_registries_are_asked(rig):
    for number in range(3):
        rig.ensure(f"registry.test/app:{number}")
        rig.clock.advance(-1.25)

    assert rig.refused("registry.test/app:4") == ("ErrImagePull", "pull QPS exceeded")


@pytest.mark.parametrize(
    ("options", "at_once"),
    [(PullOptions(), 1), (PullOptions(serialize=False, max_parallel=2), 2), (PullOptions(serialize=False), 4)],
)
def test_so_many_pulls_are_made_at_a_time(options, at_once):
    puller = ImagePuller(options, SystemClock())
    begun, release, most, lock = threading.Semaphore(0), threading.Event(), [0, 0], threading.Lock()

    def pull(_credentials):
        with lock:
            most[0] += 1
            most[1] = max(most)
        begun.release()
        release.wait(10)
        with lock:
            most[0] -= 1
        return Image(id="i", tags=())

    threads = [threading.Thread(target=puller.pull, args=(pull, ()), daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(at_once):
        assert begun.acquire(timeout=10)
    overtaken = begun.acquire(timeout=0.05)
    release.set()
    for thread in threads:
        thread.join(10)

    assert not overtaken
    assert most[1] == at_once
