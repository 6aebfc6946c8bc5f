"""Keys: which member of a Secret it is, and the file that a program reads it from."""

import base64
from pathlib import Path

import pytest
from hyperkube_lib.volume_mount import secret_file, secret_key

from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.groups import GroupResource

POD = {"metadata": {"name": "p", "namespace": "ns"}}


def key_of(members, reference=None):
    data = {name: base64.b64encode(value).decode() for name, value in members.items()}
    return secret_key(lambda _namespace, _name: {"data": data}, POD, reference or {"name": "s"})


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"key": b"abc=="}, "abc=="),
        ({"key": b"abc==\n", "zebra": b"no"}, "abc=="),
        ({"a": b"no", "b": b"def=="}, "def=="),
    ],
    ids=["key", "key beside others", "the last"],
)
def test_the_key_of_a_secret(members, expected):
    assert key_of(members) == expected


@pytest.mark.parametrize(
    ("members", "text"),
    [({}, "secret ns/s: empty secret map"), ({"key": b"\xff\xfe"}, "secret ns/s: what it holds is no key")],
    ids=["empty", "not text"],
)
def test_a_secret_without_a_key_is_refused(members, text):
    with pytest.raises(VolumeFailed, match=f"^{text}$") as caught:
        key_of(members)

    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("reference", "place"), [({"name": "s"}, ("ns", "s")), ({"name": "s", "namespace": "far"}, ("far", "s"))]
)
def test_a_secret_is_in_the_pods_namespace_unless_another_is_named(reference, place):
    def missing(namespace, name):
        assert (namespace, name) == place
        raise NotFound.about(GroupResource("", "secrets"), name)

    with pytest.raises(VolumeFailed, match=f'^couldn\'t get secret {"/".join(place)} err: secrets "s" not found$'):
        secret_key(missing, POD, reference)


def test_the_file_is_for_its_user_alone_and_goes_even_if_the_program_fails():
    seen = []

    def run():
        with secret_file("hush") as file:
            path = Path(file)
            seen.append((path, path.read_text(), path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777))
            raise VolumeFailed("no")

    with pytest.raises(VolumeFailed, match="no"):
        run()

    path, *known = seen.pop()
    assert known == ["hush", 0o600, 0o700]
    assert not path.parent.exists()
