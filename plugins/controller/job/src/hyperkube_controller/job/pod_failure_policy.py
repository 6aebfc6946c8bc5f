"""What the pod failure policy says about a failed pod: the first rule that matches decides.

Source: kubernetes ``pkg/controller/job/pod_failure_policy.go``.
"""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube.kinds.pods import status_of
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, name_of, namespace_of


@dataclass(frozen=True, slots=True)
class PolicyMatch:
    """What a rule makes of a failure.

    Attributes:
        action: ``FailJob``, ``FailIndex``, ``Ignore``, ``Count``, or empty where no rule matches.
        message: why the job fails, with ``FailJob``.
    """

    action: str = ""
    message: str = ""

    @property
    def counts(self) -> bool:
        """Whether the failure counts towards the limits of the back-off."""
        return self.action != "Ignore"


NO_MATCH = PolicyMatch()
_ACTIONS = {"FailJob", "FailIndex", "Ignore", "Count"}


def match_pod_failure_policy(job: Object, pod: Object) -> PolicyMatch:
    """Return what the job's policy says about a failed pod."""
    policy = (job.get("spec") or {}).get("podFailurePolicy") or {}
    for position, rule in enumerate(policy.get("rules") or []):
        action = rule.get("action", "")
        cause = _cause(rule, pod) if action in _ACTIONS else ""
        if cause:
            message = f"{cause} matching {action} rule at index {position}" if action == "FailJob" else ""
            return PolicyMatch(action, message)
    return NO_MATCH


def fail_job_message(job: Object, failed: Iterable[Object]) -> str:
    """Return why the job fails at once for one of its failed pods, or the empty string."""
    if (job.get("spec") or {}).get("podFailurePolicy") is None:
        return ""
    return next((found.message for pod in failed if (found := match_pod_failure_policy(job, pod)).message), "")


def _cause(rule: Object, pod: Object) -> str:
    """Return what of the pod the rule matches, in Kubernetes' words, or the empty string."""
    name = f"{namespace_of(pod)}/{name_of(pod)}"
    if rule.get("onExitCodes") is not None:
        container = _exited(rule["onExitCodes"], pod)
        if container is None:
            return ""
        code = container["state"]["terminated"]["exitCode"]
        return f"Container {container['name']} for pod {name} failed with exit code {code}"
    wanted = {(each.get("type"), each.get("status") or "True") for each in rule.get("onPodConditions") or []}
    for condition in status_of(pod).get("conditions") or []:
        if (condition.get("type"), condition.get("status")) in wanted:
            return f"Pod {name} has condition {condition['type']}"
    return ""


def _exited(rule: Object, pod: Object) -> Object | None:
    """Return the status of the first container that ended with an exit code that the rule means."""
    if rule.get("operator") not in {"In", "NotIn"}:
        return None
    values, inside = rule.get("values") or [], rule["operator"] == "In"
    for kind in ("containerStatuses", "initContainerStatuses"):
        for container in status_of(pod).get(kind) or []:
            code = ((container.get("state") or {}).get("terminated") or {}).get("exitCode") or 0
            named = rule.get("containerName") in (None, container.get("name"))
            if code and named and (code in values) == inside:
                return dict(container)
    return None
