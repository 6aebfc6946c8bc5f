"""The records of pulls as files: an intent while an image is being pulled, then with which credentials that worked.

A file is replaced whole, so that a kubelet that was killed finds each either old or new.

Source: kubernetes ``pkg/kubelet/images/pullmanager/fs_pullrecords.go``, ``pkg/kubelet/apis/config/types.go``
(ImagePullIntent, ImagePulledRecord); names and content of the files are those of upstream.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from hyperkube_host.kubelet.credentialprovider.keyring import SecretSource, ServiceAccountSource

GROUP, VERSION = "kubelet.config.k8s.io", "v1beta1"
_PREFIX, _TEMPORARY = "sha256-", ".tmp"
_log = logging.getLogger("hyperkube.kubelet")


class PullCredentials(NamedTuple):
    """Who may use an image: all pods of the node, or those with one of these.

    Attributes:
        secrets: pull secret → hash of its credentials.
    """

    secrets: Mapping[SecretSource, str] = {}
    service_accounts: frozenset[ServiceAccountSource] = frozenset()
    node_pods_accessible: bool = False


class PulledRecord(NamedTuple):
    """What is known of an image that the kubelet pulled; for a name without an entry no pod has shown its right yet."""

    image_ref: str
    updated: str
    credentials: Mapping[str, PullCredentials]


class PullRecords:
    """The files below the kubelet's folder; the caller keeps two threads from one image."""

    def __init__(self, root: Path) -> None:
        self._pulling = root / "image_manager" / "pulling"
        self._pulled = root / "image_manager" / "pulled"

    def write_intent(self, image: str) -> None:
        """Note that an image is being pulled."""
        _write(self._pulling, image, {**_head("ImagePullIntent"), "image": image})

    def delete_intent(self, image: str) -> None:
        """Note that it is not any more."""
        (self._pulling / _file_name(image)).unlink(missing_ok=True)

    def intents(self) -> list[str]:
        """Return the images that are, or were when a kubelet ended, being pulled."""
        return [str(document.get("image", "")) for document in _documents(self._pulling)]

    def has_intent(self, image: str) -> bool:
        """Tell whether an image is being pulled."""
        document = _read(self._pulling / _file_name(image))
        return document is not None and document.get("image") == image

    def write(self, record: PulledRecord) -> None:
        """Replace the record of an image."""
        mapping = {name: _credentials_out(found) for name, found in record.credentials.items()}
        body = {"lastUpdatedTime": record.updated, "imageRef": record.image_ref, "credentialMapping": mapping}
        _write(self._pulled, record.image_ref, {**_head("ImagePulledRecord"), **body})

    def get(self, image_ref: str) -> PulledRecord | None:
        """Return the record of an image, None when there is none.

        Raises:
            OSError, ValueError: it is there, and cannot be read.
        """
        document = _read(self._pulled / _file_name(image_ref))
        return None if document is None or document.get("imageRef") != image_ref else _record(document)

    def records(self) -> list[PulledRecord]:
        """Return all records that can be read."""
        return [_record(document) for document in _documents(self._pulled)]

    def delete(self, image_ref: str) -> None:
        """Remove the record of an image."""
        (self._pulled / _file_name(image_ref)).unlink(missing_ok=True)


def _head(kind: str) -> dict[str, str]:
    return {"kind": kind, "apiVersion": f"{GROUP}/{VERSION}"}


def _file_name(image: str) -> str:
    return f"{_PREFIX}{hashlib.sha256(image.encode()).hexdigest()}"


def _write(folder: Path, image: str, document: Mapping[str, Any]) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / _file_name(image)
    temporary = path.with_name(path.name + _TEMPORARY)
    temporary.touch(mode=0o600)
    temporary.write_bytes(orjson.dumps(document))
    temporary.replace(path)


def _read(path: Path) -> Mapping[str, Any] | None:
    try:
        document = orjson.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    if not isinstance(document, dict):
        raise ValueError(f"{path} holds no JSON object")  # noqa: TRY004  what it holds is wrong, not a type of ours
    return document


def _documents(folder: Path) -> Iterator[Mapping[str, Any]]:
    for path in sorted(folder.glob(f"{_PREFIX}*")):
        if path.suffix == _TEMPORARY:
            continue
        try:
            document = _read(path)
        except (OSError, ValueError) as error:
            _log.warning("failed to read the record of an image pull: %s", error)
            continue
        if document is not None:
            yield document


def _credentials_out(found: PullCredentials) -> dict[str, Any]:
    secrets = [
        {"uid": source.uid, "namespace": source.namespace, "name": source.name, "credentialHash": digest}
        for source, digest in sorted(found.secrets.items(), key=lambda item: item[0][::-1])
    ]
    accounts = [source._asdict() for source in sorted(found.service_accounts, key=lambda source: source[::-1])]
    return {
        **({"kubernetesSecrets": secrets} if secrets else {}),
        **({"kubernetesServiceAccounts": accounts} if accounts else {}),
        **({"nodePodsAccessible": True} if found.node_pods_accessible else {}),
    }


def _record(document: Mapping[str, Any]) -> PulledRecord:
    mapping = document.get("credentialMapping") or {}
    return PulledRecord(
        str(document.get("imageRef", "")),
        str(document.get("lastUpdatedTime", "")),
        {name: _credentials_in(found) for name, found in mapping.items()},
    )


def _credentials_in(found: Mapping[str, Any]) -> PullCredentials:
    return PullCredentials(
        {
            SecretSource(row["uid"], row["namespace"], row["name"]): row.get("credentialHash", "")
            for row in found.get("kubernetesSecrets") or ()
        },
        frozenset(
            ServiceAccountSource(row["uid"], row["namespace"], row["name"])
            for row in found.get("kubernetesServiceAccounts") or ()
        ),
        bool(found.get("nodePodsAccessible")),
    )
