"""A record is complete when it is made, and stays as it is."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import ClassVar

import pytest

from hyperkube.machinery.record import Record


class Address(Record):
    family: ClassVar[str] = "any"
    host: str
    port: int = 80

    @property
    def text(self) -> str:
        return f"{self.host}:{self.port}"


class Named(Address):
    name: str


def test_a_field_that_is_not_given_has_its_default():
    assert Address(host="a").text == "a:80"
    assert Address(host="a", port=1).text == "a:1"


def test_it_has_the_fields_of_its_bases_too():
    assert Named.field_names == ("host", "port", "name")
    assert Named(name="n", host="a").text == "a:80"


@pytest.mark.parametrize(
    ("given", "wrong"), [({}, "host"), ({"host": "a", "prot": 1}, "prot"), ({"host": "a", "family": "x"}, "family")]
)
def test_what_is_missing_or_unknown_is_named(given, wrong):
    with pytest.raises(TypeError, match=rf"Address: unknown or missing fields: {wrong}$"):
        Address(**given)


def test_it_cannot_be_changed():
    address = Address(host="a")

    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'host'"):
        address.host = "b"
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'host'"):
        del address.host


def test_a_copy_has_other_values():
    address = Address(host="a", port=1)

    assert address.replace(host="b") == Address(host="b", port=1)
    assert address.host == "a"


def test_records_of_one_class_and_equal_values_are_equal():
    assert Address(host="a") == Address(host="a", port=80)
    assert Address(host="a") != Address(host="b")
    assert Address(host="a") != Named(host="a", name="")


def test_it_is_shown_with_its_fields():
    assert repr(Address(host="a")) == "Address(host='a', port=80)"
