"""A key belongs to the cache with its longest prefix, also when its folder was met before."""

import pytest
from hyperkube_lib.watch_cache.caches_by_prefix import CachesByPrefix

NAMES = ("/registry/services/", "/registry/services/specs/", "/registry/pods/")


@pytest.fixture
def caches():
    return CachesByPrefix({name: object() for name in NAMES})


@pytest.mark.parametrize(
    ("key", "prefix"),
    [
        ("/registry/pods/default/a", "/registry/pods/"),
        ("/registry/pods/a", "/registry/pods/"),
        ("/registry/services/specs/default/a", "/registry/services/specs/"),
        ("/registry/services/endpoints/default/a", "/registry/services/"),
        ("/registry/nodes/a", None),
        ("a", None),
    ],
    ids=["in a namespace", "of the cluster", "the longer of two", "the shorter of two", "no resource", "no folder"],
)
def test_a_key_belongs_to_the_longest_prefix(caches, key, prefix):
    expected = caches[prefix] if prefix else None

    assert [caches.of(key) for _ in range(2)] == [expected] * 2


def test_it_is_found_however_many_folders_there_are(caches):
    keys = [f"/registry/pods/n{number}/a" for number in range(3000)]

    assert {caches.of(key) for key in (*keys, *keys)} == {caches["/registry/pods/"]}
