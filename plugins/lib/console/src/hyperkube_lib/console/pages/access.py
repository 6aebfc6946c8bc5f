"""Access: what the user may do, who may do something, and why a user may not."""

from __future__ import annotations

from typing import Any

import flask
from hyperkube_lib.console import here
from hyperkube_lib.console.grants import Grant, grants
from hyperkube_lib.rbac_explanation import Policy, Question, explain, user_named

from hyperkube.kinds.resources import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object

REVIEW = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
RULES = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
VERBS = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "impersonate", "bind")
_QUESTION = ("verb", "group", "resource", "subresource", "name", "namespace")


def register(app: flask.Flask) -> None:
    """Add the page."""
    app.add_url_rule("/access", "access", access)


def access() -> str:
    """Show the three questions, and the answer to the one that was asked."""
    get = flask.request.args.get
    asked = get("ask", "")
    shown: dict[str, Any] = {"answer": None, "grants": None, "rules": None, "wrong": ""}
    try:
        if asked == "who":
            shown["grants"] = who_may(question_of())
        elif asked == "why":
            shown["answer"] = why(question_of(), get("user", ""))
        elif asked == "mine":
            shown["rules"] = rules_of(get("namespace", "") or "default")
    except UsageError as error:
        shown["wrong"] = str(error)
    resources = sorted({str(each.gvr.group_resource) for each in here.resources()})
    return here.page(
        "access.html", section="access", asked=asked, given=flask.request.args, resources=resources, verbs=VERBS,
        **shown,
    )  # fmt: skip


def question_of() -> Question:
    """Return the question that the form asks: ``pods``, ``pods/log``, ``deployments.apps`` or ``/metrics``.

    Raises:
        UsageError: it names no resource.
    """
    get = flask.request.args.get
    what, verb = get("resource", "").strip(), get("verb", "get").strip()
    user = user_named(get("user", "").strip(), get("groups", "").replace(",", " ").split())
    if not what:
        raise UsageError("say which resource, such as pods, pods/log or deployments.apps, or a path such as /metrics")
    if what.startswith("/"):
        return Question(user=user, verb=verb, path=what)
    whole, _, subresource = what.partition("/")
    resource, _, group = whole.partition(".")
    if not group:
        group = next((each.gvr.group for each in here.resources() if each.gvr.resource == resource), "")
    return Question(
        user=user, verb=verb, group=group, resource=resource, subresource=subresource,
        name=get("name", "").strip(), namespace=get("namespace", "").strip(),
    )  # fmt: skip


def policy() -> Policy:
    """Return all roles and bindings that the user may read.

    Raises:
        ApiError: some must not be read.
    """
    reader = here.reader()
    return Policy(
        roles=list(reader.objects(ROLES)),
        cluster_roles=list(reader.objects(CLUSTER_ROLES)),
        bindings=list(reader.objects(ROLE_BINDINGS)),
        cluster_bindings=list(reader.objects(CLUSTER_ROLE_BINDINGS)),
    )


def who_may(question: Question) -> list[Grant]:
    """Return who may do it by RBAC."""
    return grants(policy(), question)


def why(question: Question, user: str) -> dict[str, Any]:
    """Return whether a user may, as the server says, and what RBAC lacks for it.

    Raises:
        UsageError: no user is named.
    """
    if not user.strip():
        raise UsageError("say which user: a name, or system:serviceaccount:NAMESPACE:NAME")
    spec: Object = {"user": question.user.name, "groups": list(question.user.groups)}
    if question.path:
        spec["nonResourceAttributes"] = {"verb": question.verb, "path": question.path}
    else:
        spec["resourceAttributes"] = {word: getattr(question, word) for word in _QUESTION if getattr(question, word)}
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
    status = here.reader().ask(REVIEW, review).get("status") or {}
    lines = [] if status.get("allowed") else explain(policy(), question)
    return {"question": question, "allowed": bool(status.get("allowed")), "reason": status.get("reason", ""),
            "lines": lines}  # fmt: skip


def rules_of(namespace: str) -> dict[str, Any]:
    """Return what the user may do in a namespace, as far as the authorizers can tell."""
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview",
              "spec": {"namespace": namespace}}  # fmt: skip
    found: dict[str, Any] = here.reader().ask(RULES, review).get("status") or {}
    return {"namespace": namespace, **found}
