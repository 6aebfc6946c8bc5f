"""root-ca-cert-publisher: pods verify the API server with a config map that is in every namespace.

The config map ``kube-root-ca.crt`` holds the file that ``--root-ca-file`` names, or else the authority that the
controller manager itself knows the API server by: that of its kubeconfig, none where it speaks plain HTTP.

Source: kubernetes ``pkg/controller/certificates/rootcacertpublisher/publisher.go``.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import Path

from hyperkube.client.actions import Action, Create, Update, perform
from hyperkube.client.kubeconfig import read, resolve
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.resources import CONFIG_MAPS, NAMESPACES
from hyperkube.machinery.errors import AlreadyExists, UsageError
from hyperkube.machinery.objects import Object, annotations_of, is_being_deleted, metadata, name_of, namespace_of
from hyperkube.plugin import Plugin

NAME = "kube-root-ca.crt"
KEY = "ca.crt"
DESCRIPTION = "kubernetes.io/description"
TEXT = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the "
    "internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes "
    "clusters."
)


def decide(namespace: Object, present: Object | None, certificate: str) -> list[Action]:
    """Return what makes the namespace's config map hold the certificate."""
    if is_being_deleted(namespace):
        return []
    meta = {"name": NAME, "namespace": name_of(namespace), "annotations": {DESCRIPTION: TEXT}}
    if present is None:
        made = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": meta, "data": {KEY: certificate}}
        return [Create(CONFIG_MAPS, made)]
    if present.get("data") == {KEY: certificate} and annotations_of(present).get(DESCRIPTION):
        return []
    annotations = {**annotations_of(present), DESCRIPTION: TEXT}
    meta = {**metadata(present), "annotations": annotations}
    return [Update(CONFIG_MAPS, {**present, "metadata": meta, "data": {KEY: certificate}})]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The file with the CA, and how the controller manager reaches the API server; all empty within one process."""

    root_ca_file: str = ""
    kubeconfig: str = ""
    master: str = ""


def root_certificate(settings: Settings) -> str | None:
    """Return what is to be published; None where the API server is reached without a connection.

    Raises:
        UsageError: a file cannot be read.
    """
    if settings.root_ca_file:
        return _text("--root-ca-file", settings.root_ca_file)
    if not settings.kubeconfig:
        return "" if settings.master else None
    cluster = resolve(read(settings.kubeconfig)).cluster
    if cluster.get("certificate-authority-data"):
        return base64.b64decode(cluster["certificate-authority-data"]).decode()
    file = cluster.get("certificate-authority", "")
    return _text(f"certificate-authority of {settings.kubeconfig!r}", file) if file else ""


def _text(source: str, file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{source}: cannot read {file!r}: {error}") from error


class RootCaCertPublisher(Plugin):
    """Keeps the CA's config map in every namespace."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop.

        Raises:
            UsageError: a file cannot be read.
        """
        loop = ReconcileLoop(self.context.name, self._sync, clock=self.context.clock, logger=self.context.logger)
        certificate = root_certificate(self.settings(Settings))
        if certificate is None:
            return loop
        self._certificate = certificate
        self._namespaces = self.informers.informer(NAMESPACES)
        self._config_maps = self.informers.informer(CONFIG_MAPS)
        self._namespaces.add_handler(loop.enqueue)

        def changed(config_map: Object) -> None:
            if name_of(config_map) == NAME:
                loop.queue.add(namespace_of(config_map))

        self._config_maps.add_handler(on_update=lambda _old, new: changed(new), on_delete=changed)
        return loop

    def _sync(self, name: str) -> None:
        namespace = self._namespaces.get("", name)
        if namespace is None:
            return
        try:
            perform(self.client, None, decide(namespace, self._config_maps.get(name, NAME), self._certificate))
        except AlreadyExists:
            return  # the cache was behind
