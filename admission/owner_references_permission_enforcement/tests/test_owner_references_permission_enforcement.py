import orjson
import pytest
from hyperkube_admission.owner_references_permission_enforcement import OwnerReferencesPermissionEnforcement

from hyperkube.client.client import RawResponse
from hyperkube.kinds.resources import PODS
from hyperkube.machinery.errors import Forbidden
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract


def discovery(group, *rows):
    resources = [
        {"resource": name, "responseKind": {"kind": kind}, "scope": scope, "verbs": ["get", "list"]}
        for name, kind, scope in rows
    ]
    items = [{"metadata": {"name": group}, "versions": [{"version": "v1", "resources": resources}]}]
    body = orjson.dumps({"kind": "APIGroupDiscoveryList", "items": items})
    return lambda _body: RawResponse(200, {"Content-Type": "application/json"}, body)


def serve(rig):
    rig.client.answer("GET", "/api", discovery("", ("nodes", "Node", "Cluster")))
    rig.client.answer("GET", "/apis", discovery("apps", ("replicasets", "ReplicaSet", "Namespaced")))
    return rig


def rig_with(allows):
    return serve(AdmissionRig(OwnerReferencesPermissionEnforcement, allows=allows))


def pod(*owners):
    return {"metadata": {"name": "p", "namespace": "ns", "ownerReferences": list(owners)}}


def owner(uid="1", *, blocks=False, kind="ReplicaSet"):
    return {"apiVersion": "apps/v1", "kind": kind, "name": "rs", "uid": uid, "blockOwnerDeletion": blocks}


def everything(_verb, _resource, _name):
    return True


def all_but_delete(verb, _resource, _name):
    return verb != "delete"


def all_but_replica_sets(_verb, resource, _name):
    return resource != "replicasets"


class TestPromises(AdmissionContract):
    plugin = OwnerReferencesPermissionEnforcement

    def populate(self, rig):
        serve(rig)
        rig.allows = all_but_delete

    def concerned(self, rig):
        return [rig.request("CREATE", PODS, pod(owner()))]


def test_setting_an_owner_takes_the_right_to_delete():
    assert rig_with(everything).create(PODS, pod(owner()))
    with pytest.raises(Forbidden, match="cannot set an ownerRef on a resource you can't delete"):
        rig_with(all_but_delete).create(PODS, pod(owner()))


def test_blocking_an_owner_takes_the_right_to_set_its_finalizers():
    assert rig_with(everything).create(PODS, pod(owner(blocks=True)))
    assert rig_with(all_but_replica_sets).create(PODS, pod(owner()))
    with pytest.raises(Forbidden, match="a resource you can't set finalizers on"):
        rig_with(all_but_replica_sets).create(PODS, pod(owner(blocks=True)))


def test_what_was_there_before_takes_no_right():
    rig = rig_with(all_but_delete)

    assert rig.update(PODS, pod(owner(blocks=True)), pod(owner(blocks=True)))
    with pytest.raises(Forbidden):
        rig.update(PODS, pod(owner()), pod(owner("2")))
    with pytest.raises(Forbidden, match="set finalizers on"):
        rig_with(all_but_replica_sets).update(PODS, pod(owner()), pod(owner(blocks=True)))


def test_an_owner_of_an_unknown_kind_cannot_be_blocked():
    with pytest.raises(Forbidden, match='no matches for kind "Thing" in version "apps/v1"'):
        rig_with(everything).create(PODS, pod(owner(blocks=True, kind="Thing")))


def test_the_status_of_pods_is_exempt():
    rig = rig_with(all_but_delete)

    assert rig.update(PODS, pod(), pod(owner()), subresource="status")
