"""What a policy finds about one request.

Source: kubernetes apiserver ``pkg/admission/plugin/policy/validating/validator.go``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from hyperkube_lib.cel.admission import QUESTION, TEXT, TEXT_OR_NULL, compile_variables, environment
from hyperkube_lib.dynamic_admission.evaluation import Compiled, Conditions, Evaluation, Failed, OutOfBudget, compiled
from hyperkube_lib.dynamic_admission.policies import Invocation, fails_closed

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object

_MAX_MESSAGE = 5 * 1024
_MAX_ANNOTATION = 10 * 1024


@dataclass(frozen=True, slots=True)
class _Validation:
    declared: Object
    question: Compiled
    message: Compiled | None

    def text(self, evaluation: Evaluation) -> str:
        """Return what to say of a breach."""
        made = ""
        if self.message is not None:
            try:
                made = str(evaluation.value(self.message)).strip()
            except OutOfBudget:
                raise
            except Failed:
                made = ""
        if not made or "\n" in made or len(made.encode()) > _MAX_MESSAGE:
            made = str(self.declared.get("message") or "").strip()
        return made or f"failed expression: {str(self.declared.get('expression') or '').strip()}"


@dataclass(frozen=True, slots=True)
class CompiledPolicy:
    """A policy, ready to be asked."""

    variables: Mapping[str, Compiled]
    conditions: Conditions
    validations: tuple[_Validation, ...]
    annotations: tuple[tuple[str, Compiled, str], ...]


def compile_policy(policy: Object) -> CompiledPolicy:
    """Compile a policy; what cannot be compiled fails when it is asked."""
    spec = policy["spec"]
    base = environment(params=bool(spec.get("paramKind")), authorizer=True, patches=False)
    declared = [(str(one["name"]), str(one["expression"])) for one in spec.get("variables") or ()]
    scope, variables = compile_variables(base, declared)
    validations = []
    for one in spec.get("validations") or ():
        message = str(one.get("messageExpression") or "")
        shown = compiled(scope, message, TEXT) if message.strip() else None
        validations.append(_Validation(one, compiled(scope, str(one.get("expression") or ""), QUESTION), shown))
    annotations = tuple(
        (str(one["key"]), compiled(scope, str(one["valueExpression"]), TEXT_OR_NULL), str(one["valueExpression"]))
        for one in spec.get("auditAnnotations") or ()
    )
    return CompiledPolicy(
        variables, Conditions(base, spec.get("matchConditions") or ()), tuple(validations), annotations
    )


@dataclass(slots=True)
class Breach:
    """A validation that does not hold, by its place, or that could not be evaluated."""

    index: int
    message: str
    reason: str = ""


@dataclass(slots=True)
class Verdict:
    """What one invocation found."""

    breaches: list[Breach] = field(default_factory=list)
    annotations: list[tuple[str, str]] = field(default_factory=list)
    annotation_errors: list[str] = field(default_factory=list)


def judge(invocation: Invocation[CompiledPolicy], known: Mapping[str, Any]) -> Verdict:
    """Ask a policy about a request; `known` is what expressions may speak of."""
    own, verdict = invocation.evaluator, Verdict()
    closed = fails_closed(invocation.policy)
    evaluation = Evaluation({**known, "params": invocation.param}, own.variables)
    try:
        if not own.conditions.hold(evaluation):
            return verdict
    except Failed as error:
        verdict.breaches += [Breach(0, str(error))] if closed else []
        return verdict
    for index, one in enumerate(own.validations):
        try:
            if evaluation.value(one.question) is not True:
                reason = str(one.declared.get("reason") or "Invalid")
                verdict.breaches.append(Breach(index, one.text(evaluation), reason))
        except Failed as error:
            verdict.breaches += [Breach(index, str(error))] if closed else []
            if isinstance(error, OutOfBudget):
                break
    for key, program, _source in own.annotations:
        try:
            made = evaluation.value(program)
        except Failed as error:
            verdict.annotation_errors += [str(error)] if closed else []
            continue
        if isinstance(made, str) and made.strip():
            verdict.annotations.append((key, made.strip()[:_MAX_ANNOTATION]))
    return verdict
