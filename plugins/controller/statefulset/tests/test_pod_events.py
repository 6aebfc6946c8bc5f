"""Which sets a change of a pod brings back; the rows are those of upstream's ``stateful_set_test.go``."""

import pytest
from hyperkube_controller.statefulset import Statefulset
from stateful_set_rig import claims, owners, stateful_set

from hyperkube.kinds.resources import PODS, STATEFUL_SETS
from hyperkube.machinery.objects import uid_of
from hyperkube.testing.controller_rig import ControllerRig

LABELS = {"app": "db"}


class Quiet(ControllerRig):
    """Sets ``one``, ``two`` and ``other`` (that selects something else), and no pods that are theirs."""

    def __init__(self):
        super().__init__(Statefulset)
        for name, selected in (("one", LABELS), ("two", LABELS), ("other", {"app": "web"})):
            made = stateful_set(replicas=0, selector={"matchLabels": selected})
            self.client.seed(STATEFUL_SETS, {**made, "metadata": {"name": name, "namespace": "d"}})
        self.settle()

    def pod(self, owner="", labels=LABELS, **meta):
        uid = uid_of(self.client.get(STATEFUL_SETS, owner, "d")) if owner in {"one", "two", "other"} else "gone"
        reference = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": owner, "uid": uid, "controller": True}
        meta = {
            "name": "one-0",
            "namespace": "d",
            "labels": labels,
            "ownerReferences": [reference] if owner else [],
            **meta,
        }
        return {"kind": "Pod", "apiVersion": "v1", "metadata": meta, "spec": {}, "status": {"phase": "Running"}}

    def keys(self):
        """Return what is to be looked at now, and take it."""
        self.informers.refresh()
        queue = self.controllers[0].queue
        found = []
        while (key := queue.get(block=False)) is not None:
            queue.done(key)
            found.append(key.removeprefix("d/"))
        return sorted(found)


@pytest.mark.parametrize(
    ("owner", "labels", "expected"),
    [
        pytest.param("one", LABELS, ["one"], id="of a set"),
        pytest.param("two", LABELS, ["two"], id="of the other set"),
        pytest.param("", LABELS, ["one", "two"], id="an orphan: all sets that select it"),
        pytest.param("", {"app": "cache"}, [], id="an orphan that no set selects"),
    ],
)
def test_a_pod_that_comes(owner, labels, expected):
    rig = Quiet()

    rig.client.seed(PODS, rig.pod(owner, labels))

    assert rig.keys() == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param({"owner": "one"}, {"owner": "one", "annotations": {"a": "b"}}, ["one"], id="of a set"),
        pytest.param({"owner": "two"}, {"owner": "one"}, ["one", "two"], id="another controller"),
        pytest.param({"owner": "one"}, {}, ["one", "two"], id="released: the old owner, and those that select it"),
        pytest.param({"labels": {"app": "cache"}}, {}, ["one", "two"], id="an orphan with new labels"),
        pytest.param({}, {"annotations": {"a": "b"}}, [], id="an orphan with the same labels"),
    ],
)
def test_a_pod_that_changes(before, after, expected):
    rig = Quiet()
    rig.client.seed(PODS, rig.pod(**before))
    rig.keys()

    held = rig.client.get(PODS, "one-0", "d")
    wanted = rig.pod(**after)
    rig.client.update(PODS, {**wanted, "metadata": {**held["metadata"], "annotations": None, **wanted["metadata"]}})

    assert rig.keys() == expected


@pytest.mark.parametrize(("owner", "expected"), [("one", ["one"]), ("two", ["two"]), ("", [])])
def test_a_pod_that_goes(owner, expected):
    rig = Quiet()
    rig.client.seed(PODS, rig.pod(owner))
    rig.keys()

    rig.client.delete(PODS, "one-0", "d")

    assert rig.keys() == expected


def test_a_set_that_was_deleted_meanwhile_adopts_nothing():
    rig = Quiet()
    rig.client.seed(PODS, rig.pod())
    rig.informers.refresh()
    for name in ("one", "two"):
        rig.client.patch(STATEFUL_SETS, name, {"metadata": {"finalizers": ["foregroundDeletion"]}}, "d")
        rig.client.delete(STATEFUL_SETS, name, "d")

    rig.controllers[0].drain()

    assert not rig.client.get(PODS, "one-0", "d")["metadata"].get("ownerReferences")


@pytest.mark.parametrize("deleted", ["Retain", "Delete"])
@pytest.mark.parametrize("scaled", ["Retain", "Delete"])
def test_claims_of_orphans_that_were_adopted_have_the_owners_of_the_policy(scaled, deleted):
    rig = ControllerRig(Statefulset)
    policy = {"whenScaled": scaled, "whenDeleted": deleted}
    rig.client.seed(
        STATEFUL_SETS, stateful_set(2, persistentVolumeClaimRetentionPolicy=policy, podManagementPolicy="Parallel")
    )
    rig.settle()
    for name in ("db-0", "db-1"):
        rig.client.patch(PODS, name, {"metadata": {"ownerReferences": None}}, "d")
        ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
        rig.client.patch(PODS, name, {"status": ready}, "d", subresource="status")
    rig.settle()

    wanted = [("StatefulSet", "db")] if deleted == "Delete" else []
    assert [owners(claim) for claim in claims(rig).values()] == [wanted, wanted]
    assert all(len(pod["metadata"]["ownerReferences"]) == 1 for pod in rig.client.objects(PODS))
