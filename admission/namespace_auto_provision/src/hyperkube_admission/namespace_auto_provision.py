"""NamespaceAutoProvision: the namespace that a create names comes into being with it.

For development; such a namespace has no quota and no policies.
Source: kubernetes ``plugin/pkg/admission/namespace/autoprovision``.
"""

from __future__ import annotations

from hyperkube.client.informer import cached_or_live
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.kinds.resources import NAMESPACES
from hyperkube.machinery.errors import AlreadyExists, NotFound
from hyperkube.plugin import Plugin, PluginContext


class NamespaceAutoProvision(Plugin):
    """Creates missing namespaces; a dry run creates none."""

    may_block = False

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._namespaces = self.informers.informer(NAMESPACES)

    @hookimpl
    def admission_mutate(self, request: AdmissionRequest) -> None:
        """Create the namespace before the object."""
        name = request.namespace
        if request.operation != "CREATE" or not name or request.dry_run:
            return
        if request.resource.group_resource == NAMESPACES.group_resource:
            return
        try:
            cached_or_live(self._namespaces, self.client, name)
        except NotFound:
            self._create(name)

    def _create(self, name: str) -> None:
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        try:
            self.client.create(NAMESPACES, namespace)
        except AlreadyExists:
            self.context.logger.debug("namespace %r was created meanwhile", name)
