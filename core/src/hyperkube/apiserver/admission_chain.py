"""The admission host: calls the enabled plugins and words their refusals.

A plugin refuses with a bare message; what was refused is added here, as Kubernetes adds it around its plugins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.hookspecs.authz import Attributes, Authorizer
from hyperkube.machinery.errors import ApiError, Forbidden
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, name_of
from hyperkube.machinery.users import UserInfo

Step = Callable[..., object]


class UserMay:
    """Asks the authorizers about one user (`hyperkube.hookspecs.admission.Authorizes`)."""

    __slots__ = ("_authorizer", "_user")

    def __init__(self, authorizer: Authorizer, user: UserInfo) -> None:
        self._authorizer = authorizer
        self._user = user

    def __call__(
        self, verb: str, resource: GroupVersionResource, *, subresource: str = "", namespace: str = "", name: str = ""
    ) -> bool:
        """Tell whether the user of this request may do that."""
        asked = Attributes(
            self._user, verb, resource.group, resource.version, resource.resource, subresource, namespace, name
        )
        return self._authorizer.authorize(asked).allowed


class AdmissionChain:
    """The enabled plugins' hooks, in order; without plugins everything is admitted.

    Args:
        mutators: the ``admission_mutate`` functions in the order of the chain.
        validators: the ``admission_validate`` functions likewise.
    """

    def __init__(self, mutators: Sequence[Step] = (), validators: Sequence[Step] = ()) -> None:
        self._mutators = tuple(mutators)
        self._validators = tuple(validators)

    @property
    def mutates(self) -> bool:
        """Whether any plugin may change objects."""
        return bool(self._mutators)

    @property
    def is_empty(self) -> bool:
        """Whether there is no plugin at all."""
        return not self._mutators and not self._validators

    def mutate(self, request: AdmissionRequest) -> None:
        """Let the plugins change the object; all of them once more when one of them asks for it.

        Raises:
            ApiError: a plugin refuses.
        """
        self._run(self._mutators, request)
        if request.wants_reinvocation and not request.is_reinvocation:
            request.is_reinvocation = True
            self._run(self._mutators, request)

    def validate(self, request: AdmissionRequest) -> None:
        """Let the plugins refuse.

        Raises:
            ApiError: a plugin refuses.
        """
        self._run(self._validators, request)

    def _run(self, steps: Sequence[Step], request: AdmissionRequest) -> None:
        try:
            for step in steps:
                step(request=request)
        except Forbidden as error:
            undo(request)
            if error.details.get("kind") or error.details.get("name"):
                raise
            raise _worded(error, request) from error
        except ApiError:
            undo(request)
            raise


def _worded(error: Forbidden, request: AdmissionRequest) -> Forbidden:
    name = request.name or (name_of(request.object) if request.object else "") or _generated(request.object)
    worded = Forbidden.about(request.resource.group_resource, name, error.message)
    worded.details = {**worded.details, **error.details}
    return worded


def _generated(obj: Object | None) -> str:
    """Return what a name that is not generated yet will begin with."""
    return str(((obj or {}).get("metadata") or {}).get("generateName") or "")


def undo(request: AdmissionRequest) -> None:
    """Give back what the plugins charged: the write was refused or failed."""
    for give_back in reversed(request.on_failure):
        give_back()
    request.on_failure.clear()
