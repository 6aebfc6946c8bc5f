import pytest

from hyperkube.kinds.node_selectors import matches_any_term

LONG = "n" * 100
SSD = {"key": "disk", "operator": "In", "values": ["ssd"]}
BIG = {"key": "cores", "operator": "Gt", "values": ["8"]}


def named(operator, *names, key="metadata.name"):
    return {"matchFields": [{"key": key, "operator": operator, "values": [*names]}]}


@pytest.mark.parametrize(
    ("terms", "matches"),
    [
        pytest.param([], False, id="no terms"),
        pytest.param([{}], False, id="an empty term"),
        pytest.param([{"matchExpressions": [SSD]}], True, id="a label"),
        pytest.param([{"matchExpressions": [SSD, BIG]}], False, id="all expressions count"),
        pytest.param([{"matchExpressions": [BIG]}, {"matchExpressions": [SSD]}], True, id="one term is enough"),
        pytest.param([named("In", LONG)], True, id="the name, which may be longer than a label's value"),
        pytest.param([named("In", "other")], False, id="another name"),
        pytest.param([named("NotIn", "other")], True, id="not another name"),
        pytest.param([named("NotIn", LONG)], False, id="not the name"),
        pytest.param([named("In", LONG, key="metadata.uid")], False, id="another field"),
        pytest.param([{**named("In", LONG), "matchExpressions": [BIG]}], False, id="fields and expressions count"),
    ],
)
def test_which_terms_a_node_satisfies(terms, matches):
    assert matches_any_term(terms, LONG, {"disk": "ssd", "cores": "8"}) is matches
