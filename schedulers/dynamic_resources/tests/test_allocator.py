"""What an allocator gives to claims on one node; the rows are those of kubernetes' allocator tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from device_builders import (
    CLASSES,
    LOCAL,
    NODES,
    allocate,
    allocator,
    ask,
    ask_all,
    cel,
    claim,
    counters,
    dev,
    device_class,
    first,
    memory,
    part,
    rslice,
    shown,
    used,
)
from hyperkube_scheduler.dynamic_resources.features import Features
from hyperkube_scheduler.dynamic_resources.refusals import CannotAllocate
from hyperkube_scheduler.dynamic_resources.requests import MOST_DEVICES, requests_of

from hyperkube.testing.scheduling import table

NOTHING = "cannot allocate all claims"
ONE = [rslice(dev())]
TWO = [rslice(dev(1), dev(2))]
TWO_DRIVERS = [rslice(dev(1), dev(2)), rslice(dev(1), driver="b")]
SIZES = [rslice(dev(1, memory="1Gi"), dev(2, memory="2Gi"))]
SIZES_BACKWARDS = [rslice(dev(2, memory="2Gi"), dev(1, memory="1Gi"))]
SMALL, LARGE = memory("1Gi"), memory("2Gi")


@pytest.mark.parametrize(
    ("slices", "claims", "words", "wanted"),
    [
        pytest.param([], [], {}, [], id="nobody asks"),
        pytest.param(ONE, [], {}, [], id="nobody asks where there is something"),
        pytest.param(ONE, [claim(ask())], {}, [["r0=a/p1/1"]], id="one device"),
        pytest.param(
            [rslice(dev(), driver="b"), rslice(dev(), node="n2", pool="p2")],
            [claim(ask())],
            {"node": "n2"},
            [["r0=a/p2/1"]],
            id="the other node's",
        ),
        pytest.param(
            SIZES,
            [claim(ask("r0", selectors=SMALL), ask("r1", selectors=LARGE))],
            {},
            [["r0=a/p1/1", "r1=a/p1/2"]],
            id="small and large",
        ),
        pytest.param(
            SIZES_BACKWARDS,
            [claim(ask("r0", selectors=SMALL), ask("r1", selectors=LARGE))],
            {},
            [["r0=a/p1/1", "r1=a/p1/2"]],
            id="a request changes its mind for the next",
        ),
        pytest.param(
            SIZES_BACKWARDS,
            [claim(ask("r0", selectors=SMALL)), claim(ask("r1", selectors=LARGE), name="c1")],
            {},
            [["r0=a/p1/1"], ["r1=a/p1/2"]],
            id="a claim changes its mind for the next",
        ),
        pytest.param(
            [rslice(dev()), rslice(dev(), pool="p2")],
            [claim(ask("r0", count=2))],
            {},
            [["r0=a/p1/1", "r0=a/p2/1"]],
            id="from two pools",
        ),
        pytest.param([], [claim(ask())], {}, NOTHING, id="no slices"),
        pytest.param(ONE, [claim(ask()), claim(ask(), name="c1")], {}, NOTHING, id="too few for two claims"),
        pytest.param(
            TWO_DRIVERS,
            [claim(ask()), claim(ask("r0", "b"), name="c1")],
            {},
            [["r0=a/p1/1"], ["r0=b/p1/1"]],
            id="several drivers",
        ),
        pytest.param(ONE, [claim(ask())], {"usage": used("a/p1/1", "a/p1/2")}, NOTHING, id="all are in use"),
        pytest.param([], [claim(ask("r0", count=MOST_DEVICES))], {}, NOTHING, id="many devices may be asked for"),
        pytest.param(
            [rslice(*[dev(n) for n in range(MOST_DEVICES)])],
            [claim(ask("r0", count=MOST_DEVICES))],
            {},
            [[f"r0=a/p1/{n}" for n in range(MOST_DEVICES)]],
            id="as many as there may be",
        ),
        pytest.param(
            [rslice(dev(), pool=pool) for pool in ("p3", "p2", "p1")],
            [claim(ask("r0", count=2))],
            {},
            [["r0=a/p1/1", "r0=a/p2/1"]],
            id="pools by name",
        ),
        pytest.param(
            [rslice(dev(n), count=3, name=f"s{n}") for n in (3, 2, 1)],
            [claim(ask("r0", count=2))],
            {},
            [["r0=a/p1/1", "r0=a/p1/2"]],
            id="slices by name",
        ),
    ],
)
def test_devices_are_taken_in_order(slices, claims, words, wanted):
    assert shown(allocate(slices, *claims, **words)) == wanted


@pytest.mark.parametrize(
    ("slices", "claims", "words", "wanted"),
    [
        pytest.param(ONE, [claim(ask_all())], {}, [["r0=a/p1/1"]], id="one"),
        pytest.param(
            [rslice(dev()), rslice(dev(), pool="p2")],
            [claim(ask_all())],
            {},
            [["r0=a/p1/1", "r0=a/p2/1"]],
            id="of all pools",
        ),
        pytest.param(
            TWO_DRIVERS,
            [claim(ask_all()), claim(ask("r0", "b"), name="c1")],
            {},
            [["r0=a/p1/1", "r0=a/p1/2"], ["r0=b/p1/1"]],
            id="and another",
        ),
        pytest.param(
            TWO_DRIVERS,
            [claim(ask("r0", "b")), claim(ask_all(), name="c1")],
            {},
            [["r0=b/p1/1"], ["r0=a/p1/1", "r0=a/p1/2"]],
            id="after another",
        ),
        pytest.param(ONE, [claim(ask()), claim(ask_all(), name="c1")], {}, NOTHING, id="one is gone by then"),
        pytest.param(ONE, [claim(ask_all()), claim(ask(), name="c1")], {}, NOTHING, id="nothing is left"),
        pytest.param([rslice()], [claim(ask_all())], {}, NOTHING, id="of no devices"),
        pytest.param([], [claim(ask_all())], {}, NOTHING, id="of no slices"),
        pytest.param(TWO, [claim(ask_all())], {"usage": used("a/p1/1")}, NOTHING, id="one is in use"),
        pytest.param(
            [rslice(dev(1), count=2), rslice(dev(2), node="n2", count=2)],
            [claim(ask_all())],
            {},
            [["r0=a/p1/1"]],
            id="of this node, in a pool of several",
        ),
    ],
)
def test_all_means_all_that_the_node_reaches(slices, claims, words, wanted):
    assert shown(allocate(slices, *claims, **words)) == wanted


@pytest.mark.parametrize(
    ("claims", "usage", "wanted"),
    [
        ([claim(ask(adminAccess=True))], used("a/p1/1"), [["r0=a/p1/1"]]),
        ([claim(ask_all(adminAccess=True))], used("a/p1/1"), [["r0=a/p1/1", "r0=a/p1/2"]]),
        ([claim(ask("r0", count=2, adminAccess=True))], used("a/p1/1"), [["r0=a/p1/1", "r0=a/p1/2"]]),
        ([claim(ask(adminAccess=True), ask_all("r1", adminAccess=True))], None, NOTHING),
        (
            [claim(ask(adminAccess=True)), claim(ask(adminAccess=True), name="c1")],
            None,
            [["r0=a/p1/1"], ["r0=a/p1/1"]],
        ),
        ([claim(ask()), claim(ask(adminAccess=True), name="c1")], None, [["r0=a/p1/1"], ["r0=a/p1/1"]]),
    ],
    ids=["in use", "all", "two", "each once in a claim", "two claims the same", "what the pod gets itself"],
)
def test_administrators_look_at_what_others_have(claims, usage, wanted):
    written = allocate(TWO, *claims, usage=usage)

    assert shown(written) == wanted
    if not isinstance(written, str):
        assert written[-1]["devices"]["results"][0]["adminAccess"] is True


V1 = {"version": "1.0.0", "numa": 1, "text": "t", "flag": True}
MATCHES = [{"matchAttribute": f"a/{name}"} for name in V1]


def attributed(*rows, **spec):
    return [rslice(*[dev(n, attributes=row, **spec) for n, row in enumerate(rows, 1)])]


@pytest.mark.parametrize(
    ("slices", "body", "wanted"),
    [
        pytest.param(
            attributed(V1, V1), claim(ask(), ask("r1"), constraints=MATCHES), ["r0=a/p1/1", "r1=a/p1/2"], id="all kinds"
        ),
        pytest.param(ONE, claim(ask(), constraints=[{"matchAttribute": "a/nothing"}]), None, id="no such attribute"),
        *[
            pytest.param(
                attributed(V1, {**V1, name: other}),
                claim(ask("r0", count=2), constraints=[{"matchAttribute": f"a/{name}"}]),
                None,
                id=f"other {name}",
            )
            for name, other in {"version": "2.0.0", "numa": 2, "text": "u", "flag": False}.items()
        ],
        pytest.param(
            attributed(V1, {**V1, "version": "2.0.0"}),
            claim(ask(), ask("r1"), constraints=[{"requests": ["r0"], "matchAttribute": "a/version"}]),
            ["r0=a/p1/1", "r1=a/p1/2"],
            id="for one request",
        ),
        pytest.param(
            attributed({**V1, "text": "a"}, {**V1, "text": "b"}, {**V1, "text": "b"}),
            claim(
                ask(),
                ask("r1"),
                constraints=[{"requests": ["r0"], "matchAttribute": "a/version"}, {"matchAttribute": "a/text"}],
            ),
            ["r0=a/p1/2", "r1=a/p1/3"],
            id="changes its mind",
        ),
        pytest.param(
            attributed(
                {"version": "1.0.0", "numa": 0, "flag": True},
                {"version": "1.0.1", "numa": 1, "flag": False},
                {"version": "1.0.2", "numa": 2, "flag": True},
                {"version": "1.0.0", "numa": 3, "flag": True},
            ),
            claim(
                *[ask(f"r{n}") for n in range(4)],
                constraints=[
                    {"distinctAttribute": "a/flag", "requests": ["r0", "r1"]},
                    {"distinctAttribute": "a/version", "requests": ["r0", "r1", "r2"]},
                    {"distinctAttribute": "a/numa", "requests": ["r0", "r1", "r2", "r3"]},
                ],
            ),
            ["r0=a/p1/1", "r1=a/p1/2", "r2=a/p1/3", "r3=a/p1/4"],
            id="distinct",
        ),
        pytest.param(
            ONE,
            claim(ask(), constraints=[{"distinctAttribute": "a/flag", "requests": ["r0"]}]),
            None,
            id="distinct, unset",
        ),
        pytest.param(
            attributed(V1, V1),
            claim(ask("r0", count=2), constraints=[{"distinctAttribute": "a/text"}]),
            None,
            id="not distinct",
        ),
        pytest.param(
            attributed({"a/numa": 1}, {"numa": 1}, {"other/numa": 1}),
            claim(ask("r0", count=2), constraints=[{"matchAttribute": "a/numa"}]),
            ["r0=a/p1/1", "r0=a/p1/2"],
            id="the driver's own may lack the domain",
        ),
    ],
)
def test_constraints_look_at_attributes(slices, body, wanted):
    assert shown(allocate(slices, body)) == (NOTHING if wanted is None else [wanted])


def test_all_devices_must_keep_the_constraints():
    body = claim(ask_all(), constraints=[{"matchAttribute": "a/numa"}])
    text = "claim default/c0, request r0: cannot add device a/p1/2 because a claim constraint would not be satisfied"

    with pytest.raises(CannotAllocate, match=f"^{text}$"):
        allocate(attributed({"numa": 1}, {"numa": 2}), body)


CONFIG = [{"opaque": {"driver": "a", "parameters": {"of": "a"}}}]
CONFIG_B = [{"opaque": {"driver": "b", "parameters": {"of": "b"}}}]
WITH_CONFIG = {"a": device_class("a", config=CONFIG), "b": device_class("b", config=CONFIG_B)}


@pytest.mark.parametrize(
    ("slices", "body", "classes", "wanted"),
    [
        pytest.param(
            ONE, claim(ask()), WITH_CONFIG, [{**CONFIG[0], "source": "FromClass", "requests": ["r0"]}], id="of a class"
        ),
        pytest.param(
            TWO_DRIVERS,
            claim(ask(), ask("r1"), ask("r2", "b")),
            WITH_CONFIG,
            [
                {**CONFIG[0], "source": "FromClass", "requests": ["r0", "r1"]},
                {**CONFIG_B[0], "source": "FromClass", "requests": ["r2"]},
            ],
            id="of each class once",
        ),
        pytest.param(
            ONE, claim(ask(), config=CONFIG), CLASSES, [{**CONFIG[0], "source": "FromClaim"}], id="of a claim"
        ),
        pytest.param(
            [rslice(dev(1), dev(2), driver="b")],
            claim(
                first("r0", ask(), ask("", "b", count=2)),
                config=[{**CONFIG[0], "requests": ["r0/s0"]}, {**CONFIG_B[0], "requests": ["r0/s1"]}],
            ),
            CLASSES,
            [{**CONFIG_B[0], "source": "FromClaim", "requests": ["r0/s1"]}],
            id="of the chosen alternative",
        ),
        pytest.param(
            [rslice(dev(1), dev(2), driver="b"), rslice(dev(3), pool="p2")],
            claim(first("r0", ask("", "a", count=2), ask("", "b", count=2))),
            WITH_CONFIG,
            [{**CONFIG_B[0], "source": "FromClass", "requests": ["r0/s1"]}],
            id="of the chosen alternative's class",
        ),
    ],
)
def test_configuration_comes_along(slices, body, classes, wanted):
    (written,) = allocate(slices, body, classes=classes)

    assert written["devices"]["config"] == wanted


@pytest.mark.parametrize(
    ("slices", "body", "classes", "text"),
    [
        pytest.param(ONE, claim(ask()), {}, "could not retrieve device class a: ", id="no classes"),
        pytest.param(ONE, claim(ask("r0", "none")), None, "could not retrieve device class none: ", id="unknown class"),
        pytest.param(
            ONE,
            claim(ask("r0", "")),
            None,
            "claim default/c0, request r0: missing device class name (unsupported request type?)",
            id="empty class",
        ),
        pytest.param(
            ONE, claim(ask(selectors=[{}])), None, "CEL expression empty (unsupported selector type?)", id="selector"
        ),
        pytest.param(
            ONE, claim(ask(allocationMode="future-mode")), None, "unsupported count mode future-mode", id="mode"
        ),
        pytest.param(
            ONE,
            claim(ask(), constraints=[{}]),
            None,
            "constraint #0: empty constraint (unsupported constraint type?)",
            id="constraint",
        ),
        pytest.param(
            ONE,
            claim(ask(selectors=cel("noSuchVar"))),
            None,
            "claim default/c0: selector #0: CEL compile error: ",
            id="wrong expression",
        ),
        pytest.param(
            ONE,
            claim(ask()),
            {"a": device_class("a", "noSuchVar")},
            "class a: selector #0: CEL compile error: ",
            id="wrong expression of a class",
        ),
        pytest.param(
            ONE, claim(ask_all(selectors=cel("noSuchVar"))), None, "CEL compile error", id="wrong expression for all"
        ),
        pytest.param(
            ONE,
            claim(ask(selectors=cel("device.attributes['a'].healthy"))),
            None,
            "claim default/c0: selector #0 on device a/p1/1: CEL runtime error: no such key: healthy",
            id="runtime error",
        ),
        pytest.param(
            [rslice(dev(attributes={"flag": {}}))],
            claim(ask()),
            None,
            "CEL runtime error: attribute flag: unsupported attribute value",
            id="attribute without a value",
        ),
        pytest.param(
            [rslice(dev(attributes={"text": {"strings": ["x", "y"]}}))],
            claim(ask()),
            None,
            "unsupported attribute value",
            id="lists of values are off",
        ),
        pytest.param(
            [],
            claim(ask("r0", count=500)),
            None,
            "claim default/c0: number of requested devices 500 exceeds the claim limit of 32",
            id="too many",
        ),
        pytest.param(
            ONE, claim(ask("r0", count=32), ask("r1")), None, "33 exceeds the claim limit", id="too many together"
        ),
        pytest.param(
            [rslice(dev(), count=2)],
            claim(ask_all()),
            None,
            "claim default/c0, request r0: asks for all devices, but resource pool a/p1 is currently being updated",
            id="all of an incomplete pool",
        ),
        pytest.param(
            [rslice(dev(), dev())],
            claim(ask_all()),
            None,
            "claim default/c0, request r0: asks for all devices, but resource pool a/p1 is currently invalid",
            id="all of an invalid pool",
        ),
    ],
)
def test_what_is_wrong_stops_everything(slices, body, classes, text):
    with pytest.raises(CannotAllocate) as refused:
        allocate(slices, body, classes=classes)

    assert text in str(refused.value)


def test_a_device_that_is_not_tried_cannot_break_a_selector():
    healthy = ask(selectors=cel("device.attributes['a'].healthy"))

    assert shown(allocate([rslice(dev(1, attributes={"healthy": True}), dev(2))], claim(healthy))) == [["r0=a/p1/1"]]


REGION = {
    "nodeSelector": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "region", "operator": "In", "values": ["1"]}]}]
    }
}
PLANET = {
    "nodeSelector": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "planet", "operator": "In", "values": ["earth"]}]}]
    }
}
EVERYWHERE = {"allNodes": True}
PER_DEVICE = {"perDeviceNodeSelection": True}


def test_devices_of_many_nodes_say_where_they_can_be_used():
    slices = {
        "node": ONE,
        "region": [rslice(dev(), node=REGION)],
        "everywhere": [rslice(dev(), node=EVERYWHERE)],
        "bound": [rslice(dev(bindsToNode=True), node=PLANET)],
        "device": [rslice(dev(nodeName="n1"), node=PER_DEVICE)],
        "device's region": [rslice(dev(**REGION), node=PER_DEVICE)],
        "device everywhere": [rslice(dev(**EVERYWHERE), node=PER_DEVICE)],
    }
    found = {name: allocate(rows, claim(ask()))[0].get("nodeSelector") for name, rows in slices.items()}

    assert found == {
        "node": LOCAL,
        "region": REGION["nodeSelector"],
        "everywhere": None,
        "bound": LOCAL,
        "device": LOCAL,
        "device's region": REGION["nodeSelector"],
        "device everywhere": None,
    }


def test_devices_of_many_nodes_together_are_where_all_of_them_are():
    own = {"nodeSelector": LOCAL}
    wheres = {"p1": REGION, "p2": EVERYWHERE, "p3": PLANET, "p4": own}
    many = [rslice(dev(), node=where, pool=pool) for pool, where in wheres.items()]
    local = [rslice(dev(), node=REGION), rslice(dev(), pool="p2")]

    (written,) = allocate(many, claim(ask("r0", count=4)))
    (mixed,) = allocate(local, claim(ask("r0", count=2)))

    (term,) = written["nodeSelector"]["nodeSelectorTerms"]
    both = [each["nodeSelector"]["nodeSelectorTerms"][0]["matchExpressions"][0] for each in (REGION, PLANET)]
    assert term == {"matchExpressions": both, **LOCAL["nodeSelectorTerms"][0]}
    assert mixed["nodeSelector"] == LOCAL
    assert allocate([rslice(dev(), node=REGION)], claim(ask()), node="n2") == NOTHING


HARD = {"key": "k", "value": "v", "effect": "NoSchedule"}
HARDER = {"key": "k", "value": "w", "effect": "NoExecute"}
TAINTED = [rslice(dev(1, taints=[HARD]), dev(2, taints=[HARDER]))]
BOTH = [rslice(dev(taints=[HARD, HARDER]))]
TOLERATE = {"operator": "Exists", "key": "k", "effect": "NoSchedule"}
TOLERATE_HARDER = {"operator": "Equal", "key": "k", "value": "w", "effect": "NoExecute"}


@pytest.mark.parametrize(
    ("slices", "body", "words", "wanted"),
    [
        pytest.param(TAINTED, claim(ask()), {}, None, id="two devices"),
        pytest.param(BOTH, claim(ask()), {}, None, id="two taints"),
        pytest.param(TAINTED, claim(ask(tolerations=[TOLERATE_HARDER])), {}, "r0=a/p1/2", id="one is tolerated"),
        pytest.param(
            TAINTED,
            claim(first("r0", ask(), ask("", tolerations=[TOLERATE_HARDER]))),
            {},
            "r0/s1=a/p1/2",
            id="one is tolerated by an alternative",
        ),
        pytest.param(
            [rslice(dev(taints=[{**HARD, "effect": "None"}]))], claim(ask()), {}, "r0=a/p1/1", id="without effect"
        ),
        pytest.param(
            BOTH, claim(ask(tolerations=[TOLERATE, TOLERATE_HARDER])), {}, "r0=a/p1/1", id="both are tolerated"
        ),
        pytest.param(BOTH, claim(ask()), {"features": Features(taints=False)}, "r0=a/p1/1", id="off"),
        pytest.param(TAINTED, claim(first("r0", ask("", "b"), ask())), {}, None, id="alternatives"),
        pytest.param(
            TAINTED,
            claim(first("r0", ask("", "b"), ask())),
            {"features": Features(taints=False)},
            "r0/s1=a/p1/1",
            id="alternatives, off",
        ),
        pytest.param(BOTH, claim(ask(adminAccess=True)), {"usage": used("a/p1/1")}, None, id="administrators too"),
        pytest.param(
            BOTH,
            claim(ask(adminAccess=True)),
            {"usage": used("a/p1/1"), "features": Features(taints=False)},
            "r0=a/p1/1",
            id="administrators, off",
        ),
        pytest.param(BOTH, claim(ask_all()), {}, None, id="all"),
        pytest.param(BOTH, claim(ask_all()), {"features": Features(taints=False)}, "r0=a/p1/1", id="all, off"),
    ],
)
def test_taints_keep_off_those_who_do_not_tolerate_them(slices, body, words, wanted):
    assert shown(allocate(slices, body, **words)) == (NOTHING if wanted is None else [[wanted]])


def test_what_is_tolerated_is_written():
    (written,) = allocate(TAINTED, claim(ask(tolerations=[TOLERATE_HARDER])))

    assert written["devices"]["results"][0]["tolerations"] == [TOLERATE_HARDER]


def ready(name, number="", **spec):
    return dev(name, bindingConditions=[f"Ready{number}"], bindingFailureConditions=[f"Failed{number}"], **spec)


def test_devices_that_must_get_ready_say_when_they_are():
    slices = [rslice(dev(1), ready(2), ready(3, "3"))]

    (written,) = allocate(slices, claim(ask("r0", count=2), ask("r1")))

    rows = [(row["device"], row.get("bindingConditions")) for row in written["devices"]["results"]]
    assert rows == [("1", None), ("2", ["Ready"]), ("3", ["Ready3"])]
    assert written["devices"]["results"][1]["bindingFailureConditions"] == ["Failed"]
    assert allocate([rslice(ready(1))], claim(ask()), features=Features(binding=False)) == NOTHING


@pytest.mark.parametrize(
    ("slices", "wanted"),
    [
        (
            [rslice(ready(1)), rslice(dev(3), pool="p3"), rslice(dev(2), pool="p2")],
            ["r0=a/p2/2", "r0=a/p3/3"],
        ),
        (
            [rslice(ready(1), count=3, name="s1"), *[rslice(dev(n), count=3, name=f"s{n}") for n in (3, 2)]],
            ["r0=a/p1/1", "r0=a/p1/2"],
        ),
    ],
    ids=["pools with them come last", "slices do not"],
)
def test_devices_that_must_get_ready_wait_for_those_that_are(slices, wanted):
    assert shown(allocate(slices, claim(ask("r0", count=2)))) == [wanted]


GENERATIONS = [rslice(dev(1, attributes={"g": "v5"}))]


def generation(name):
    return cel(f"device.attributes['a'].g == '{name}'")


@pytest.mark.parametrize(
    ("slices", "body", "words", "wanted"),
    [
        pytest.param(ONE, claim(first("r0", ask("", "b"), ask())), {}, ["r0/s1=a/p1/1"], id="the first is not there"),
        pytest.param(
            TWO_DRIVERS, claim(first("r0", ask("", "b", count=3), ask("", "a", count=3))), {}, None, id="none is there"
        ),
        pytest.param(
            [rslice(dev(1, memory="2Gi"), dev(2, memory="2Gi"), dev(3, memory="1Gi"))],
            claim(
                ask(selectors=SMALL),
                first("r1", ask("", selectors=memory("4Gi")), ask("", count=2, selectors=LARGE)),
            ),
            {},
            ["r0=a/p1/3", "r1/s1=a/p1/1", "r1/s1=a/p1/2"],
            id="with expressions",
        ),
        pytest.param(
            attributed({"version": "1.0.0", "m": 8}, {"version": "2.0.0", "m": 2}, {"version": "1.0.0", "m": 1}),
            claim(
                ask(selectors=cel("device.attributes['a'].m >= 8")),
                first("r1", *[ask("", selectors=cel(f"device.attributes['a'].m >= {m}")) for m in (2, 1)]),
                constraints=[{"requests": ["r0", "r1"], "matchAttribute": "a/version"}],
            ),
            {},
            ["r0=a/p1/1", "r1/s1=a/p1/3"],
            id="a constraint on the whole list",
        ),
        pytest.param(
            attributed({"version": "1.0.0", "m": 8}, {"version": "2.0.0", "m": 2}),
            claim(
                ask(selectors=cel("device.attributes['a'].m >= 8")),
                first("r1", *[ask("", selectors=cel(f"device.attributes['a'].m >= {m}")) for m in (2, 1)]),
                constraints=[{"requests": ["r0", "r1/s0"], "matchAttribute": "a/version"}],
            ),
            {},
            ["r0=a/p1/1", "r1/s1=a/p1/2"],
            id="a constraint on one alternative",
        ),
        pytest.param(
            TWO,
            claim(first("r0", ask_all(""), ask())),
            {"usage": used("a/p1/1")},
            ["r0/s1=a/p1/2"],
            id="not all are free",
        ),
        pytest.param(
            TWO, claim(ask(), first("r1", ask_all(""), ask())), {}, ["r0=a/p1/1", "r1/s1=a/p1/2"], id="not all are left"
        ),
        pytest.param(
            [rslice(), rslice(dev(), driver="b", pool="p2")],
            claim(first("r0", ask_all(""), ask("", "b"))),
            {},
            ["r0/s1=b/p2/1"],
            id="all of none is nothing",
        ),
        pytest.param(
            [rslice(dev(), driver="b", pool="p2")],
            claim(first("r0", ask_all(""), ask("", "b"))),
            {},
            ["r0/s1=b/p2/1"],
            id="all of no slices is nothing",
        ),
        pytest.param(
            [*TWO, rslice(dev(), driver="b", pool="p2")],
            claim(first("r0", ask_all(""), ask("", "b"))),
            {"usage": used("a/p1/1")},
            ["r0/s1=b/p2/1"],
            id="all, but one is in use",
        ),
        pytest.param(
            [rslice(dev(1, memory="8Gi")), rslice(dev(2, memory="4Gi"), pool="p2")],
            claim(
                ask("r1", selectors=memory("8Gi")),
                first("r0", ask("", selectors=memory("8Gi")), ask("", selectors=memory("4Gi"))),
            ),
            {},
            ["r1=a/p1/1", "r0/s1=a/p2/2"],
            id="the best is gone",
        ),
        pytest.param(
            [rslice(dev(1, memory="8Gi")), rslice(dev(2, memory="4Gi"), pool="p2")],
            claim(
                first("r0", ask("", selectors=memory("8Gi")), ask("", selectors=memory("4Gi"))),
                ask("r1", selectors=memory("8Gi")),
            ),
            {},
            ["r0/s1=a/p2/2", "r1=a/p1/1"],
            id="the best is given back",
        ),
        pytest.param(
            ONE, claim(first("r0", ask("", "b", count=500), ask())), {}, ["r0/s1=a/p1/1"], id="too many at first"
        ),
        pytest.param(
            GENERATIONS,
            claim(first("r0", *[ask_all("", selectors=generation(g)) for g in ("v6", "v5")])),
            {},
            ["r0/s1=a/p1/1"],
            id="all of the other kind",
        ),
        pytest.param(
            [*GENERATIONS, rslice(dev(1, attributes={"g": "v5"}), pool="p2")],
            claim(first("r0", *[ask_all("", selectors=generation(g)) for g in ("v6", "v5")])),
            {},
            ["r0/s1=a/p1/1", "r0/s1=a/p2/1"],
            id="all of the other kind in all pools",
        ),
        pytest.param(
            [
                *GENERATIONS,
                rslice(dev(1, attributes={"g": "v5"}), dev(2, attributes={"g": "v6"}), pool="p2", node="n2"),
            ],
            claim(first("r0", *[ask_all("", selectors=generation(g)) for g in ("v6", "v5")])),
            {},
            ["r0/s1=a/p1/1"],
            id="all of the other kind on this node",
        ),
        pytest.param(
            attributed({"g": "v6", "ok": False}, {"g": "v5", "ok": False}, {"g": "v5", "ok": True}),
            claim(first("r0", *[ask_all("", selectors=generation(g)) for g in ("v6", "v5")])),
            {"classes": {"a": device_class("a", "device.driver == 'a' && device.attributes['a'].ok")}},
            ["r0/s1=a/p1/3"],
            id="all that the class means",
        ),
        pytest.param(
            attributed({"flag": True}, {"flag": False}, allowMultipleAllocations=True),
            claim(
                *[first(f"r{n}", ask("", selectors=cel("device.attributes['a'].flag")), ask()) for n in range(3)],
                constraints=[{"distinctAttribute": "a/flag", "requests": ["r0", "r1"]}],
            ),
            {},
            ["r0/s0=a/p1/1", "r1/s1=a/p1/2", "r2/s0=a/p1/1"],
            id="distinct for some",
        ),
    ],
)
def test_the_first_alternative_that_can_be_had_is_taken(slices, body, words, wanted):
    assert shown(allocate(slices, body, **words)) == (NOTHING if wanted is None else [wanted])


KINDS = attributed({"type": "X"}, {"type": "Y"}, {"type": "Y"})
ONLY_X, ONLY_Y = cel("device.attributes['a'].type == 'X'"), cel("device.attributes['a'].type == 'Y'")


def many(count, **words):
    return rslice(*[dev(n) for n in range(count)], **words)


@pytest.mark.parametrize(
    ("slices", "body", "steps", "wanted"),
    [
        pytest.param([rslice(*[dev(n) for n in range(4)])], claim(ask("r0", count=5)), 16, None, id="one slice"),
        pytest.param(
            [rslice(dev(n), pool=f"p{n}") for n in range(4)], claim(ask("r0", count=5)), 16, None, id="many pools"
        ),
        pytest.param(
            KINDS,
            claim(ask("r1", count=2), ask("r2", selectors=ONLY_X)),
            12,
            ["r1=a/p1/2", "r1=a/p1/3", "r2=a/p1/1"],
            id="going back",
        ),
        pytest.param(
            KINDS,
            claim(
                first("r1", ask("", count=3, selectors=ONLY_Y), ask("", count=2)),
                first("r2", ask("", count=2), ask("", selectors=ONLY_X)),
            ),
            26,
            ["r1/s1=a/p1/2", "r1/s1=a/p1/3", "r2/s1=a/p1/1"],
            id="with alternatives",
        ),
        pytest.param(
            [many(2 * MOST_DEVICES)],
            claim(*[first(f"r{n}", ask("", count=MOST_DEVICES), ask("", count=MOST_DEVICES // 2)) for n in range(2)]),
            75,
            [f"r{n // 16}/s1=a/p1/{n}" for n in range(MOST_DEVICES)],
            id="two alternatives that are too many together",
        ),
        pytest.param(
            [many(MOST_DEVICES - 1), many(2, driver="b", pool="p2")],
            claim(first("r0", ask_all(""), ask("", count=2)), ask("r1", "b", count=2)),
            42,
            ["r0/s1=a/p1/0", "r0/s1=a/p1/1", "r1=b/p2/0", "r1=b/p2/1"],
            id="all that are too many together",
        ),
    ],
)
def test_no_combination_is_tried_twice(slices, body, steps, wanted):
    nodes = table(*NODES)
    asked = allocator(slices, nodes)

    found = asked.allocate("n1", 0, [(body, requests_of(body, CLASSES.get, Features()))])

    got = None if isinstance(found, str) else [f"{one.wanted.name}={one.device.id}" for one in found[0].chosen]
    assert got == wanted
    assert asked.steps <= steps


def test_a_search_ends_when_time_is_up():
    body = claim(ask("r0", count=6))
    slices = [rslice(*[dev(n) for n in range(8)])]

    assert allocate(slices, body, late=lambda: True) == "timed out trying to allocate devices"
    assert len(allocate(slices, body)) == 1


def test_many_claims_do_not_exhaust_the_stack():
    claims = [claim(*[ask(f"r{n}") for n in range(32)], name=f"c{index}") for index in range(40)]

    found = allocate([many(1280)], *claims)

    assert len({row for each in shown(found) for row in each}) == 1280 // 40 * 40


def test_partitions_get_ready_too():
    parts = [part(1, {"s": {"memory": "4Gi"}}, bindingConditions=["Ready"]), part(2, {"s": {"memory": "4Gi"}})]
    slices = [rslice(*parts, count=2), counters({"s": {"memory": "8Gi"}}, count=2)]

    (written,) = allocate(slices, claim(ask("r0", count=2)))

    assert [row.get("bindingConditions") for row in written["devices"]["results"]] == [["Ready"], None]
