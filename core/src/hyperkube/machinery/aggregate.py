"""The text of several errors together, as clients know it from Kubernetes.

Source: kubernetes apimachinery ``pkg/util/errors/errors.go`` (Aggregate).
"""

from __future__ import annotations

from collections.abc import Iterable


def aggregate(errors: Iterable[object]) -> str:
    """Return the text of one error as it is, of several ``[a, b]``, none twice; of no errors the empty string."""
    texts = list(dict.fromkeys(map(str, errors)))
    if not texts:
        return ""
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
