"""Kinds whose new objects are canonical as soon as they are decoded: ConfigMaps, Leases, Events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperkube.hookspecs.api import Strategy
from hyperkube.machinery.schema import CompiledSchema
from hyperkube.machinery.schema.defaults import defaulter

if TYPE_CHECKING:
    from hyperkube_host.apiserver.resources.served import ServedResource


def is_plain(served: ServedResource) -> bool:
    """Tell whether nothing is added to new objects of a kind: neither by defaults nor by its strategy.

    Then an object that is as it was decoded is canonical, but for the places of kind, version and members of metadata.
    """
    codec, strategy = served.codec, type(served.strategy)
    return (
        isinstance(codec, CompiledSchema)
        and not served.custom
        and not strategy.status_subresource
        and strategy.default is Strategy.default
        and strategy.prepare_create is Strategy.prepare_create
        and defaulter(codec.schema) is None
    )
