"""hyperkube why forbidden: which bindings speak of a user, what each of them lacks, and which roles would do.

The bindings and roles are read from the cluster as its administrator; the server itself is asked whether the request is
allowed, so that authorizers other than RBAC have their say too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from hyperkube_lib.local_cluster.access import cluster_client, cluster_options
from hyperkube_lib.rbac_explanation import Policy, Question, explain, user_named

from hyperkube.machinery.errors import ApiError, UsageError
from hyperkube.machinery.objects import Object

if TYPE_CHECKING:
    from hyperkube.client.client import Client


def _read(client: Client) -> Policy:
    from hyperkube.kinds.resources import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES

    return Policy(
        roles=client.list(ROLES).items,
        cluster_roles=client.list(CLUSTER_ROLES).items,
        bindings=client.list(ROLE_BINDINGS).items,
        cluster_bindings=client.list(CLUSTER_ROLE_BINDINGS).items,
    )


def _ask(client: Client, question: Question) -> Object:
    """Return what the server says to a SubjectAccessReview."""
    from hyperkube.kinds.resources import SUBJECT_ACCESS_REVIEWS

    spec: Object = {"user": question.user.name, "groups": list(question.user.groups)}
    if question.path:
        spec["nonResourceAttributes"] = {"verb": question.verb, "path": question.path}
    else:
        words = ("verb", "group", "resource", "subresource", "name", "namespace")
        spec["resourceAttributes"] = {word: getattr(question, word) for word in words if getattr(question, word)}
    status: Object = client.create(SUBJECT_ACCESS_REVIEWS, {"spec": spec}).get("status") or {}
    return status


def _question(client: Client, words: dict[str, Any]) -> Question:
    """Read the command line's words: ``pods``, ``deployments.apps``, ``pods/log`` or ``/metrics``.

    Raises:
        UsageError: no group has such a resource.
    """
    from hyperkube.client.discovery import discover

    user = user_named(words["user"], words["groups"])
    text: str = words["resource"]
    if text.startswith("/"):
        return Question(user=user, verb=words["verb"].lower(), path=text)
    whole, _, subresource = text.partition("/")
    resource, _, group = whole.partition(".")
    rows = [row.gvr for row in discover(client).resources if row.gvr.resource == resource]
    if not group:
        if not rows:
            raise UsageError(
                f"the server has no resource {resource!r}; say RESOURCE.GROUP for one that it does not serve"
            )
        group = rows[0].group
    return Question(
        user=user,
        verb=words["verb"],
        group=group,
        resource=resource,
        subresource=subresource,
        name=words["name"] or "",
        namespace="" if words["all_namespaces"] else words["namespace"],
    )


def answer(client: Client, words: dict[str, Any]) -> list[str]:
    """Return the whole answer as lines.

    Raises:
        UsageError: the words make no question.
        ApiError: the server refuses to say.
    """
    question = _question(client, words)
    status = _ask(client, question)
    reason = f": {status['reason']}" if status.get("reason") else ""
    verdict = "may" if status.get("allowed") else "may not"
    head = f"{question.user.name} {verdict} {question}{reason}"
    return [head] if status.get("allowed") else [head, *(f"  {line}" for line in explain(_read(client), question))]


@click.command("forbidden")
@click.argument("verb")
@click.argument("resource")
@click.argument("name", required=False)
@click.option("--as", "user", required=True, help="the user, also system:serviceaccount:NAMESPACE:NAME")
@click.option("--as-group", "groups", multiple=True, help="a group of the user; may be repeated")
@click.option("--namespace", "-n", default="default", show_default=True, help="where")
@click.option("--all-namespaces", "-A", is_flag=True, help="everywhere, and for what has no namespace")
@cluster_options
def forbidden(**words: Any) -> None:
    """Say why a user may not do something: the nearest bindings and what they lack.

    Example: hyperkube why forbidden --as alice create deployments -n shop
    """
    client = cluster_client(words["kubeconfig"], words["data_dir"])
    try:
        lines = answer(client, words)
    except (ApiError, OSError) as error:
        raise UsageError(str(error)) from error
    click.echo("\n".join(lines))
