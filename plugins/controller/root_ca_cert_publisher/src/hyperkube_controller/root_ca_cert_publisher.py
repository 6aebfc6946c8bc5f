"""root-ca-cert-publisher: pods verify the API server with a config map that is in every namespace.

It is called ``kube-root-ca.crt``, and holds what `hyperkube_lib.root_certificates` says.
Source: kubernetes ``pkg/controller/certificates/rootcacertpublisher``, its ``publisher.go`` and ``metrics.go``.
"""

from __future__ import annotations

from hyperkube_lib.controller_metrics import ControllerMetrics
from hyperkube_lib.root_certificates import RootCertificateSettings, root_certificate

from hyperkube.client.actions import Action, Create, Update, perform
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.resources import CONFIG_MAPS, NAMESPACES
from hyperkube.machinery.errors import AlreadyExists, ApiError, HyperkubeError
from hyperkube.machinery.metric_families import Counter, Histogram, growing
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


class PublisherMetrics(ControllerMetrics):
    """How syncs of namespaces ended, by HTTP code, and how long they took; thread-safe."""

    def __init__(self) -> None:
        told = "Number of namespace syncs happened in root ca cert publisher."
        self._syncs = Counter("root_ca_cert_publisher_sync_total", told, ("code",))
        self._seconds = Histogram(
            "root_ca_cert_publisher_sync_duration_seconds", told, growing(0.001, 2, 15), ("code",)
        )
        super().__init__(self._syncs, self._seconds)

    def synced(self, seconds: float, error: Exception | None) -> None:
        """Take how a sync ended: with the code of the server's refusal, with 500 for another error, or with 200."""
        code = "200" if error is None else str(error.status_code if isinstance(error, ApiError) else 500)
        self.add(self._syncs, (code,))
        self.observe(self._seconds, seconds, (code,))


class RootCaCertPublisher(Plugin):
    """Keeps the CA's config map in every namespace."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop.

        Raises:
            UsageError: a file cannot be read.
        """
        loop = ReconcileLoop(self.context.name, self._sync, clock=self.context.clock, logger=self.context.logger)
        certificate = root_certificate(self.settings(RootCertificateSettings))
        if certificate is None:
            return loop
        self._certificate = certificate
        self._metrics = PublisherMetrics()
        self._metrics.register(self.context)
        self._namespaces = self.informers.informer(NAMESPACES)
        self._config_maps = self.informers.informer(CONFIG_MAPS)
        self._namespaces.add_handler(loop.enqueue, loop.enqueue_update)

        def changed(config_map: Object) -> None:
            if name_of(config_map) == NAME:
                loop.queue.add(namespace_of(config_map))

        self._config_maps.add_handler(on_update=lambda _old, new: changed(new), on_delete=changed)
        return loop

    def _sync(self, name: str) -> None:
        clock = self.context.clock
        started = clock.monotonic()
        try:
            self._publish(name)
        except (HyperkubeError, OSError) as error:
            self._metrics.synced(clock.monotonic() - started, error)
            raise
        self._metrics.synced(clock.monotonic() - started, None)

    def _publish(self, name: str) -> None:
        namespace = self._namespaces.get("", name)
        if namespace is None:
            return
        try:
            perform(self.client, None, decide(namespace, self._config_maps.get(name, NAME), self._certificate))
        except AlreadyExists:
            return  # the cache was behind
