"""What a check finds, and the phrases its text is made of.

Source of all texts: kubernetes ``staging/src/k8s.io/pod-security-admission/policy``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from hyperkube.kinds.pods import containers, spec_of
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule that a pod breaks.

    Attributes:
        reason: the rule, in a few words.
        detail: who breaks it, and how.
    """

    reason: str
    detail: str

    def __str__(self) -> str:
        return f"{self.reason} ({self.detail})" if self.detail else self.reason


Check = Callable[[Object], Finding | None]
"""pod or pod template → what it breaks."""


def quoted(texts: Iterable[str]) -> str:
    """Return ``"a", "b"``; what is in a text is not escaped."""
    return ", ".join(f'"{text}"' for text in texts)


def plural(word: str, count: int) -> str:
    """Return the word for that many."""
    return word if count == 1 else f"{word}s"


def named(names: list[str]) -> str:
    """Return ``container "a"`` or ``containers "a", "b"``."""
    return f"{plural('container', len(names))} {quoted(names)}"


def name_in(part: Object) -> str:
    """Return the name of a container or volume."""
    return str(part.get("name", ""))


def context_of(part: Object) -> Object:
    """Return the ``securityContext`` of a container or pod spec, or an empty dict."""
    return part.get("securityContext") or {}


def within(obj: Object, *names: str) -> Any:
    """Return a member some levels down, or None when a level is missing."""
    here: Any = obj
    for name in names:
        here = (here or {}).get(name)
    return here


def containers_where(pod: Object, is_bad: Callable[[Object], bool]) -> list[str]:
    """Return the names of the containers for which that holds."""
    return [name_in(container) for container in containers(pod) if is_bad(container)]


def setters(pod: Object, is_bad: Callable[[Object], bool]) -> list[str]:
    """Return who has a security context for which that holds: ``pod``, ``containers "a", "b"``, both or neither."""
    found = ["pod"] if is_bad(context_of(spec_of(pod))) else []
    bad = containers_where(pod, lambda container: is_bad(context_of(container)))
    return [*found, named(bad)] if bad else found


def has_own_users(pod: Object) -> bool:
    """Tell whether root in the pod is nobody on the node: the pod has a user namespace."""
    return spec_of(pod).get("hostUsers") is False


def is_windows(pod: Object) -> bool:
    """Tell whether the pod says that it is for Windows."""
    return bool(within(spec_of(pod), "os", "name") == "windows")
