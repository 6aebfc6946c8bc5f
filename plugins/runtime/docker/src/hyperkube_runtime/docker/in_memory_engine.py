"""A daemon in memory, for tests: containers that run until they are stopped, commands that say their own words."""

from __future__ import annotations

import itertools
import secrets
import socket
import struct
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from queue import SimpleQueue
from typing import Any

from hyperkube_runtime.docker.engine import CONFLICT, NOT_FOUND, EngineFailed, Json, RawStream

_NEVER = "0001-01-01T00:00:00Z"


class InMemoryEvents:
    """See `EventStream`; `put` None to end it as a daemon does that ends."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[Json | None] = SimpleQueue()
        self.put = self._queue.put

    def __iter__(self) -> Iterator[Json]:
        """Yield what is put."""
        return iter(self._queue.get, None)

    def close(self) -> None:
        """End the iteration."""
        self.put(None)


class InMemoryEngine:
    """See `Engine`.

    Attributes:
        bodies: container id → what it was created with.
        failures: call → the failures that it raises from now on, the next one first.
        pulled: references and logins of all pulls.
        resolver_file: the resolver file of all containers.
        streams: those who listen to events, the ones that were closed included.
    """

    def __init__(self, *images: str) -> None:
        """Take the names of the images that are there."""
        self.bodies: dict[str, dict[str, Any]] = {}
        self.failures: dict[str, list[EngineFailed]] = {}
        self.pulled: list[tuple[str, Json]] = []
        self.resolver_file = "/dev/null"
        self._containers: dict[str, dict[str, Any]] = {}
        self._images: dict[str, dict[str, Any]] = {}
        self._execs: dict[str, dict[str, Any]] = {}
        self.streams: list[InMemoryEvents] = []
        self._pids = itertools.count(1 << 22)  # beyond what Linux gives
        for name in images:
            self._add_image(name)

    def _add_image(self, name: str) -> None:
        image_id = f"sha256:{secrets.token_hex(32)}"
        self._images[image_id] = {"Id": image_id, "RepoTags": [name], "RepoDigests": [], "Size": 7, "Config": {}}

    def _fail(self, call: str) -> None:
        if self.failures.get(call):
            raise self.failures[call].pop(0)

    def _found(self, container_id: str) -> dict[str, Any]:
        found = self._containers.get(container_id)
        if found is None:
            raise EngineFailed(NOT_FOUND, f"Error response from daemon: No such container: {container_id}")
        return found

    def version(self) -> Json:
        """Return some version."""
        self._fail("version")
        return {"Version": "20.10.24", "ApiVersion": "1.41", "MinAPIVersion": "1.12"}

    def info(self) -> Json:
        """Return the little that is asked for."""
        return {"DockerRootDir": "/var/lib/docker", "CgroupDriver": "cgroupfs"}

    def containers(self, labels: Mapping[str, str], *, name: str = "", sizes: bool = False) -> Sequence[Json]:
        """Return the rows of those that have these labels."""
        self._fail("containers")
        return [
            _row(found)
            for found in self._containers.values()
            if labels.items() <= found["Config"]["Labels"].items() and name in found["Name"]
        ]

    def events(self) -> InMemoryEvents:
        """Listen from now on."""
        self._fail("events")
        stream = InMemoryEvents()
        self.streams.append(stream)
        return stream

    def _happened(self, action: str, container_id: str) -> None:
        labels = self._found(container_id)["Config"]["Labels"]
        event = {"Type": "container", "Action": action, "Actor": {"ID": container_id, "Attributes": dict(labels)}}
        for stream in self.streams:
            stream.put(event)

    def inspect(self, container_id: str) -> Json:
        """Return one."""
        self._fail("inspect")
        return self._found(container_id)

    def create(self, name: str, body: Json) -> str:
        """Create one; its name must be free, and its image there."""
        self._fail("create")
        image = self.image(body["Image"])
        for taken in self._containers.values():
            if taken["Name"] == f"/{name}":
                text = f'Conflict. The container name "/{name}" is already in use by container "{taken["Id"]}".'
                raise EngineFailed(CONFLICT, f"Error response from daemon: {text}")
        container_id = secrets.token_hex(32)
        self.bodies[container_id] = dict(body)
        self._containers[container_id] = {
            "Id": container_id,
            "Name": f"/{name}",
            "Created": _now(),
            "Image": image["Id"],
            "Config": {"Image": body["Image"], "Labels": body.get("Labels", {}), "Tty": body.get("Tty", False)},
            "HostConfig": body.get("HostConfig", {}),
            "State": {"Running": False, "Pid": 0, "ExitCode": 0, "StartedAt": _NEVER, "FinishedAt": _NEVER},
            "NetworkSettings": {"IPAddress": ""},
            "ResolvConfPath": self.resolver_file,
            "LogPath": f"/var/lib/docker/containers/{container_id}/{container_id}-json.log",
            "Mounts": [],
        }
        self._happened("create", container_id)
        return container_id

    def start(self, container_id: str) -> None:
        """Let it run."""
        self._fail("start")
        found = self._found(container_id)
        if not found["State"]["Running"]:
            found["State"] |= {"Running": True, "Pid": next(self._pids), "StartedAt": _now()}
            if not found["HostConfig"].get("NetworkMode"):
                found["NetworkSettings"]["IPAddress"] = "172.17.0.2"
            self._happened("start", container_id)

    def stop(self, container_id: str, grace_seconds: int) -> None:
        """End it as TERM does."""
        self._fail("stop")
        self.end(container_id, 143)

    def end(self, container_id: str, exit_code: int) -> None:
        """Let a container end by itself."""
        state = self._found(container_id)["State"]
        if state["Running"]:
            state |= {"Running": False, "Pid": 0, "ExitCode": exit_code, "FinishedAt": _now()}
            self._happened("die", container_id)

    def tell_out_of_memory(self, container_id: str) -> None:
        """Say of a container that it has used up its memory, as the kernel's own notice does."""
        self._found(container_id)["State"]["OOMKilled"] = True
        self._happened("oom", container_id)

    def remove(self, container_id: str, *, force: bool = True) -> None:
        """Remove it."""
        self._fail("remove")
        if self._found(container_id)["State"]["Running"] and not force:
            raise EngineFailed(CONFLICT, "Error response from daemon: You cannot remove a running container")
        self._happened("destroy", container_id)
        del self._containers[container_id]

    def update(self, container_id: str, resources: Json) -> None:
        """Remember the limits."""
        self._found(container_id)["HostConfig"] |= resources

    def resize(self, container_id: str, width: int, height: int) -> None:
        """Remember the size."""
        self._found(container_id)["Size"] = (width, height)

    def stats(self, container_id: str) -> Json:
        """Return the same figures always."""
        self._found(container_id)
        memory = {"usage": 3000, "stats": {"total_inactive_file": 1000, "total_rss": 1500}}
        networks = {"eth0": {"rx_bytes": 5, "tx_bytes": 6}}
        return {"read": _now(), "cpu_stats": {"cpu_usage": {"total_usage": 42}}, "memory_stats": memory} | {
            "networks": networks
        }

    def attach(self, container_id: str, *, stdin: bool) -> RawStream:
        """Say one word of the container, which then says no more."""
        self._found(container_id)
        return _stream(_frame(1, b"attached\n"))

    def create_exec(self, container_id: str, body: Json) -> str:
        """Prepare a command of a running container."""
        if not self._found(container_id)["State"]["Running"]:
            raise EngineFailed(CONFLICT, f"Error response from daemon: Container {container_id} is not running")
        exec_id = secrets.token_hex(32)
        self._execs[exec_id] = {"Cmd": body["Cmd"], "Running": False, "ExitCode": 0}
        return exec_id

    def start_exec(self, exec_id: str, *, tty: bool) -> RawStream:
        """Let a command write its words to its output and ``err`` to its errors; ``exit N`` ends it with N."""
        command = self._execs[exec_id]
        if command["Cmd"][0] == "exit":
            command["ExitCode"] = int(command["Cmd"][1])
        text = " ".join(command["Cmd"]).encode() + b"\n"
        return _stream(text if tty else _frame(1, text) + _frame(2, b"err\n"))

    def inspect_exec(self, exec_id: str) -> Json:
        """Return a command's state."""
        return self._execs[exec_id]

    def resize_exec(self, exec_id: str, width: int, height: int) -> None:
        """Remember the size."""
        self._execs[exec_id]["Size"] = (width, height)

    def images(self) -> Sequence[Json]:
        """Return all images."""
        return list(self._images.values())

    def image(self, reference: str) -> Json:
        """Return one by id or name."""
        for found in self._images.values():
            if reference == found["Id"] or reference in found["RepoTags"]:
                return found
        raise EngineFailed(NOT_FOUND, f"Error response from daemon: No such image: {reference}")

    def pull(self, reference: str, login: Json) -> None:
        """Have the image from now on."""
        self._fail("pull")
        self.pulled.append((reference, login))
        self._add_image(reference)

    def remove_image(self, reference: str) -> None:
        """Remove an image."""
        del self._images[self.image(reference)["Id"]]

    def close(self) -> None:
        """Do nothing: the daemon goes on."""


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f000Z")


def _row(found: Json) -> dict[str, Any]:
    state = found["State"]
    ended = state["FinishedAt"] != _NEVER
    return {
        "Id": found["Id"],
        "Names": [found["Name"]],
        "Image": found["Config"]["Image"],
        "ImageID": found["Image"],
        "Created": 1,
        "State": "running" if state["Running"] else "exited" if ended else "created",
        "Labels": found["Config"]["Labels"],
        "HostConfig": {"NetworkMode": found["HostConfig"].get("NetworkMode") or "default"},
        "SizeRw": 11,
    }


def _frame(number: int, data: bytes) -> bytes:
    return struct.pack(">BxxxL", number, len(data)) + data


def _stream(text: bytes) -> RawStream:
    """Return a connection that says this, the first bytes of it at once, and then ends."""
    ours, theirs = socket.socketpair()
    with ours:
        ours.sendall(text[3:])
    return RawStream(theirs, text[:3])
