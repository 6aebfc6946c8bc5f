"""A selector of very many terms costs what it weighs, once: not again for each object that it is held against."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from hostile_client import quickly
from hyperkube_host.apiserver.rest.selection import _field_test

from hyperkube.machinery.fields import parse_field_selector
from hyperkube.machinery.labels import from_label_selector, from_node_selector_expressions, parse_selector

TERMS, OBJECTS = 5_000, 2_000
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
