"""``--runtime-config``: which group versions and resources are served.

Beside Kubernetes' own keys, ``api/legacy`` stands for all versions that Kubernetes served once and has since removed.

Source: kubernetes apiserver ``pkg/server/resourceconfig/helpers.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from hyperkube.hookspecs.api import ApiGroupVersion
from hyperkube.machinery.errors import UsageError

_STAGES = frozenset({"api/all", "api/alpha", "api/beta", "api/ga"})
_CORE = frozenset({"v1"})
"""Versions of the group without a name: ``v1``, ``api/v1`` and ``v1/pods`` are all understood."""
_TRUE, _FALSE = frozenset({"", "true", "1", "t"}), frozenset({"false", "0", "f"})


def _stage(version: str) -> str:
    return "alpha" if "alpha" in version else "beta" if "beta" in version else "ga"


def _flag(key: str, value: Any) -> bool:
    text = str(value).lower()
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise UsageError(f"runtime-config {key}={value!r} must be true or false")


def may_serve_legacy(settings: Mapping[str, Any]) -> bool:
    """Tell whether versions that Kubernetes has removed may be among what is served: more than stages is named."""
    return not settings.keys() <= _STAGES


def unserved(declared: Iterable[ApiGroupVersion], settings: Mapping[str, Any]) -> list[str]:
    """Return the keys that name a group version which no plugin declares, and so have no effect.

    Raises:
        UsageError: a key that is neither a stage, a group version nor a resource of one.
    """
    names = {f"{version.group}/{version.version}" for version in declared}
    found = []
    for key in sorted(settings.keys() - _STAGES - {"api/legacy"}):
        words = key.removeprefix("api/").split("/")
        if words[0] in _CORE:
            words = ["", *words]
        if not 2 <= len(words) <= 3:
            raise UsageError(f"runtime-config invalid key {key}")
        if "/".join(words[:2]) not in names:
            found.append(key)
    return found


def selected(declared: Iterable[ApiGroupVersion], settings: Mapping[str, Any]) -> list[ApiGroupVersion]:
    """Return what is served of what the plugins declare.

    Raises:
        UsageError: the flag has a value that is neither true nor false.
    """
    config = {key: _flag(key, value) for key, value in settings.items()}
    served: list[ApiGroupVersion] = []
    for version in declared:
        name = f"{version.group}/{version.version}" if version.group else version.version
        default = config.get("api/all", config.get(f"api/{_stage(version.version)}"))
        if version.legacy:
            default = config.get("api/legacy", False)
        wanted = config.get(name, config.get(f"api/{name}", default))
        resources = tuple(
            spec
            for spec in version.resources
            if config.get(f"{name}/{spec.resource.resource}", wanted if wanted is not None else spec.served)
        )
        if resources:
            served.append(replace(version, resources=resources))
    return served
