"""Whether a pod must show that it could have pulled an image that is there.

Source: kubernetes ``pkg/kubelet/images/pullmanager/image_pull_policies.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from hyperkube_host.kubelet.images.image_name import InvalidImageName, parse_image_name

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.field import quote

FIELD = "preloadedImagesVerificationAllowlist"


class VerificationPolicy(StrEnum):
    """The values of ``imagePullCredentialsVerificationPolicy``."""

    NEVER_VERIFY = "NeverVerify"
    NEVER_VERIFY_PRELOADED_IMAGES = "NeverVerifyPreloadedImages"
    NEVER_VERIFY_ALLOWLISTED_IMAGES = "NeverVerifyAllowlistedImages"
    ALWAYS_VERIFY = "AlwaysVerify"


class ImagePullPolicyEnforcer:
    """Decides by a policy."""

    def __init__(self, policy: str, allow_list: Sequence[str] = ()) -> None:
        """Take the policy and the images, or beginnings that end in ``/*``, that it lets pass.

        Raises:
            UsageError: there is no such policy, or an entry of the list is neither.
        """
        try:
            self._policy = VerificationPolicy(policy)
        except ValueError as error:
            known = ", ".join(VerificationPolicy)
            raise UsageError(f"unknown image pull credential verification policy: {policy} (known: {known})") from error
        self._prefixes = tuple(entry[:-1] for entry in map(_checked, allow_list) if entry.endswith("/*"))
        self._names = frozenset(entry for entry in allow_list if not entry.endswith("/*"))

    def requires_verification(self, image: str, *, pulled_by_kubelet: bool) -> bool:
        """Tell whether the credentials of a pod that wants an image must be verified.

        Args:
            image: its name without tag and digest.
            pulled_by_kubelet: whether there are records of a pull; one without was loaded in another way.
        """
        match self._policy:
            case VerificationPolicy.NEVER_VERIFY:
                return False
            case VerificationPolicy.NEVER_VERIFY_PRELOADED_IMAGES:
                return pulled_by_kubelet
            case VerificationPolicy.NEVER_VERIFY_ALLOWLISTED_IMAGES:
                return image not in self._names and not image.startswith(self._prefixes)
        return True


def _checked(pattern: str) -> str:
    """Return an entry of the allow list.

    Raises:
        UsageError: it is none.
    """
    what = f"{FIELD}: {quote(pattern)}"
    if pattern != pattern.strip():
        raise UsageError(f"{what}: leading/trailing spaces are not allowed")
    bare = pattern.removesuffix("*") if pattern.endswith("/*") else pattern
    if not bare or "*" in bare:
        raise UsageError(f"{what}: not a valid wildcard pattern, only patterns ending with '/*' are allowed")
    if bare != pattern:
        if bare == "/":
            raise UsageError(f"{what}: at least registry hostname is required")
        return pattern
    try:
        name = parse_image_name(pattern).repository
    except InvalidImageName as error:
        raise UsageError(f"{what}: failed to parse as an image name: {error}") from error
    if name != pattern:
        raise UsageError(f"{what}: neither tag nor digest is accepted in an image reference, nor a short name")
    return pattern
