"""The loop: a policy whose generation was not observed yet gets its warnings.

Source: kubernetes ``pkg/controller/validatingadmissionpolicystatus/controller.go``.
"""

from __future__ import annotations

from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.machinery.errors import NotFound, UsageError
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, split_key
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin

POLICIES = GroupVersionResource("admissionregistration.k8s.io", "v1", "validatingadmissionpolicies")


def is_checked(policy: Object) -> bool:
    """Tell whether the policy's status speaks of the policy as it is."""
    seen = (policy.get("status") or {}).get("observedGeneration") or 0
    return int(policy["metadata"].get("generation") or 0) <= int(seen)


class Settings(Record):
    """How many policies are synced at once."""

    concurrent_validating_admission_policy_status_syncs: int = 5


class ValidatingAdmissionPolicyStatus(Plugin):
    """Writes ``status.typeChecking`` of validating admission policies."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop.

        Raises:
            UsageError: no policy could be synced.
        """
        syncs = self.settings(Settings).concurrent_validating_admission_policy_status_syncs
        if syncs < 1:
            raise UsageError(f"concurrent-validating-admission-policy-status-syncs must be greater than 0, got {syncs}")
        self._policies = self.informers.informer(POLICIES)
        loop = ReconcileLoop(
            self.context.name,
            self._sync,
            clock=self.context.clock,
            logger=self.context.logger,
            workers=syncs,
        )
        loop.watch(self._policies)
        return loop

    def _sync(self, key: str) -> None:
        policy = self._policies.get(*split_key(key))
        if policy is None or is_checked(policy):
            return
        from hyperkube_controller.validatingadmissionpolicy_status.schemas import PublishedSchemas  # brings all of CEL
        from hyperkube_controller.validatingadmissionpolicy_status.warnings import warnings_of

        warnings = warnings_of(policy, PublishedSchemas(self.client))
        checking = {"expressionWarnings": warnings} if warnings else {}
        status = {"observedGeneration": policy["metadata"]["generation"], "typeChecking": checking}
        try:
            self.client.patch(POLICIES, policy["metadata"]["name"], {"status": status}, subresource="status")
        except NotFound:
            return
