"""kube-apiserver-serving-clustertrustbundle-publisher: the API server's CA is there for pods as a ClusterTrustBundle.

It belongs to the signer ``kubernetes.io/kube-apiserver-serving``, and its name holds a hash of what is in it: a new CA
is a new bundle, after which those of old ones go.
Source: kubernetes ``pkg/controller/certificates/clustertrustbundlepublisher/publisher.go``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from hyperkube_lib.root_certificates import RootCertificateSettings, root_certificate

from hyperkube.client.actions import Action, Create, Delete, Update, perform
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.resources import CLUSTER_TRUST_BUNDLES
from hyperkube.machinery.objects import Object, name_of
from hyperkube.plugin import Plugin

SIGNER = "kubernetes.io/kube-apiserver-serving"
KEY = "bundle"
_HASH_BYTES = 12


def bundle_name(signer: str, bundle: str) -> str:
    """Return the name of a signer's bundle: the signer's, and a hash of the bundle."""
    digest = hashlib.sha256(bundle.encode()).digest()[:_HASH_BYTES].hex()
    return f"{signer.replace('/', ':')}:{digest}"


def decide(present: Iterable[Object], bundle: str) -> list[Action]:
    """Return what leaves the signer with just the one bundle; the new one comes before the old ones go."""
    name = bundle_name(SIGNER, bundle)
    by_name = {name_of(each): each for each in present}
    own = by_name.pop(name, None)
    actions: list[Action] = []
    if own is None:
        made = {
            "kind": "ClusterTrustBundle",
            "apiVersion": CLUSTER_TRUST_BUNDLES.api_version,
            "metadata": {"name": name},
            "spec": {"signerName": SIGNER, "trustBundle": bundle},
        }
        actions.append(Create(CLUSTER_TRUST_BUNDLES, made))
    elif (own.get("spec") or {}).get("trustBundle") != bundle:
        actions.append(
            Update(CLUSTER_TRUST_BUNDLES, {**own, "spec": {**(own.get("spec") or {}), "trustBundle": bundle}})
        )
    return actions + [Delete.of(CLUSTER_TRUST_BUNDLES, each) for each in by_name.values()]


class KubeApiserverServingClustertrustbundlePublisher(Plugin):
    """Keeps the bundle of the API server's signer."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop.

        Raises:
            UsageError: a file cannot be read.
        """
        loop = ReconcileLoop(self.context.name, self._sync, clock=self.context.clock, logger=self.context.logger)
        certificate = root_certificate(self.settings(RootCertificateSettings))
        if not certificate:
            return loop
        self._certificate = certificate
        self._bundles = self.informers.informer(CLUSTER_TRUST_BUNDLES, field_selector=f"spec.signerName={SIGNER}")

        def seen(_: Object) -> None:
            loop.queue.add(KEY)

        self._bundles.add_handler(seen, lambda _old, new: seen(new), seen)
        loop.queue.add(KEY)
        return loop

    def _sync(self, _key: str) -> None:
        perform(self.client, None, decide(self._bundles.list(), self._certificate))
