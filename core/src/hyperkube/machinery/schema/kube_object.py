"""`KubeObject`: the base of the types whose objects say themselves what they are."""

from __future__ import annotations

from hyperkube.machinery.schema.base import KubeSchema
from hyperkube.machinery.schema.fields import String


class KubeObject(KubeSchema, published=False):
    """A type that says itself what it is: it starts with kind and apiVersion."""

    kinded = True

    kind = String(omitempty=True, doc="What the object is, in CamelCase; it never changes.")
    apiVersion = String(  # noqa: N815 -- Kubernetes' own name
        omitempty=True, doc="The group and version of the schema that the object follows."
    )
