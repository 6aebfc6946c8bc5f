"""What is shared between objects, and that it changes no meaning."""

import threading
from copy import deepcopy

import orjson
import pytest

from hyperkube.client.interning import Interner


def pod(name, node="n1", **status):
    return {
        "metadata": {"name": name, "labels": {"app": "web"}},
        "spec": {
            "nodeName": node,
            "containers": [{"name": "main", "image": "pause", "resources": {"requests": {"cpu": "10m"}}}],
        },
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}], **status},
    }


def interned(interner, *objects):
    # As a client brings them: no two have anything in common.
    return [interner.intern(orjson.loads(orjson.dumps(obj))) for obj in objects]


def test_equal_parts_of_different_objects_are_one_from_the_third_on():
    _, second, third = interned(Interner(), *(pod(name, f"node of {name}") for name in "abc"))

    assert second["spec"]["containers"] is third["spec"]["containers"]
    assert second["metadata"]["labels"] is third["metadata"]["labels"]
    assert second["status"] is third["status"]
    assert second["spec"] is not third["spec"]


def test_texts_are_one_too():
    _, second, third = interned(Interner(), *(pod(name, "a node", note=name) for name in "abc"))

    assert second["spec"]["nodeName"] is third["spec"]["nodeName"]


def test_what_names_a_pod_elsewhere_is_the_pods_own_text():
    interner = Interner()
    uid = "88ebc3fb-39e7-4ca1-b3fc-03a547a8b7a1"
    _, _, pod_, entry = interned(
        interner, *({"metadata": {"uid": uid}, "n": n} for n in range(3)), {"targetRef": {"uid": uid}}
    )

    assert entry["targetRef"]["uid"] is pod_["metadata"]["uid"]


def test_a_new_version_keeps_what_has_not_changed():
    interner = Interner()
    (old,) = interned(interner, pod("a"))
    new = interner.intern(pod("a", podIP="10.0.0.1"), old)

    assert new["spec"] is old["spec"]
    assert new["status"]["conditions"] is old["status"]["conditions"]
    assert new["status"]["podIP"] == "10.0.0.1"


@pytest.mark.parametrize(
    ("one", "other"),
    [({"x": [1]}, {"x": [True]}), ({"x": [0]}, {"x": [0.0]}), ({"x": {"a": 1, "b": 2}}, {"x": {"b": 2, "a": 1}})],
    ids=["a number and a truth", "two kinds of numbers", "another order"],
)
def test_what_is_written_otherwise_is_not_the_same(one, other):
    interner = Interner()
    interned(interner, one, one, other, other)

    results = [interner.intern(deepcopy(one)), interner.intern(deepcopy(other), deepcopy(one))]

    assert [orjson.dumps(result) for result in results] == [orjson.dumps(one), orjson.dumps(other)]


def test_what_is_not_seen_again_is_forgotten():
    interner = Interner(limit=4)
    for number in range(100):
        interned(interner, {"x": {"number": number}}, {"x": {"number": number}})

    first, second = interned(interner, {"x": {"number": 0}}, {"x": {"number": 99}})

    assert (first, second) == ({"x": {"number": 0}}, {"x": {"number": 99}})
    assert len(interner._parts) <= 4


def test_what_no_object_has_any_more_is_forgotten_and_what_one_has_is_shared_on():
    interner = Interner()
    kept = interned(interner, *({"x": {"template": "a template"}, "y": "a text"} for _ in range(2)))
    for number in range(2000):
        interned(interner, *({"x": {"pod": number}, "y": f"pod {number}"} for _ in range(2)))

    (again,) = interned(interner, {"x": {"template": "a template"}, "y": "a text"})

    assert again["x"] is kept[1]["x"]
    assert again["y"] is kept[1]["y"]
    assert len(interner._parts) <= 128
    assert len(interner._texts) <= 128


def test_what_many_objects_have_stays_within_the_limit():
    interner = Interner(limit=1000)
    kept = [interned(interner, *({"x": {"number": number}} for _ in range(2))) for number in range(3000)]

    (last,) = interned(interner, {"x": {"number": 2999}})

    assert len(interner._parts) <= 1000
    assert last["x"] is kept[-1][1]["x"]


def test_what_is_equal_is_shared_anew_after_all_was_forgotten():
    interner, part = Interner(), {"x": {"number": 0}}
    before = interned(interner, part, part, part)

    interner.forget()

    after = interned(interner, part, part, part)
    assert after[1]["x"] is after[2]["x"] is not before[2]["x"]
    assert len(interner._parts) == 1


def test_an_object_deeper_than_can_be_written_stays_as_it_is():
    deep = {}
    for _ in range(400):
        deep = {"x": deep}

    assert Interner().intern({"spec": deep}) == {"spec": deep}


def test_threads_that_intern_at_once_get_their_own_objects():
    interner, results = Interner(limit=16), {}

    def work(number):
        results[number] = [
            interner.intern(pod(f"{number}-{count}", f"node-{count % 7}", restarts=[count % 5])) for count in range(300)
        ]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    for number, objects in results.items():
        assert objects == [pod(f"{number}-{count}", f"node-{count % 7}", restarts=[count % 5]) for count in range(300)]
