"""csrapproving: a node's request for its own client certificate is approved when the one who asks may have it.

Who may is a question to the authorizers: the subresources ``selfnodeclient`` and ``nodeclient`` of
certificatesigningrequests stand for it. Source: kubernetes ``pkg/controller/certificates/approver/sarapprove.go``.
"""

from __future__ import annotations

from hyperkube_lib import certificate_requests as requests

from hyperkube.client.actions import Update
from hyperkube.client.reconcile import NotYet, ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.resources import CERTIFICATE_SIGNING_REQUESTS, SUBJECT_ACCESS_REVIEWS
from hyperkube.machinery.objects import Object, name_of
from hyperkube.machinery.times import format_time
from hyperkube.plugin import Plugin

MESSAGES = {
    "selfnodeclient": "Auto approving self kubelet client certificate after SubjectAccessReview.",
    "nodeclient": "Auto approving kubelet client certificate after SubjectAccessReview.",
}
"""Permission, as a subresource → what an approval because of it says."""


def permissions(csr: Object) -> list[str]:
    """Return the permissions of which one is enough for the request; none if it is not for us to decide."""
    spec = csr.get("spec") or {}
    if requests.certificate_of(csr) or requests.is_decided(csr) or spec.get("signerName") != requests.KUBELET_CLIENT:
        return []
    try:
        request = requests.parse(csr)
        requests.check_kubelet_client(request, spec.get("usages") or [])
    except requests.BadRequestContent:
        return []
    own = spec.get("username") == requests.common_name(request)
    return ["selfnodeclient", "nodeclient"] if own else ["nodeclient"]


def review(csr: Object, subresource: str) -> Object:
    """Return the question whether the one who asks has a permission."""
    spec = csr.get("spec") or {}
    attributes = {
        "group": "certificates.k8s.io",
        "resource": "certificatesigningrequests",
        "verb": "create",
        "subresource": subresource,
        "version": "*",
    }
    who = {
        "user": spec.get("username"),
        "uid": spec.get("uid"),
        "groups": spec.get("groups"),
        "extra": spec.get("extra"),
    }
    return {
        "kind": "SubjectAccessReview",
        "apiVersion": "authorization.k8s.io/v1",
        "spec": {key: value for key, value in who.items() if value} | {"resourceAttributes": attributes},
    }


def approval(csr: Object, subresource: str, now: str) -> Update:
    """Return the approval of a request."""
    status = csr.get("status") or {}
    said = {
        "type": "Approved",
        "status": "True",
        "reason": "AutoApproved",
        "message": MESSAGES[subresource],
        "lastUpdateTime": now,
    }
    conditions = [*(status.get("conditions") or []), said]
    return Update(CERTIFICATE_SIGNING_REQUESTS, {**csr, "status": {**status, "conditions": conditions}}, "approval")


class Csrapproving(Plugin):
    """Approves what kubelets ask for themselves."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        self._requests = self.informers.informer(CERTIFICATE_SIGNING_REQUESTS)
        loop = ReconcileLoop(
            self.context.name,
            self._sync,
            clock=self.context.clock,
            logger=self.context.logger,
            backoff=requests.BACKOFF,
        )
        self._requests.add_handler(loop.enqueue, loop.enqueue_update)
        return loop

    def _sync(self, name: str) -> None:
        csr = self._requests.get("", name)
        if csr is None:
            return
        asked = permissions(csr)
        for permission in asked:
            answer = self.client.create(SUBJECT_ACCESS_REVIEWS, review(csr, permission))
            if (answer.get("status") or {}).get("allowed"):
                action = approval(csr, permission, format_time(self.context.clock.now()))
                self.client.update(action.resource, action.object, subresource=action.subresource)
                return
        if asked:
            tried = " ".join(asked)
            raise NotYet(f'recognized csr "{name_of(csr)}" as [{tried}] but subject access review was not approved')
