"""May this user do that: ``authorizer.group("apps").resource("deployments").check("create").allowed()``.

A selector that cannot be read is left out, which asks about more. Source: kubernetes apiserver
``pkg/cel/library/authz.go``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hyperkube_lib.cel.errors import EvaluationError
from hyperkube_lib.cel.functions import Library
from hyperkube_lib.cel.values import Opaque

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.names import dns1123_label, dns1123_subdomain

AUTHORIZATION = Library()
_CHECK_COST = 350_000


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of the authorizers: a resource, or with `path` a URL."""

    verb: str = ""
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""
    field_selector: str = ""
    label_selector: str = ""
    service_account: tuple[str, str] | None = None
    """Namespace and name of the account to ask for in place of the request's user."""


Answer = Callable[[Question], tuple[bool, str, str]]
"""Question → allowed, reason, error text."""


class AuthorizerValue(Opaque):
    """Asks about one user."""

    __slots__ = ("answer", "question")
    kind = "kubernetes.authorization.Authorizer"

    def __init__(self, answer: Answer, question: Question | None = None) -> None:
        self.answer = answer
        self.question = question or Question()

    def asking(self, kind: type[AuthorizerValue], **changes: Any) -> AuthorizerValue:
        """Return the same question with more known."""
        return kind(self.answer, replace(self.question, **changes))


class PathCheck(AuthorizerValue):
    """About a URL."""

    __slots__ = ()
    kind = "kubernetes.authorization.PathCheck"


class GroupCheck(AuthorizerValue):
    """About an API group."""

    __slots__ = ()
    kind = "kubernetes.authorization.GroupCheck"


class ResourceCheck(AuthorizerValue):
    """About a resource."""

    __slots__ = ()
    kind = "kubernetes.authorization.ResourceCheck"


class Decision(Opaque):
    """What the authorizers said."""

    __slots__ = ("_answer", "_said")
    kind = "kubernetes.authorization.Decision"

    def __init__(self, answer: Callable[[], tuple[bool, str, str]]) -> None:
        self._answer = answer
        self._said: tuple[bool, str, str] | None = None

    @property
    def said(self) -> tuple[bool, str, str]:
        """Allowed, reason, error text."""
        if self._said is None:
            self._said = self._answer()
        return self._said


def _step(name: str, signature: str, kind: type[AuthorizerValue], member: str) -> None:
    def call(value: AuthorizerValue, text: str) -> AuthorizerValue:
        return value.asking(kind, **{member: text})

    AUTHORIZATION.method(name, signature)(call)


_step("path", "Authorizer, string -> PathCheck", PathCheck, "path")
_step("group", "Authorizer, string -> GroupCheck", GroupCheck, "group")
_step("resource", "GroupCheck, string -> ResourceCheck", ResourceCheck, "resource")
_step("subresource", "ResourceCheck, string -> ResourceCheck", ResourceCheck, "subresource")
_step("namespace", "ResourceCheck, string -> ResourceCheck", ResourceCheck, "namespace")
_step("name", "ResourceCheck, string -> ResourceCheck", ResourceCheck, "name")
_step("fieldSelector", "ResourceCheck, string -> ResourceCheck", ResourceCheck, "field_selector")
_step("labelSelector", "ResourceCheck, string -> ResourceCheck", ResourceCheck, "label_selector")


@AUTHORIZATION.method("serviceAccount", "Authorizer, string, string -> Authorizer")
def service_account(value: AuthorizerValue, namespace: str, name: str) -> AuthorizerValue:
    """Ask for a service account in place of the user."""
    if dns1123_subdomain(name):
        raise EvaluationError("Invalid service account name")
    if dns1123_label(namespace):
        raise EvaluationError("Invalid service account namespace")
    return value.asking(AuthorizerValue, service_account=(namespace, name))


@AUTHORIZATION.method(
    "check", "PathCheck, string -> Decision", "ResourceCheck, string -> Decision", cost=lambda *_: _CHECK_COST
)
def check(value: AuthorizerValue, verb: str) -> Decision:
    """Ask."""
    question = replace(value.question, verb=verb)
    return Decision(lambda: value.answer(question))


@AUTHORIZATION.method("allowed", "Decision -> bool")
def allowed(value: Decision) -> bool:
    """Tell whether it is allowed."""
    return value.said[0]


@AUTHORIZATION.method("reason", "Decision -> string")
def reason(value: Decision) -> str:
    """Return why."""
    return value.said[1]


@AUTHORIZATION.method("errored", "Decision -> bool")
def errored(value: Decision) -> bool:
    """Tell whether an authorizer failed."""
    return bool(value.said[2])


@AUTHORIZATION.method("error", "Decision -> string")
def error(value: Decision) -> str:
    """Return how an authorizer failed."""
    return value.said[2]
