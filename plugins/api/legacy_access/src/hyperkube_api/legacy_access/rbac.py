"""rbac.authorization.k8s.io/v1beta1 and v1alpha1.

Source: kubernetes v1.21 pkg/apis/rbac/v1alpha1/{conversion,defaults}.go.
"""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.meta.older_versions import Differences, Lifecycle, OlderVersion, newest_resources
from hyperkube_api.meta.specs import Version
from hyperkube_api.rbac.resources import RbacApi

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion
from hyperkube.machinery.objects import Object
from hyperkube.plugin import Plugin

_GROUP = "rbac.authorization.k8s.io"
_LIFECYCLE = Lifecycle(17, 22, f"{_GROUP}/v1")
_V1BETA1 = OlderVersion(
    version=Version(_GROUP, "v1beta1", "hyperkube_api.legacy_access.schemas.rbac_v1beta1"), lifecycle=_LIFECYCLE
)
_V1ALPHA1 = OlderVersion(
    version=Version(_GROUP, "v1alpha1", "hyperkube_api.legacy_access.schemas.rbac_v1alpha1"), lifecycle=_LIFECYCLE
)
_ALL_AUTHENTICATED = "system:authenticated"


def newer_binding(binding: Object) -> Object:
    """Return a binding whose subjects have an API group; the user ``*`` becomes ``system:authenticated``."""
    subjects = binding.get("subjects")
    if not subjects:
        return binding
    return {**binding, "subjects": [_newer_subject(subject) for subject in subjects]}


def _newer_subject(subject: Object) -> Object:
    kept = {name: value for name, value in subject.items() if name != "apiVersion"}
    version = subject.get("apiVersion") or ""
    kind, name = subject.get("kind"), subject.get("name")
    if kind == "User" and name == "*":
        return {**kept, "kind": "Group", "apiGroup": _GROUP, "name": _ALL_AUTHENTICATED}
    group = version.rpartition("/")[0]
    if not version and kind in {"User", "Group"}:
        group = _GROUP
    return {**kept, "apiGroup": group} if group else kept


def older_binding(binding: Object) -> Object:
    """Return a binding whose subjects have an API version."""
    subjects = binding.get("subjects")
    if not subjects:
        return binding
    return {**binding, "subjects": [_older_subject(subject) for subject in subjects]}


def _older_subject(subject: Object) -> Object:
    kept = {name: value for name, value in subject.items() if name != "apiGroup"}
    group = subject.get("apiGroup") or ""
    if group:
        return {**kept, "apiVersion": f"{group}/v1alpha1"}
    return {**kept, "apiVersion": "v1"} if subject.get("kind") == "ServiceAccount" else kept


_BINDING = Differences(newer=newer_binding, older=older_binding)


class LegacyRbacApi(Plugin):
    """rbac.authorization.k8s.io/v1beta1 and v1alpha1: who may do what."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve both where they are asked for."""
        rbac = newest_resources(RbacApi, self.context)
        first = [
            _V1ALPHA1.resource(spec, _BINDING if name.endswith("bindings") else None) for name, spec in rbac.items()
        ]
        second = [_V1BETA1.resource(spec) for spec in rbac.values()]
        return [
            _V1BETA1.group_version(second, group_priority=17_000, version_priority=12),
            _V1ALPHA1.group_version(first, group_priority=17_000, version_priority=9),
        ]
