"""The addon: watches policies, pods and namespaces, and gives the kernel each change of the rules at once.

It guards the pods of one node, or, told no node, of every one whose traffic passes this machine. A set of rules that
the kernel refuses leaves the old one whole, and is tried again.
"""

from __future__ import annotations

import shutil
import subprocess
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from hyperkube_addon.network_policy.resolution import Cluster, Pod, isolations, pod_of
from hyperkube_addon.network_policy.ruleset import ruleset
from hyperkube_addon.network_policy.table import NAME, Table, difference, removal, whole

from hyperkube.hookspecs import hookimpl
from hyperkube.kinds.resources import NAMESPACES, PODS
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin, PluginContext

if TYPE_CHECKING:
    from hyperkube.client.informer import Informer

NETWORK_POLICIES = GroupVersionResource("networking.k8s.io", "v1", "networkpolicies")
PAUSE_SECONDS = 0.05
"""Changes that come within it become one transaction."""
RETRY_SECONDS = 5.0
_TIMEOUT = 60
_BRIDGED = Path("/proc/sys/net/bridge")
_LOOPBACK = ("127.", "::1")


class Settings(Record):
    """Whose pods are guarded.

    Attributes:
        node_name: the node of the pods; empty for all pods whose traffic passes here.
        keep_rules: whether the rules stay in force when the addon ends, as a node that is restarted needs it.
    """

    node_name: str = ""
    keep_rules: bool = False


class NetworkPolicies(Plugin):
    """Keeps the kernel's rules as the policies have it."""

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._settings = self.settings(Settings)
        self._changed = threading.Event()
        self._stopped = threading.Event()
        self._informers: tuple[Informer, ...] = ()
        self._told_of_loopback = False

    def start(self) -> None:
        """Look whether there is what it needs.

        Raises:
            UsageError: this machine has no nftables, or does not let this process use it.
        """
        if shutil.which("nft") is None:
            raise UsageError("addon 'network-policy' needs the program 'nft' (Debian's package nftables)")
        # Not replaced yet: what an earlier run may have left stays in force until the policies are known.
        error = apply(f"add table {NAME}\n")
        if error:
            why, *_shown = error.splitlines()
            raise UsageError(f"addon 'network-policy' may not use nftables here, which needs root: {why}")

    @hookimpl
    def addon_start(self) -> None:
        """Keep the rules up to date until `close`."""
        if self.context.client is None or self.context.informers is None:
            return
        self._see_bridged_traffic()
        policies, pods, namespaces = self._watch()
        # A `close` that comes now finds the informers, an earlier one is seen here.
        if self._stopped.is_set() or not all(informer.wait_synced() for informer in self._informers):
            return
        applied: Table | None = None
        while not self._stopped.is_set():
            self._changed.clear()
            wanted = self._wanted(policies, pods, namespaces)
            error = self._put(applied, wanted)
            if error:
                self.context.logger.error("network policies stay as they were: %s", error)
                self.context.clock.wait(self._stopped, RETRY_SECONDS)
                applied = None  # the kernel has something else than is known here: all is sent
                continue
            applied = wanted
            self.context.clock.wait(self._changed, None)
            self.context.clock.wait(self._stopped, PAUSE_SECONDS)
        if applied is not None and not self._settings.keep_rules:
            apply(removal())

    def close(self) -> None:
        """Watch no more."""
        self._stopped.set()
        self._changed.set()
        for informer in self._informers:
            informer.stop()

    def _watch(self) -> tuple[Informer, ...]:
        policies = self.informers.informer(NETWORK_POLICIES)
        pods = self.informers.informer(PODS, project=project_pod)
        namespaces = self.informers.informer(NAMESPACES, project=project_namespace)
        self._informers = (policies, pods, namespaces)
        for informer in self._informers:
            informer.add_handler(
                lambda _obj: self._changed.set(),
                lambda _old, _new: self._changed.set(),
                lambda _obj: self._changed.set(),
            )
        return self._informers

    @staticmethod
    def _put(applied: Table | None, wanted: Table) -> str:
        """Bring the kernel from what was applied to what is wanted; return why it could not be, as `apply`."""
        text = whole(wanted) if applied is None else difference(applied, wanted)
        return apply(text) if text else ""

    def _wanted(self, policies: Informer, pods: Informer, namespaces: Informer) -> Table:
        labels = {obj["metadata"]["name"]: obj["metadata"].get("labels") or {} for obj in namespaces.list()}
        found = [pod for pod in map(pod_of, pods.list()) if pod is not None]
        self._tell_of_loopback(found)
        node = self._settings.node_name
        return ruleset(isolations(Cluster(labels, found), policies.list(), lambda pod: not node or pod.node == node))

    def _tell_of_loopback(self, pods: list[Pod]) -> None:
        if self._told_of_loopback or not any(pod.addresses[0].startswith(_LOOPBACK) for pod in pods):
            return
        self._told_of_loopback = True
        self.context.logger.warning("pods that share this machine's network are out of reach of network policies")

    def _see_bridged_traffic(self) -> None:
        """Let rules see what passes between pods of one bridge."""
        for name in ("bridge-nf-call-iptables", "bridge-nf-call-ip6tables"):
            try:
                (_BRIDGED / name).write_text("1", encoding="ascii")
            except OSError as error:
                self.context.logger.warning(
                    "traffic between pods on one bridge escapes network policies: cannot set net.bridge.%s: %s"
                    " (load the module br_netfilter)",
                    name,
                    error.strerror,
                )
                return


def apply(text: str) -> str:
    """Carry out a transaction of nftables; return why it could not be, nothing if it was."""
    try:
        done = subprocess.run(
            ["nft", "-f", "-"], input=text, capture_output=True, text=True, timeout=_TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired:
        return f"nft: took longer than {_TIMEOUT}s"
    return f"nft: {done.stderr.strip()[:2000]}" if done.returncode else ""


def project_pod(pod: Object) -> Object:
    """Keep of a pod what policies look at."""
    meta, spec, status = pod["metadata"], pod.get("spec") or {}, pod.get("status") or {}
    kept = {field: meta[field] for field in ("name", "namespace", "uid", "resourceVersion", "labels") if field in meta}
    containers = {
        field: [{"ports": container["ports"]} for container in spec[field] if container.get("ports")]
        for field in ("containers", "initContainers")
        if spec.get(field)
    }
    flags = {field: spec[field] for field in ("hostNetwork", "nodeName") if spec.get(field)}
    seen = {field: status[field] for field in ("phase", "podIP", "podIPs") if status.get(field)}
    return {"metadata": kept, "spec": {**containers, **flags}, "status": seen}


def project_namespace(namespace: Object) -> Object:
    """Keep of a namespace its labels."""
    meta = namespace["metadata"]
    return {"metadata": {field: meta[field] for field in ("name", "uid", "resourceVersion", "labels") if field in meta}}
