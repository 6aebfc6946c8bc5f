"""The authentication group: the user of a token or of a request."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.meta.specs import CREATE_ONLY, OnFirstUse, Version

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion, ResourceSpec
from hyperkube.plugin import Plugin

V1 = Version("authentication.k8s.io", "v1", "hyperkube_api.authentication.v1")


def _v1() -> tuple[ResourceSpec, ...]:
    return (
        V1.resource(
            "selfsubjectreviews",
            "SelfSubjectReview",
            namespaced=False,
            verbs=CREATE_ONLY,
            create=OnFirstUse("hyperkube_api.authentication.reviews:review_self"),
        ),
        V1.resource(
            "tokenreviews",
            "TokenReview",
            namespaced=False,
            verbs=CREATE_ONLY,
            create=OnFirstUse("hyperkube_api.authentication.reviews:review_token"),
        ),
    )


class AuthenticationApi(Plugin):
    """The authentication group: the user of a token or of a request."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve authentication.k8s.io/v1."""
        return [
            ApiGroupVersion(
                group="authentication.k8s.io", version="v1", resources=_v1(), group_priority=17_700, version_priority=15
            ),
        ]
