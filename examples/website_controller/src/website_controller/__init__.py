"""website: keeps a Deployment and a Service for every Website.

The decision is a pure function of what was seen; the loop around it watches and acts. Deleting a Website takes its
Deployment and Service along, because they name it as their owner.
"""

from __future__ import annotations

from hyperkube.client.actions import Action, Create, Update, perform
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.resources import DEPLOYMENTS, SERVICES
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, is_being_deleted, metadata, name_of, namespace_of, split_key, uid_of
from hyperkube.plugin import Plugin

WEBSITES = GroupVersionResource("example.com", "v1", "websites")

SERVER = """
import http.server, os
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write((os.environ["TEXT"] + "\\n").encode())
http.server.ThreadingHTTPServer((os.environ["POD_IP"], int(os.environ["PORT"])), Page).serve_forever()
"""


def owned(site: Object) -> Object:
    """Return the metadata of what belongs to a website."""
    owner = {
        "apiVersion": "example.com/v1",
        "kind": "Website",
        "name": name_of(site),
        "uid": uid_of(site),
        "controller": True,
    }
    return {"name": name_of(site), "namespace": namespace_of(site), "ownerReferences": [owner]}


def wanted_deployment(site: Object) -> Object:
    """Return the Deployment that serves a website."""
    labels = {"website": name_of(site)}
    env = [
        {"name": "TEXT", "value": site["spec"]["text"]},
        {"name": "PORT", "value": str(site["spec"].get("port", 8080))},
        {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
    ]
    container = {"name": "web", "image": "host", "command": ["python3", "-c", SERVER], "env": env}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": owned(site),
        "spec": {
            "replicas": site["spec"].get("replicas", 1),
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }


def wanted_service(site: Object) -> Object:
    """Return the Service in front of a website's pods."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": owned(site),
        "spec": {"selector": {"website": name_of(site)}, "ports": [{"port": site["spec"].get("port", 8080)}]},
    }


def says(deployment: Object) -> Object:
    """Return the part of a Deployment that a website decides; the rest was filled in by the server."""
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    env = {row["name"]: row.get("value") for row in container["env"]}
    return {"replicas": deployment["spec"]["replicas"], "env": env, "command": container["command"]}


def decide(site: Object, deployment: Object | None, service: Object | None) -> list[Action]:
    """Return what brings the cluster closer to the website."""
    if is_being_deleted(site):
        return []
    actions: list[Action] = []
    wanted = wanted_deployment(site)
    if deployment is None:
        actions.append(Create(DEPLOYMENTS, wanted))
    elif says(deployment) != says(wanted):
        actions.append(Update(DEPLOYMENTS, {**deployment, "spec": {**deployment["spec"], **wanted["spec"]}}))
    if service is None:
        actions.append(Create(SERVICES, wanted_service(site)))
    elif service["spec"]["ports"][0]["port"] != site["spec"].get("port", 8080):
        actions.append(Update(SERVICES, {**service, "spec": {**service["spec"], **wanted_service(site)["spec"]}}))
    ready = (deployment or {}).get("status", {}).get("readyReplicas", 0)
    if site.get("status", {}).get("readyReplicas", 0) != ready:
        actions.append(Update(WEBSITES, {**site, "status": {"readyReplicas": ready}}, subresource="status"))
    return actions


class Website(Plugin):
    """Runs the decision for every Website that changes, or whose Deployment or Service does."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Subscribe to the three resources."""
        self._sites = self.informers.informer(WEBSITES)
        self._deployments = self.informers.informer(DEPLOYMENTS)
        self._services = self.informers.informer(SERVICES)
        loop = ReconcileLoop(self.context.name, self._sync, clock=self.context.clock, logger=self.context.logger)
        loop.watch(self._sites)
        loop.watch_owned(self._deployments, "Website")
        loop.watch_owned(self._services, "Website")
        return loop

    def _sync(self, key: str) -> float | None:
        namespace, name = split_key(key)
        site = self._sites.get(namespace, name)
        if site is None:
            return None
        found = [held.get(namespace, name) for held in (self._deployments, self._services)]
        deployment, service = (obj if obj and _belongs(obj, site) else None for obj in found)
        return perform(self.client, None, decide(site, deployment, service))


def _belongs(obj: Object, site: Object) -> bool:
    return any(owner["uid"] == uid_of(site) for owner in metadata(obj).get("ownerReferences", []))
