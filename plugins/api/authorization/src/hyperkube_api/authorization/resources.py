"""The authorization group: reviews of what a user may do."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.meta.specs import CREATE_ONLY, OnFirstUse, Version

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion, ResourceSpec
from hyperkube.plugin import Plugin

V1 = Version("authorization.k8s.io", "v1", "hyperkube_api.authorization.v1")


def _v1() -> tuple[ResourceSpec, ...]:
    return (
        V1.resource(
            "localsubjectaccessreviews",
            "LocalSubjectAccessReview",
            verbs=CREATE_ONLY,
            create=OnFirstUse("hyperkube_api.authorization.reviews:review_local_access"),
        ),
        V1.resource(
            "selfsubjectaccessreviews",
            "SelfSubjectAccessReview",
            namespaced=False,
            verbs=CREATE_ONLY,
            create=OnFirstUse("hyperkube_api.authorization.reviews:review_own_access"),
        ),
        V1.resource(
            "selfsubjectrulesreviews",
            "SelfSubjectRulesReview",
            namespaced=False,
            verbs=CREATE_ONLY,
            create=OnFirstUse("hyperkube_api.authorization.reviews:review_own_rules"),
        ),
        V1.resource(
            "subjectaccessreviews",
            "SubjectAccessReview",
            namespaced=False,
            verbs=CREATE_ONLY,
            create=OnFirstUse("hyperkube_api.authorization.reviews:review_access"),
        ),
    )


class AuthorizationApi(Plugin):
    """The authorization group: reviews of what a user may do."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve authorization.k8s.io/v1."""
        return [
            ApiGroupVersion(
                group="authorization.k8s.io", version="v1", resources=_v1(), group_priority=17_600, version_priority=15
            ),
        ]
