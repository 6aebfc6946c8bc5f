"""Which changes of a pod cause a sync, and which mirror belongs to which static pod."""

import pytest
from hyperkube_host.kubelet.pod.pod_entry import PodState
from hyperkube_host.kubelet.pod.pod_manager import SYNC_SECONDS, PodManager
from hyperkube_host.kubelet.types.pod_update import HASH_ANNOTATION, MIRROR_ANNOTATION, SOURCE_ANNOTATION


def pod(uid="u", name="p", **fields):
    meta = {"name": name, "namespace": "ns", "uid": uid, **fields.pop("metadata", {})}
    return {"metadata": meta, "spec": {"containers": []}, **fields}


def static(digest="d1"):
    return pod(digest, metadata={"annotations": {HASH_ANNOTATION: digest, SOURCE_ANNOTATION: "file"}})


def mirror(digest="d1", **metadata):
    annotations = {HASH_ANNOTATION: digest, SOURCE_ANNOTATION: "file", MIRROR_ANNOTATION: digest}
    return pod("mirror", metadata={"annotations": annotations, **metadata})


class Managed:
    """A pod manager and what it reported."""

    def __init__(self):
        self.changed = []
        self.shortened = []
        self.pods = PodManager(self.changed.append, lambda *told: self.shortened.append(told))


@pytest.fixture
def managed():
    return Managed()


READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
NOT_READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}


@pytest.mark.parametrize(("field", "after", "syncs"), [
    ("reported", READY, False), ("writing", READY, False), ("reported", NOT_READY, True),
])  # fmt: skip
def test_a_condition_of_the_kubelets_that_another_component_wrote_is_a_change(managed, field, after, syncs):
    managed.pods.put(pod())
    setattr(managed.pods.get("u"), field, READY)
    managed.changed.clear()

    managed.pods.put(pod(status=after))

    assert managed.changed == (["u"] if syncs else [])


@pytest.mark.parametrize(
    ("after", "syncs"),
    [
        (pod(status={"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}), False),
        (pod(status={"conditions": [{"type": "example.com/gate", "status": "True"}]}), True),
        (pod(metadata={"labels": {"a": "b"}}), True),
        (pod(spec={"containers": [{"name": "c"}]}), True),
    ],
    ids=["own status", "condition of another component", "labels", "spec"],
)
def test_an_update_causes_a_sync_unless_it_is_the_status_that_the_kubelet_wrote(managed, after, syncs):
    managed.pods.put(pod())
    managed.changed.clear()

    managed.pods.put(after)

    assert managed.changed == (["u"] if syncs else [])
    assert managed.pods.get("u").pod is after


def test_a_shorter_grace_period_is_reported_only_once_the_pod_is_being_deleted(managed):
    def deleted(seconds):
        return pod(metadata={"deletionTimestamp": "2030-01-01T00:00:00Z", "deletionGracePeriodSeconds": seconds})

    managed.pods.put(pod())
    managed.pods.put(deleted(30))
    first = list(managed.shortened)
    managed.pods.put(deleted(30))
    managed.pods.put(deleted(0))

    assert (first, managed.shortened) == ([], [("u", 0.0)])


def test_a_removed_pod_stays_until_it_is_forgotten(managed):
    managed.pods.put(pod())

    managed.pods.remove(pod())
    removed = managed.pods.get("u").removed
    managed.pods.forget("u")

    assert removed
    assert managed.shortened == [("u", SYNC_SECONDS)]
    assert managed.pods.get("u") is None


def test_containers_that_are_being_stopped_hear_at_once_that_their_pod_was_removed(managed):
    deleted = pod(metadata={"deletionTimestamp": "2030-01-01T00:00:00Z", "deletionGracePeriodSeconds": 30})
    managed.pods.put(deleted)

    managed.pods.remove(deleted)

    assert managed.shortened == [("u", 0.0)]


def test_a_mirror_shows_the_static_pod_with_its_hash(managed):
    managed.pods.put(static())
    managed.changed.clear()

    managed.pods.put(mirror())

    assert managed.changed == ["d1"]
    assert managed.pods.status_target(static())["metadata"]["uid"] == "mirror"
    assert managed.pods.stale_mirror(static()) is None


@pytest.mark.parametrize("shown", [mirror("d0"), mirror(deletionTimestamp="2030-01-01T00:00:00Z")])
def test_a_mirror_of_another_content_or_being_deleted_is_stale(managed, shown):
    managed.pods.put(static())

    managed.pods.put(shown)

    assert managed.pods.stale_mirror(static()) is shown


@pytest.mark.parametrize(("state", "waits"), [
    (PodState.SYNCING, True), (PodState.TERMINATING, True), (PodState.TERMINATED, False), (PodState.REJECTED, False),
])  # fmt: skip
def test_a_static_pod_waits_for_the_end_of_an_earlier_one_of_its_name(managed, state, waits):
    for one in (static("d1"), static("d2"), pod("other", name="q")):
        managed.pods.put(one)
    managed.pods.get("d1").state = state

    preceded = {uid: managed.pods.is_preceded(managed.pods.get(uid)) for uid in ("d1", "d2", "other")}

    assert preceded == {"d1": False, "d2": waits, "other": False}


def test_a_pod_that_its_source_has_again_begins_anew_once_it_has_gone(managed):
    managed.pods.put(static())
    managed.pods.remove(static())
    ending = managed.pods.get("d1")
    managed.pods.put(static())
    is_ending_still = managed.pods.get("d1") is ending and ending.removed
    managed.changed.clear()

    managed.pods.forget("d1")

    assert is_ending_still
    assert (managed.pods.get("d1").removed, managed.changed) == (False, ["d1"])


def test_a_pod_that_its_source_had_again_for_a_while_is_gone(managed):
    managed.pods.put(static())
    managed.pods.remove(static())
    managed.pods.put(static())
    managed.pods.remove(static())

    managed.pods.forget("d1")

    assert managed.pods.get("d1") is None


def test_a_mirror_without_its_static_pod_is_an_orphan(managed):
    managed.pods.put(static())
    managed.pods.put(mirror())
    before = managed.pods.orphaned_mirrors()

    managed.pods.remove(static())

    assert before == []
    assert [orphan["metadata"]["uid"] for orphan in managed.pods.orphaned_mirrors()] == ["mirror"]
