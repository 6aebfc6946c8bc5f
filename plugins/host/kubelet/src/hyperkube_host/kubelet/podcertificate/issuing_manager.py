"""Requests certificates for pods and renews them: keys are made here and never leave the node.

Every ``podCertificate`` source is a key of a work queue. It is looked at when its pod comes, when its request changes,
and once a minute or two; `decide` says what follows. Nothing outlives the kubelet: after a restart every source gets a
new key and a new certificate.

Source: kubernetes ``pkg/kubelet/podcertificate/podcertificatemanager.go`` (IssuingManager).
"""

from __future__ import annotations

import logging
import threading
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from random import Random

from hyperkube_host.kubelet.events import KubeletEventRecorder
from hyperkube_host.kubelet.podcertificate.credentials import ASSUME_DELETED, Credentials, Requested, decide
from hyperkube_host.kubelet.podcertificate.private_keys import (
    UnknownKeyType,
    new_private_key,
    private_key_pem,
    stub_pkcs10_request,
)
from hyperkube_host.kubelet.podcertificate.projections import Projection, projections
from hyperkube_host.kubelet.types.pod_update import is_static

from hyperkube.client.client import Client
from hyperkube.client.informer import Informer
from hyperkube.client.worker_pool import WorkerPool
from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.kinds.resources import POD_CERTIFICATE_REQUESTS, SERVICE_ACCOUNTS
from hyperkube.machinery.backoff import Backoff
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.objects import Object, name_of, uid_of
from hyperkube.machinery.times import parse_time

REFRESH_SECONDS = 60.0
"""How often a source is looked at while nothing happens, plus up to as much again."""
JITTER_SECONDS = 300.0
BACKOFF = Backoff(initial=0.005, cap=1000.0)
_log = logging.getLogger("hyperkube.kubelet.podcertificates")


class IssuingManager:
    """Requests the certificates of this node's pods; implements `PodCertificateManager`."""

    def __init__(
        self,
        client: Client,
        clock: Clock,
        recorder: KubeletEventRecorder,
        node: Callable[[], Object],
        pod: Callable[[str], Object | None],
        sync_pod: Callable[[str], None],
        *,
        node_name: str,
        random: Random,
    ) -> None:
        """Take what is needed; nothing is asked before `start`.

        Args:
            client: acts as the node.
            clock: for deadlines and the work queue.
            recorder: of events about pods.
            node: returns the Node as the API server has it.
            pod: returns a pod of this node by its uid, None for one that is gone.
            sync_pod: is called with a pod's uid when its files are to be written anew.
            node_name: the requests of this node are watched.
            random: spreads requests over time.
        """
        self._client, self._clock, self._recorder = client, clock, recorder
        self._node, self._pod, self._sync_pod = node, pod, sync_pod
        self._node_name, self._random = node_name, random
        self._lock = threading.Lock()
        self._known: dict[Projection, Credentials] = {}
        self._requests = Informer(client, clock, POD_CERTIFICATE_REQUESTS, field_selector=f"spec.nodeName={node_name}")
        self._requests.add_handler(self._changed, lambda _old, new: self._changed(new), self._changed)
        self._pool: WorkerPool[Projection] = WorkerPool(
            f"pod-certificates-{node_name}", self.sync, clock=clock, workers=1, logger=_log, backoff=BACKOFF
        )

    def start(self) -> None:
        """Watch the node's requests; once they are known, work."""
        self._requests.when_synced(self._pool.begin)
        self._requests.start()

    def close(self) -> None:
        """Stop watching and working."""
        self._requests.stop()
        self._pool.stop()

    def track(self, pod: Object) -> None:
        """Request certificates for the sources of a pod that are not known yet; a static pod gets none."""
        for where, _ in () if is_static(pod) else projections(pod):
            with self._lock:
                is_new = where not in self._known
                self._known.setdefault(where, Credentials())
            if is_new:
                self._pool.queue.add(where)

    def forget(self, uid: str) -> None:
        """Drop the keys and certificates of a pod that is gone."""
        with self._lock:
            gone = [where for where in self._known if where.pod_uid == uid]
            for where in gone:
                del self._known[where]
        for where in gone:
            self._pool.queue.cancel(where)
            self._pool.queue.forget(where)

    def credential_bundle(self, pod: Object, volume: str, index: int) -> tuple[bytes, bytes]:
        """Return the private key and the certificates of a source; see `PodCertificateManager`."""
        where = next((known for known, _ in projections(pod) if (known.volume, known.source) == (volume, index)), None)
        with self._lock:
            credentials = None if where is None else self._known.get(where)
        if credentials is None:
            raise VolumeFailed(f'no credentials yet for source {index} of volume "{volume}"')
        return credentials.bundle()

    def states(self) -> Mapping[tuple[str, str], int]:
        """Return (signer, state) → how many sources there are."""
        with self._lock:
            known = dict(self._known)
        now, found = self._clock.now(), Counter[tuple[str, str]]()
        for where, credentials in known.items():
            source = self._source(self._pod(where.pod_uid), where)
            if source is not None:
                found[source["signerName"], credentials.metrics_state(now)] += 1
        return found

    def sync(self, where: Projection) -> None:
        """Bring one source one step further."""
        pod = self._pod(where.pod_uid)
        source = self._source(pod, where)
        if pod is None or source is None:
            self.forget(where.pod_uid)
            return
        with self._lock:
            known = self._known.setdefault(where, Credentials())
        name = "" if known.requested is None else known.requested.name
        request = self._requests.get(where.namespace, name) if name else None
        step = decide(known, request, f"{where.namespace}/{name}", self._clock.now(), self._jitter())
        for event in step.events:
            self._recorder.pod_event(pod, "Warning", event.reason, event.message)
        after, problem = step.credentials, step.problem
        if step.request:
            try:
                after = replace(after, requested=self._request(pod, source))
            except (ApiError, ConnectionError, TimeoutError, UnknownKeyType) as error:
                # What was told of a late certificate stays told.
                problem = f"while creating PodCertificateRequest: {error}"
        self._keep(where, known, after)
        if problem:
            _log.warning("pod certificate %s: %s", "/".join(map(str, where)), problem)
            self._pool.queue.add_rate_limited(where)
        else:
            self._pool.queue.forget(where)
            self._pool.queue.add_after(where, REFRESH_SECONDS * (1 + self._random.random()))

    def _keep(self, where: Projection, before: Credentials, after: Credentials) -> None:
        with self._lock:
            if where not in self._known:
                return  # the pod was forgotten meanwhile
            self._known[where] = after
        if after.issued != before.issued or after.refused != before.refused:
            self._sync_pod(where.pod_uid)

    def _request(self, pod: Object, source: Object) -> Requested:
        """Make a key and request a certificate for it.

        Raises:
            ApiError, ConnectionError, TimeoutError: the API server does not take it.
            UnknownKeyType: no such key can be made.
        """
        account = pod["spec"].get("serviceAccountName") or "default"
        namespace = pod["metadata"]["namespace"]
        account_uid = uid_of(self._client.get(SERVICE_ACCOUNTS, account, namespace))
        key = new_private_key(source["keyType"])
        spec: Object = {
            "signerName": source["signerName"],
            "podName": name_of(pod),
            "podUID": uid_of(pod),
            "serviceAccountName": account,
            "serviceAccountUID": account_uid,
            "nodeName": self._node_name,
            "nodeUID": uid_of(self._node()),
            "stubPKCS10Request": b64encode(stub_pkcs10_request(key, source["keyType"])).decode(),
        }
        if source.get("maxExpirationSeconds") is not None:
            spec["maxExpirationSeconds"] = source["maxExpirationSeconds"]
        if source.get("userAnnotations"):
            spec["unverifiedUserAnnotations"] = source["userAnnotations"]
        # The owner's version is upstream's, to the letter.
        owner = {"apiVersion": "core/v1", "kind": "Pod", "name": name_of(pod), "uid": uid_of(pod)}
        wanted = {
            "apiVersion": "certificates.k8s.io/v1beta1",
            "kind": "PodCertificateRequest",
            "metadata": {"generateName": "req-", "namespace": namespace, "ownerReferences": [owner]},
            "spec": spec,
        }
        made = self._client.create(POD_CERTIFICATE_REQUESTS, wanted, namespace)
        abandon_at = parse_time(made["metadata"]["creationTimestamp"]) + ASSUME_DELETED + self._jitter()
        return Requested(private_key=private_key_pem(key), name=name_of(made), abandon_at=abandon_at)

    def _changed(self, request: Object) -> None:
        """Look at the sources of the pod that a request is for."""
        uid = (request.get("spec") or {}).get("podUID")
        with self._lock:
            waiting = [where for where in self._known if where.pod_uid == uid]
        for where in waiting:
            self._pool.queue.add(where)

    def _jitter(self) -> timedelta:
        return timedelta(seconds=JITTER_SECONDS * self._random.random())

    @staticmethod
    def _source(pod: Object | None, where: Projection) -> Object | None:
        """Return what a source says, None where the pod or the source is gone."""
        return None if pod is None else dict(projections(pod)).get(where)
