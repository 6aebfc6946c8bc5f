"""PodSecurityPolicy: pods must satisfy a policy that their author, or their service account, may use.

A policy may fill in what a pod leaves open. The first one by name that a pod satisfies as it is counts; on create, else
the first that it satisfies once it is completed. A user who may use no policy makes no pods. The API has to be served:
``--runtime-config=policy/v1beta1/podsecuritypolicies=true``. `PodSecurity` is the successor.
Source: kubernetes 1.20 ``plugin/pkg/admission/security/podsecuritypolicy/admission.go``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from hyperkube_admission.pod_security_policy.checks import check
from hyperkube_admission.pod_security_policy.defaults import fill_in

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.hookspecs.authz import Attributes
from hyperkube.kinds.pods import spec_of
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import Forbidden, UsageError
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, annotations_of, copy_object, metadata, name_of
from hyperkube.machinery.users import service_account
from hyperkube.plugin import Plugin, PluginContext

__all__ = ["POLICIES", "VALIDATED", "PodSecurityPolicy"]

POLICIES = GroupVersionResource("policy", "v1beta1", "podsecuritypolicies")
VALIDATED = "kubernetes.io/psp"
"""The annotation that names the policy of a pod."""
_VERSION = "policy/v1beta1"
_SERVED_BY = frozenset({_VERSION, f"api/{_VERSION}", f"{_VERSION}/podsecuritypolicies", "api/legacy"})
_AUDIT = "podsecuritypolicy.policy.k8s.io/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Which API groups and versions are served besides the usual ones."""

    runtime_config: Mapping[str, str] = field(default_factory=dict)


class PodSecurityPolicy(Plugin):
    """Completes new pods and refuses those that no usable policy allows."""

    may_block = False
    handles = frozenset({"pods", "pods/ephemeralcontainers"})

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        if not _SERVED_BY.intersection(self.settings(Settings).runtime_config):
            wanted = f"--runtime-config={_VERSION}/podsecuritypolicies=true"
            raise UsageError(f"admission plugin PodSecurityPolicy needs its API: {wanted}")
        self._policies = self.informers.informer(POLICIES)

    @hookimpl
    def admission_mutate(self, request: AdmissionRequest) -> None:
        """Complete a new pod by the policy that allows it; refuse nothing yet."""
        if not request.creates("pods"):
            return
        pod = request.written()
        completed, policy, _ = self._decide(request, pod, may_complete=True)
        if completed is None:
            return
        pod.clear()
        pod.update(completed)
        pod.setdefault("metadata", {}).setdefault("annotations", {})[VALIDATED] = policy
        request.annotations[f"{_AUDIT}admit-policy"] = policy

    @hookimpl
    def admission_validate(self, request: AdmissionRequest) -> None:
        """Insist on a policy that allows the pod as it is now."""
        if not request.writes("pods") and not request.updates("pods", subresource="ephemeralcontainers"):
            return
        pod = request.written()
        if request.operation == "UPDATE" and spec_of(pod) == spec_of(request.old_object or {}):
            before = {key: value for key, value in annotations_of(request.old_object or {}).items() if key == VALIDATED}
            if before.items() <= annotations_of(pod).items():
                return
        allowed, policy, errors = self._decide(request, pod, may_complete=False)
        if allowed is None:
            listed = " ".join(str(error) for error in errors)
            raise Forbidden(f"PodSecurityPolicy: unable to admit pod: [{listed}]")
        request.annotations[f"{_AUDIT}validate-policy"] = policy

    def _decide(
        self, request: AdmissionRequest, pod: Object, *, may_complete: bool
    ) -> tuple[Object | None, str, list[FieldError]]:
        """Return the pod as a policy allows it, that policy's name, and what the others had against it.

        Raises:
            Forbidden: there is no policy to be used.
        """
        hint = annotations_of(pod).get(VALIDATED, "")
        usable = [policy for policy in self._policies.list() if self._may_use(request, pod, name_of(policy))]
        if not usable:
            raise Forbidden("PodSecurityPolicy: no providers available to validate pod request")
        usable.sort(key=lambda policy: (may_complete or name_of(policy) != hint, name_of(policy)))
        errors: list[FieldError] = []
        second: tuple[Object, str] | None = None
        for policy in usable:
            completed = copy_object(pod)
            fill_in(policy, completed)
            if completed != pod and not may_complete:
                errors += check(policy, pod)
                continue
            wrong = check(policy, completed)
            errors += wrong
            if wrong:
                continue
            if completed == pod:
                return completed, name_of(policy), []
            second = second or (completed, name_of(policy))
        if second is not None:
            return (*second, [])
        return None, "", errors

    def _may_use(self, request: AdmissionRequest, pod: Object, name: str) -> bool:
        """Tell whether the author of a pod, or the account that it runs as, may use a policy."""
        if request.may("use", POLICIES, namespace=request.namespace, name=name):
            return True
        account = str(spec_of(pod).get("serviceAccountName") or "")
        if not account or self.context.authorizer is None:
            return False
        user = service_account(request.namespace or str(metadata(pod).get("namespace", "")), account)
        asked = Attributes(user, "use", "policy", "*", "podsecuritypolicies", "", request.namespace, name)
        return self.context.authorizer.authorize(asked).allowed
