"""Kinds whose new objects are canonical as soon as they are decoded: ConfigMaps, Leases, Events."""

from __future__ import annotations

from hyperkube.hookspecs.api import Strategy
from hyperkube.machinery.schema import CompiledSchema
from hyperkube.machinery.schema.defaults import defaulter


def is_plain(codec: object, strategy: type[Strategy]) -> bool:
    """Tell whether nothing is added to new objects of a kind: neither by defaults nor by its strategy.

    Then an object that is as it was decoded is canonical, but for the places of kind, version and members of metadata.
    """
    return (
        isinstance(codec, CompiledSchema)
        and not strategy.status_subresource
        and strategy.default is Strategy.default
        and strategy.prepare_create is Strategy.prepare_create
        and defaulter(codec.schema) is None
    )
