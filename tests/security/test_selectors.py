"""A selector of very many terms costs what it weighs, once: when it is written, and not again for each object it meets."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from hostile_client import Hostile, World, quickly
from hyperkube_host.apiserver.rest.selection import _field_test

from hyperkube.machinery.fields import parse_field_selector
from hyperkube.machinery.labels import from_label_selector, from_node_selector_expressions, parse_selector

TERMS, OBJECTS = 5_000, 2_000
MANY = 20_000
LABELS = {"app": "x", "n": "5", "tier": "back"}


@pytest.mark.parametrize("term", ["app!=v{}", "k{}!=v", "!k{}", "app notin (v{},w)", "app in (x,v{})", "n>0,n<6{}"])
def test_terms_on_labels(term):
    selector = parse_selector(",".join(term.format(number) for number in range(TERMS)))

    assert quickly(lambda: sum(selector.matches(LABELS) for _ in range(OBJECTS)), 1.0) == OBJECTS


@pytest.mark.parametrize("operator", ["In", "NotIn"])
def test_values_of_one_term(operator):
    values = [f"v{number}" for number in range(TERMS)]
    terms = [{"key": "app", "operator": operator, "values": values}]

    for selector in (from_label_selector({"matchExpressions": terms}), from_node_selector_expressions(terms)):
        selected = quickly(lambda each=selector: sum(each.matches(LABELS) for _ in range(OBJECTS)), 1.0)
        assert selected == (0 if operator == "In" else OBJECTS)


@pytest.mark.parametrize("term", ["metadata.name!=v{}", "metadata.name=a", "metadata.name!=v{},metadata.namespace=n"])
def test_terms_on_fields(term):
    selector = parse_field_selector(",".join(term.format(number) for number in range(TERMS)))
    served = SimpleNamespace(is_stored=True)
    selected = _field_test(served, selector)
    one = SimpleNamespace(name="a", namespace="n", fields={})

    assert quickly(lambda: sum(selected(one) for _ in range(OBJECTS)), 1.0) == OBJECTS


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("selectors"))
    yield Hostile(world)
    world.close()


def workload(selector):
    labels = {"a": "w", **selector.get("matchLabels", {})}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    return {"replicas": 0, "selector": selector, "template": pod}


def peers(selector):
    return {"podSelector": selector, "ingress": [{"from": [{"namespaceSelector": selector, "podSelector": selector}]}]}


KINDS = {
    "/apis/apps/v1/namespaces/a/replicasets": workload,
    "/apis/apps/v1/namespaces/a/daemonsets": workload,
    "/apis/networking.k8s.io/v1/namespaces/a/networkpolicies": peers,
    "/apis/policy/v1/namespaces/a/poddisruptionbudgets": lambda selector: {"selector": selector, "maxUnavailable": 1},
}
SELECTORS = {
    "labels": ({"matchLabels": {f"k{number}": "v" for number in range(MANY)}}, 201),
    "values": (
        {"matchExpressions": [{"key": "a", "operator": "NotIn", "values": [f"v{n}" for n in range(MANY)]}]},
        201,
    ),
    "equal terms": ({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["v"]}] * MANY}, 201),
    "wrong terms": ({"matchExpressions": [{"key": "-", "operator": "No", "values": ["!"]}] * MANY}, 422),
}


@pytest.mark.parametrize(("selector", "expected"), SELECTORS.values(), ids=SELECTORS)
@pytest.mark.parametrize("path", KINDS, ids=lambda path: path.rpartition("/")[2])
def test_an_object_with_a_selector_of_a_megabyte_is_written_or_refused_at_once(hostile, path, selector, expected):
    body = {"metadata": {"generateName": "s-"}, "spec": KINDS[path](selector)}
    with hostile.patiently():
        status, answer = quickly(lambda: hostile.ask("POST", path, body))

    assert (status, len(str(answer)) < 4 << 20) == (expected, True)
