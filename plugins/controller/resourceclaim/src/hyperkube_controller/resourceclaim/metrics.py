"""What the controller tells of claims at ``/metrics``: how many it made, and how many there are of each sort.

Source of names and labels: kubernetes ``pkg/controller/resourceclaim/metrics/metrics.go`` as of 1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from hyperkube_lib.controller_metrics import ControllerMetrics

from hyperkube.machinery.metric_families import Counter, Gauge
from hyperkube.machinery.objects import Object, annotations_of

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

ANNOTATION = "resource.kubernetes.io/pod-claim-name"
EXTENDED_ANNOTATION = "resource.kubernetes.io/extended-resource-claim"
_PREFIX = "resourceclaim_controller_"
_CREATES = (
    "Number of ResourceClaims creation requests, categorized by creation status and admin access",
    ("status", "admin_access"),
)
_CLAIMS = (
    (
        "Number of ResourceClaims, categorized by allocation status, admin access, and source. Source can be "
        "'resource_claim_template' (created from a template), 'extended_resource' (extended resources), or empty "
        "(manually created by a user)."
    ),
    ("allocated", "admin_access", "source"),
)


def needs_admin_access(spec: Object) -> bool:
    """Tell whether one of a claim's requests is for an administrator."""
    requests = (spec.get("devices") or {}).get("requests") or ()
    return any((request.get("exactly") or {}).get("adminAccess") for request in requests)


def source_of(claim: Object) -> str:
    """Return what a claim was made for: ``resource_claim_template``, ``extended_resource``, or nothing known."""
    annotations = annotations_of(claim)
    if annotations.get(ANNOTATION):
        return "resource_claim_template"
    return "extended_resource" if annotations.get(EXTENDED_ANNOTATION) == "true" else ""


class ResourceClaimMetrics(ControllerMetrics):
    """Counts; thread-safe.

    Args:
        claims: lists all claims, of which the numbers are made when they are asked for.
    """

    def __init__(self, claims: Callable[[], Iterable[Object]]) -> None:
        self._claims = claims
        self._creates = Counter(f"{_PREFIX}creates_total", *_CREATES)
        super().__init__(self._creates)

    def created(self, spec: Object, *, success: bool) -> None:
        """Count the creation of a claim with that spec, or its refusal."""
        self.add(self._creates, ("success" if success else "failure", _text(needs_admin_access(spec))))

    def collect(self) -> Iterator[Metric]:
        """Return the families as of now."""
        yield from super().collect()
        rows: dict[tuple[str, ...], float] = {}
        for claim in self._claims():
            allocated = bool((claim.get("status") or {}).get("allocation"))
            row = (_text(allocated), _text(needs_admin_access(claim.get("spec") or {})), source_of(claim))
            rows[row] = rows.get(row, 0) + 1
        yield Gauge(f"{_PREFIX}resource_claims", *_CLAIMS).family(rows)


def _text(flag: bool) -> str:
    return "true" if flag else "false"
