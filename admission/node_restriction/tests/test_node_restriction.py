import pytest
from hyperkube_admission.node_restriction import NodeRestriction

from hyperkube.kinds.resources import CSI_NODES, LEASES, NODES, PERSISTENT_VOLUME_CLAIMS, PODS, SERVICE_ACCOUNTS
from hyperkube.machinery.errors import Forbidden
from hyperkube.machinery.users import node
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract

ME = node("n1")
OWNER = {"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "u-n1", "controller": True}


TOKEN = {"name": "t", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}


def named(name, namespace="", **more):
    meta = {"name": name, **more.pop("metadata", {})}
    return {"metadata": {**meta, "namespace": namespace} if namespace else meta, **more}


def mirror(owners=(OWNER,), annotations=None, **spec):
    annotations = {"kubernetes.io/config.mirror": "x"} if annotations is None else annotations
    meta = {"annotations": annotations, "ownerReferences": list(owners)}
    return named("p", "ns", metadata=meta, spec={"nodeName": "n1", **spec})


@pytest.fixture
def rig():
    rig = AdmissionRig(NodeRestriction)
    rig.seed(NODES, named("n1", metadata={"uid": "u-n1"}))
    rig.seed(
        PODS,
        named("mine", "ns", metadata={"uid": "u-mine"}, spec={"nodeName": "n1", "volumes": [TOKEN]}),
        named("other", "ns", metadata={"uid": "u-other"}, spec={"nodeName": "n2"}),
    )
    return rig


class TestPromises(AdmissionContract):
    plugin = NodeRestriction

    def concerned(self, rig):
        return [
            rig.request("UPDATE", NODES, named("n1", spec={}), named("n1", spec={}), user=ME),
            rig.request("UPDATE", NODES, named("n2", spec={}), named("n2", spec={}), user=ME),
        ]


def test_a_mirror_pod_of_its_own_may_be_created(rig):
    rig.create(PODS, mirror(), user=ME)


@pytest.mark.parametrize(
    ("pod", "message"),
    [
        (
            mirror(annotations={}),
            'pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods',
        ),
        (mirror(nodeName="n2"), 'node "n1" can only create pods with spec.nodeName set to itself'),
        (mirror(()), 'node "n1" can only create pods with an owner reference set to itself'),
        (mirror((OWNER, OWNER)), 'node "n1" can only create pods with a single owner reference set to itself'),
        (
            mirror(({**OWNER, "controller": False},)),
            'node "n1" can only create pods with a controller owner reference set to itself',
        ),
        (mirror(({**OWNER, "uid": "x"},)), "node n1 UID mismatch: expected x got u-n1"),
        (mirror(serviceAccountName="sa"), 'node "n1" can not create pods that reference a service account'),
        (
            mirror(volumes=[{"secret": {"secretName": "s"}}]),
            'node "n1" can not create pods that reference secrets',
        ),
        (
            mirror(containers=[{"envFrom": [{"configMapRef": {"name": "c"}}]}]),
            'node "n1" can not create pods that reference configmaps',
        ),
        (
            mirror(volumes=[{"persistentVolumeClaim": {"claimName": "c"}}]),
            'node "n1" can not create pods that reference persistentvolumeclaims',
        ),
    ],
)
def test_other_pods_are_refused(rig, pod, message):
    with pytest.raises(Forbidden) as caught:
        rig.create(PODS, pod, user=ME)

    assert caught.value.message == message


def test_only_its_own_pods_may_be_deleted_evicted_and_reported(rig):
    mine, other = (rig.client.get(PODS, name, "ns") for name in ("mine", "other"))

    rig.delete(PODS, mine, user=ME)
    rig.update(PODS, mine, mine, user=ME, subresource="status")
    rig.create(PODS, named("mine", "ns"), user=ME, subresource="eviction")
    with pytest.raises(Forbidden, match=r"can only delete pods with spec.nodeName set to itself"):
        rig.delete(PODS, other, user=ME)
    with pytest.raises(Forbidden, match="can only update pod status for pods"):
        rig.update(PODS, other, other, user=ME, subresource="status")
    with pytest.raises(Forbidden, match="node n1 can only evict pods"):
        rig.create(PODS, named("other", "ns"), user=ME, subresource="eviction")
    with pytest.raises(Forbidden, match="can only create and delete mirror pods"):
        rig.update(PODS, mine, mine, user=ME)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (named("n2"), named("n2"), 'node "n1" is not allowed to modify node "n2"'),
        (
            named("n1", spec={"taints": [{"key": "a"}]}),
            named("n1", spec={}),
            'node "n1" is not allowed to modify taints',
        ),
        (
            named("n1"),
            named("n1", metadata={"labels": {"node-restriction.kubernetes.io/x": "1", "kubernetes.io/os": "linux"}}),
            "is not allowed to modify labels: node-restriction.kubernetes.io/x",
        ),
        (
            named("n1"),
            named("n1", metadata={"labels": {"node-role.kubernetes.io/master": "", "example.com/x": "y"}}),
            "is not allowed to modify labels: node-role.kubernetes.io/master",
        ),
    ],
)
def test_its_node_is_changed_within_bounds(rig, old, new, message):
    with pytest.raises(Forbidden) as caught:
        rig.update(NODES, old, new, user=ME)

    assert caught.value.message == message


def test_a_node_may_register_with_the_usual_labels(rig):
    labels = {"kubernetes.io/hostname": "n1", "node.kubernetes.io/instance-type": "m", "example.com/rack": "4"}

    rig.create(NODES, named("n1", metadata={"labels": labels}), user=ME)
    with pytest.raises(Forbidden, match=r"is not allowed to set the following labels: k8s.io/x"):
        rig.create(NODES, named("n1", metadata={"labels": {"k8s.io/x": "1"}}), user=ME)


def test_tokens_are_for_pods_that_run_there(rig):
    def ask(**reference):
        reference = {"apiVersion": "v1", "kind": "Pod", **reference}
        request = {"spec": {"boundObjectRef": reference}}
        rig.create(SERVICE_ACCOUNTS, request, user=ME, subresource="token", namespace="ns", name="sa")

    ask(name="mine", uid="u-mine")
    with pytest.raises(Forbidden, match="bound to a pod scheduled on a different node"):
        ask(name="other", uid="u-other")
    with pytest.raises(Forbidden, match="does not match the UID in record"):
        ask(name="mine", uid="x")
    with pytest.raises(Forbidden, match="with a pod binding without a uid"):
        ask(name="mine")
    with pytest.raises(Forbidden, match="node requested token not bound to a pod"):
        ask(name="")


def test_leases_and_csi_nodes_bear_its_name(rig):
    rig.create(LEASES, named("n1", "kube-node-lease"), user=ME)
    rig.create(CSI_NODES, named("n1"), user=ME)
    with pytest.raises(Forbidden, match='can only access leases in the "kube-node-lease" system namespace'):
        rig.create(LEASES, named("n1", "ns"), user=ME)
    with pytest.raises(Forbidden, match="same name as the requesting node"):
        rig.create(LEASES, named("n2", "kube-node-lease"), user=ME)
    with pytest.raises(Forbidden, match="can only access CSINode"):
        rig.create(CSI_NODES, named("n2"), user=ME)


def test_of_claims_only_the_volume_facts_may_change(rig):
    old = named("c", "ns", spec={"x": 1}, status={"phase": "Bound", "capacity": {"storage": "1"}})

    grown = {**old, "status": {"phase": "Bound", "capacity": {"storage": "2"}}}
    rig.update(PERSISTENT_VOLUME_CLAIMS, old, grown, user=ME, subresource="status")
    lost = {**old, "status": {"phase": "Lost"}}
    with pytest.raises(Forbidden, match=r"fields other than status.capacity and status.conditions"):
        rig.update(PERSISTENT_VOLUME_CLAIMS, old, lost, user=ME, subresource="status")
    with pytest.raises(Forbidden, match="may only update PVC status"):
        rig.update(PERSISTENT_VOLUME_CLAIMS, old, old, user=ME)


def test_others_are_not_restricted(rig):
    rig.update(NODES, named("n2", spec={"taints": [1]}), named("n2", spec={}))
