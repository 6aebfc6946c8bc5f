"""Validation of a Job and of the specification of the Jobs of a CronJob.

Source: kubernetes pkg/apis/batch/validation/validation.go.
"""

from __future__ import annotations

from hyperkube_api.batch.jobs.labels import CONTROLLER_UID, JOB_NAME, LEGACY_CONTROLLER_UID, LEGACY_JOB_NAME
from hyperkube_api.batch.jobs.validation.success_policy import success_policy
from hyperkube_api.core.pod_specs.validation.pod_spec import validate_template
from hyperkube_api.core.workloads import NO_MATCH
from hyperkube_api.meta.validation import by_rule, counts, label_selector

from hyperkube.machinery import names
from hyperkube.machinery.field import (
    OMITTED,
    ROOT,
    FieldError,
    Path,
    duplicate,
    invalid,
    not_supported,
    required,
    too_long,
    too_many,
)
from hyperkube.machinery.labels import SelectorError, from_label_selector
from hyperkube.machinery.objects import Object, labels_of, name_of, uid_of

_SPEC = ROOT.child("spec")
GENERATED = "`selector` not auto-generated"
MAX_PARALLEL_INDEXED = 100_000
MAX_FAILED_INDEXES = 100_000
HIGH_COMPLETIONS = 100_000
MAX_WHEN_HIGH = 10_000
_NUMBERS = (
    "parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished",
    "backoffLimitPerIndex", "maxFailedIndexes",
)  # fmt: skip


def validate_job(job: Object, *, prefixed: bool = True) -> list[FieldError]:
    """Check a job; `prefixed`: its template has to have the generated labels with a prefix, too."""
    spec = job["spec"]
    errors = _generated_selector(job, prefixed=prefixed) if not spec.get("manualSelector") else []
    errors += validate_job_spec(_SPEC, spec)
    if spec.get("completionMode") == "Indexed" and (spec.get("completions") or 0) > 0:
        pod = f"{name_of(job)}-{spec['completions'] - 1}"
        if names.dns1123_label(pod):
            text = f"will not able to create pod with invalid DNS label: {pod}"
            errors.append(invalid(ROOT.child("metadata", "name"), name_of(job), text))
    return errors


def _generated_selector(job: Object, *, prefixed: bool) -> list[FieldError]:
    """Check that the selector is the one that was made for this job; `prefixed`: with the prefixed labels."""
    spec, uid, name = job["spec"], uid_of(job), name_of(job)
    if spec.get("selector") is None:
        return []
    template_labels, errors = labels_of(spec.get("template") or {}), list[FieldError]()
    at = _SPEC.child("template", "metadata", "labels")
    expected = {LEGACY_CONTROLLER_UID: uid, LEGACY_JOB_NAME: name}
    if prefixed:
        expected |= {CONTROLLER_UID: uid, JOB_NAME: name}
    for key, value in expected.items():
        if key not in template_labels:
            errors.append(required(at.key(key), f"must be '{value}'"))
        elif template_labels[key] != value:
            errors.append(invalid(at.key(key), dict(sorted(template_labels.items())), f"must be '{value}'"))
    try:
        matches = from_label_selector(spec["selector"]).matches(expected)
    except SelectorError:
        return errors
    if not matches:
        errors.append(invalid(_SPEC.child("selector"), spec["selector"], GENERATED))
    return errors


def validate_job_spec(path: Path, spec: Object, *, template_only: bool = False) -> list[FieldError]:
    """Check a job's specification; `template_only`: it is a cron job's, without a selector yet."""
    errors = counts(path, spec, *_NUMBERS)
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        errors.append(required(path.child("backoffLimitPerIndex"), "when maxFailedIndexes is specified"))
    errors += _managed_by(path.child("managedBy"), spec.get("managedBy"))
    errors += _completion(path, spec)
    errors += _failure_policy(path.child("podFailurePolicy"), spec)
    errors += success_policy(path.child("successPolicy"), spec)
    errors += _replacement(path.child("podReplacementPolicy"), spec)
    template, at = spec.get("template") or {}, path.child("template")
    errors += validate_template(at, template)
    errors += _restart_policy(at.child("spec", "restartPolicy"), spec)
    return errors if template_only else errors + _selector(path, spec)


def _selector(path: Path, spec: Object) -> list[FieldError]:
    selector, at = spec.get("selector"), path.child("selector")
    errors = [required(at)] if selector is None else label_selector(at, selector)
    labels = labels_of(spec.get("template") or {})
    try:
        matches = from_label_selector(selector).matches(labels)
    except SelectorError:
        return errors
    if not matches:
        shown = dict(sorted(labels.items())) or None
        errors.append(invalid(path.child("template", "metadata", "labels"), shown, NO_MATCH))
    return errors


def _restart_policy(path: Path, spec: Object) -> list[FieldError]:
    policy = ((spec.get("template") or {}).get("spec") or {}).get("restartPolicy") or ""
    if policy in {"", "Always"}:
        return [required(path, 'valid values: "OnFailure", "Never"')]
    if policy not in {"OnFailure", "Never"}:
        return [not_supported(path, policy, ("OnFailure", "Never"))]
    if spec.get("podFailurePolicy") is not None and policy != "Never":
        return [invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified')]
    return []


def _managed_by(path: Path, value: str | None) -> list[FieldError]:
    if value is None:
        return []
    errors = by_rule(path, value, names.domain_prefixed_path)
    return [*errors, too_long(path, 63)] if len(value) > 63 else errors


def _completion(path: Path, spec: Object) -> list[FieldError]:
    mode = spec.get("completionMode")
    errors: list[FieldError] = []
    if mode is not None and mode not in {"Indexed", "NonIndexed"}:
        errors.append(not_supported(path.child("completionMode"), mode, ("NonIndexed", "Indexed")))
    if mode in {None, "NonIndexed"}:
        text = "requires indexed completion mode"
        errors += [
            invalid(path.child(member), spec[member], text)
            for member in ("backoffLimitPerIndex", "maxFailedIndexes")
            if spec.get(member) is not None
        ]
    if mode == "Indexed":
        errors += _indexed(path, spec)
    return errors


def _indexed(path: Path, spec: Object) -> list[FieldError]:
    completions, parallelism, failed = spec.get("completions"), spec.get("parallelism"), spec.get("maxFailedIndexes")
    errors: list[FieldError] = []
    if completions is None:
        errors.append(required(path.child("completions"), "when completion mode is Indexed"))
    if parallelism is not None and parallelism > MAX_PARALLEL_INDEXED:
        text = f"must be less than or equal to {MAX_PARALLEL_INDEXED} when completion mode is Indexed"
        errors.append(invalid(path.child("parallelism"), parallelism, text))
    if completions is not None and failed is not None and failed > completions:
        errors.append(invalid(path.child("maxFailedIndexes"), failed, "must be less than or equal to completions"))
    if failed is not None and failed > MAX_FAILED_INDEXES:
        text = f"must be less than or equal to {MAX_FAILED_INDEXES}"
        errors.append(invalid(path.child("maxFailedIndexes"), failed, text))
    if completions is None or completions <= HIGH_COMPLETIONS or spec.get("backoffLimitPerIndex") is None:
        return errors
    if failed is None:
        text = f"must be specified when completions is above {HIGH_COMPLETIONS}"
        errors.append(required(path.child("maxFailedIndexes"), text))
    for member, value in (("parallelism", parallelism), ("maxFailedIndexes", failed)):
        if value is not None and value > MAX_WHEN_HIGH:
            text = (
                f"must be less than or equal to {MAX_WHEN_HIGH} when completions are above {HIGH_COMPLETIONS} "
                "and used with backoff limit per index"
            )
            errors.append(invalid(path.child(member), value, text))
    return errors


def _replacement(path: Path, spec: Object) -> list[FieldError]:
    policy = spec.get("podReplacementPolicy")
    if policy is None:
        return []
    if spec.get("podFailurePolicy") is not None:
        return [] if policy == "Failed" else [not_supported(path, policy, ("Failed",))]
    known = ("Failed", "TerminatingOrFailed")
    return [] if policy in known else [not_supported(path, policy, known)]


def _failure_policy(path: Path, spec: Object) -> list[FieldError]:
    policy = spec.get("podFailurePolicy")
    if policy is None:
        return []
    rules, at = policy.get("rules") or [], path.child("rules")
    errors = [too_many(at, len(rules), 20)] if len(rules) > 20 else []
    pod = (spec.get("template") or {}).get("spec") or {}
    containers = {item.get("name") for member in ("containers", "initContainers") for item in pod.get(member) or ()}
    for index, rule in enumerate(rules):
        errors += _failure_rule(at.index(index), rule, spec, containers)
    return errors


def _failure_rule(path: Path, rule: Object, spec: Object, containers: set[str | None]) -> list[FieldError]:
    action, at = rule.get("action") or "", path.child("action")
    known = ["Count", "FailIndex", "FailJob", "Ignore"]
    errors: list[FieldError] = []
    if not action:
        errors.append(required(at, f"valid values: {_listed(known)}"))
    elif action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
        errors.append(invalid(at, action, "requires the backoffLimitPerIndex to be set"))
    elif action not in known:
        errors.append(not_supported(at, action, known))
    codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions") or []
    if codes is not None:
        errors += _exit_codes(path.child("onExitCodes"), codes, containers)
    if len(conditions) > 20:
        errors.append(too_many(path.child("onPodConditions"), len(conditions), 20))
    for index, pattern in enumerate(conditions):
        errors += _pattern(path.child("onPodConditions").index(index), pattern)
    if codes is not None and conditions:
        text = "specifying both OnExitCodes and OnPodConditions is not supported"
        errors.append(invalid(path, OMITTED, text))
    if codes is None and not conditions:
        errors.append(invalid(path, OMITTED, "specifying one of OnExitCodes and OnPodConditions is required"))
    return errors


def _listed(items: list[str]) -> str:
    """Return a list as Go prints one of quoted strings."""
    return "[" + " ".join(f'"{item}"' for item in items) + "]"


def _pattern(path: Path, pattern: Object) -> list[FieldError]:
    kind, status = pattern.get("type") or "", pattern.get("status") or ""
    errors = [invalid(path.child("type"), kind, text) for text in names.qualified_name(kind)]
    known = ["False", "True", "Unknown"]
    if not status:
        errors.append(required(path.child("status"), f"valid values: {_listed(known)}"))
    elif status not in known:
        errors.append(not_supported(path.child("status"), status, known))
    return errors


def _exit_codes(path: Path, codes: Object, containers: set[str | None]) -> list[FieldError]:
    operator, values, container = codes.get("operator") or "", codes.get("values") or [], codes.get("containerName")
    known = ["In", "NotIn"]
    errors: list[FieldError] = []
    if not operator:
        errors.append(required(path.child("operator"), f"valid values: {_listed(known)}"))
    elif operator not in known:
        errors.append(not_supported(path.child("operator"), operator, known))
    if container is not None and container not in containers:
        errors.append(
            invalid(
                path.child("containerName"),
                container,
                "must be one of the container or initContainer names in the pod template",
            )
        )
    at = path.child("values")
    if not values:
        errors.append(invalid(at, values or None, "at least one value is required"))
    elif len(values) > 255:
        errors.append(too_many(at, len(values), 255))
    seen: set[int] = set()
    ordered = True
    for index, value in enumerate(values):
        if operator == "In" and value == 0:
            errors.append(invalid(at.index(index), value, "must not be 0 for the In operator"))
        if value in seen:
            errors.append(duplicate(at.index(index), value))
        ordered = ordered and (index == 0 or values[index - 1] <= value)
        seen.add(value)
    if not ordered:
        errors.append(invalid(at, values, "must be ordered"))
    return errors
