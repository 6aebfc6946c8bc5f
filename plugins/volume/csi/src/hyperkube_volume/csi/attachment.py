"""VolumeAttachments: how the attach-detach controller asks for a volume, and an attacher answers.

Source: kubernetes ``pkg/volume/csi/csi_attacher.go``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from hyperkube.client.client import Client
from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.kinds.resources import VOLUME_ATTACHMENTS
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import AlreadyExists, NotFound
from hyperkube.machinery.objects import Object

WAIT_SECONDS, POLL_SECONDS = 15.0, 0.25


def attachment_name(handle: str, driver: str, node_name: str) -> str:
    """Return the name that everybody computes who deals with one attachment."""
    return f"csi-{hashlib.sha256(f'{handle}{driver}{node_name}'.encode()).hexdigest()}"


class VolumeAttachments:
    """Makes attachments and waits for what becomes of them."""

    def __init__(self, client: Client | None, clock: Clock) -> None:
        self._client = client
        self._clock = clock

    def _api(self) -> Client:
        if self._client is None:
            raise VolumeFailed("a csi volume cannot be attached without an API server")
        return self._client

    def attach(self, driver: str, handle: str, source: Object, node_name: str) -> None:
        """Ask for an attachment of a `source`, a PersistentVolume's name or a spec, and wait for it a while.

        Raises:
            VolumeFailed: it is not there yet, or the driver refused.
        """
        name = attachment_name(handle, driver, node_name)
        spec = {"attacher": driver, "nodeName": node_name, "source": source}
        made = {"kind": "VolumeAttachment", "apiVersion": "storage.k8s.io/v1", "metadata": {"name": name}, "spec": spec}
        client, waited = self._api(), 0.0
        while True:
            try:
                found = client.get(VOLUME_ATTACHMENTS, name)
            except NotFound:
                try:
                    found = client.create(VOLUME_ATTACHMENTS, made)
                except AlreadyExists:
                    continue
            if _is_attached(found):
                return
            if waited >= WAIT_SECONDS:
                text = f"timed out waiting for external-attacher of {driver} CSI driver to attach volume {handle}"
                raise VolumeFailed(text)
            self._clock.sleep(POLL_SECONDS)
            waited += POLL_SECONDS

    def metadata(self, driver: str, handle: str, node_name: str) -> Mapping[str, str]:
        """Return what the driver told of an attachment, for the node.

        Raises:
            VolumeFailed: it is not attached.
        """
        name = attachment_name(handle, driver, node_name)
        try:
            found = self._api().get(VOLUME_ATTACHMENTS, name)
        except NotFound as error:
            raise VolumeFailed(f'volumeattachments.storage.k8s.io "{name}" not found') from error
        if not _is_attached(found):
            raise VolumeFailed(f"volume {handle} is not attached to node {node_name}")
        return dict((found.get("status") or {}).get("attachmentMetadata") or {})

    def is_attached(self, driver: str, handle: str, node_name: str) -> bool:
        """Tell whether a volume is attached."""
        try:
            found = self._api().get(VOLUME_ATTACHMENTS, attachment_name(handle, driver, node_name))
        except NotFound:
            return False
        return bool((found.get("status") or {}).get("attached"))

    def detach(self, driver: str, handle: str, node_name: str) -> None:
        """Give an attachment up and wait a while until it is gone.

        Raises:
            VolumeFailed: it is there still.
        """
        name, waited = attachment_name(handle, driver, node_name), 0.0
        client = self._api()
        try:
            client.delete(VOLUME_ATTACHMENTS, name)
            while True:
                found = client.get(VOLUME_ATTACHMENTS, name)
                problem = ((found.get("status") or {}).get("detachError") or {}).get("message")
                if problem:
                    raise VolumeFailed(str(problem))
                if waited >= WAIT_SECONDS:
                    text = f"timed out waiting for external-attacher of {driver} CSI driver to detach volume {handle}"
                    raise VolumeFailed(text)
                self._clock.sleep(POLL_SECONDS)
                waited += POLL_SECONDS
        except NotFound:
            return


def _is_attached(attachment: Object) -> bool:
    status = attachment.get("status") or {}
    if status.get("attached"):
        return True
    problem = (status.get("attachError") or {}).get("message")
    if problem:
        raise VolumeFailed(str(problem))
    return False
