"""NamespaceExists: refuses what names a namespace that does not exist.

`NamespaceLifecycle` does this and more; the plugin is kept for the flags of old clusters.
Source: kubernetes ``plugin/pkg/admission/namespace/exists``.
"""

from __future__ import annotations

from hyperkube.client.informer import cached_or_live
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.kinds.resources import NAMESPACES
from hyperkube.plugin import Plugin, PluginContext


class NamespaceExists(Plugin):
    """Looks the namespace of every write up."""

    may_block = False

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._namespaces = self.informers.informer(NAMESPACES)

    @hookimpl
    def admission_validate(self, request: AdmissionRequest) -> None:
        """Raise NotFound for a missing namespace."""
        if not request.namespace or request.resource.group_resource == NAMESPACES.group_resource:
            return
        if request.operation != "CONNECT":
            cached_or_live(self._namespaces, self.client, request.namespace)
