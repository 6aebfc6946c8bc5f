"""PodSecurity: pods keep to the pod security standard that their namespace names in its labels.

What is enforced refuses pods; what is audited and warned about is also told of workloads, whose pods would be refused.
Source: kubernetes ``staging/src/k8s.io/pod-security-admission/admission``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from hyperkube_admission.pod_security.policies import PREFIX, LevelVersion, Policy, policy_of
from hyperkube_lib.pod_templates import TEMPLATE_RESOURCES, template_of

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.kinds.pods import spec_of
from hyperkube.kinds.resources import NAMESPACES, PODS
from hyperkube.machinery.aggregate import aggregate
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import Forbidden, InternalError, Invalid, NotFound, UsageError
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.groups import GroupKind
from hyperkube.machinery.objects import Object, labels_of, name_of
from hyperkube.plugin import Plugin, PluginContext

MOST_PODS = 3000
"""So many existing pods are looked at when a namespace becomes stricter."""
_LOOKED_AT = frozenset({"", "ephemeralcontainers", "resize"})
"""The subresources of pods that write a pod."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings, as in Kubernetes' ``PodSecurityConfiguration``.

    Attributes:
        defaults: ``enforce``, ``enforce-version``, ``audit``, … for namespaces without the label.
        exemptions: ``usernames``, ``namespaces`` and ``runtimeClasses`` for which nothing holds.
    """

    defaults: Mapping[str, str] = field(default_factory=dict)
    exemptions: Mapping[str, Sequence[str]] = field(default_factory=dict)


def _joined(findings: Sequence[object]) -> str:
    return ", ".join(str(finding) for finding in findings)


_NAMESPACES, _PODS = NAMESPACES.group_resource, PODS.group_resource
_ENFORCED = f"{PREFIX}enforce-policy"


class PodSecurity(Plugin):
    """Holds every written pod against the policy of its namespace, and every namespace against the known policies."""

    may_block = False
    handles = frozenset(
        {"namespaces", *(f"pods/{part}" for part in _LOOKED_AT if part), *(name for _group, name in TEMPLATE_RESOURCES)}
    )

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        settings = self.settings(Settings)
        self._defaults, errors = policy_of(settings.defaults, Policy(), prefix="")
        if errors:
            raise UsageError(f"settings of plugin {context.name!r}: {errors[0].path}: {errors[0].detail}")
        self._shown = str(self._defaults.enforce), self._defaults.asks_for_nothing("enforce", "audit", "warn")
        self._exempt: dict[str, frozenset[str]] = {what: frozenset(of) for what, of in settings.exemptions.items()}
        unknown = set(self._exempt) - {"usernames", "namespaces", "runtimeClasses"}
        if unknown:
            raise UsageError(f"settings of plugin {context.name!r}: unknown exemption {min(unknown)!r}")
        self._namespaces = self.informers.informer(NAMESPACES)
        self.decided_by = (self._namespaces,)

    def repeats(self, request: AdmissionRequest) -> bool:
        """Tell whether the namespace was known, so that it was not asked for."""
        return self._namespaces.get("", request.namespace) is not None

    @hookimpl
    def admission_validate(self, request: AdmissionRequest) -> None:
        """Refuse pods that break what is enforced, tell of the rest."""
        if request.operation not in {"CREATE", "UPDATE"}:
            return
        resource = request.resource
        place = resource.group_resource
        if place == _NAMESPACES:
            if not request.subresource:
                self._namespace(request)
        elif place == _PODS:
            if request.subresource in _LOOKED_AT:
                self._pod(request)
        elif not request.subresource and (resource.group, resource.resource) in TEMPLATE_RESOURCES:
            self._workload(request)

    def _pod(self, request: AdmissionRequest) -> None:
        policy, errors = self._policy(request)
        shown, asks_for_nothing = (str(policy.enforce), False) if policy is not self._defaults else self._shown
        request.annotations[_ENFORCED] = shown
        if asks_for_nothing or (not errors and policy.asks_for_nothing("enforce", "audit", "warn")):
            return
        from hyperkube_admission.pod_security.significance import is_significant  # the first policy asks for it

        pod = request.written()
        if request.old_object is None or is_significant(pod, request.old_object):
            self._hold_against(request, pod, policy, errors, enforce=True)

    def _workload(self, request: AdmissionRequest) -> None:
        policy, errors = self._policy(request)
        if not errors and policy.asks_for_nothing("audit", "warn"):
            return
        kind = TEMPLATE_RESOURCES[request.resource.group, request.resource.resource]
        template = template_of(request.written(), kind)
        if template is not None:
            self._hold_against(request, template, policy, errors, enforce=False)

    def _policy(self, request: AdmissionRequest) -> tuple[Policy, list[FieldError]]:
        """Return what holds for the request, and what is wrong with the namespace's labels."""
        exempt = (
            ("namespaces", request.namespace, "namespace"),
            ("usernames", request.user.name, "user"),
        )
        for what, who, note in exempt:
            if self._is_exempt(what, who):
                request.annotations[f"{PREFIX}exempt"] = note
                return Policy(), []
        namespace = self._namespaces.get("", request.namespace)
        if namespace is None:
            try:
                namespace = self.client.get(NAMESPACES, request.namespace)
            except NotFound as error:
                raise InternalError.because(f'failed to lookup namespace "{request.namespace}"') from error
        return policy_of(labels_of(namespace), self._defaults)

    def _is_exempt(self, what: str, who: Any) -> bool:
        return bool(who) and who in self._exempt.get(what, frozenset())

    def _hold_against(
        self, request: AdmissionRequest, pod: Object, policy: Policy, errors: Sequence[FieldError], *, enforce: bool
    ) -> None:
        if self._is_exempt("runtimeClasses", spec_of(pod).get("runtimeClassName")):
            request.annotations[f"{PREFIX}exempt"] = "runtimeClass"
            return
        from hyperkube_admission.pod_security.standards import findings_of  # the first policy asks for them

        if errors:
            request.annotations[f"{PREFIX}error"] = f"Failed to parse policy: {aggregate(errors)}"
        audited = findings_of(pod, policy.audit)
        if audited:
            request.annotations[f"{PREFIX}audit-violations"] = _would_violate(policy.audit, audited)
        broken = findings_of(pod, policy.enforce) if enforce else []
        if broken:
            raise Forbidden(f'violates PodSecurity "{policy.enforce}": {_joined(broken)}')
        warned = findings_of(pod, policy.warn)
        if warned:
            request.warnings.append(_would_violate(policy.warn, warned))

    def _namespace(self, request: AdmissionRequest) -> None:
        """Refuse labels that mean nothing, and tell of the pods that a stricter policy would not have let in."""
        new, errors = policy_of(labels_of(request.written()), self._defaults)
        old, old_errors = policy_of(labels_of(request.old_object or {}), self._defaults)
        if errors and (request.operation == "CREATE" or errors != old_errors):
            raise Invalid.about(GroupKind("", "Namespace"), request.name, errors)
        if request.operation == "CREATE" or new.enforce == old.enforce or new.enforce.level == "privileged":
            return
        same_version = new.enforce.version == old.enforce.version
        if same_version and not new.enforce.is_stricter_than(old.enforce):
            return
        if not self._is_exempt("namespaces", request.name):
            request.warnings.extend(self._existing(request.name, new.enforce))

    def _existing(self, namespace: str, enforce: LevelVersion) -> list[str]:
        """Return the warnings about pods that are there already, alike ones together."""
        from hyperkube_admission.pod_security.standards import findings_of

        pods = self.client.list(PODS, namespace).items
        broken: dict[str, list[str]] = {}
        for pod in pods[:MOST_PODS]:
            if self._is_exempt("runtimeClasses", spec_of(pod).get("runtimeClassName")):
                continue
            findings = findings_of(pod, enforce)
            if findings:
                broken.setdefault(_joined([finding.reason for finding in findings]), []).append(name_of(pod))
        warnings = []
        if len(pods) > MOST_PODS:
            warnings.append(
                f"new PodSecurity enforce level only checked against the first {MOST_PODS} of {len(pods)} existing pods"
            )
        if broken:
            warnings.append(
                f'existing pods in namespace "{namespace}" violate the new PodSecurity enforce level "{enforce}"'
            )
        return warnings + sorted(f"{_counted(names)}: {reasons}" for reasons, names in broken.items())


def _would_violate(policy: LevelVersion, findings: Sequence[object]) -> str:
    return f'would violate PodSecurity "{policy}": {_joined(findings)}'


def _counted(names: list[str]) -> str:
    others = len(names) - 1
    if not others:
        return names[0]
    return f"{min(names)} (and {others} other {'pod' if others == 1 else 'pods'})"
