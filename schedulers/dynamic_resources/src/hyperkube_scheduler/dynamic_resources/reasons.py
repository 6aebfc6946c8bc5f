"""Why a pod with claims cannot be placed: what is wrong for the whole pod is raised, what a node lacks is a text."""

from __future__ import annotations

from hyperkube.machinery.errors import HyperkubeError

NOT_HERE = "resourceclaim not available on the node"
NOT_ENOUGH = "cannot allocate all claims"
INVALID_POOLS = "invalid resource pools were encountered"
TIMED_OUT = "timed out trying to allocate devices"
STALE = "cannot schedule extended resource claim"
NO_ROOM = "cannot fit resource"
IN_USE = "resourceclaim in use"


class NoClaim(HyperkubeError):
    """A claim is not there, not the pod's, or not to be had; a class is missing: the pod waits."""


class CannotAllocate(HyperkubeError):
    """A claim, class or pool is wrong, so that nothing can be allocated anywhere until it is repaired."""


class NotWritten(HyperkubeError):
    """A claim could not be written; the message says why."""
