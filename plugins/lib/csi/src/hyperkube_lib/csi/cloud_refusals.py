"""What clouds refuse, in CSI's words: for drivers over a cloud provider."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hyperkube_lib.csi.calls import CsiFailed, refused

from hyperkube.hookspecs.cloud import (
    CloudUnavailable,
    DiskAttachedElsewhere,
    DiskNotFound,
    FileShareNotFound,
    InstanceNotFound,
    RetryLater,
    SnapshotNotFound,
)
from hyperkube.machinery.errors import HyperkubeError


@contextmanager
def as_csi(refusal: str = "INTERNAL") -> Iterator[None]:
    """Raise what a cloud raises as CSI says it.

    Args:
        refusal: the code of what the cloud refuses for a reason of its own.

    Raises:
        CsiFailed: UNAVAILABLE and ABORTED are those after which something may be under way.
    """
    try:
        yield
    except CsiFailed:
        raise
    except (DiskNotFound, FileShareNotFound, InstanceNotFound, SnapshotNotFound) as error:
        raise refused("NOT_FOUND", str(error)) from error
    except RetryLater as error:
        raise refused("ABORTED", str(error)) from error
    except (CloudUnavailable, OSError) as error:
        raise refused("UNAVAILABLE", str(error)) from error
    except DiskAttachedElsewhere as error:
        raise refused("FAILED_PRECONDITION", str(error)) from error
    except HyperkubeError as error:
        raise refused(refusal, str(error)) from error
