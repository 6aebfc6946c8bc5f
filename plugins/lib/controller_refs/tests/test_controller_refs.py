"""Who adopts what, who lets go, and what happens when the owner or the child is gone meanwhile."""

import pytest
from hyperkube_lib.controller_refs import ControllerRefManager, candidates, watch_orphans

from hyperkube.client.fake import FakeClient
from hyperkube.client.reconcile import NotYet
from hyperkube.kinds.resources import PODS, REPLICA_SETS
from hyperkube.kinds.workloads import controller_index, label_selector_of
from hyperkube.machinery.errors import Conflict, Forbidden, Invalid, NotFound
from hyperkube.machinery.labels import selector_from_map

OWNED = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "controller": True, "blockOwnerDeletion": True}
FOREIGN = {**OWNED, "name": "other", "uid": "other"}
HELPER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "helper", "uid": "helper"}
WEB = selector_from_map({"app": "web"})
GOING = {"deletionTimestamp": "2030-01-01T00:00:00Z", "finalizers": ["example.com/hold"]}


class Bench:
    """A client with one replica set, and the pods that a test puts beside it."""

    def __init__(self, **meta):
        self.client = FakeClient()
        body = {
            "metadata": {"name": "web", "namespace": "d", **meta},
            "spec": {"selector": {"matchLabels": {"app": "web"}}},
        }
        (self.owner,) = self.client.seed(REPLICA_SETS, body)
        self.reference = {**OWNED, "uid": self.owner["metadata"]["uid"]}

    def pod(self, name, *owners, app="web", **meta):
        """Put a pod there; the word ``ours`` among its owners stands for the replica set."""
        references = [self.reference if owner == "ours" else owner for owner in owners]
        meta |= {"name": name, "namespace": "d", "labels": {"app": app}, "ownerReferences": references}
        return self.client.seed(PODS, {"metadata": meta, "spec": {}})[0]

    def manager(self, **options):
        return ControllerRefManager(self.client, self.owner, REPLICA_SETS, "ReplicaSet", WEB, **options)

    def claim(self, *pods, **options):
        return names(self.manager(**options).claim(PODS, pods))

    def now(self, name):
        return self.client.get(PODS, name, "d")["metadata"]


def names(objects):
    return [obj["metadata"]["name"] for obj in objects]


def test_an_orphan_that_is_selected_is_adopted():
    bench = Bench()

    (pod,) = bench.manager().claim(PODS, [bench.pod("a", HELPER)])

    assert pod["metadata"]["ownerReferences"] == [HELPER, bench.reference]
    assert bench.now("a")["ownerReferences"] == [HELPER, bench.reference]


@pytest.mark.parametrize(
    ("owners", "app", "meta", "owner_meta", "claimed", "owners_then"),
    [
        pytest.param(["ours"], "web", {}, {}, True, ["ours"], id="controlled and selected"),
        pytest.param(["ours"], "web", GOING, {}, True, ["ours"], id="controlled and being deleted"),
        pytest.param(["ours", HELPER], "other", {}, {}, False, [HELPER], id="selected no more"),
        pytest.param([], "other", {}, {}, False, [], id="an orphan of others"),
        pytest.param([], "web", GOING, {}, False, [], id="an orphan that is being deleted"),
        pytest.param([FOREIGN], "web", {}, {}, False, [FOREIGN], id="of another controller"),
        pytest.param(["ours"], "web", {}, GOING, True, ["ours"], id="an owner that goes keeps what it has"),
        pytest.param(["ours"], "other", {}, GOING, False, ["ours"], id="an owner that goes releases nothing"),
        pytest.param([], "web", {}, GOING, False, [], id="an owner that goes adopts nothing"),
    ],
)
def test_what_is_claimed(owners, app, meta, owner_meta, claimed, owners_then):
    bench = Bench(**owner_meta)
    pod = bench.pod("a", *owners, app=app, **meta)

    assert bench.claim(pod) == (["a"] if claimed else [])
    wanted = [bench.reference if owner == "ours" else owner for owner in owners_then]
    assert (bench.now("a").get("ownerReferences") or []) == wanted


def test_what_does_not_match_beside_the_selector_is_neither_adopted_nor_kept():
    bench = Bench()
    pods = [bench.pod("mine", "ours"), bench.pod("orphan"), bench.pod("web-0")]

    claimed = bench.manager().claim(PODS, pods, lambda pod: pod["metadata"]["name"] == "web-0")

    assert names(claimed) == ["web-0"]
    assert not bench.now("mine").get("ownerReferences")
    assert not bench.now("orphan").get("ownerReferences")


def test_finalizers_come_with_the_adoption_and_go_with_the_release():
    bench = Bench()
    pods = [bench.pod("a", finalizers=["x/y"]), bench.pod("b", "ours", app="other", finalizers=["x/y", "job/tracking"])]

    bench.claim(*pods, finalizers=["job/tracking"])

    assert bench.now("a")["finalizers"] == ["x/y", "job/tracking"]
    assert bench.now("b")["finalizers"] == ["x/y"]


def test_an_owner_that_was_deleted_meanwhile_adopts_nothing():
    bench = Bench()
    pod = bench.pod("a")
    bench.client.delete(REPLICA_SETS, "web", "d")

    with pytest.raises(NotYet, match="original ReplicaSet d/web is gone"):
        bench.claim(pod)

    assert not bench.now("a").get("ownerReferences")


def test_an_owner_that_was_replaced_meanwhile_adopts_nothing():
    bench = Bench()
    pod = bench.pod("a")
    bench.client.delete(REPLICA_SETS, "web", "d")
    (other,) = bench.client.seed(REPLICA_SETS, {"metadata": {"name": "web", "namespace": "d"}})

    with pytest.raises(NotYet, match=f"got uid {other['metadata']['uid']}, wanted {bench.reference['uid']}"):
        bench.claim(pod)

    assert not bench.now("a").get("ownerReferences")


def test_an_owner_that_is_being_deleted_by_now_adopts_nothing_but_still_releases():
    bench = Bench(finalizers=["example.com/hold"])
    pods = [bench.pod("a"), bench.pod("b", "ours", app="other")]
    bench.client.delete(REPLICA_SETS, "web", "d")

    with pytest.raises(NotYet, match="d/web has just been deleted at"):
        bench.claim(*pods)

    assert not bench.now("a").get("ownerReferences")
    assert not bench.now("b").get("ownerReferences")


def test_the_owner_is_read_once_and_only_for_an_adoption():
    bench = Bench()
    owned, strangers = bench.pod("a", "ours"), [bench.pod("b"), bench.pod("c")]
    reads = []
    get = bench.client.get
    bench.client.get = lambda *args, **more: reads.append(args) or get(*args, **more)

    assert bench.claim(owned) == ["a"]
    assert reads == []
    assert bench.claim(*strangers) == ["b", "c"]
    assert len(reads) == 1


def test_a_child_that_is_gone_is_not_claimed():
    bench = Bench()
    orphan, kept, released = bench.pod("a"), bench.pod("b"), bench.pod("c", "ours", app="other")
    bench.client.delete(PODS, "a", "d")
    bench.client.delete(PODS, "c", "d")

    assert bench.claim(orphan, kept, released) == ["b"]


@pytest.mark.parametrize("error", [NotFound("gone"), Invalid("uid: field is immutable")], ids=["gone", "another one"])
def test_a_release_of_what_is_not_there_is_no_failure(error):
    bench = Bench()
    pod = bench.pod("a", "ours", app="other")
    bench.client.fail_next("patch", "pods", error)

    assert bench.claim(pod) == []


def test_a_failure_is_raised_when_all_others_were_tried():
    bench = Bench()
    pods = [bench.pod("a"), bench.pod("b"), bench.pod("c", "ours", app="other")]
    bench.client.fail_next("patch", "pods", Forbidden("no"))

    with pytest.raises(Forbidden):
        bench.claim(*pods)

    assert bench.now("b")["ownerReferences"] == [bench.reference]
    assert not bench.now("c").get("ownerReferences")


def test_a_reference_that_came_meanwhile_is_not_overwritten():
    bench = Bench()
    pod = bench.pod("a")
    bench.client.patch(PODS, "a", {"metadata": {"ownerReferences": [FOREIGN]}}, "d")

    with pytest.raises(Conflict):
        bench.claim(pod)

    assert bench.now("a")["ownerReferences"] == [FOREIGN]


class Children:
    """An informer's index and handlers."""

    def __init__(self, *objects):
        self.objects = objects
        self.handlers = ()
        self.indexes = {"controller": controller_index}

    def add_index(self, name, function):
        self.indexes[name] = function

    def by_index(self, index, key):
        return [obj for obj in self.objects if key in self.indexes[index](obj)]

    def add_handler(self, *handlers):
        self.handlers = handlers


class Loop:
    name = "owners"

    def __init__(self):
        self.keys = []

    def enqueue(self, obj):
        self.keys.append(obj["metadata"]["name"])


def test_candidates_are_the_owners_and_the_orphans_of_its_namespace():
    bench = Bench()
    elsewhere = {"metadata": {"name": "far", "namespace": "e"}}
    children = Children(bench.pod("a", "ours"), bench.pod("b"), bench.pod("c", FOREIGN), elsewhere)

    assert names(candidates(children, bench.owner)) == ["a", "b"]


def test_an_orphan_wakes_the_owners_that_select_it():
    bench, loop, children = Bench(), Loop(), Children()
    everything = {"metadata": {"name": "all", "namespace": "d"}}
    owners = Children(bench.owner, everything)
    watch_orphans(loop, children, owners, lambda owner: WEB if owner is bench.owner else selector_from_map({}))
    added, updated = children.handlers
    orphan, owned = bench.pod("a"), bench.pod("b", "ours")

    added(orphan)
    assert loop.keys == ["web"]
    added(owned)
    added(bench.pod("c", **GOING))
    added(bench.pod("d", app="other"))
    updated(orphan, orphan)
    assert loop.keys == ["web"]
    updated(bench.pod("a2", app="other"), orphan)
    updated(owned, orphan)
    assert loop.keys == ["web"] * 3


@pytest.mark.parametrize(
    ("selector", "woken"),
    [
        ({"matchLabels": {"app": "web", "tier": "front"}}, True),
        ({"matchLabels": {"app": "web", "tier": "back"}}, False),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["api", "web"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["api", "db"]}]}, False),
        ({"matchExpressions": [{"key": "app", "operator": "Exists"}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}, False),
        ({"matchExpressions": [{"key": "gone", "operator": "DoesNotExist"}]}, True),
        ({}, False),
        ({"matchLabels": {"app": "no label!"}}, False),
    ],
    ids=["labels", "another-label", "one-of", "none-of", "exists", "other-than", "lacks", "empty", "invalid"],
)
def test_each_kind_of_selector_finds_its_orphans(selector, woken):
    loop, children = Loop(), Children()
    owners = Children(
        {"metadata": {"name": "it", "namespace": "d"}, "spec": {"selector": selector}},
        {"metadata": {"name": "far", "namespace": "e"}, "spec": {"selector": selector}},
    )
    watch_orphans(loop, children, owners, label_selector_of)
    added, _ = children.handlers

    added({"metadata": {"name": "p", "namespace": "d", "labels": {"app": "web", "tier": "front"}}})

    assert loop.keys == (["it"] if woken else [])
