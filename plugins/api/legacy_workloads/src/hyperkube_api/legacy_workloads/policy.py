"""policy/v1beta1: disruption budgets, whose empty selector meant no pods instead of all.

Source: kubernetes v1.24 pkg/apis/policy/v1beta1/conversion.go.
"""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.meta.older_versions import Differences, Lifecycle, OlderVersion, newest_resources
from hyperkube_api.meta.specs import Version
from hyperkube_api.policy.resources import PolicyApi

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion
from hyperkube.machinery.objects import Object
from hyperkube.plugin import Plugin

_V1BETA1 = OlderVersion(
    version=Version("policy", "v1beta1", "hyperkube_api.legacy_workloads.schemas.policy_v1beta1"),
    lifecycle=Lifecycle(21, 25, "policy/v1"),
)
_KEY = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match"
_NONE: Object = {"matchExpressions": [{"key": _KEY, "operator": "Exists"}]}
_ALL: Object = {"matchExpressions": [{"key": _KEY, "operator": "DoesNotExist"}]}


def newer_budget(budget: Object) -> Object:
    """Return a budget whose empty selector means all pods."""
    selector = (budget.get("spec") or {}).get("selector")
    if selector == {}:
        return _selecting(budget, _NONE)
    return _selecting(budget, {}) if selector == _ALL else _plain(budget, selector)


def older_budget(budget: Object) -> Object:
    """Return a budget whose empty selector means no pods."""
    selector = (budget.get("spec") or {}).get("selector")
    if selector == _NONE:
        return _selecting(budget, {})
    return _selecting(budget, _ALL) if selector == {} else _plain(budget, selector)


def _selecting(budget: Object, selector: Object) -> Object:
    return {**budget, "spec": {**budget["spec"], "selector": selector}}


def _plain(budget: Object, selector: Object | None) -> Object:
    """Return a budget without the requirement that stands for an empty selector."""
    expressions = (selector or {}).get("matchExpressions") or []
    kept = [one for one in expressions if one.get("key") != _KEY]
    if selector is None or len(kept) == len(expressions):
        return budget
    left = {name: value for name, value in selector.items() if name != "matchExpressions"}
    return _selecting(budget, {**left, "matchExpressions": kept} if kept else left)


class LegacyPolicyApi(Plugin):
    """policy/v1beta1: disruption budgets, whose empty selector meant no pods instead of all."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve policy/v1beta1 where it is asked for."""
        newer = newest_resources(PolicyApi, self.context)
        differences = Differences(newer=newer_budget, older=older_budget)
        budgets = _V1BETA1.resource(newer["poddisruptionbudgets"], differences)
        return [_V1BETA1.group_version([budgets], group_priority=17_100, version_priority=9)]
