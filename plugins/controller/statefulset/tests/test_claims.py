"""Who owns a claim; the rows are those of upstream's ``stateful_set_utils_test.go``."""

import pytest
from hyperkube_controller.statefulset.claims import (
    claims_of,
    has_stale_owner,
    has_unexpected_controller,
    is_claim_owner_up_to_date,
    update_claim_owners,
)

POD = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "db-1", "namespace": "d", "uid": "pod"}}


def stateful_set(deleted="Retain", scaled="Retain"):
    policy = {"whenDeleted": deleted, "whenScaled": scaled}
    meta = {"name": "db", "namespace": "d", "uid": "set"}
    return {"metadata": meta, "spec": {"persistentVolumeClaimRetentionPolicy": policy}}


def reference(kind, uid, *, controller=True, name=None):
    names = {"StatefulSet": ("apps/v1", "db"), "Pod": ("v1", "db-1"), "Thing": ("x/v1", "thing")}
    version, known = names[kind]
    return {"apiVersion": version, "kind": kind, "name": name or known, "uid": uid, "controller": controller}


BY_SET, BY_POD = reference("StatefulSet", "set"), reference("Pod", "pod")
OTHER, OTHER_CONTROLLER = reference("Thing", "t", controller=False), reference("Thing", "t")


def claim(*owners):
    return {"metadata": {"name": "data-db-1", "ownerReferences": [*owners]}}


# For each policy: who is to own the claim of a pod that stays, and of one that is scaled down.
POLICIES = [
    ("Retain", "Retain", [], []),
    ("Delete", "Retain", [BY_SET], [BY_SET]),
    ("Retain", "Delete", [], [BY_POD]),
    ("Delete", "Delete", [BY_SET], [BY_POD]),
    ("Unknown", "Retain", [], []),
]


@pytest.mark.parametrize(("deleted", "scaled", "stays", "goes"), POLICIES)
@pytest.mark.parametrize("scaled_down", [False, True])
@pytest.mark.parametrize("others", [[], [OTHER]], ids=["alone", "with another owner"])
def test_the_owners_follow_the_policy(deleted, scaled, stays, goes, scaled_down, others):
    owner, wanted = stateful_set(deleted, scaled), goes if scaled_down else stays
    for owners in ([], [BY_SET], [BY_POD], [BY_SET, BY_POD]):
        before = claim(*others, *owners)

        fits = is_claim_owner_up_to_date(before, owner, POD, scaled_down=scaled_down)
        after = update_claim_owners(before, owner, POD, scaled_down=scaled_down)

        assert fits == (owners == wanted)
        kinds = [each["kind"] for each in after["metadata"]["ownerReferences"]]
        assert kinds == [each["kind"] for each in [*others, *wanted]]
        assert is_claim_owner_up_to_date(after, owner, POD, scaled_down=scaled_down)


@pytest.mark.parametrize(
    ("owners", "expected"),
    [
        pytest.param([reference("StatefulSet", "earlier")], True, id="an earlier set: left alone"),
        pytest.param([reference("Pod", "earlier")], True, id="an earlier pod: left alone"),
        pytest.param([OTHER_CONTROLLER], True, id="another controller: nothing is added"),
        pytest.param([OTHER_CONTROLLER, BY_SET], False, id="beside another controller ours is taken off"),
        pytest.param([OTHER_CONTROLLER, BY_POD], False, id="that of the pod, too"),
        pytest.param([reference("StatefulSet", "set", controller=False)], False, id="an owner that is no controller"),
        pytest.param([OTHER, BY_SET], True, id="another owner"),
    ],
)
def test_what_is_up_to_date_when_the_set_is_to_own_it(owners, expected):
    assert is_claim_owner_up_to_date(claim(*owners), stateful_set("Delete"), POD, scaled_down=False) is expected


@pytest.mark.parametrize(
    ("policy", "owners", "expected"),
    [
        (("Retain", "Retain"), [OTHER_CONTROLLER], False),
        (("Delete", "Retain"), [OTHER_CONTROLLER], True),
        (("Delete", "Retain"), [OTHER], False),
        (("Delete", "Retain"), [BY_SET, BY_POD], False),
        (("Retain", "Delete"), [reference("StatefulSet", "earlier")], True),
        (("Retain", "Delete"), [reference("Pod", "earlier")], True),
        (("Retain", "Delete"), [reference("Pod", "x", name="db-2")], True),
    ],
    ids=["retain", "controller", "owner", "ours", "earlier set", "earlier pod", "another pod"],
)
def test_which_controller_is_unexpected(policy, owners, expected):
    assert has_unexpected_controller(claim(*owners), stateful_set(*policy), POD) is expected


def test_an_unexpected_controller_stays_and_ours_go():
    owned = update_claim_owners(claim(OTHER_CONTROLLER, BY_SET), stateful_set("Delete"), POD, scaled_down=False)

    assert owned["metadata"]["ownerReferences"] == [OTHER_CONTROLLER]


@pytest.mark.parametrize(
    ("owners", "expected"),
    [([], False), ([BY_POD], False), ([reference("Pod", "earlier")], True), ([OTHER], False)],
    ids=["none", "this pod", "an earlier pod", "another"],
)
def test_a_claim_of_an_earlier_pod_of_the_name_is_stale(owners, expected):
    assert has_stale_owner(claim(*owners), POD) is expected


def test_a_claim_is_made_of_its_template_and_selected_as_the_pods_are():
    template = {"metadata": {"name": "data", "labels": {"tier": "db"}, "annotations": {"a": "b"}}, "spec": {"x": 1}}
    owner = {
        "metadata": {"name": "db", "namespace": "d"},
        "spec": {"selector": {"matchLabels": {"app": "db"}}, "volumeClaimTemplates": [{**template, "status": {}}]},
    }

    (made,) = claims_of(owner, 1)

    assert made == {
        "kind": "PersistentVolumeClaim", "apiVersion": "v1", "spec": {"x": 1},
        "metadata": {
            "name": "data-db-1", "namespace": "d", "labels": {"tier": "db", "app": "db"}, "annotations": {"a": "b"},
        },
    }  # fmt: skip
