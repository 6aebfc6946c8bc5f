"""hyperkube owners: the objects of a namespace as a tree of who owns whom.

An owner is what ``metadata.ownerReferences`` names: deleting it deletes what stands below it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing

import click

from hyperkube.client.client import Client
from hyperkube.client.discovery import discover
from hyperkube.machinery.errors import ApiError, UsageError
from hyperkube.machinery.objects import Object

_SKIPPED = {"events"}


@click.command()
@click.option("--namespace", "-n", default="default", show_default=True, help="namespace to look in")
@click.option("--kubeconfig", envvar="KUBECONFIG", help="the cluster to ask (also by $KUBECONFIG)")
def command(namespace: str, kubeconfig: str | None) -> None:
    """Print the objects of a namespace as a tree of owners."""
    from hyperkube.client.kubeconfig import client_from_kubeconfig

    if not kubeconfig:
        raise UsageError("no cluster: give --kubeconfig=FILE or set KUBECONFIG")
    try:
        with closing(client_from_kubeconfig(kubeconfig, user_agent="hyperkube-owners")) as client:
            objects = list(listed(client, namespace))
    except OSError as error:
        raise UsageError(f"the cluster of {kubeconfig!r} does not answer: {error}") from error
    for line in tree(objects):
        click.echo(line)


def listed(client: Client, namespace: str) -> Iterator[Object]:
    """Yield all objects of a namespace that this user may list, each with its kind."""
    for resource in discover(client).resources:
        if not resource.namespaced or "list" not in resource.verbs or resource.gvr.resource in _SKIPPED:
            continue
        try:
            items = client.list(resource.gvr, namespace).items
        except ApiError as error:
            click.echo(f"warning: {resource.gvr.resource}: {error}", err=True)
            continue
        yield from ({**item, "kind": resource.kind} for item in items)


def tree(objects: Iterable[Object]) -> Iterator[str]:
    """Yield one line per object, indented below its controller, or below its first owner of the namespace."""
    by_uid = {obj["metadata"]["uid"]: obj for obj in objects}
    owned: defaultdict[str, list[Object]] = defaultdict(list)
    roots = []
    for obj in sorted(by_uid.values(), key=lambda obj: (obj["kind"], obj["metadata"]["name"])):
        owners = [owner for owner in obj["metadata"].get("ownerReferences") or () if owner["uid"] in by_uid]
        owners.sort(key=lambda owner: not owner.get("controller"))
        if owners:
            owned[owners[0]["uid"]].append(obj)
        else:
            roots.append(obj)

    def lines(obj: Object, depth: int) -> Iterator[str]:
        yield f"{'  ' * depth}{obj['kind']}/{obj['metadata']['name']}"
        for child in owned[obj["metadata"]["uid"]]:
            yield from lines(child, depth + 1)

    for root in roots:
        yield from lines(root, 0)
