"""Sandboxes: a container that does nothing holds the namespaces of a pod, and a network connects it.

Source: kubernetes ``pkg/kubelet/dockershim/docker_sandbox.go``.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hyperkube_runtime.docker.checkpoints import SandboxCheckpoint, SandboxCheckpoints
from hyperkube_runtime.docker.create_requests import NodeFacts, sandbox_request
from hyperkube_runtime.docker.engine import CONFLICT, Engine, EngineFailed, Json
from hyperkube_runtime.docker.images import DockerImages
from hyperkube_runtime.docker.names import (
    SANDBOX_ID_LABEL,
    SANDBOX_TYPE,
    TYPE_LABEL,
    randomized,
    sandbox_name,
)
from hyperkube_runtime.docker.pod_networks import network_request
from hyperkube_runtime.docker.resolver import write_resolver_file
from hyperkube_runtime.docker.statuses import bridge_addresses, listed_sandbox, remembered_sandbox, sandbox_status

from hyperkube.hookspecs.network import Network, NetworkFailed
from hyperkube.hookspecs.runtime import Config, ContainerNotFound, RuntimeFailed, SandboxStatus

GRACE_SECONDS = 10
_CONFLICT = re.compile(r"Conflict\. .+ is already in use by container \"?([0-9a-z]+)")
_log = logging.getLogger("hyperkube.docker")


class DockerSandboxes:
    """The sandboxes of a daemon; on Docker's own bridge until they are told of another network."""

    def __init__(
        self, engine: Engine, images: DockerImages, checkpoints: SandboxCheckpoints, facts: Callable[[], NodeFacts]
    ) -> None:
        self._engine = engine
        self._images = images
        self._checkpoints = checkpoints
        self._facts = facts
        self.network: Network | None = None
        """What connects sandboxes; set before the first one is made."""

    def run(self, config: Config) -> str:
        """Create, start and connect a sandbox; return its id.

        Raises:
            RuntimeFailed: it could not be; what there is of it is taken down by its stop, or with the next sandbox.
        """
        name = config["metadata"]["name"]
        self._images.ensure_sandbox_image()
        request = sandbox_request(config, self._facts())
        try:
            sandbox_id = create_container(self._engine, sandbox_name(config), request)
        except EngineFailed as error:
            raise RuntimeFailed(f'failed to create a sandbox for pod "{name}": {error}') from error
        checkpoint = SandboxCheckpoint.of(config)
        self._checkpoints.write(sandbox_id, checkpoint)
        try:
            self._engine.start(sandbox_id)
            found = self._engine.inspect(sandbox_id)
        except EngineFailed as error:
            raise RuntimeFailed(f'failed to start sandbox container for pod "{name}": {error}') from error
        try:
            if "dns_config" in config:  # also an empty one: Docker would fill in servers of its own
                self._rewrite_resolver(name, found, config["dns_config"])
            if not checkpoint.host_network:
                self._connect(sandbox_id, checkpoint, found)
        except RuntimeFailed:
            self._stop_container(sandbox_id, GRACE_SECONDS)
            raise
        return sandbox_id

    def _rewrite_resolver(self, name: str, found: Json, dns: Config) -> None:
        try:
            write_resolver_file(Path(found.get("ResolvConfPath", "")), dns)
        except OSError as error:
            raise RuntimeFailed(f'rewrite resolv.conf failed for pod "{name}": {error}') from error

    def _connect(self, sandbox_id: str, checkpoint: SandboxCheckpoint, found: Json) -> None:
        if self.network is None:
            return
        request = network_request(sandbox_id, checkpoint, namespace_path(found))
        try:
            ips = self.network.setup(request).ips
        except NetworkFailed as error:
            text = f'failed to set up sandbox container "{sandbox_id}" network for pod "{checkpoint.name}": {error}'
            raise RuntimeFailed(text) from error
        self._checkpoints.write(sandbox_id, replace(checkpoint, ips=ips))

    def stop(self, sandbox_id: str) -> None:
        """Kill its containers, take its network down and stop it.

        Raises:
            RuntimeFailed: Docker or the network failed; it is to be tried again.
        """
        found = self._inspect(sandbox_id)
        checkpoint = self._checkpoints.read(sandbox_id)
        for member in self.members(sandbox_id):
            if member.get("State") == "running":
                self._stop_container(member["Id"], 0)
        if self.network is not None and checkpoint is not None and not checkpoint.host_network:
            path = "" if found is None else namespace_path(found)
            try:
                self.network.teardown(network_request(sandbox_id, checkpoint, path))
            except NetworkFailed as error:
                raise RuntimeFailed(str(error)) from error
        if found is not None:
            self._stop_container(sandbox_id, GRACE_SECONDS)
        elif checkpoint is not None:
            self._checkpoints.remove(sandbox_id)

    def _stop_container(self, container_id: str, grace_seconds: int) -> None:
        try:
            self._engine.stop(container_id, grace_seconds)
        except EngineFailed as error:
            if not error.is_not_found:
                raise RuntimeFailed(str(error)) from error

    def members(self, sandbox_id: str) -> Sequence[Json]:
        """Return the rows of a sandbox's containers."""
        return listed(self._engine, {SANDBOX_ID_LABEL: sandbox_id})

    def remove(self, sandbox_id: str) -> None:
        """Stop and remove it.

        Raises:
            RuntimeFailed: Docker or the network failed; it is to be tried again.
        """
        self.stop(sandbox_id)
        try:
            self._engine.remove(sandbox_id)
        except EngineFailed as error:
            if not error.is_not_found:
                raise RuntimeFailed(str(error)) from error
        self._checkpoints.remove(sandbox_id)

    def all(self) -> list[SandboxStatus]:
        """Return all sandboxes, also those of which there is only a checkpoint; addresses are left out."""
        # Docker is asked last: a sandbox that is just made has a container before it has a checkpoint.
        remembered = self._checkpoints.all().items()
        rows = listed(self._engine, {TYPE_LABEL: SANDBOX_TYPE})
        found = [self._with_network(status) for status in map(listed_sandbox, rows) if status is not None]
        there = {row["Id"] for row in rows}
        return found + [remembered_sandbox(one, checkpoint) for one, checkpoint in remembered if one not in there]

    def remembered(self, uid: str) -> list[SandboxStatus]:
        """Return the sandboxes of a pod of which there may be only a checkpoint."""
        known = self._checkpoints.all().items()
        return [remembered_sandbox(sandbox_id, one) for sandbox_id, one in known if one.uid == uid]

    def status(self, sandbox_id: str) -> SandboxStatus | None:
        """Return a sandbox with its addresses, None when its container is gone."""
        found = self._inspect(sandbox_id)
        if found is None:
            return None
        status = sandbox_status(found, bridge_addresses(found))
        return None if status is None else self._with_network(status)

    def _with_network(self, status: SandboxStatus) -> SandboxStatus:
        """Return a sandbox with the addresses of its network; it is not ready before it has some.

        A kubelet that was killed may have left one that runs and is connected to nothing.
        """
        if self.network is None or status.host_network:
            return status
        checkpoint = self._checkpoints.read(status.id)
        ips = () if checkpoint is None else tuple(checkpoint.ips)
        return replace(status, ips=ips, ready=status.ready and bool(ips))

    def namespace(self, sandbox_id: str) -> str:
        """Return the path of a running sandbox's network namespace.

        Raises:
            ContainerNotFound: it is gone, or does not run.
        """
        found = self._inspect(sandbox_id)
        path = "" if found is None else namespace_path(found)
        if not path:
            raise ContainerNotFound(f'cannot find network namespace for the terminated container "{sandbox_id}"')
        return path

    def _inspect(self, sandbox_id: str) -> Json | None:
        try:
            return self._engine.inspect(sandbox_id)
        except EngineFailed as error:
            if error.is_not_found:
                return None
            raise RuntimeFailed(str(error)) from error


def namespace_path(found: Json) -> str:
    """Return the path of a container's network namespace; Docker tells pid 0 of one that does not run."""
    pid = (found.get("State") or {}).get("Pid") or 0
    return f"/proc/{pid}/ns/net" if pid else ""


def listed(engine: Engine, labels: Mapping[str, str], name: str = "") -> Sequence[Json]:
    """Return the rows of all containers with these labels, and this part in their names.

    Raises:
        RuntimeFailed: Docker failed.
    """
    try:
        return engine.containers(labels, name=name)
    except EngineFailed as error:
        raise RuntimeFailed(str(error)) from error


def create_container(engine: Engine, name: str, request: Mapping[str, Any]) -> str:
    """Create a container, also where another one has its name: what a creation has left that was cut off.

    Raises:
        EngineFailed: it could not be created.
    """
    try:
        return engine.create(name, request)
    except EngineFailed as error:
        conflict = _CONFLICT.search(str(error)) if error.status == CONFLICT else None
        if conflict is None:
            raise
        _log.warning("removing container %s, which has the name %s", conflict[1], name)
        try:
            engine.remove(conflict[1], force=False)
        except EngineFailed as failure:
            if not failure.is_not_found:
                raise
            # Docker knows the name, but not the container any more.
            return engine.create(randomized(name), request)
    return engine.create(name, request)
