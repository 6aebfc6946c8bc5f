"""The plugin: asks every policy that is about a request, and does what the bindings say.

Source: kubernetes apiserver ``pkg/admission/plugin/policy/validating/dispatcher.go``. Expressions are loaded with the
first policy: most clusters have none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
from hyperkube_lib.dynamic_admission.matching import Match, is_exempt
from hyperkube_lib.dynamic_admission.namespaces import Namespaces
from hyperkube_lib.dynamic_admission.policies import (
    Invocation,
    Parameters,
    Policies,
    Problem,
    fails_closed,
    namespace_for,
)

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.machinery.errors import ApiError, Forbidden, from_status
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, name_of
from hyperkube.plugin import Plugin, PluginContext

if TYPE_CHECKING:
    from hyperkube_admission.validating_admission_policy.judgement import Breach, CompiledPolicy, Verdict

POLICIES = GroupVersionResource("admissionregistration.k8s.io", "v1", "validatingadmissionpolicies")
BINDINGS = GroupVersionResource("admissionregistration.k8s.io", "v1", "validatingadmissionpolicybindings")
FAILURE_ANNOTATION = "validation.policy.admission.k8s.io/validation_failure"
_CODES = {"Unauthorized": 401, "Forbidden": 403, "RequestEntityTooLarge": 413, "Invalid": 422}


def _compile(policy: Object) -> CompiledPolicy:
    from hyperkube_admission.validating_admission_policy.judgement import compile_policy

    return compile_policy(policy)


class ValidatingAdmissionPolicy(Plugin):
    """Asks every policy that is about a request."""

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._namespaces = Namespaces(self.client, self.informers)
        self._policies = Policies(
            self.informers.informer(POLICIES),
            self.informers.informer(BINDINGS),
            Parameters(self.client, self.informers),
            self._namespaces,
            _compile,
        )

    def is_idle(self, _request: AdmissionRequest) -> bool:
        """Tell whether there are no policies."""
        return self._policies.is_empty

    @hookimpl
    def admission_validate(self, request: AdmissionRequest) -> None:
        """Refuse, warn of or note what breaks a policy."""
        if self._policies.is_empty or is_exempt(request):
            return
        from hyperkube_admission.validating_admission_policy.judgement import judge
        from hyperkube_lib.dynamic_admission.context import names

        known: dict[Match, dict[str, Any]] = {}
        denials: list[ApiError] = []
        notes: dict[str, list[str]] = {}
        for one in self._policies.invocations(request):
            if isinstance(one, Problem):
                denials += [_denial(request, one.policy, one.binding, one.message)] if fails_closed(one.policy) else []
                continue
            if one.match not in known:
                namespace = namespace_for(request, self._namespaces)
                known[one.match] = names(one.match.seen(request), self.context.authorizer, namespace)
            verdict = judge(one, known[one.match])
            denials += _act(request, one, verdict)
            for key, text in verdict.annotations:
                texts = notes.setdefault(f"{name_of(one.policy)}/{key}", [])
                if text not in texts:
                    texts.append(text)
        request.annotations.update({key: ", ".join(texts) for key, texts in notes.items()})
        if denials:
            raise denials[0]


def _act(request: AdmissionRequest, one: Invocation[CompiledPolicy], verdict: Verdict) -> list[ApiError]:
    """Do what the binding says about breaches; return the denials."""
    denials: list[ApiError] = []
    policy, binding = name_of(one.policy), name_of(one.binding)
    actions = one.binding["spec"].get("validationActions") or []
    for breach in verdict.breaches:
        if "Deny" in actions:
            denials.append(_denial(request, one.policy, one.binding, breach.message, breach.reason))
        if "Audit" in actions:
            request.annotations[FAILURE_ANNOTATION] = _noted(breach, policy, binding, actions)
        if "Warn" in actions:
            text = (
                f"Validation failed for ValidatingAdmissionPolicy '{policy}' with binding '{binding}': {breach.message}"
            )
            if text not in request.warnings:
                request.warnings.append(text)
    return denials + [_denial(request, one.policy, one.binding, text) for text in verdict.annotation_errors]


def _noted(breach: Breach, policy: str, binding: str, actions: list[str]) -> str:
    note = {
        "message": breach.message,
        "policy": policy,
        "binding": binding,
        "expressionIndex": breach.index,
        "validationActions": actions,
    }
    return orjson.dumps([note]).decode()


def _denial(request: AdmissionRequest, policy: Object, binding: Object | None, why: str, reason: str = "") -> ApiError:
    bound = f" with binding '{name_of(binding)}'" if binding is not None else ""
    message = f"ValidatingAdmissionPolicy '{name_of(policy)}'{bound} denied request: {why}"
    named = Forbidden.about(request.resource.group_resource, request.name or _unnamed(request), message)
    reason = reason or "Invalid"
    details = {**named.details, "causes": [{"message": message}]}
    return from_status(
        {"message": named.message, "reason": reason, "code": _CODES.get(reason, 422), "details": details}
    )


def _unnamed(request: AdmissionRequest) -> str:
    meta = (request.object or {}).get("metadata") or {}
    return str(meta.get("name") or ("Unknown" if meta.get("generateName") else ""))
