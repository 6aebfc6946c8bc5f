"""What a kubelet may request certificates for: its own pods, as they are, of the signers that they name themselves.

What a cache may be late to know (an object, or its uid) is refused as an error and not as forbidden: the kubelet tries
again. Source: kubernetes ``plugin/pkg/admission/noderestriction/admission.go`` (admitPodCertificateRequest).
"""

from __future__ import annotations

from hyperkube.client.client import Client
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.kinds.pods import is_mirror, spec_of
from hyperkube.kinds.resources import NODES, PODS, SERVICE_ACCOUNTS
from hyperkube.machinery.errors import ApiError, Forbidden, NotFound
from hyperkube.machinery.field import quote
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, name_of, uid_of


class PodCertificateRequests:
    """Checks the requests of kubelets."""

    def __init__(self, client: Client) -> None:
        """Ask the client for nodes, pods and service accounts."""
        self._client = client

    def check(self, node: str, request: AdmissionRequest) -> None:
        """Insist that a request is a new one for a pod of the node.

        Raises:
            Forbidden: it is not.
            ApiError: it does not fit to what is known now.
        """
        if request.operation != "CREATE":
            raise Forbidden(f"unexpected operation {request.operation}")
        if request.subresource:
            raise Forbidden(f"unexpected subresource {request.subresource}")
        asked, namespace = spec_of(request.written()), request.namespace
        if asked.get("nodeName") != node:
            named = quote(asked.get("nodeName") or "")
            raise Forbidden(
                f"PodCertificateRequest.Spec.NodeName={named}, which is not the requesting node {quote(node)}"
            )
        key = f"{namespace}/{asked.get('podName') or ''}"
        about = f"PodCertificateRequest for pod {quote(key)}"
        known = uid_of(self._find(NODES, "node", node))
        if known != asked.get("nodeUID"):
            uids = f"{quote(asked.get('nodeUID') or '')}, inconsistent with the running node ({quote(known)})"
            raise ApiError(f"{about} names node UID {uids}")
        pod = self._find(PODS, "pod", asked.get("podName") or "", namespace)
        if uid_of(pod) != asked.get("podUID"):
            uids = f"({quote(asked.get('podUID') or '')}) which differs from running pod {quote(uid_of(pod))}"
            raise ApiError(f"{about} contains pod UID {uids}")
        self._check_pod(node, asked, pod, namespace, about)

    def _check_pod(self, node: str, asked: Object, pod: Object, namespace: str, about: str) -> None:
        key = quote(f"{namespace}/{name_of(pod)}")
        if spec_of(pod).get("nodeName") != node:
            raise Forbidden(f"pod {key} is not running on node {quote(node)} named in the PodCertificateRequest")
        if is_mirror(pod):
            raise Forbidden(f"pod {key} is a mirror pod")
        account, own = asked.get("serviceAccountName") or "", spec_of(pod).get("serviceAccountName") or ""
        if account != own:
            names = f"({quote(account)}) that differs from running pod ({quote(own)})"
            raise Forbidden(f"{about} contains serviceAccountName {names}")
        known = uid_of(self._find(SERVICE_ACCOUNTS, "service account", account, namespace))
        if known != asked.get("serviceAccountUID"):
            uids = f"{quote(asked.get('serviceAccountUID') or '')}, which differs from the running service account"
            raise ApiError(f"{about} names service account UID {uids} ({quote(known)})")
        signer = str(asked.get("signerName") or "")
        if signer not in _signers(pod):
            raise Forbidden(f"signerName {quote(signer)} not found in the podCertificate volumes of pod {key}")

    def _find(self, resource: GroupVersionResource, what: str, name: str, namespace: str = "") -> Object:
        try:
            return self._client.get(resource, name, namespace)
        except NotFound as error:
            key = quote(f"{namespace}/{name}" if namespace else name)
            text = f"while retrieving {what} {key} named in the PodCertificateRequest: {error}"
            raise ApiError(text) from error


def _signers(pod: Object) -> set[str]:
    """Return the signers that the projected volumes of a pod name."""
    sources = (
        source.get("podCertificate") or {}
        for volume in spec_of(pod).get("volumes") or ()
        for source in (volume.get("projected") or {}).get("sources") or ()
    )
    return {str(source["signerName"]) for source in sources if source.get("signerName")}
