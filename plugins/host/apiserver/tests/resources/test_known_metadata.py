"""An object is known to be what it was decoded to, also when plugins were called that might have changed it."""

import pytest
from hyperkube_host.apiserver.resources.known_metadata import KnownObject, NewMetadata


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


def test_new_metadata_that_nothing_might_change_is_told_by_identity():
    meta = decoded()["metadata"]
    known = NewMetadata(meta, b"text")

    assert known.note_spec(b"with a spec")
    assert known.text == b"with a spec"
    assert known.holds(meta)
    assert not known.holds(decoded()["metadata"])


@pytest.mark.parametrize(("value", "holds"), [("1", True), ("2", False)], ids=["left", "changed"])
def test_new_metadata_that_might_be_changed_is_compared(value, holds):
    meta = decoded()["metadata"]
    known = NewMetadata(meta, b"text")
    known.note()

    meta["labels"]["x"] = value
    known.note()  # a second plugin

    assert known.text is None
    assert known.holds(meta) is holds


def test_of_an_object_whose_template_is_not_known_no_text_is_told():
    known = NewMetadata(decoded()["metadata"])

    assert known.note_spec(b"with a spec")
    assert known.text is None
    assert KnownObject(decoded()).text is None
    assert not KnownObject(decoded()).note_spec(b"with a spec")
