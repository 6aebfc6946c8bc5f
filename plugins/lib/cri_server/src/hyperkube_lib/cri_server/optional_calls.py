"""The calls of CRI that only some runtimes answer: a class for each of the small protocols of the hook spec."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperkube_lib.grpc_messages import Handler, RpcFailed

from hyperkube.hookspecs.runtime import Checkpoints, Config, ReportsStats, TellsRuntimeConfig, UpdatesResources

Request = Mapping[str, Any]
Answer = dict[str, Any]


class UpdateCalls:
    """Limits that change in place."""

    def __init__(self, runtime: UpdatesResources) -> None:
        self._runtime = runtime

    def handlers(self) -> dict[str, Handler]:
        """Return the calls by name."""
        return {
            "UpdateContainerResources": self.update_container_resources,
            "UpdatePodSandboxResources": self.update_pod_sandbox_resources,
        }

    def update_container_resources(self, request: Request) -> None:
        """Change those of a container."""
        self._runtime.update_container_resources(request.get("container_id", ""), request.get("linux", {}))

    def update_pod_sandbox_resources(self, request: Request) -> None:
        """Tell of those of a sandbox."""
        overhead, resources = request.get("overhead", {}), request.get("resources", {})
        self._runtime.update_sandbox_resources(request.get("pod_sandbox_id", ""), overhead, resources)


class StatsCalls:
    """What containers and sandboxes use."""

    def __init__(self, runtime: ReportsStats) -> None:
        self._runtime = runtime

    def handlers(self) -> dict[str, Handler]:
        """Return the calls by name."""
        return {
            "ContainerStats": self.container_stats,
            "ListContainerStats": self.list_container_stats,
            "PodSandboxStats": self.pod_sandbox_stats,
            "ListPodSandboxStats": self.list_pod_sandbox_stats,
        }

    def container_stats(self, request: Request) -> Answer:
        """Return those of one container."""
        return {"stats": _one(self._runtime.container_stats(), request.get("container_id", ""), "container")}

    def list_container_stats(self, request: Request) -> Answer:
        """Return those of the containers that a filter selects."""
        wanted = request.get("filter", {})
        return {"stats": [row for row in self._runtime.container_stats() if _is_selected(row, wanted)]}

    def pod_sandbox_stats(self, request: Request) -> Answer:
        """Return those of one sandbox."""
        return {"stats": _one(self._runtime.sandbox_stats(), request.get("pod_sandbox_id", ""), "sandbox")}

    def list_pod_sandbox_stats(self, request: Request) -> Answer:
        """Return those of the sandboxes that a filter selects."""
        wanted = request.get("filter", {})
        return {"stats": [row for row in self._runtime.sandbox_stats() if _is_selected(row, wanted)]}


def _one(rows: Any, wanted: str, what: str) -> Config:
    for row in rows:
        if row["attributes"]["id"] == wanted:
            found: Config = row
            return found
    raise RpcFailed("NOT_FOUND", f"{what} {wanted!r} not found")


def _is_selected(row: Config, wanted: Config) -> bool:
    attributes = row["attributes"]
    selector = wanted.get("label_selector", {})
    return attributes["id"].startswith(wanted.get("id", "")) and all(
        attributes.get("labels", {}).get(name) == value for name, value in selector.items()
    )


class ConfigCalls:
    """Settings in common with the client."""

    def __init__(self, runtime: TellsRuntimeConfig) -> None:
        self._runtime = runtime

    def handlers(self) -> dict[str, Handler]:
        """Return the calls by name."""
        return {"RuntimeConfig": self.runtime_config, "UpdateRuntimeConfig": self.update_runtime_config}

    def runtime_config(self, _request: Request) -> Config:
        """Return the runtime's."""
        return self._runtime.runtime_config()

    def update_runtime_config(self, request: Request) -> None:
        """Tell of the pods' addresses."""
        network = request.get("runtime_config", {}).get("network_config", {})
        self._runtime.update_runtime_config(network.get("pod_cidr", ""))


class CheckpointCalls:
    """Containers written to archives."""

    def __init__(self, runtime: Checkpoints) -> None:
        self._runtime = runtime

    def handlers(self) -> dict[str, Handler]:
        """Return the calls by name."""
        return {"CheckpointContainer": self.checkpoint_container}

    def checkpoint_container(self, request: Request) -> None:
        """Write a container to a file."""
        location, timeout = request.get("location", ""), float(request.get("timeout", 0))
        self._runtime.checkpoint_container(request.get("container_id", ""), location, timeout)
