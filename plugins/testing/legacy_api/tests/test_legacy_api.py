"""What the contract draws from a schema."""

import pytest
from hyperkube_testing.legacy_api import LegacyApiContract, value_of
from hypothesis import find

from hyperkube.machinery.schema import fields


@pytest.mark.parametrize(
    ("field", "kind"),
    [(fields.String(), str), (fields.Bool(), bool), (fields.List(fields.String()), list)],
    ids=["text", "boolean", "list"],
)
def test_values_have_the_type_of_their_field(field, kind):
    assert isinstance(find(value_of(field, 3), lambda value: True), kind)


def test_nothing_is_drawn_below_the_depth():
    assert value_of(fields.String(), 0) is None


def test_it_is_a_contract_of_api_groups():
    assert [name for name in dir(LegacyApiContract) if name.startswith("test_")]
