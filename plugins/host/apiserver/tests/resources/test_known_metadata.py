"""An object is known to be what it was decoded to, also when plugins were called that might have changed it."""

import pytest
from hyperkube_host.apiserver.resources.known_metadata import KnownObject


def decoded():
    return {"kind": "ConfigMap", "metadata": {"name": "a", "labels": {"x": "1"}}, "data": {"k": "v"}}


def test_one_that_nothing_might_change_is_told_by_identity():
    obj = decoded()
    known = KnownObject(obj)

    assert known.holds(obj)
    assert not known.holds(decoded())


@pytest.mark.parametrize(("value", "holds"), [("v", True), ("w", False)], ids=["left", "changed"])
def test_one_that_might_be_changed_is_compared(value, holds):
    obj = decoded()
    known = KnownObject(obj)
    known.note()

    obj["data"]["k"] = value
    known.note()  # a second plugin

    assert known.holds(obj) is holds


def test_what_is_no_json_is_not_known():
    obj = {"data": 1 << 70}
    known = KnownObject(obj)
    known.note()

    assert not known.holds(obj)
