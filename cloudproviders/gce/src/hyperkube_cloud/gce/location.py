"""Where the cluster is: project, zone, region, network. What the file does not say, the machine's metadata do.

Sources: cloud-provider-gcp ``providers/gce/gce.go`` (GenerateCloudConfig), ``gce_util.go`` (getProjectAndZone); the
metadata's paths are those of https://cloud.google.com/compute/docs/metadata/predefined-metadata-keys.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from hyperkube_cloud.gce.config import GceConfig
from hyperkube_lib.cloud_provider.rest import Request, Send

from hyperkube.hookspecs.cloud import CloudUnavailable

HOST = "metadata.google.internal"


def region_of(zone: str) -> str:
    """Return the region of a zone: ``us-central1`` for ``us-central1-b``.

    Raises:
        CloudUnavailable: it is no zone's name.
    """
    region, dash, letter = zone.rpartition("-")
    if not (region and dash and letter):
        raise CloudUnavailable(f"unexpected zone: {zone}")
    return region


class Metadata:
    """What the metadata server tells a machine of Google's about itself."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def get(self, path: str) -> str:
        """Return the text at a path.

        Raises:
            CloudUnavailable: this is no machine of Google's, or has no such thing.
        """
        host = os.environ.get("GCE_METADATA_HOST", HOST)
        url = f"http://{host}/computeMetadata/v1/{path}"
        answer = self._send(Request(method="GET", url=url, headers={"Metadata-Flavor": "Google"}))
        if answer.status != 200 or answer.headers.get("metadata-flavor") != "Google":
            raise CloudUnavailable(f"the metadata server does not tell {path}")
        return answer.body.decode("utf-8", "replace").strip()


class Location:
    """The cluster's place; what has to be asked for is asked once, at first use."""

    def __init__(self, config: GceConfig, metadata: Metadata) -> None:
        self._config, self._metadata = config, metadata
        self._lock = threading.Lock()
        self._known: dict[str, str] = {}

    @property
    def endpoint(self) -> str:
        """Where the API is."""
        return self._config.endpoint

    @property
    def project(self) -> str:
        """The machines' project."""
        return self._config.project_id or self._asked("project/project-id")

    @property
    def network_project(self) -> str:
        """The project that owns the network."""
        return self._config.network_project_id or self.project

    @property
    def zone(self) -> str:
        """The zone where this runs."""
        return self._config.local_zone or self._asked("instance/zone", _last)

    @property
    def region(self) -> str:
        """The region of that zone."""
        return region_of(self.zone)

    @property
    def network(self) -> str:
        """The URL of the machines' network."""
        named = self._config.network_name or self._asked("instance/network-interfaces/0/network", _last)
        return named if "/" in named else f"{self.endpoint}projects/{self.network_project}/global/networks/{named}"

    @property
    def configured_subnetwork(self) -> str:
        """The URL of the file's subnetwork, empty for none."""
        named = self._config.subnetwork_name
        return named if "/" in named or not named else self.subnetwork(named)

    def subnetwork(self, name: str) -> str:
        """Return the URL of a subnetwork of the region."""
        return f"{self.endpoint}projects/{self.network_project}/regions/{self.region}/subnetworks/{name}"

    def _asked(self, path: str, read: Callable[[str], str] = str) -> str:
        with self._lock:
            if path not in self._known:
                self._known[path] = read(self._metadata.get(path))
            return self._known[path]


def _last(path: str) -> str:
    return path.rpartition("/")[2]
