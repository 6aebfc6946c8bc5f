"""Look-ups: what a policy may ask about the rest of the cluster, and a twin with fixed objects for its tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from hyperkube_admission.python_policy.review import Object

Ask = Callable[[Object], Any]
"""Sends a question to the API server and returns its answer."""


class LookupRefused(Exception):
    """The API server does not answer: there is no such kind, or the selector cannot be read."""


class Cluster(Protocol):
    """The API server's caches, to be read; answers may be a moment behind the last write.

    A kind is written as in manifests (``ConfigMap``), with its group where two groups have it
    (``Event.events.k8s.io``), or as a resource (``configmaps``, ``deployments.apps``).
    """

    def get(self, kind: str, namespace: str, name: str) -> Object | None:
        """Return one object, None when there is none; the namespace is empty for what has none.

        Raises:
            LookupRefused: there is no such kind.
        """

    def list(self, kind: str, namespace: str = "", *, labels: str = "") -> list[Object]:
        """Return the objects of a namespace, or of all, that a label selector (``app=web,tier in (a,b)``) chooses.

        Raises:
            LookupRefused: there is no such kind, or the selector cannot be read.
        """


class ConnectedCluster:
    """The `Cluster` of one review: asks the API server, each thing once."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._known: dict[tuple[str, ...], Any] = {}

    def get(self, kind: str, namespace: str, name: str) -> Object | None:
        """Return one object, None when there is none."""
        found: Object | None = self._asked("get", kind, namespace, name)
        return found

    def list(self, kind: str, namespace: str = "", *, labels: str = "") -> list[Object]:
        """Return the objects that a selector chooses."""
        found: list[Object] = self._asked("list", kind, namespace, labels)
        return found

    def _asked(self, *question: str) -> Any:
        if question not in self._known:
            answer = self._ask({"look": question})
            if "error" in answer:
                raise LookupRefused(answer["error"])
            self._known[question] = answer["found"]
        return self._known[question]


class FixedCluster:
    """A `Cluster` of given objects, each with its ``kind``: for the tests of policies."""

    def __init__(self, objects: Iterable[Object] = ()) -> None:
        self._objects = [*objects]

    def get(self, kind: str, namespace: str, name: str) -> Object | None:
        """Return one object, None when there is none."""
        return next((obj for obj in self.list(kind, namespace) if obj["metadata"]["name"] == name), None)

    def list(self, kind: str, namespace: str = "", *, labels: str = "") -> list[Object]:
        """Return the objects that have the labels; of selectors, only equalities are understood."""
        wanted = dict(part.split("=", 1) for part in labels.replace("==", "=").split(",") if part)
        return [
            obj
            for obj in self._objects
            if obj["kind"] == kind
            and namespace in {"", obj["metadata"].get("namespace", "")}
            and wanted.items() <= (obj["metadata"].get("labels") or {}).items()
        ]
