"""The plugin: asks every policy that is about a request, in order, and those again that asked for it.

Source: kubernetes apiserver ``pkg/admission/plugin/policy/mutating/{dispatcher,compilation}.go``.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

from hyperkube_admission.mutating_admission_policy.merge import Schemas
from hyperkube_lib.dynamic_admission.matching import is_exempt
from hyperkube_lib.dynamic_admission.namespaces import Namespaces
from hyperkube_lib.dynamic_admission.policies import (
    Invocation,
    Parameters,
    Policies,
    Problem,
    fails_closed,
    namespace_for,
)
from hyperkube_lib.dynamic_admission.reinvocation import Rounds

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.machinery.errors import ApiError, Forbidden, from_status
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, copy_object, name_of
from hyperkube.plugin import Plugin, PluginContext

if TYPE_CHECKING:
    from hyperkube_admission.mutating_admission_policy.mutations import CompiledPolicy

POLICIES = GroupVersionResource("admissionregistration.k8s.io", "v1", "mutatingadmissionpolicies")
BINDINGS = GroupVersionResource("admissionregistration.k8s.io", "v1", "mutatingadmissionpolicybindings")


def _compile(policy: Object) -> CompiledPolicy:
    from hyperkube_admission.mutating_admission_policy.mutations import compile_policy

    return compile_policy(policy)


class MutatingAdmissionPolicy(Plugin):
    """Lets every policy that is about a request change its object."""

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._namespaces = Namespaces(self.client, self.informers)
        self._schemas = Schemas(self.client, context.clock)
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
    def admission_mutate(self, request: AdmissionRequest) -> None:
        """Apply the mutations of the policies, in the order of their names."""
        if self._policies.is_empty or request.object is None or is_exempt(request):
            return
        invocations = [*self._policies.invocations(request)]
        if not invocations:
            return
        from hyperkube_lib.dynamic_admission.context import names

        rounds = Rounds.of(request, "MutatingAdmissionPolicy")
        problems: list[Problem] = []
        namespace = namespace_for(request, self._namespaces)
        for one in invocations:
            if isinstance(one, Problem):
                problems.append(one)
                continue
            seen = one.match.seen(request)
            problems += self._invoke(request, seen, rounds, one, names(seen, self.context.authorizer, namespace))
        rounds.done(request)
        refused = [problem for problem in problems if fails_closed(problem.policy)]
        if refused:
            raise _denial(request, refused)

    def _invoke(
        self,
        request: AdmissionRequest,
        seen: AdmissionRequest,
        rounds: Rounds,
        one: Invocation[CompiledPolicy],
        known: Mapping[str, Any],
    ) -> list[Problem]:
        """Make one policy's mutations in the version that it names, which `seen` shows."""
        from hyperkube_admission.mutating_admission_policy.mutations import MutationRefused, mutated
        from hyperkube_lib.dynamic_admission.evaluation import Evaluation, Failed

        own, key = one.evaluator, _key(one)
        evaluation = Evaluation({**known, "object": seen.object, "params": one.param}, own.variables)
        try:
            if not own.conditions.hold(evaluation) or rounds.skips(request, key):
                return []
        except Failed as error:
            return [Problem(one.policy, one.binding, str(error))]
        problems: list[Problem] = []
        before = copy_object(seen.written())
        for kind, program in own.mutations:
            evaluation = Evaluation({**known, "object": seen.object, "params": one.param}, own.variables)
            try:
                made = mutated(seen, kind, evaluation.value(program), self._schemas)
            except (Failed, MutationRefused) as error:
                problems.append(Problem(one.policy, one.binding, str(error)))
                continue
            obj = seen.written()
            obj.clear()
            obj.update(made)
        if seen.object != before:
            request.take(seen.written())
            rounds.changed(request)
        rounds.note(key, if_needed=one.policy["spec"].get("reinvocationPolicy") == "IfNeeded")
        return problems


def _key(one: Invocation[CompiledPolicy]) -> Hashable:
    param = (one.param or {}).get("metadata") or {}
    return name_of(one.policy), name_of(one.binding), param.get("namespace"), param.get("name")


def _denial(request: AdmissionRequest, problems: list[Problem]) -> ApiError:
    texts = [_text(problem) for problem in problems]
    named = Forbidden.about(request.resource.group_resource, request.name or name_of(request.object or {}), texts[0])
    details = {**named.details, "causes": [{"message": text} for text in texts]}
    return from_status({"message": texts[0], "reason": "Invalid", "code": 403, "details": details})


def _text(problem: Problem) -> str:
    policy, why = name_of(problem.policy), problem.message
    if problem.binding is None:
        return f'policy "{policy}" denied request: {why}'
    return f"policy '{policy}' with binding '{name_of(problem.binding)}' denied request: {why}"
