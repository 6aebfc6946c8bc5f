"""Which news wake pods, how nodes are scored, and what can be set.

Source of the cases: kubernetes ``pkg/scheduler/framework/plugins/dynamicresources/dynamicresources_test.go``
(Test_isSchedulableAfterClaimChange, Test_isSchedulableAfterPodChange, Test_computesScore).
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from device_builders import ask, claim, dev, first, rslice
from hyperkube_scheduler.dynamic_resources.features import Features, Limits
from hyperkube_testing.scheduling.tables import scores
from plugin_world import USER, World, allocated, owned, pod

from hyperkube.kinds.resources import RESOURCE_CLAIMS, RESOURCE_SLICES
from hyperkube.machinery.errors import UsageError
from hyperkube.testing.waiting import eventually

PENDING, OTHER = claim(ask()), claim(ask(), name="c1")


def changed(world, name, **words):
    stored = world.client.get(RESOURCE_CLAIMS, name, "default")
    if "status" in words:
        world.client.update(RESOURCE_CLAIMS, {**stored, **words}, "default", subresource="status")
    else:
        world.client.update(RESOURCE_CLAIMS, {**stored, "metadata": {**stored["metadata"], **words}}, "default")


NEWS = {
    "its claim comes": ([], lambda world: world.client.seed(RESOURCE_CLAIMS, PENDING), True),
    "another pod's claim comes": ([PENDING], lambda world: world.client.seed(RESOURCE_CLAIMS, OTHER), False),
    "its claim gets a finalizer": ([PENDING], lambda world: changed(world, "c0", finalizers=["x"]), False),
    "its claim's status changes": (
        [PENDING],
        lambda world: changed(world, "c0", status=allocated(PENDING)["status"]),
        True,
    ),
    "another claim is allocated": (
        [PENDING, OTHER],
        lambda world: changed(world, "c1", status=allocated(OTHER)["status"]),
        False,
    ),
    "another claim is used": (
        [PENDING, allocated(OTHER)],
        lambda world: changed(world, "c1", status=allocated(OTHER, users=[USER])["status"]),
        False,
    ),
    "another claim gives its devices back": (
        [PENDING, allocated(OTHER)],
        lambda world: changed(world, "c1", status={}),
        True,
    ),
    "another claim goes": (
        [PENDING, OTHER],
        lambda world: world.client.delete(RESOURCE_CLAIMS, "c1", "default"),
        False,
    ),
    "another claim goes with its devices": (
        [PENDING, allocated(OTHER, finalizer=False)],
        lambda world: world.client.delete(RESOURCE_CLAIMS, "c1", "default"),
        True,
    ),
}


@pytest.mark.parametrize(("claims", "happen", "wakes"), NEWS.values(), ids=NEWS)
def test_which_news_of_claims_wake_pods(claims, happen, wakes):
    world, asked = World(claims), pod("c0")
    world.ask(asked)
    quiet(world)

    happen(world)

    assert quiet(world) == (["resourceclaims"] if wakes else [])


def quiet(world):
    """Return the news up to one that is made here, and forget them."""
    plugin = world.plugin._claims
    plugin.know_devices()
    mark = owned(allocated(claim(ask(), name=f"mark-{len(world.client.journal)}"), finalizer=False))
    world.client.seed(RESOURCE_CLAIMS, mark)
    eventually(lambda: plugin.claim("default", mark["metadata"]["name"]))
    seen = [each for each in world.wakes if each == "resourceclaims"]
    world.wakes.clear()
    return seen[:1]


def test_a_slice_wakes_pods():
    world = World([PENDING])
    world.ask(pod("c0"))
    world.wakes.clear()

    world.client.seed(RESOURCE_SLICES, rslice(dev()))

    eventually(lambda: "resourceslices" in world.wakes)
    assert world.ask(pod("c0")) == [""]


def test_pods_that_were_placed_wait_for_nothing():
    world, asked = World([PENDING], [rslice(dev())]), pod("c0")
    world.ask(asked)
    world.plugin.reserve(asked, "n1")

    assert not world.plugin._claims._waiting
    assert not world.plugin._claims._awaited


def alternatives(*counts, name="r0"):
    return first(name, *(ask("x", count=count) for count in counts))


def devices(count, node):
    return rslice(*(dev(n) for n in range(count)), node=node, pool=node)


SCORES = {
    "exact requests": ([claim(ask())], (1, 1), None),
    "the first, the second": ([claim(alternatives(2, 1))], (2, 1), [100, 87]),
    "two requests": ([claim(alternatives(2, 1), alternatives(2, 1, name="r1"))], (4, 3), [100, 93]),
    "two claims": (
        [claim(alternatives(2, 1)), claim(alternatives(3, 2, 1), name="c1")],
        (5, 3),
        [100, 87],
    ),
    "three nodes": (
        [claim(alternatives(2, 1), alternatives(3, 2, 1, name="r1"))],
        (5, 4, 3),
        [100, 93, 87],
    ),
    "the same everywhere": ([claim(alternatives(2, 1))], (1, 1), [100, 100]),
    "one of many alternatives": ([claim(alternatives(8, 7, 6, 5, 4, 3, 2, 1))], (8, 1), [100, 12]),
}


@pytest.mark.parametrize(("claims", "amounts", "expected"), SCORES.values(), ids=SCORES)
def test_earlier_alternatives_score_higher(claims, amounts, expected):
    names = [f"n{number}" for number in range(len(amounts))]
    slices = [devices(count, name) for count, name in zip(amounts, names, strict=True)]
    world = World(claims, slices, nodes=tuple({"name": name} for name in names))
    asked = pod(*(each["metadata"]["name"] for each in claims))

    assert world.ask(asked) == [""] * len(names)
    assert scores(world.plugin, asked, world.table) == expected


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"filterTimeout": "-1s"}, "filterTimeout: must be zero or positive"),
        ({"bindingTimeout": "0s"}, "bindingTimeout: must be at least 1 second"),
        ({"bindingTimeout": "soon"}, "^bindingTimeout: "),
        ({"nothing": 1}, "settings of plugin 'DynamicResources': unknown field 'nothing'"),
    ],
)
def test_settings_that_are_wrong(settings, text):
    with pytest.raises(UsageError, match=text):
        World(settings=settings)


def test_settings():
    on, off = Features.of({}), Features.of({"DRASchedulerFilterTimeout": False})

    assert Limits.of({}, on) == Limits(10, 600)
    assert Limits.of({"filterTimeout": "2m", "bindingTimeout": "1s"}, on) == Limits(120, 1)
    assert Limits.of({"filterTimeout": "2m"}, off) == Limits(0, 600)
