"""The plugin: it says where descriptions come from, and reads nothing before it is asked."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from hyperkube.hookspecs import hookimpl
from hyperkube.plugin import Plugin

if TYPE_CHECKING:
    from hyperkube.hookspecs.api import Descriptions, TypeDescription


class DescriptionsApi(Plugin):
    """Describes Kubernetes' own types with Kubernetes' own words, as client libraries carry them."""

    @hookimpl
    def api_descriptions(self) -> Descriptions:
        """Return the readers of the libraries."""
        return ClientLibraries()


class ClientLibraries:
    """Descriptions from lightkube-models, and from the `kubernetes` client where that is installed."""

    @property
    def source(self) -> str:
        """The libraries with their versions."""
        from hyperkube_api.descriptions import kubernetes_client, lightkube_models

        return f"lightkube-models {lightkube_models.version()}, kubernetes {kubernetes_client.version() or 'none'}"

    def types(self, names: Collection[str]) -> Mapping[str, TypeDescription]:
        """Return what lightkube-models knows of definitions."""
        from hyperkube_api.descriptions import lightkube_models

        return lightkube_models.describe(names)

    def parameters(self, wanted: Mapping[str, Collection[str]]) -> Mapping[str, Mapping[str, str]]:
        """Return what the `kubernetes` client knows of parameters."""
        from hyperkube_api.descriptions import kubernetes_client

        return kubernetes_client.describe(wanted)
