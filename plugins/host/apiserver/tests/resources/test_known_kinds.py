"""Kinds that are one type in several versions."""

import pytest
from hyperkube_host.apiserver.resources.known_kinds import KnownKinds
from hyperkube_host.apiserver.resources.registry import Registry
from hyperkube_lib.watch_cache.watch_cache import StoreCache

from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.groups import GroupVersionKind
from hyperkube.storage.memory import MemoryStore

SCALE = GroupVersionKind("autoscaling", "v1", "Scale")


@pytest.mark.parametrize(
    ("kind", "other", "expected"),
    [
        (GroupVersionKind("apps", "v1beta1", "Scale"), SCALE, True),
        (GroupVersionKind("extensions", "v1beta1", "Scale"), SCALE, True),
        (GroupVersionKind("apps", "v1", "Scale"), SCALE, False),
        (GroupVersionKind("extensions", "v1beta1", "Deployment"), GroupVersionKind("apps", "v1", "Deployment"), True),
        (GroupVersionKind("events.k8s.io", "v1beta1", "Event"), GroupVersionKind("", "v1", "Event"), True),
        (GroupVersionKind("apps", "v1beta1", "Deployment"), SCALE, False),
        (GroupVersionKind("extensions", "v1beta1", "DeleteOptions"), SCALE, False),
    ],
    ids=lambda value: f"{value.api_version}.{value.kind}" if isinstance(value, GroupVersionKind) else str(value),
)
def test_a_kind_of_another_version_has_the_same_internal_type(kind, other, expected):
    assert KnownKinds(Registry(StoreCache(MemoryStore(), SystemClock()))).is_version_of(kind, other) is expected
