"""DefaultIngressClass: an ingress that does not choose a class gets the default one.

Of several default classes the newest counts, then the first by name.
Source: kubernetes ``plugin/pkg/admission/network/defaultingressclass``.
"""

from __future__ import annotations

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.kinds.resources import INGRESS_CLASSES
from hyperkube.kinds.volumes import newest
from hyperkube.machinery.objects import annotations_of, name_of
from hyperkube.plugin import Plugin, PluginContext

_DEFAULT = "ingressclass.kubernetes.io/is-default-class"
_GROUPS = ("networking.k8s.io", "extensions")
_OLD_CLASS = "kubernetes.io/ingress.class"


class DefaultIngressClass(Plugin):
    """Fills ``spec.ingressClassName`` in on create."""

    may_block = False
    handles = frozenset({"ingresses"})

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._classes = self.informers.informer(INGRESS_CLASSES)

    @hookimpl
    def admission_mutate(self, request: AdmissionRequest) -> None:
        """Name the default class, unless the ingress names one, be it in the annotation of old."""
        if not any(request.creates("ingresses", group) for group in _GROUPS):
            return
        ingress = request.written()
        spec = ingress.setdefault("spec", {})
        if spec.get("ingressClassName") is not None or _OLD_CLASS in annotations_of(ingress):
            return
        default = newest(known for known in self._classes.list() if annotations_of(known).get(_DEFAULT) == "true")
        if default is not None:
            spec["ingressClassName"] = name_of(default)
