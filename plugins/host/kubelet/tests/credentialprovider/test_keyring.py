"""Which logins are for which images."""

import base64

import orjson
import pytest
from hyperkube_host.kubelet.credentialprovider.docker_config import (
    DockerConfigInvalid,
    NodeFiles,
    keyring_of,
    read_config,
)
from hyperkube_host.kubelet.credentialprovider.keyring import (
    Keyring,
    SecretSource,
    is_default_registry,
    lookup_all,
    urls_match,
)

from hyperkube.hookspecs.runtime import RegistryCredentials
from hyperkube.machinery.clock import FakeClock


def login(name):
    return RegistryCredentials(username=name, password="pw")


def encoded(text):
    return base64.b64encode(text.encode()).decode()


def secret(kind, document):
    key = {"kubernetes.io/dockerconfigjson": ".dockerconfigjson", "kubernetes.io/dockercfg": ".dockercfg"}.get(
        kind, "x"
    )
    raw = document if isinstance(document, bytes) else orjson.dumps(document)
    data = {key: base64.b64encode(raw).decode()}
    return {"metadata": {"name": "s", "namespace": "ns", "uid": "u"}, "type": kind, "data": data}


@pytest.mark.parametrize(
    ("pattern", "target", "matches"),
    [
        ("*.kubernetes.io", "prefix.kubernetes.io", True),
        ("prefix.*.io", "prefix.kubernetes.io", True),
        ("prefix.kubernetes.*", "prefix.kubernetes.io", True),
        ("*-good.kubernetes.io", "prefix-good.kubernetes.io", True),
        ("*.kubernetes.io/blah", "prefix.kubernetes.io/blah", True),
        ("prefix.*.io/foo", "prefix.kubernetes.io/foo/bar", True),
        ("*.*.kubernetes.io", "kubernetes.io", False),
        ("*.kubernetes.io", "kubernetes.io", False),
        ("kubernetes.io", "kubernetes.com", False),
        ("*kubernetes.io", "a.kubernetes.io", False),
        ("*.kubernetes.io/mismatch", "prefix.kubernetes.io/blah", False),
        ("*.kubernetes.io:1111/blah", "prefix.kubernetes.io/blah", False),
        ("kubernetes.io:1111", "kubernetes.io:1111/blah", True),
        ("*.kubernetes.*:1111/i", "a.kubernetes.io:1111/image", True),
    ],
)
def test_hosts_may_have_wildcards_within_labels(pattern, target, matches):
    assert urls_match(pattern, target) is matches


@pytest.mark.parametrize(
    ("image", "is_default"),
    [
        ("ubuntu", True),
        ("library/ubuntu", True),
        ("docker.io/library/ubuntu", True),
        ("index.docker.io/library/ubuntu", True),
        ("registry.example.com/ubuntu", False),
        ("localhost:5000/ubuntu", False),
        ("", False),
    ],
)
def test_images_without_a_registry_are_of_docker_hub(image, is_default):
    assert is_default_registry(image) is is_default


def test_the_most_specific_login_comes_first_and_none_is_left_out():
    keyring = Keyring()
    keyring.add({"quay.io": login("host"), "https://quay.io/v1/coreos": login("path"), "other.io": login("other")})

    assert [found.credentials.username for found in keyring.lookup("quay.io/coreos/etcd")] == ["path", "host"]
    assert [found.credentials.username for found in keyring.lookup("quay.io/else")] == ["host"]


def test_docker_hub_has_its_own_login():
    keyring = Keyring()
    keyring.add({"https://index.docker.io/v1/": login("hub")})

    assert [found.credentials.username for found in keyring.lookup("docker.io/library/busybox")] == ["hub"]
    assert keyring.lookup("quay.io/busybox") == []


def test_both_formats_of_secrets_are_read_and_others_are_not():
    entry = {"registry.test": {"auth": encoded("jane:s3:cret")}}
    keyring = keyring_of(
        [
            secret("kubernetes.io/dockerconfigjson", {"auths": entry}),
            secret("kubernetes.io/dockercfg", {"registry.test": {"username": "joe", "password": "pw"}}),
            secret("Opaque", {"registry.test": {"username": "nobody", "password": "pw"}}),
        ]
    )

    found = keyring.lookup("registry.test/app")

    assert [(row.credentials.username, row.credentials.password) for row in found] == [
        ("jane", "s3:cret"),
        ("joe", "pw"),
    ]
    assert {row.source for row in found} == {SecretSource("u", "ns", "s")}


@pytest.mark.parametrize(
    ("document", "why"),
    [
        (
            {"r": {"auth": encoded("nocolon")}},
            "unable to parse auth field, must be formatted as base64(username:password)",
        ),
        ({"r": {"auth": "*"}}, "illegal base64 data"),
        ({"r": 1}, "must be a JSON object"),
        ([], "must be a JSON object"),
    ],
)
def test_a_login_that_cannot_be_read_is_told(document, why):
    with pytest.raises(DockerConfigInvalid) as caught:
        read_config(document)

    assert why in str(caught.value)


def test_a_secret_that_is_no_json_is_told():
    with pytest.raises(DockerConfigInvalid):
        keyring_of([secret("kubernetes.io/dockercfg", b"{")])


def test_padding_may_be_left_out():
    assert read_config({"r": {"auth": encoded("jane:pw").rstrip("=")}})["r"].username == "jane"


def test_the_nodes_files_are_read_anew_after_a_while(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    clock, root = FakeClock(), tmp_path / "root"
    root.mkdir()
    files = NodeFiles(root, clock)
    before = files.lookup("registry.test/app")
    (root / "config.json").write_bytes(
        orjson.dumps({"auths": {"registry.test": {"username": "node", "password": "x"}}})
    )

    assert before == files.lookup("registry.test/app") == []

    clock.advance(301)

    (found,) = lookup_all([files], "registry.test/app")
    assert (found.credentials.username, found.source) == ("node", None)


def test_a_broken_file_does_not_hide_the_next(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.json").write_text("{")
    (tmp_path / ".dockercfg").write_bytes(orjson.dumps({"registry.test": {"username": "old", "password": "x"}}))

    (found,) = NodeFiles(tmp_path / "none", FakeClock()).lookup("registry.test/app")

    assert found.credentials.username == "old"
    assert "parse blob" in caplog.text
