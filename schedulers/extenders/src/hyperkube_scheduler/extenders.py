"""Extenders: other processes filter, prioritize, preempt and bind over HTTP, as a policy or configuration says.

Source of the wire: kubernetes ``staging/src/k8s.io/kube-scheduler/extender/v1/types.go`` and
``pkg/scheduler/extender.go``.
"""

from __future__ import annotations

import base64
import socket
import ssl
import tempfile
from collections.abc import Mapping
from http.client import OK
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import numpy as np
import orjson

from hyperkube.client.exchange import Bounds, read_body
from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.scheduling import (
    BindPlugin,
    Filtered,
    FilterPlugin,
    NodeTable,
    PodInfo,
    ScorePlugin,
    VictimReview,
    Victims,
)
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.durations import parse_duration
from hyperkube.machinery.errors import InternalError, UsageError
from hyperkube.machinery.objects import NodeName, Object, name_of, namespace_of, uid_of

if TYPE_CHECKING:
    from hyperkube.hookspecs.scheduling import IntScores, Mask

SCALE = 10
"""An extender scores 0 to 10, a plugin 0 to 100."""
TIMEOUT = "5s"
MOST_BYTES = 256 << 20
"""Of an answer: all nodes may come back in it."""


@dataclass(frozen=True, slots=True)
class Extender:
    """One extender as configured."""

    url: str
    verbs: Mapping[str, str]
    weight: int
    timeout: float
    tls: ssl.SSLContext | None
    names_only: bool
    ignorable: bool
    resources: frozenset[str]

    def concerns(self, pod: Object) -> bool:
        """Tell whether the pod asks for a resource that the extender manages, or it manages none in particular."""
        if not self.resources:
            return True
        spec = pod.get("spec", {})
        rows = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
        parts = [(row.get("resources") or {}).get(part) or {} for row in rows for part in ("requests", "limits")]
        return any(name in self.resources for part in parts for name in part)

    def call(self, verb: str, body: Object) -> Any:
        """Post to a verb and return the answer.

        Raises:
            InternalError: it cannot be reached, or answers something else.
        """
        url = f"{self.url}/{self.verbs[verb]}"
        request = Request(url, orjson.dumps(body), {"Content-Type": "application/json"})  # noqa: S310  as configured
        try:
            with urlopen(request, timeout=self.timeout, context=self.tls) as answer:  # noqa: S310  likewise
                code = answer.status
                told = orjson.loads(read_body(answer.read1, self._bounds())) if code == OK else None
        except HTTPError as error:
            code = error.code
            error.close()
        except (OSError, URLError, ValueError) as error:
            raise InternalError(f"extender {url}: {error}") from error
        if code != OK:
            raise InternalError(f"failed {self.verbs[verb]} with extender at URL {url}, code {code}")
        rows = told if verb == "prioritize" else [told]
        if told is not None and not (isinstance(rows, list) and all(isinstance(row, dict) for row in rows)):
            raise InternalError(f"extender {url}: its answer is of another kind")
        return told

    def _bounds(self) -> Bounds:
        return Bounds(size=MOST_BYTES, seconds=self.timeout)


class Extenders(FilterPlugin, ScorePlugin, VictimReview, BindPlugin):
    """All extenders, asked in order; settings: ``extenders``, in the words of KubeSchedulerConfiguration."""

    remote = True

    def __init__(self, context: PluginContext) -> None:
        """Read the settings.

        Raises:
            UsageError: an extender without address, with a bad weight, or a second one that binds.
        """
        super().__init__(context)
        rows = (context.settings.get("extenders") if context is not None else None) or ()
        self._extenders = [_extender(row) for row in rows]
        if sum("bind" in extender.verbs for extender in self._extenders) > 1:
            raise UsageError("extenders: only one may bind")

    def skips(self, pod: PodInfo) -> bool:
        """Tell that no extender is concerned."""
        return not any(extender.concerns(pod.pod) for extender in self._extenders)

    def filter(self, pod: PodInfo, nodes: NodeTable) -> Filtered:
        """Keep the nodes that every extender keeps; one that fails refuses all, unless it may be ignored."""
        mask = np.ones(len(nodes), dtype=bool)
        helpless = np.zeros(len(nodes), dtype=bool)
        reasons: dict[str, Mask] = {}
        for extender in self._extenders:
            if "filter" not in extender.verbs or not extender.concerns(pod.pod) or not mask.any():
                continue
            try:
                answer = _checked(extender.call("filter", _arguments(extender, pod, nodes, mask)))
                feasible = _names_in(extender, answer, {nodes.names[index] for index in mask.nonzero()[0].tolist()})
            except InternalError as error:
                if extender.ignorable:
                    self.context.logger.warning("ignored: %s", error)
                    continue
                return Filtered(np.zeros_like(mask), {str(error): np.ones_like(mask)}, np.ones_like(mask))
            failed, helpless_ones = answer.get("failedNodes") or {}, answer.get("failedAndUnresolvableNodes") or {}
            for index in mask.nonzero()[0].tolist():
                name = nodes.names[index]
                if name not in feasible:
                    mask[index] = False
                    text = helpless_ones.get(name) or failed.get(name) or "node(s) were refused by an extender"
                    reasons.setdefault(text, np.zeros_like(mask))[index] = True
                    helpless[index] = name in helpless_ones or name not in failed
        return Filtered(mask, reasons, helpless)

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Add up the extenders' scores times their weights; one that fails is left out, as upstream has it."""
        total = np.zeros(len(nodes), dtype=np.int64)
        everywhere = np.ones(len(nodes), dtype=bool)
        index = {name: column for column, name in enumerate(nodes.names)}
        for extender in self._extenders:
            if "prioritize" not in extender.verbs or not extender.concerns(pod.pod):
                continue
            try:
                rows = extender.call("prioritize", _arguments(extender, pod, nodes, everywhere))
            except InternalError as error:
                self.context.logger.warning("ignored: %s", error)
                continue
            for each in rows or ():
                row = {key.lower(): value for key, value in each.items()}
                if row.get("host") in index:
                    total[index[row["host"]]] += int(row.get("score") or 0) * extender.weight * SCALE
        return total

    def review(self, pod: PodInfo, nodes: NodeTable, choices: Mapping[NodeName, Victims]) -> Mapping[NodeName, Victims]:
        """Let the extenders with a preempt verb strike nodes out and change victims.

        Raises:
            InternalError: one that may not be ignored failed.
        """
        for extender in self._extenders:
            if "preempt" not in extender.verbs or not extender.concerns(pod.pod) or not choices:
                continue
            try:
                answer = _checked(extender.call("preempt", _preemption(extender, pod, choices)))
                choices = _agreed(extender, answer, nodes)
            except InternalError as error:
                if not extender.ignorable:
                    raise
                self.context.logger.warning("ignored: %s", error)
        return choices

    def bind(self, pod: PodInfo, node: NodeName) -> bool:
        """Let the extender that binds do so, if it is concerned.

        Raises:
            InternalError: it failed.
        """
        for extender in self._extenders:
            if "bind" in extender.verbs and extender.concerns(pod.pod):
                body = {
                    "podName": name_of(pod.pod),
                    "podNamespace": namespace_of(pod.pod),
                    "podUID": uid_of(pod.pod),
                    "node": node,
                }
                _checked(extender.call("bind", body))
                return True
        return False


def _preemption(extender: Extender, pod: PodInfo, choices: Mapping[NodeName, Victims]) -> Object:
    """Return the question: who would be deleted where; by uid for an extender that knows the pods itself."""
    if extender.names_only:
        rows = {node: _row([{"uid": uid_of(each)} for each in choice.pods], choice) for node, choice in choices.items()}
        return {"pod": pod.pod, "nodeNameToMetaVictims": rows}
    rows = {node: _row(list(choice.pods), choice) for node, choice in choices.items()}
    return {"pod": pod.pod, "nodeNameToVictims": rows}


def _row(pods: list[Object], choice: Victims) -> Object:
    return {"pods": pods, "numPDBViolations": choice.violations}


def _agreed(extender: Extender, answer: Object, nodes: NodeTable) -> dict[NodeName, Victims]:
    """Return what an extender agrees with; it may name other pods of the node than it was asked about."""
    agreed: dict[NodeName, Victims] = {}
    columns = {name: column for column, name in enumerate(nodes.names)}
    for name, row in (answer.get("nodeNameToMetaVictims") or {}).items():
        node = NodeName(name)
        if node not in columns:
            raise InternalError(f'nodeinfo not found for node name "{name}"')
        known = {str(uid_of(each)): each for each in nodes.pods(columns[node])}
        uids = [str(each.get("uid")) for each in row.get("pods") or ()]
        for uid in uids:
            if uid not in known:
                raise InternalError(
                    f"extender: {extender.url} claims to preempt pod (UID: &{{{uid}}}) on node: {name}, but the pod is "
                    "not found on that node"
                )
        if uids:
            agreed[node] = Victims([known[uid] for uid in uids], int(row.get("numPDBViolations") or 0))
        elif not extender.ignorable:
            raise InternalError(f'expected at least one victim pod on node "{name}"')
    return agreed


def _checked(answer: Object | None) -> Object:
    """Return an answer that carries no error; Go's decoder takes its members in any case, and so do we."""
    known = {_MEMBERS.get(key.lower(), key): value for key, value in (answer or {}).items()}
    if known.get("error"):
        raise InternalError(str(known["error"]))
    return known


_MEMBERS = {
    name.lower(): name
    for name in ("error", "failedNodes", "failedAndUnresolvableNodes", "nodenames", "nodes", "nodeNameToMetaVictims")
}


def _extender(row: Object) -> Extender:
    url = str(row.get("urlPrefix") or "").rstrip("/")
    if not url:
        raise UsageError("extenders: urlPrefix: required value")
    verbs = {
        word: str(row[f"{word}Verb"]) for word in ("filter", "prioritize", "bind", "preempt") if row.get(f"{word}Verb")
    }
    weight = int(row.get("weight") or 1)
    if "prioritize" in verbs and weight < 1:
        raise UsageError("extenders: weight: must have a positive weight applied to it")
    secure = bool(row.get("enableHTTPS")) or url.startswith("https:")
    managed = frozenset(each["name"] for each in row.get("managedResources") or ())
    timeout = parse_duration(str(row.get("httpTimeout") or TIMEOUT))
    tls = _tls(row.get("tlsConfig") or {}) if secure else None
    return Extender(
        url, verbs, weight, timeout, tls, bool(row.get("nodeCacheCapable")), bool(row.get("ignorable")), managed
    )


class _Named(ssl.SSLContext):
    """Expects the certificate of a server that is called otherwise than its address."""

    server_name = ""

    def wrap_socket(
        self,
        sock: socket.socket,
        server_side: bool = False,
        do_handshake_on_connect: bool = True,
        suppress_ragged_eofs: bool = True,
        server_hostname: str | bytes | None = None,
        session: ssl.SSLSession | None = None,
    ) -> ssl.SSLSocket:
        """Ask for, and check, the configured name."""
        name = self.server_name or server_hostname
        return super().wrap_socket(sock, server_side, do_handshake_on_connect, suppress_ragged_eofs, name, session)


def _tls(settings: Object) -> ssl.SSLContext:
    """Return the client's side of TLS from a ``tlsConfig``; its data are base64 of PEM and win over files."""
    context = _Named(ssl.PROTOCOL_TLS_CLIENT)
    context.server_name = str(settings.get("serverName") or "")
    data = settings.get("caData")
    if data:
        context.load_verify_locations(cadata=base64.b64decode(data).decode())
    elif settings.get("caFile"):
        context.load_verify_locations(cafile=settings["caFile"])
    else:
        context.load_default_certs()
    if settings.get("certData") and settings.get("keyData"):
        with tempfile.TemporaryDirectory() as folder:
            pair = Path(folder, "tls.pem")
            pair.write_bytes(base64.b64decode(settings["certData"]) + base64.b64decode(settings["keyData"]))
            context.load_cert_chain(pair)  # the ssl module reads files only; the folder is its owner's alone
    elif settings.get("certFile"):
        context.load_cert_chain(settings["certFile"], settings.get("keyFile") or None)
    if settings.get("insecure"):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _arguments(extender: Extender, pod: PodInfo, nodes: NodeTable, mask: Mask) -> Object:
    columns = mask.nonzero()[0].tolist()
    if extender.names_only:
        return {"pod": pod.pod, "nodenames": [nodes.names[column] for column in columns]}
    items = [nodes.node(column) for column in columns]
    return {"pod": pod.pod, "nodes": {"kind": "NodeList", "apiVersion": "v1", "metadata": {}, "items": items}}


def _names_in(extender: Extender, answer: Object, asked: set[NodeName]) -> set[str]:
    """Return the nodes an extender keeps: by name if it was asked by name, else as nodes."""
    names = answer.get("nodenames")
    if extender.names_only and names is not None:
        strange = next((name for name in names if name not in asked), None)
        if strange is not None:
            claim = f'extender "{extender.url}" claims a filtered node "{strange}"'
            raise InternalError(f"{claim} which is not found in the input node list")
        return set(names)
    return {name_of(node) for node in (answer.get("nodes") or {}).get("items") or ()}
