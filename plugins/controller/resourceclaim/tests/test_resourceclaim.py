"""The resourceclaim controller: claims by template, reservations that end, devices that are given back."""

import pytest
from hyperkube_controller.resourceclaim import ANNOTATION, FINALIZER, TEMPLATES, Resourceclaim, base_name

from hyperkube.kinds.resources import EVENTS, PODS, RESOURCE_CLAIMS
from hyperkube.machinery.errors import NotFound
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


def test_a_claim_that_somebody_deleted_is_made_again():
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
