"""What deployments, replica sets, daemon sets and stateful sets have in common.

Source: kubernetes pkg/apis/apps/validation/validation.go and pkg/registry/apps.
"""

from __future__ import annotations

from hyperkube_api.core.pod_specs.warnings import template_warnings
from hyperkube_api.core.pod_specs.warnings.names import workload_name_warnings
from hyperkube_api.meta.go_shape import go_shape
from hyperkube_api.meta.specs import OnFirstUse
from hyperkube_api.meta.strategies import StatusStrategy, changed_generation
from hyperkube_api.meta.validation import label_selector, percent_of

from hyperkube.hookspecs.api import Call
from hyperkube.machinery.field import ROOT, FieldError, Path, invalid, required
from hyperkube.machinery.labels import Selector, SelectorError, from_label_selector
from hyperkube.machinery.objects import Object

_validate_running_template: OnFirstUse[list[FieldError]] = OnFirstUse(
    "hyperkube_api.core.workloads:validate_running_template"
)

_SPEC = ROOT.child("spec")
_STATUS = ROOT.child("status")


def section(holder: Object, name: str) -> Object:
    """Return a member that is an object, made if absent."""
    section: Object = holder.get(name) or {}
    holder[name] = section
    return section


def check_selector(
    path: Path, spec: Object, kind: str, unreadable: str = "invalid label selector"
) -> tuple[list[FieldError], Selector | None]:
    """Check the selector of a workload; return it unless it is unusable (none at all selects nothing)."""
    selector = spec.get("selector")
    errors = [required(path)] if selector is None else label_selector(path, selector)
    if selector is not None and not selector.get("matchLabels") and not selector.get("matchExpressions"):
        errors.append(invalid(path, selector, f"empty selector is invalid for {kind}"))
    try:
        return errors, from_label_selector(selector)
    except SelectorError:
        return [*errors, invalid(path, selector, unreadable)], None


def check_template(spec: Object, selector: Selector | None) -> list[FieldError]:
    """Check the template of a workload, unless the selector cannot be read."""
    if selector is None:
        return []
    return _validate_running_template.call(_SPEC.child("template"), spec.get("template") or {}, selector)


def is_zero(value: int | str | None) -> bool:
    """Return whether a number or percentage of replicas is absent or zero."""
    return value in {None, 0} or percent_of(value) == 0


def strategy_shape(name: str, strategy: Object) -> Object:
    """Return a strategy as Kubernetes shows one: numbers that are not there are zero."""
    shown: Object = go_shape(f"hyperkube_api.apps.v1:{name}", strategy)
    rolling = shown.get("RollingUpdate")
    if rolling is not None and name != "StatefulSetUpdateStrategy":
        shown["RollingUpdate"] = {member: 0 if value is None else value for member, value in rolling.items()}
    elif rolling is not None:
        rolling["Partition"] = rolling["Partition"] or 0
    return shown


def check_collision_count(status: Object, old: Object) -> list[FieldError]:
    """Check that ``status.collisionCount`` did not go back."""
    now, before = status.get("collisionCount"), old.get("collisionCount")
    if before is not None and (now is None or now < before):
        return [invalid(_STATUS.child("collisionCount"), now or 0, "cannot be decremented")]
    return []


class WorkloadStrategy(StatusStrategy):
    """The strategy of workloads that keep pods of a template running."""

    generation = True
    _warns_of_names = True

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Warn of what is allowed but unwise in the name and the template."""
        if not changed_generation(obj, old):
            return []
        named = workload_name_warnings(obj) if old is None and self._warns_of_names else []
        return named + template_warnings(obj["spec"].get("template"), "spec.template", None)
