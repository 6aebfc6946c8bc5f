"""How a function says that it is a policy, and about which writes.

The decorators only note it on the function, which stays callable as it is: a policy's tests call it directly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from hyperkube.machinery.dataclass import dataclass

Policy = TypeVar("Policy", bound=Callable[..., Any])

ATTRIBUTE = "__hyperkube_policy__"
WRITES = ("CREATE", "UPDATE")
OPERATIONS = frozenset({"CREATE", "UPDATE", "DELETE", "CONNECT", "*"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """What a policy is about.

    Attributes:
        name: what refusals and audit annotations call it.
        mutates: whether it may change the object; else it may only refuse.
        resources: ``pods``, ``deployments.apps``, ``pods/exec``, ``*`` (every resource itself), ``*/*`` (all there is).
        operations: of CREATE, UPDATE, DELETE, CONNECT, or ``*``.
        namespaces: patterns such as ``team-*``; empty for all, and for what has none.
        exclude_namespaces: patterns of namespaces that are left alone.
        labels: a label selector that the object, old or new, must fulfil.
    """

    name: str
    mutates: bool
    resources: Sequence[str]
    operations: Sequence[str] = WRITES
    namespaces: Sequence[str] = ()
    exclude_namespaces: Sequence[str] = ()
    labels: str = ""


def _declares(
    resources: tuple[str, ...],
    *,
    mutating: bool,
    name: str,
    operations: Sequence[str],
    namespaces: Sequence[str],
    exclude_namespaces: Sequence[str],
    labels: str,
) -> Callable[[Policy], Policy]:
    if not resources:
        raise TypeError('a policy names its resources: @validates("pods")')
    unknown = [word for word in operations if word not in OPERATIONS]
    if unknown:
        raise ValueError(f"operation {unknown[0]!r} is none of {', '.join(sorted(OPERATIONS))}")

    def note(function: Policy) -> Policy:
        declaration = Declaration(
            name=name or function.__name__.replace("_", "-"),
            mutates=mutating,
            resources=resources,
            operations=operations,
            namespaces=namespaces,
            exclude_namespaces=exclude_namespaces,
            labels=labels,
        )
        setattr(function, ATTRIBUTE, declaration)
        return function

    return note


def validates(
    *resources: str,
    name: str = "",
    operations: Sequence[str] = WRITES,
    namespaces: Sequence[str] = (),
    exclude_namespaces: Sequence[str] = (),
    labels: str = "",
) -> Callable[[Policy], Policy]:
    """Declare a policy that may refuse: it returns None, a message, or a `Deny`.

    Raises:
        TypeError: no resource is given.
        ValueError: an operation that there is not.
    """
    return _declares(
        resources,
        mutating=False,
        name=name,
        operations=operations,
        namespaces=namespaces,
        exclude_namespaces=exclude_namespaces,
        labels=labels,
    )


def mutates(
    *resources: str,
    name: str = "",
    operations: Sequence[str] = WRITES,
    namespaces: Sequence[str] = (),
    exclude_namespaces: Sequence[str] = (),
    labels: str = "",
) -> Callable[[Policy], Policy]:
    """Declare a policy that may also change the object.

    It changes ``review.object`` in place, or returns the new object or a `Patch`; a message or a `Deny` refuses. It
    must be idempotent: after another plugin changed the object it runs once more.

    Raises:
        TypeError: no resource is given.
        ValueError: an operation that there is not.
    """
    return _declares(
        resources,
        mutating=True,
        name=name,
        operations=operations,
        namespaces=namespaces,
        exclude_namespaces=exclude_namespaces,
        labels=labels,
    )
