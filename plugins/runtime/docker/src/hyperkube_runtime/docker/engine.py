"""The part of Docker's Engine API that pods need; `in_memory_engine` is its twin for tests.

Bodies and answers are Docker's own JSON objects. Every call has a time limit; one that passes it is refused as any
other failure, with `TIMED_OUT` as its status.

Source: Docker Engine API v1.41; kubernetes ``pkg/kubelet/dockershim/libdocker/client.go`` (Interface).
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from hyperkube.machinery.errors import HyperkubeError

UNREACHABLE, TIMED_OUT, NOT_FOUND, CONFLICT = 0, 1, 404, 409
"""Statuses of failures: the first two are of calls that were not answered, the others HTTP's."""

Json = Mapping[str, Any]


class EngineFailed(HyperkubeError):
    """Docker refused a call, or did not answer it; `status` is HTTP's, `UNREACHABLE` or `TIMED_OUT`."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status

    @property
    def is_not_found(self) -> bool:
        """Whether Docker has no such container, image or command."""
        return self.status == NOT_FOUND


class RawStream(NamedTuple):
    """A connection that carries the streams of a container or a command.

    Attributes:
        connection: a connected socket; who gets it closes it.
        head: what was received with the answer to the request, before anything that is still to come.
    """

    connection: socket.socket
    head: bytes


class EventStream(Protocol):
    """What the daemon tells of containers, from the call on; may raise `EngineFailed` when the daemon goes away."""

    def __iter__(self) -> Iterator[Json]:
        """Yield messages until closed, or until the daemon ends."""

    def close(self) -> None:
        """End the iteration, from any thread."""


class Engine(Protocol):
    """Docker's daemon; may be called from several threads. Each call may raise `EngineFailed`."""

    def version(self) -> Json:
        """Return ``GET /version``."""

    def info(self) -> Json:
        """Return ``GET /info``."""

    def containers(self, labels: Mapping[str, str], *, name: str = "", sizes: bool = False) -> Sequence[Json]:
        """Return the rows of all containers that have these labels and this part in a name; sizes are costly."""

    def events(self) -> EventStream:
        """Return ``GET /events``: pods' containers that are created, started, ended and removed from now on."""

    def inspect(self, container_id: str) -> Json:
        """Return all of one container."""

    def create(self, name: str, body: Json) -> str:
        """Create a container and return its id."""

    def start(self, container_id: str) -> None:
        """Start a container; nothing happens to one that runs."""

    def stop(self, container_id: str, grace_seconds: int) -> None:
        """Send its stop signal, wait, then KILL; nothing happens to one that has ended."""

    def remove(self, container_id: str, *, force: bool = True) -> None:
        """Remove a container with its anonymous volumes; one that runs only by force."""

    def update(self, container_id: str, resources: Json) -> None:
        """Change limits in place."""

    def resize(self, container_id: str, width: int, height: int) -> None:
        """Set the size of a container's terminal."""

    def stats(self, container_id: str) -> Json:
        """Return what a container uses now."""

    def attach(self, container_id: str, *, stdin: bool) -> RawStream:
        """Connect to the streams of a container's first process."""

    def create_exec(self, container_id: str, body: Json) -> str:
        """Prepare a command in a running container; return its id."""

    def start_exec(self, exec_id: str, *, tty: bool) -> RawStream:
        """Start a prepared command and connect to its streams."""

    def inspect_exec(self, exec_id: str) -> Json:
        """Return the state of a command."""

    def resize_exec(self, exec_id: str, width: int, height: int) -> None:
        """Set the size of a command's terminal."""

    def images(self) -> Sequence[Json]:
        """Return the rows of all images."""

    def image(self, reference: str) -> Json:
        """Return all of one image, by name, digest or id."""

    def pull(self, reference: str, login: Json) -> None:
        """Pull an image; `login` is Docker's ``AuthConfig``, empty for none."""

    def remove_image(self, reference: str) -> None:
        """Remove a name of an image, and the image with its last one."""

    def close(self) -> None:
        """Close the connections; containers go on running."""
