"""The plugin in a world of its own: a fake API server, informers, and a scheduler's steps for one pod."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from device_builders import CLASSES, claim
from hyperkube_scheduler.dynamic_resources import DynamicResources
from hyperkube_testing.scheduling.tables import pod_info, table, verdicts

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.kinds.resources import DEVICE_CLASSES, PODS, RESOURCE_CLAIMS, RESOURCE_SLICES
from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.times import format_time
from hyperkube.plugin import PluginContext
from hyperkube.testing.waiting import eventually

FINALIZER = "resource.kubernetes.io/delete-protection"
USER = {"resource": "pods", "name": "pod", "uid": "uid"}
OWNER = {"apiVersion": "v1", "kind": "Pod", "name": "pod", "uid": "uid", "controller": True}
START = datetime(2026, 1, 1, tzinfo=UTC)


class Impatient:
    """A clock on which waiting takes no time; what is put off until then happens first, and what was written is seen."""

    def __init__(self, *chores):
        self.passed = 0.0
        self.is_behind = lambda: False
        self._chores = list(chores)

    def now(self):
        return START + timedelta(seconds=self.passed)

    def monotonic(self):
        return self.passed

    def wait(self, event, timeout):
        if self._chores:
            self._chores.pop(0)()
            return SystemClock().wait(event, 5)
        if self.is_behind():
            eventually(lambda: not self.is_behind(), why="time goes on while the news of a write is under way")
            return event.is_set()
        self.passed += timeout
        return event.is_set()


@dataclass
class World:
    """Objects that exist before the plugin looks; `gates` and `settings` of the plugin."""

    claims: list = field(default_factory=list)
    slices: list = field(default_factory=list)
    classes: list = field(default_factory=lambda: [*CLASSES.values()])
    nodes: tuple = ({"name": "n1"},)
    gates: dict = field(default_factory=dict)
    settings: dict = field(default_factory=dict)
    clock: object = field(default_factory=Impatient)

    def __post_init__(self):
        self.client = FakeClient()
        self.client.seed(RESOURCE_CLAIMS, *self.claims)
        self.client.seed(RESOURCE_SLICES, *self.slices)
        self.client.seed(DEVICE_CLASSES, *self.classes)
        self.client.seed(PODS, pod().pod)
        self.table = table(*self.nodes)
        self.wakes = []
        informers = InformerFactory(self.client, SystemClock(), detect_mutations=True)
        informers.start()
        seen = informers.informer(RESOURCE_CLAIMS)
        self.clock.is_behind = lambda: (
            self._versions(seen.list()) != self._versions(self.client.objects(RESOURCE_CLAIMS))
        )
        words = {"client": self.client, "informers": informers, "clock": self.clock}
        context = PluginContext(name="DynamicResources", gates=self.gates, settings=self.settings, **words)
        self.plugin = DynamicResources(context)
        self.plugin.connect(self.wakes.append)

    @staticmethod
    def _versions(objects):
        return {each["metadata"]["name"]: each["metadata"]["resourceVersion"] for each in objects}

    def ask(self, asked):
        """Return what keeps the pod out, or what is said of each node."""
        early = self.plugin.pre_enqueue(asked.pod)
        return f"waits: {early}" if early else verdicts(self.plugin, asked, self.table)

    def bind(self, asked, node="n1"):
        """Reserve and write; give everything back after a failure; return why."""
        assert "" in self.ask(asked)
        why = self.plugin.reserve(asked, node) or self.plugin.pre_bind(asked, node)
        if why:
            self.plugin.unreserve(asked, node)
        return why

    def give_up(self, asked):
        """Return what is said after no node was found."""
        found = self.plugin.post_filter(asked, self.table, {}, None)
        return (found() if callable(found) else found).message

    def stored(self):
        """Return the claims, in short."""
        return [short(each) for each in self.client.objects(RESOURCE_CLAIMS)]

    def knows(self, look):
        """Wait until the plugin's caches show something."""
        eventually(look)


def pod(*names, template="", made="", extended=None, containers=None, status=None):
    """Return a pod: with claims by name; with one from a template, `made` already; with extended resources."""
    rows = [{"name": f"r-{name}", "resourceClaimName": name} for name in names]
    if template:
        rows.append({"name": "t", "resourceClaimTemplateName": template})
    spec = {"resourceClaims": rows} if rows else {}
    if extended or containers:
        spec["containers"] = containers or [{"name": "c", "resources": {"requests": extended, "limits": extended}}]
    body = {"spec": spec}
    if made:
        body["status"] = {"resourceClaimStatuses": [{"name": "t", "resourceClaimName": made}]}
    return pod_info({"metadata": {"name": "pod", "namespace": "default", "uid": "uid"}, **body}, table())


def got(*devices, node="n1", **words):
    """Return a status.allocation: devices written ``request=driver/pool/device``."""
    rows = []
    for each in devices:
        request, _, where = each.partition("=")
        rows.append({"request": request, **dict(zip(("driver", "pool", "device"), where.split("/"), strict=True))})
    here = [{"key": "metadata.name", "operator": "In", "values": [node]}]
    selector = {"nodeSelectorTerms": [{"matchFields": here}]}
    return {"devices": {"results": [{**row, **words} for row in rows]}, **({"nodeSelector": selector} if node else {})}


def allocated(base, allocation=None, *, users=(), finalizer=True, since=START, devices=()):
    """Return a claim that has devices."""
    allocation = allocation or got("r0=a/p1/1")
    status = {"allocation": {**allocation, "allocationTimestamp": format_time(since)}}
    if users:
        status["reservedFor"] = list(users)
    if devices:
        status["devices"] = list(devices)
    meta = {**base["metadata"], **({"finalizers": [FINALIZER]} if finalizer else {})}
    return {**base, "metadata": meta, "status": status}


def owned(base, uid="uid", **meta):
    """Return a claim that was made for the pod."""
    return {**base, "metadata": {**base["metadata"], "ownerReferences": [{**OWNER, "uid": uid}], **meta}}


def short(stored):
    """Return a claim's devices, users and protection in a line: ``r0=a/p1/1 for pod, protected``."""
    status = stored.get("status") or {}
    rows = ((status.get("allocation") or {}).get("devices") or {}).get("results") or ()
    text = " ".join(f"{row['request']}={row['driver']}/{row['pool']}/{row['device']}" for row in rows) or "-"
    users = " ".join(user["name"] for user in status.get("reservedFor") or ())
    protected = ", protected" if FINALIZER in (stored["metadata"].get("finalizers") or ()) else ""
    return f"{text}{' for ' + users if users else ''}{protected}{', devices' if status.get('devices') else ''}"


__all__ = ["FINALIZER", "USER", "Impatient", "World", "allocated", "claim", "got", "owned", "pod", "short"]
