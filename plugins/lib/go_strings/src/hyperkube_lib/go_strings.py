"""Objects as Go prints them with ``%v``, where that is what clients see in a message.

Source: the generated ``String`` methods of kubernetes ``staging/src/k8s.io/apimachinery/pkg/apis/meta/v1``.
"""

from __future__ import annotations

from hyperkube.machinery.objects import Object


def label_selector_string(selector: Object | None) -> str:
    """Return a ``*metav1.LabelSelector``."""
    if selector is None:
        return "nil"
    labels = "".join(f"{key}: {value}," for key, value in sorted((selector.get("matchLabels") or {}).items()))
    rows = "".join(
        f"LabelSelectorRequirement{{Key:{row['key']},Operator:{row['operator']},"
        f"Values:[{' '.join(row.get('values') or [])}],}},"
        for row in selector.get("matchExpressions") or []
    )
    matches = f"MatchLabels:map[string]string{{{labels}}},MatchExpressions:[]LabelSelectorRequirement{{{rows}}}"
    return f"&LabelSelector{{{matches},}}"
