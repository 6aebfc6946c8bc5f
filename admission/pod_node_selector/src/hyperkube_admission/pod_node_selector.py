"""PodNodeSelector: a namespace says on which nodes its pods run.

The namespace's annotation, or else the cluster's default, is added to the node selector of every pod; the settings may
also list which selectors a namespace may use at all.
Source: kubernetes ``plugin/pkg/admission/podnodeselector``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from hyperkube.client.informer import cached_or_live
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.kinds.pods import spec_of
from hyperkube.kinds.resources import NAMESPACES
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import Forbidden, NotFound, UsageError
from hyperkube.machinery.objects import metadata
from hyperkube.plugin import Plugin, PluginContext

ANNOTATION = "scheduler.alpha.kubernetes.io/node-selector"
DEFAULT = "clusterDefaultNodeSelector"


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings, as in Kubernetes' file.

    Attributes:
        podNodeSelectorPluginConfig: selectors such as ``env=test,disk=ssd`` by namespace, which its pods may not leave;
            and under `DEFAULT` the one for namespaces without the annotation.
    """

    podNodeSelectorPluginConfig: Mapping[str, str] = field(default_factory=dict)  # noqa: N815  Kubernetes' spelling


def parse(text: str) -> dict[str, str]:
    """Return the labels of a selector of equalities.

    Raises:
        ValueError: a part is no ``key=value``.
    """
    found = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        key, equals, value = part.partition("=")
        if not equals or not key.strip() or "=" in value:
            raise ValueError(f"invalid selector: {text!r}")
        found[key.strip()] = value.strip()
    return found


def _conflict(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    return any(key in other and other[key] != value for key, value in one.items())


class PodNodeSelector(Plugin):
    """Adds the namespace's node selector to pods and refuses those that contradict it."""

    may_block = False
    handles = frozenset({"pods"})

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        try:
            table = self.settings(Settings).podNodeSelectorPluginConfig or {}
            self._allowed = {name: parse(text or "") for name, text in table.items()}
        except ValueError as error:
            raise UsageError(f"settings of plugin {context.name!r}: {error}") from error
        self._namespaces = self.informers.informer(NAMESPACES)

    def _selector(self, name: str) -> Mapping[str, str]:
        try:
            namespace = cached_or_live(self._namespaces, self.client, name)
        except NotFound as error:
            raise Forbidden(f"namespace {name} does not exist") from error
        text = (metadata(namespace).get("annotations") or {}).get(ANNOTATION)
        if text is None:
            return self._allowed.get(DEFAULT, {})
        try:
            return parse(text)
        except ValueError as error:
            raise Forbidden(str(error)) from error

    @hookimpl
    def admission_mutate(self, request: AdmissionRequest) -> None:
        """Merge the namespace's selector into the pod's."""
        if not request.creates("pods"):
            return
        wanted, spec = self._selector(request.namespace), spec_of(request.written())
        own = spec.get("nodeSelector") or {}
        if _conflict(wanted, own):
            raise Forbidden("pod node label selector conflicts with its namespace node label selector")
        if wanted:
            spec["nodeSelector"] = {**wanted, **own}

    @hookimpl
    def admission_validate(self, request: AdmissionRequest) -> None:
        """Insist on the namespace's selector, and on staying within what the settings allow it."""
        if not request.creates("pods"):
            return
        own = spec_of(request.written()).get("nodeSelector") or {}
        if _conflict(self._selector(request.namespace), own):
            raise Forbidden("pod node label selector conflicts with its namespace node label selector")
        allowed = self._allowed.get(request.namespace)
        if allowed and any(allowed.get(key) != value for key, value in own.items()):
            raise Forbidden("pod node label selector labels conflict with its namespace whitelist")
