"""The plugin: it says where descriptions come from, and reads nothing before it is asked."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from hyperkube.hookspecs import hookimpl
from hyperkube.plugin import Plugin

if TYPE_CHECKING:
    from hyperkube_api.descriptions.kubernetes_validate import Definitions

    from hyperkube.hookspecs.descriptions import Descriptions, Meanings, TypeDescription


class DescriptionsApi(Plugin):
    """Describes Kubernetes' own types with Kubernetes' own words, as client libraries carry them."""

    @hookimpl
    def api_descriptions(self) -> Descriptions:
        """Return the readers of the libraries."""
        return ClientLibraries()


class ClientLibraries:
    """Descriptions from the libraries that are installed, of which only lightkube-models is always there.

    What was read is kept as long as this object is: while a document is made.
    """

    @property
    def source(self) -> str:
        """The libraries with their versions."""
        from hyperkube_api.descriptions import (
            kubeflow_trainer,
            kubernetes_client,
            kubernetes_validate,
            library,
            lightkube_models,
        )

        modules = (lightkube_models, kubernetes_client, kubernetes_validate, kubeflow_trainer)
        return ", ".join(f"{each.DISTRIBUTION} {library.version(each.DISTRIBUTION) or 'none'}" for each in modules)

    @cached_property
    def _exact(self) -> Definitions:
        from hyperkube_api.descriptions.kubernetes_validate import Definitions

        return Definitions()

    def types(self, names: Collection[str]) -> Mapping[str, TypeDescription]:
        """Return what is known of definitions: the newest library's words, with the white space of the exact one."""
        from hyperkube_api.descriptions import kubeflow_trainer, lightkube_models

        exact = self._exact.describe(names)
        found = exact | {
            name: _spaced(worded, exact.get(name)) for name, worded in lightkube_models.describe(names).items()
        }
        return found | kubeflow_trainer.describe([name for name in names if name not in found])

    def values(self, wanted: Mapping[str, Mapping[str, Collection[str]]]) -> Mapping[str, Mapping[str, Meanings]]:
        """Return what kubeflow-trainer-api knows of the values of enumerations."""
        from hyperkube_api.descriptions import kubeflow_trainer

        return {name: kubeflow_trainer.meanings(name, fields) for name, fields in wanted.items()}

    def parameters(self, wanted: Mapping[str, Collection[str]]) -> Mapping[str, Mapping[str, str]]:
        """Return what the `kubernetes` client knows of parameters."""
        from hyperkube_api.descriptions import kubernetes_client

        return kubernetes_client.describe(wanted)


def _spaced(worded: TypeDescription, exact: TypeDescription | None) -> TypeDescription:
    """Return a description with the white space of another, where both have the same words."""
    if exact is None:
        return worded
    fields = {name: _same(text, exact.fields.get(name, "")) for name, text in worded.fields.items()}
    return replace(worded, text=_same(worded.text, exact.text), fields=fields)


def _same(text: str, exact: str) -> str:
    return exact if exact.split() == text.split() else text
