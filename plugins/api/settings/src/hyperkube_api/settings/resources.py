"""The settings group: what pods are given when they are created.

An alpha of Kubernetes 1.6 to 1.19, served only when ``--runtime-config=settings.k8s.io/v1alpha1=true`` asks for it.
"""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.meta.specs import Version
from hyperkube_api.settings.strategy import PodPresetStrategy

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion, ResourceSpec
from hyperkube.plugin import Plugin

V1ALPHA1 = Version("settings.k8s.io", "v1alpha1", "hyperkube_api.settings.v1alpha1")


def _v1alpha1() -> tuple[ResourceSpec, ...]:
    return (
        V1ALPHA1.resource(
            "podpresets",
            "PodPreset",
            storage_prefix="podpresets",
            storage_version_hash="",
            strategy=PodPresetStrategy(),
        ),
    )


class SettingsApi(Plugin):
    """The settings group: what pods are given when they are created."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve settings.k8s.io/v1alpha1, where it is asked for."""
        return [
            ApiGroupVersion(
                group="settings.k8s.io",
                version="v1alpha1",
                resources=_v1alpha1(),
                group_priority=16_900,
                version_priority=9,
                legacy=True,
            ),
        ]
