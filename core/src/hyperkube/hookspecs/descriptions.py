"""Descriptions of API types: what a plugin of the family `api` may tell beside what the schemas say."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from hyperkube.machinery.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class TypeDescription:
    """What a type is, and what its fields mean: name → text, for those that have one."""

    text: str
    fields: Mapping[str, str]


Meanings = Mapping[str, str]
"""What each value of an enumeration means; an empty text where there is nothing to say."""


class Descriptions(Protocol):
    """Texts for OpenAPI documents and table columns, where more is known than the schemas say."""

    @property
    def source(self) -> str:
        """What the texts are taken from, with versions: documents with texts from elsewhere get another hash."""

    def types(self, names: Collection[str]) -> Mapping[str, TypeDescription]:
        """Return what is known of OpenAPI definitions, by name (``io.k8s.api.core.v1.Pod``)."""

    def values(self, wanted: Mapping[str, Mapping[str, Collection[str]]]) -> Mapping[str, Mapping[str, Meanings]]:
        """Return what values mean, by definition and field, for the values of each; fields may be left out."""

    def parameters(self, wanted: Mapping[str, Collection[str]]) -> Mapping[str, Mapping[str, str]]:
        """Return texts by operation (``listCoreV1NamespacedPod``) and parameter, for the names of each."""
