"""The objects that priority and fairness cannot do without, in force even where none are stored.

Source: kubernetes apiserver ``pkg/apis/flowcontrol/bootstrap/default.go`` (mandatory objects).
"""

from __future__ import annotations

from hyperkube.machinery.objects import Object
from hyperkube.machinery.users import AUTHENTICATED_GROUP, PRIVILEGED_GROUP, UNAUTHENTICATED_GROUP

EXEMPT, CATCH_ALL = "exempt", "catch-all"
_RESOURCES = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "clusterScope": True, "namespaces": ["*"]}
_PATHS = {"verbs": ["*"], "nonResourceURLs": ["*"]}


def levels() -> dict[str, Object]:
    """Return the levels, by name."""
    limited = {"nominalConcurrencyShares": 5, "lendablePercent": 0, "limitResponse": {"type": "Reject"}}
    return {
        EXEMPT: {
            "metadata": {"name": EXEMPT},
            "spec": {"type": "Exempt", "exempt": {"nominalConcurrencyShares": 0, "lendablePercent": 0}},
        },
        CATCH_ALL: {"metadata": {"name": CATCH_ALL}, "spec": {"type": "Limited", "limited": limited}},
    }


def schemas() -> dict[str, Object]:
    """Return the schemas, by name."""
    return {
        EXEMPT: _schema(EXEMPT, 1, PRIVILEGED_GROUP),
        CATCH_ALL: _schema(CATCH_ALL, 10_000, UNAUTHENTICATED_GROUP, AUTHENTICATED_GROUP),
    }


def _schema(name: str, precedence: int, *groups: str) -> Object:
    subjects = [{"kind": "Group", "group": {"name": group}} for group in groups]
    rules = [{"subjects": subjects, "resourceRules": [_RESOURCES], "nonResourceRules": [_PATHS]}]
    spec = {
        "priorityLevelConfiguration": {"name": name},
        "matchingPrecedence": precedence,
        "distinguisherMethod": {"type": "ByUser"},
        "rules": rules,
    }
    return {"metadata": {"name": name}, "spec": spec}
