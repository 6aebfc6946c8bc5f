"""What etcd's refusals mean: for the caller (`translate`), and for whether another attempt might do better."""

from __future__ import annotations

from typing import Any

from hyperkube.storage.store import FutureRevision, LeaseNotFound, StoreError, StoreFull, StoreUnavailable


class CompactedAway(StoreError):
    """etcd says that a revision is compacted, without telling up to which; the store makes a `Compacted` of it."""


def elsewhere(error: Any) -> bool:
    """Tell whether another member might answer better."""
    import grpc

    return error.code() in {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED}


def never_sent(error: Any) -> bool:
    """Tell whether the server surely did not get the call."""
    return "failed to connect" in (error.details() or "") or "Connection refused" in (error.details() or "")


def logged_out(error: Any) -> bool:
    """Tell whether the token of the login is not valid any more."""
    import grpc

    return error.code() is grpc.StatusCode.UNAUTHENTICATED and "invalid auth token" in (error.details() or "")


def translate(error: Any) -> StoreError:
    """Return etcd's answer as a Store's error. Source of the texts: etcd ``api/v3rpc/rpctypes/error.go``."""
    details = error.details() or str(error.code())
    if "has been compacted" in details:
        return CompactedAway(details)
    if "is a future revision" in details:
        return FutureRevision(details)
    if "requested lease not found" in details:
        return LeaseNotFound(details)
    if "database space exceeded" in details:
        return StoreFull(details)
    if "request is too large" in details or "too many operations" in details:
        return StoreError(details)
    return StoreUnavailable(details)
