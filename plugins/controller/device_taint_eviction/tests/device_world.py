"""What the tests of the controller share: slices of devices with taints, claims, pods, and who goes."""

from hyperkube_controller.device_taint_eviction import DeviceTaintEviction

from hyperkube.kinds.resources import EVENTS, PODS, RESOURCE_CLAIMS, RESOURCE_SLICES
from hyperkube.machinery.times import format_time
from hyperkube.testing.controller_rig import ControllerRig

EXISTS = {"operator": "Exists", "effect": "NoExecute"}
GONE, STAYS = "gone", "stays"


class World:
    """A rig whose clock stands at the time when the taints came."""

    def __init__(self, plugin=DeviceTaintEviction, *, slices=(), claims=(), pods=()):
        self.rig = ControllerRig(plugin)
        self.client = self.rig.client
        self.client.seed(RESOURCE_SLICES, *slices)
        self.client.seed(RESOURCE_CLAIMS, *claims)
        self.client.seed(PODS, *pods)
        self.rig.settle()

    def pods(self):
        return [GONE if each["metadata"].get("deletionTimestamp") else STAYS for each in self.client.objects(PODS)]

    def told(self):
        self.rig.plugins[0]._recorder.flush()
        return [each.get("message") or each.get("note") for each in self.client.objects(EVENTS)]

    def counted(self):
        """Return how many pods were deleted, and how late they were together."""
        families = self.rig.plugins[0]._metrics.collect()
        found = {each.name.rpartition("controller_")[2]: each.value for one in families for each in one.samples}
        return found.get("pod_deletions_total", 0), found.get("pod_deletion_duration_seconds_sum", 0)

    def after(self, seconds):
        self.rig.clock.advance(seconds)
        self.rig.settle()
        return self.pods()


def taint(key="k", *, after=0, effect="NoExecute"):
    rig = ControllerRig(DeviceTaintEviction)
    rig.clock.advance(after)
    return {"key": key, "value": "v", "effect": effect, "timeAdded": format_time(rig.clock.now())}


def rslice(*taints, name="s", generation=1, device="d"):
    devices = [{"name": device, **({"taints": list(taints)} if taints else {})}, {"name": "other"}]
    spec = {"driver": "a", "nodeName": "n", "pool": {"name": "n", "generation": generation}, "devices": devices}
    return {"metadata": {"name": name}, "spec": spec}


def claim(*tolerations, name="c", device="d", users=("uid",), owner="uid", allocated=True):
    row = {"request": "r", "driver": "a", "pool": "n", "device": device, "tolerations": list(tolerations)}
    status = {"reservedFor": [{"resource": "pods", "name": "p", "uid": uid} for uid in users]}
    if allocated:
        status["allocation"] = {"devices": {"results": [row]}}
    meta = {"name": name, "namespace": "default", "uid": name}
    meta["ownerReferences"] = [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": owner, "controller": True}]
    return {"metadata": meta, "spec": {}, "status": status}


def pod(*names, node="n", template=False, made="c", told=True, **meta):
    rows = [{"name": name, "resourceClaimName": name} for name in names or ("c",)]
    status = {}
    if template:
        rows = [{"name": "t", "resourceClaimTemplateName": "x"}]
        status = (
            {"resourceClaimStatuses": [{"name": "t", **({"resourceClaimName": made} if made else {})}]} if told else {}
        )
    spec = {"resourceClaims": rows, **({"nodeName": node} if node else {})}
    meta = {"name": "p", "namespace": "default", "uid": "uid", "finalizers": ["x/y"], **meta}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": status}


def tolerating(seconds=None, **words):
    return {**EXISTS, **({} if seconds is None else {"tolerationSeconds": seconds}), **words}
