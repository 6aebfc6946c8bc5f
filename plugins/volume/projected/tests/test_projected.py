"""projected volumes."""

from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest
from hyperkube_testing.node_contracts.volume import VolumeContract
from hyperkube_volume.projected import ProjectedFolders, _credential_file

from hyperkube.hookspecs.volume import VolumeFailed

SOURCES = [
    {"serviceAccountToken": {"path": "token", "expirationSeconds": 3607}},
    {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
    {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}]}},
    {"secret": {"name": "s", "optional": True}},
]


class TestContract(VolumeContract):
    volume: ClassVar = {"projected": {"defaultMode": 0o644, "sources": SOURCES}}
    config_maps: ClassVar = {"kube-root-ca.crt": {"data": {"ca.crt": "PEM"}}}

    def kind(self):
        return ProjectedFolders()


def test_the_sources_are_joined_in_one_folder(tmp_path):
    path = Path(ProjectedFolders().setup(TestContract().request(tmp_path / "v")))

    found = {file.name: file.read_text() for file in path.iterdir() if not file.name.startswith("..")}
    assert found == {"token": "token for all, 3607s", "ca.crt": "PEM", "namespace": "ns"}
    assert (path / "token").stat().st_mode & 0o777 == 0o644


def test_a_later_source_wins(tmp_path):
    contract = TestContract()
    sources = [SOURCES[1], {"downwardAPI": {"items": [{"path": "ca.crt", "fieldRef": {"fieldPath": "metadata.name"}}]}}]

    path = Path(
        ProjectedFolders().setup(contract.request(tmp_path / "v", {"name": "v", "projected": {"sources": sources}}))
    )

    assert (path / "ca.crt").read_text() == "p"


def test_a_certificate_is_written_in_one_file_or_in_two(tmp_path):
    wanted = {"credentialBundlePath": "bundle.pem", "keyPath": "key.pem", "certificateChainPath": "chain.pem"}
    volume = {"name": "v", "projected": {"sources": [SOURCES[3], {"podCertificate": wanted}]}}
    request = replace(
        TestContract().request(tmp_path / "v", volume), pod_certificate=lambda index: (b"KEY%d\n" % index, b"CHAIN\n")
    )

    path = Path(ProjectedFolders().setup(request))

    found = {file.name: file.read_bytes() for file in path.iterdir() if not file.name.startswith("..")}
    assert found == {"bundle.pem": b"KEY1\nCHAIN\n", "key.pem": b"KEY1\n", "chain.pem": b"CHAIN\n"}


def test_trust_anchors_are_written_to_their_path(tmp_path):
    source = {"name": "anchors", "path": "ca.pem"}
    volume = {"name": "v", "projected": {"sources": [{"clusterTrustBundle": source}]}}
    request = replace(
        TestContract().request(tmp_path / "v", volume), trust_anchors=lambda asked: f"PEM {asked['name']}".encode()
    )

    path = Path(ProjectedFolders().setup(request))

    assert (path / "ca.pem").read_text() == "PEM anchors"


def test_a_certificate_that_is_not_issued_is_told(tmp_path):
    volume = {"name": "v", "projected": {"sources": [{"podCertificate": {"keyPath": "key.pem"}}]}}

    with pytest.raises(VolumeFailed, match="requests no pod certificates"):
        ProjectedFolders().setup(TestContract().request(tmp_path / "v", volume))


def test_all_sources_that_are_missing_are_told(tmp_path):
    sources = [{"configMap": {"name": "a"}}, SOURCES[0], {"secret": {"name": "b"}}]
    request = TestContract().request(tmp_path / "v", {"name": "v", "projected": {"sources": sources}})

    with pytest.raises(VolumeFailed, match=r'^\[configmaps? "a" not found, secrets? "b" not found\]$'):
        ProjectedFolders().setup(request)


def test_an_unknown_source_is_told(tmp_path):
    volume: ClassVar = {"name": "v", "projected": {"sources": [{"nothingKnown": {}}]}}

    with pytest.raises(VolumeFailed, match="nothingKnown"):
        ProjectedFolders().setup(TestContract().request(tmp_path / "v", volume))


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"containers": [{}]}, (0o644, None)),
        ({"containers": [{}], "securityContext": {"runAsUser": 1000}}, (0o600, 1000)),
        (
            {"containers": [{}, {"securityContext": {"runAsUser": 5}}], "securityContext": {"runAsUser": 1}},
            (0o644, None),
        ),
        ({"containers": [{}], "securityContext": {"fsGroup": 2000}}, (0o600, None)),
    ],
    ids=["anyone", "one-user", "two-users", "group"],
)
def test_a_token_is_for_the_one_user_or_for_the_group(spec, expected):
    file = _credential_file({"spec": spec}, b"t", 0o644)

    assert (file.mode, file.user) == expected
