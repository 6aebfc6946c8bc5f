"""The cloud provider ``toy``: nodes are machines of a toy cloud, Services of type LoadBalancer its balancers.

The file that ``--cloud-config`` names says where the cloud is::

    [Cloud]
    url = http://127.0.0.1:7780
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from configparser import ConfigParser
from configparser import Error as BadSyntax
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlsplit

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.cloud import Cloud, CloudFailed, CloudUnavailable, InstanceMetadata, InstanceNotFound
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object, name_of, namespace_of
from hyperkube.plugin import Plugin

WANTED = "[Cloud] url = http://127.0.0.1:7780"
TIMEOUT = 10.0
"""Seconds: a cloud that does not answer must not hold up a controller for long."""


class Api:
    """Calls the cloud's API, and says what came of it in the words of `hyperkube.hookspecs.cloud`."""

    def __init__(self, host: str) -> None:
        """Take the API's ``HOST:PORT``."""
        self._host = host

    def find(self, path: str) -> dict[str, Any] | None:
        """Return a thing, None if the cloud says in its own words that there is none.

        Raises:
            CloudUnavailable: the cloud cannot be reached, fails, or answers with what is not its own.
            CloudFailed: it refuses this one call.
        """
        return self._call("GET", path)

    def put(self, path: str, body: object) -> dict[str, Any]:
        """Make or replace a thing."""
        return self._call("PUT", path, json.dumps(body).encode()) or {}

    def delete(self, path: str) -> None:
        """Delete a thing; no error if it is gone."""
        self._call("DELETE", path)

    def _call(self, method: str, path: str, body: bytes | None = None) -> dict[str, Any] | None:
        connection = HTTPConnection(self._host, timeout=TIMEOUT)
        try:
            connection.request(method, f"/{path}", body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            status, text = answer.status, answer.read()
        except (OSError, HTTPException) as error:
            raise CloudUnavailable(f"{method} {path}: {type(error).__name__}") from None
        finally:
            connection.close()
        told = _parsed(text)
        if told is None or status >= 500 or (status >= 300 and "error" not in told):
            raise CloudUnavailable(f"{method} {path}: answered {status}, and not in the cloud's own words")
        if status == 404:
            return None
        if status >= 300:
            raise CloudFailed(f"{method} {path}: {told['error']}")
        return told


def _parsed(text: bytes) -> dict[str, Any] | None:
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) else None


class Machines:
    """The machines behind the nodes, by the nodes' names; implements `hyperkube.hookspecs.cloud.Instances`."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def exists(self, node: Object) -> bool:
        """Tell whether the node's machine exists."""
        return self._find(node) is not None

    def is_shut_down(self, node: Object) -> bool:
        """Tell whether the machine exists but is off."""
        machine = self._find(node)
        return machine is not None and machine["state"] == "off"

    def metadata(self, node: Object) -> InstanceMetadata:
        """Describe the node's machine.

        Raises:
            InstanceNotFound: there is none.
        """
        machine = self._find(node)
        if machine is None:
            raise InstanceNotFound(f"the toy cloud has no machine {name_of(node)!r}")
        address = {"type": "InternalIP", "address": machine["address"]}
        return InstanceMetadata(
            provider_id=f"toy://{machine['name']}",
            instance_type=machine["type"],
            addresses=(address,) if machine["address"] else (),
            zone=machine["zone"],
            region=machine["zone"].rstrip("0123456789"),
        )

    def _find(self, node: Object) -> dict[str, Any] | None:
        machine = self._api.find(f"machines/{name_of(node)}")
        if machine is not None and not all(key in machine for key in ("name", "state", "zone", "type", "address")):
            raise CloudUnavailable("the cloud describes a machine as nothing it has ever made")
        return machine


class Balancers:
    """Load balancers: one PUT makes or changes one; implements `LoadBalancers`, `UpdatesHosts` and `NamesBalancers`."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def name(self, cluster: str, service: Object) -> str:
        """Return the name of a Service's balancer: the same one whoever asks, before a crash and after it."""
        return f"{cluster}-{namespace_of(service)}-{name_of(service)}"

    def get(self, cluster: str, service: Object) -> Object | None:
        """Return the balancer's status, None if there is none."""
        held = self._api.find(f"balancers/{self.name(cluster, service)}")
        return _status(held) if held is not None else None

    def ensure(self, cluster: str, service: Object, nodes: Sequence[Object]) -> Object:
        """Make the balancer, or change what differs; return its status."""
        path = f"balancers/{self.name(cluster, service)}"
        held, wanted = self._api.find(path), _wanted(service, nodes)
        if held is None or any(held.get(key) != value for key, value in wanted.items()):
            held = self._api.put(path, wanted)
        return _status(held)

    def update(self, cluster: str, service: Object, nodes: Sequence[Object]) -> None:
        """Send an existing balancer's traffic to these nodes."""
        self.ensure(cluster, service, nodes)

    def ensure_deleted(self, cluster: str, service: Object) -> None:
        """Delete the balancer; no error if it is gone."""
        self._api.delete(f"balancers/{self.name(cluster, service)}")


def _wanted(service: Object, nodes: Sequence[Object]) -> dict[str, Any]:
    spec = service["spec"]
    if any(port.get("protocol", "TCP") != "TCP" for port in spec.get("ports") or ()):
        raise CloudFailed("the toy cloud balances TCP alone")
    rows = [row for node in nodes for row in node.get("status", {}).get("addresses", [])]
    return {
        "ports": [{"port": port["port"], "node_port": port["nodePort"]} for port in spec.get("ports") or ()],
        "targets": [row["address"] for row in rows if row["type"] == "InternalIP"],
    }


def _status(balancer: dict[str, Any]) -> Object:
    if not balancer.get("address"):
        raise CloudUnavailable("the cloud describes a balancer without an address")
    return {"ingress": [{"ip": balancer["address"]}]}


def read_host(path: str) -> str:
    """Return where a file says the cloud's API is.

    Raises:
        UsageError: it cannot be read, or names no URL.
    """
    parser = ConfigParser()
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123  an empty path must fail as a file, not as a folder
            parser.read_file(file)
        url = urlsplit(parser.get("Cloud", "url"))
    except (OSError, BadSyntax, ValueError) as error:
        raise UsageError(f"--cloud-config={path!r}: {error} (wanted: {WANTED})") from error
    if url.scheme != "http" or not url.netloc:
        raise UsageError(f"--cloud-config={path!r}: {url.geturl()!r} is no http URL (wanted: {WANTED})")
    return url.netloc


@dataclass(frozen=True, slots=True)
class Settings:
    """The file that says where the cloud is."""

    cloud_config: str = ""


class ToyCloud(Plugin):
    """Offers machines and load balancers."""

    @hookimpl
    def cloud_provider(self) -> Cloud:
        """Read the configuration; the cloud is not asked yet, it may be down.

        Raises:
            UsageError: the file cannot be read or names no URL.
        """
        host = read_host(self.settings(Settings).cloud_config)
        return Cloud(name="toy", instances=Machines(Api(host)), load_balancers=Balancers(Api(host)))
