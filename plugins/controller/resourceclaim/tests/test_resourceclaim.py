"""The resourceclaim controller: claims by template, reservations that end, devices that are given back."""

import pytest
from hyperkube_controller.resourceclaim import Resourceclaim
from hyperkube_controller.resourceclaim.controller import FINALIZER, TEMPLATES, base_name
from hyperkube_controller.resourceclaim.metrics import ANNOTATION

from hyperkube.kinds.resources import EVENTS, PODS, RESOURCE_CLAIMS
from hyperkube.machinery.errors import Conflict, NotFound
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

SPEC = {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}}
ALLOCATION = {"devices": {"results": [{"request": "gpu", "driver": "d", "pool": "p", "device": "0"}]}}
BY_TEMPLATE = {"name": "gpu", "resourceClaimTemplateName": "one-gpu"}
BY_NAME = {"name": "gpu", "resourceClaimName": "shared"}
USER = {"resource": "pods", "name": "p", "uid": "u"}


def template():
    meta = {"labels": {"app": "ml"}, "annotations": {"team": "a"}}
    return {"metadata": {"name": "one-gpu", "namespace": "d"}, "spec": {"metadata": meta, "spec": SPEC}}


def pod(entry=BY_TEMPLATE, *, uid="u", node="", status=None, **meta):
    spec = {"resourceClaims": [entry], **({"nodeName": node} if node else {})}
    return {
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "d", "uid": uid, **meta},
        "spec": spec,
        "status": status or {},
    }


def claim(*users, name="shared", allocated=True, **meta):
    status = {"allocation": ALLOCATION} if allocated else {}
    return {
        "metadata": {"name": name, "namespace": "d", "uid": f"uid-{name}", "finalizers": [FINALIZER], **meta},
        "spec": SPEC,
        "status": {**status, **({"reservedFor": list(users)} if users else {})},
    }


def owned(uid="u"):
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": uid, "controller": True}
    return {"ownerReferences": [owner], "annotations": {ANNOTATION: "gpu"}}


def settled(*pods, claims=(), templates=()):
    rig = ControllerRig(Resourceclaim)
    for resource, objects in ((TEMPLATES, templates), (RESOURCE_CLAIMS, claims), (PODS, pods)):
        for one in objects:
            rig.client.seed(resource, one)
    rig.settle()
    return rig


def claims_in(rig):
    return rig.client.objects(RESOURCE_CLAIMS)


class TestContract(ControllerContract):
    plugin = Resourceclaim

    def populate(self, rig):
        rig.client.seed(TEMPLATES, template())
        rig.client.seed(PODS, pod())


def test_a_pod_gets_a_claim_by_its_template_and_is_told_the_name():
    rig = settled(pod(), templates=[template()])

    (made,) = claims_in(rig)
    (told,) = rig.client.objects(PODS)
    meta = made["metadata"]
    assert made["spec"] == SPEC
    assert meta["name"].startswith("p-gpu-")
    assert (meta["labels"], meta["annotations"]) == ({"app": "ml"}, {"team": "a", ANNOTATION: "gpu"})
    assert meta["ownerReferences"][0] | {"uid": "u", "controller": True} == meta["ownerReferences"][0]
    assert told["status"]["resourceClaimStatuses"] == [{"name": "gpu", "resourceClaimName": meta["name"]}]


def test_a_claim_that_was_made_before_is_found_again():
    rig = settled(pod(), claims=[claim(name="p-gpu-abc", **owned())], templates=[template()])

    (told,) = rig.client.objects(PODS)
    assert len(claims_in(rig)) == 1
    assert told["status"]["resourceClaimStatuses"] == [{"name": "gpu", "resourceClaimName": "p-gpu-abc"}]


def test_a_claim_that_was_deleted_is_made_again():
    rig = settled(pod(), templates=[template()])
    (first,) = claims_in(rig)

    rig.client.delete(RESOURCE_CLAIMS, first["metadata"]["name"], "d")
    rig.settle()

    (second,) = claims_in(rig)
    (told,) = rig.client.objects(PODS)
    assert told["status"]["resourceClaimStatuses"][0]["resourceClaimName"] == second["metadata"]["name"]


def test_a_missing_template_is_told_and_waited_for():
    rig = settled(pod())
    rig.plugins[0]._recorder.flush()
    (event,) = rig.client.objects(EVENTS)

    rig.client.seed(TEMPLATES, template())
    rig.settle()

    assert event["reason"] == "FailedResourceClaimCreation"
    assert event["message"] == (
        'PodResourceClaim gpu: resource claim template "one-gpu": '
        'resourceclaimtemplate.resource.k8s.io "one-gpu" not found'
    )
    assert len(claims_in(rig)) == 1


def test_an_allocated_claim_is_reserved_for_a_pod_that_has_a_node():
    rig = settled(pod(BY_NAME, node="n"), claims=[claim()])

    assert claims_in(rig)[0]["status"]["reservedFor"] == [USER]


def test_the_scheduler_reserves_for_pods_without_a_node():
    rig = settled(pod(BY_NAME), claims=[claim()])

    assert "reservedFor" not in claims_in(rig)[0]["status"]


@pytest.mark.parametrize(
    "pods",
    [
        [],
        [pod(BY_NAME, uid="another")],
        [pod(BY_NAME, node="n", status={"phase": "Succeeded"})],
        [pod(BY_NAME, deletionTimestamp="2024-01-01T00:00:00Z", finalizers=["x/y"])],
    ],
    ids=["gone", "replaced", "ended", "deleted without a node"],
)
def test_what_no_pod_uses_any_more_is_given_back(pods):
    rig = settled(*pods, claims=[claim(USER)])

    (left,) = claims_in(rig)
    assert not (left.get("status") or {}).get("allocation")
    assert not (left.get("status") or {}).get("reservedFor")
    assert not left["metadata"].get("finalizers")


def test_a_claim_stays_allocated_while_another_pod_uses_it():
    other = {"resource": "pods", "name": "gone", "uid": "g"}
    rig = settled(pod(BY_NAME, node="n"), claims=[claim(USER, other)])

    (left,) = claims_in(rig)
    assert left["status"] == {"allocation": ALLOCATION, "reservedFor": [USER]}
    assert left["metadata"]["finalizers"] == [FINALIZER]


def test_a_deleted_claim_that_is_not_used_may_go():
    rig = settled(claims=[claim(deletionTimestamp="2024-01-01T00:00:00Z")])

    assert not any(FINALIZER in (one["metadata"].get("finalizers") or ()) for one in claims_in(rig))


def test_the_generated_claim_of_a_pod_that_ended_is_deleted():
    status = {"phase": "Failed", "resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "p-gpu-abc"}]}
    rig = settled(pod(node="n", status=status), claims=[claim(USER, name="p-gpu-abc", **owned())])

    with pytest.raises(NotFound):
        rig.client.get(RESOURCE_CLAIMS, "p-gpu-abc", "d")


@pytest.mark.parametrize(
    ("names", "base"),
    [(("web", "gpu"), "web-gpu-"), (("p" * 60, "c" * 20), f"{'p' * 41}-{'c' * 13}")],
)
def test_long_names_are_cut_in_proportion(names, base):
    assert base_name(*names) == base


def told(rig):
    """Return the names of claims in the pod's status, by entry."""
    (seen,) = rig.client.objects(PODS)
    return {
        row["name"]: row.get("resourceClaimName")
        for row in (seen.get("status") or {}).get("resourceClaimStatuses") or ()
    }


def named(name="p-gpu-abc"):
    return {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": name}]}


GONE = "2024-01-01T00:00:00Z"
MADE = claim(name="p-gpu-abc", allocated=False, **owned())
ELSEWHERE = {**MADE, "metadata": {**MADE["metadata"], "namespace": "other"}}
FOREIGN = claim(name="p-gpu", allocated=False)
ADMIN = {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu", "adminAccess": True}}]}}
ENTRIES = {
    "none yet": ([pod()], [template()], [], 1, "new"),
    "for an administrator": ([pod()], [{**template(), "spec": {"spec": ADMIN}}], [], 1, "new"),
    "told already": ([pod(status=named())], [template()], [MADE], 1, "p-gpu-abc"),
    "told, but it is gone": ([pod(status=named())], [template()], [], 1, "new"),
    "found by owner": ([pod()], [], [MADE], 1, "p-gpu-abc"),
    "the pod is being deleted": (
        [pod(node="n", deletionTimestamp=GONE, finalizers=["x/y"])],
        [template()],
        [],
        0,
        None,
    ),
    "one in another namespace": ([pod()], [template()], [ELSEWHERE], 2, "new"),
    "one that is not the pod's": ([pod()], [], [FOREIGN], 1, None),
    "no template": ([pod()], [], [], 0, None),
    "none needed": (
        [pod(status={"resourceClaimStatuses": [{"name": "gpu"}]})],
        [template()],
        [],
        0,
        None,
    ),
}


@pytest.mark.parametrize(("pods", "templates", "claims", "count", "name"), ENTRIES.values(), ids=ENTRIES)
def test_which_claim_a_pod_gets(pods, templates, claims, count, name):
    rig = settled(*pods, claims=claims, templates=templates)

    assert len(claims_in(rig)) == count
    if name == "new":
        assert told(rig)["gpu"] in {each["metadata"]["name"] for each in claims_in(rig)} - {"p-gpu-abc"}
    else:
        assert told(rig).get("gpu") == name


def test_a_pod_without_claims_is_left_alone():
    plain = pod()
    del plain["spec"]["resourceClaims"]
    rig = settled(plain, templates=[template()])

    assert rig.client.actions == []


def test_a_claim_that_was_just_made_is_known_before_it_is_seen():
    rig = settled(pod(), templates=[template()])
    (first,) = claims_in(rig)
    plugin = rig.plugins[0]
    plugin._claims.by_index = lambda *_: []

    assert plugin._generated(pod(), "gpu") == first["metadata"]["name"]


def test_a_claim_that_cannot_be_made_is_told_and_tried_again():
    rig = ControllerRig(Resourceclaim)
    rig.client.seed(TEMPLATES, template())
    rig.client.seed(PODS, pod())
    rig.client.fail_next("create", "resourceclaims", Conflict("fake conflict"))
    rig.settle()
    rig.plugins[0]._recorder.flush()
    (event,) = rig.client.objects(EVENTS)

    assert event["message"] == "PodResourceClaim gpu: create ResourceClaim : fake conflict"
    assert len(claims_in(rig)) == 1


def test_templates_are_looked_for_in_the_pods_namespace():
    other = {**template(), "metadata": {"name": "one-gpu", "namespace": "other"}}
    rig = settled(pod(), templates=[other])
    before = len(claims_in(rig))
    rig.client.seed(TEMPLATES, template())
    rig.settle()

    assert (before, len(claims_in(rig))) == (0, 1)


THING = {"apiGroup": "foo.com", "resource": "foo", "name": "foo", "uid": "123"}
ENDED = pod(BY_NAME, node="n", status={"phase": "Succeeded"})
GIVEN = {"allocation": ALLOCATION, "devices": [{"driver": "d", "pool": "p", "device": "0"}]}
UNPROTECTED = {"finalizers": []}
RESERVATIONS = {
    "its pod is there": ([pod(BY_NAME)], claim(USER), (True, ["p"], True)),
    "one of two pods is there": (
        [pod(BY_NAME)],
        claim(USER, {**USER, "name": "other", "uid": "o"}),
        (True, ["p"], True),
    ),
    "its pod is gone": ([], claim(USER), (False, [], False)),
    "its pod has ended": ([ENDED], claim(USER), (False, [], False)),
    "its pod has ended, not protected": ([ENDED], claim(USER, **UNPROTECTED), (True, [], False)),
    "no pod, being deleted": ([], claim(deletionTimestamp=GONE, finalizers=[FINALIZER, "x/y"]), (False, [], False)),
    "a pod that is gone, being deleted": (
        [],
        claim(USER, deletionTimestamp=GONE, finalizers=[FINALIZER, "x/y"]),
        (False, [], False),
    ),
    "its pod has ended, something else uses it": ([ENDED], claim(USER, THING), (True, ["foo"], True)),
    "never reserved": ([], claim(), (True, [], True)),
}


@pytest.mark.parametrize(("pods", "stored", "left"), RESERVATIONS.values(), ids=RESERVATIONS)
def test_what_is_left_of_a_claim(pods, stored, left):
    rig = settled(*pods, claims=[{**stored, "status": {**stored["status"], **GIVEN}}])

    (found,) = claims_in(rig)
    status = found.get("status") or {}
    users = [user["name"] for user in status.get("reservedFor") or ()]
    assert ("allocation" in status, users, FINALIZER in found["metadata"].get("finalizers", ())) == left
    assert ("devices" in status) == ("allocation" in status)


def test_a_pod_that_is_not_seen_yet_keeps_its_reservation(monkeypatch):
    rig = ControllerRig(Resourceclaim)
    monkeypatch.setattr(rig.plugins[0], "_pods", Blind())
    rig.client.seed(RESOURCE_CLAIMS, claim(USER))
    rig.client.seed(PODS, pod(BY_NAME))
    rig.settle()

    assert claims_in(rig)[0]["status"]["reservedFor"] == [USER]


class Blind:
    """An informer that sees nothing yet."""

    def get(self, *_key):
        return None

    def by_index(self, *_words):
        return []


EXTENDED = {"extendedResourceClaimStatus": {"resourceClaimName": "shared"}}
PODS_WITH_EXTENDED = {
    "no claims": (False, {}, False, False),
    "a claim alone": (True, {"phase": "Running"}, False, False),
    "running": (False, {"phase": "Running", **EXTENDED}, False, False),
    "ended": (False, {"phase": "Succeeded", **EXTENDED}, False, True),
    "failed": (False, {"phase": "Failed", **EXTENDED}, False, True),
    "gone": (False, {"phase": "Running", **EXTENDED}, True, True),
    "ended, with a claim": (True, {"phase": "Succeeded", **EXTENDED}, False, True),
}


@pytest.mark.parametrize(("claims", "status", "gone", "looked"), PODS_WITH_EXTENDED.values(), ids=PODS_WITH_EXTENDED)
def test_the_claim_for_extended_resources_is_looked_at_when_the_pod_ends(claims, status, gone, looked):
    rig = ControllerRig(Resourceclaim)
    plugin = rig.plugins[0]
    asked = pod(node="n", status=status)
    if not claims:
        del asked["spec"]["resourceClaims"]
    (plugin._pod_gone if gone else plugin._pod_seen)(asked)

    keys = set()
    while len(plugin._queue):
        key = plugin._queue.get(block=False)
        keys.add(key)
        plugin._queue.done(key)
    assert ("claim:d/shared" in keys) is looked
    assert ("pod:d/p" in keys) is (claims and not looked)


def test_the_claim_for_extended_resources_goes_with_its_pod():
    special = claim(USER, **{**owned(), "annotations": {"resource.kubernetes.io/extended-resource-claim": "true"}})
    ended = pod(node="n", status={"phase": "Succeeded", **EXTENDED})
    del ended["spec"]["resourceClaims"]
    rig = settled(ended, claims=[special])

    assert claims_in(rig) == []
