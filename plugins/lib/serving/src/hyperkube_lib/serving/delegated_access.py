"""Who may use the HTTPS port of a server that is not the API server: the API server is asked who it is, and whether.

A client certificate of the given authority or a bearer token says who; a request with neither is anonymous. A few paths
are open to all, ``system:masters`` may do anything, and about everything else a SubjectAccessReview is posted. Answers
are kept for ten seconds.

Sources: kubernetes apiserver ``pkg/server/options/authentication.go`` and ``authorization.go`` (the Delegating options
and their defaults), ``pkg/endpoints/handlers/responsewriters/errors.go`` (the texts).
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_lib.serving.delegated_authentication import DelegatedAuthentication
from hyperkube_lib.serving.delegated_authorization import AccessUnknown, DelegatedAuthorization
from hyperkube_lib.serving.exchange import Answer, Handler, HttpRequest, Response
from hyperkube_lib.serving.wire import plain, refusal

from hyperkube.machinery.errors import EmptyDetails, Forbidden, Unauthorized
from hyperkube.machinery.users import PRIVILEGED_GROUP, UserInfo

OPEN_PATHS = ("/healthz", "/readyz", "/livez")


class DelegatedAccess:
    """Tells who sends a request, and whether they may; thread-safe."""

    def __init__(
        self,
        authentication: DelegatedAuthentication,
        authorization: DelegatedAuthorization,
        *,
        open_paths: Sequence[str] = OPEN_PATHS,
    ) -> None:
        """Take whom to ask.

        Args:
            authentication: says who.
            authorization: is asked about all that is not open, for all but ``system:masters``.
            open_paths: allowed to all users; one that ends in ``*`` stands for all that begin with it.
        """
        self._authentication = authentication
        self._authorization = authorization
        self._open = frozenset(path.strip("/") for path in open_paths if not path.endswith("*"))
        self._open_below = tuple(path[:-1].lstrip("/") for path in open_paths if path.endswith("*"))

    def check(self, request: HttpRequest) -> UserInfo:
        """Return who sends a request, if they may.

        Raises:
            Unauthorized: their certificate or token proves nothing.
            Forbidden: they may not.
            AccessUnknown: the API server could not be asked.
        """
        user = self._authentication.authenticate(request)
        if PRIVILEGED_GROUP not in user.groups and not self._is_open(request.path):
            wanted = {"path": request.path, "verb": request.method.lower()}
            if not self._authorization.allows(user, path=wanted):
                message = f'forbidden: User "{user.name}" cannot {wanted["verb"]} path "{request.path}"'
                raise Forbidden(message, details=EmptyDetails())
        return user

    def _is_open(self, path: str) -> bool:
        bare = path.strip("/")
        return bare in self._open or (bool(self._open_below) and bare.startswith(self._open_below))


class Guarded:
    """A handler behind a check of who asks; a `Handler`."""

    def __init__(self, inner: Handler, access: DelegatedAccess) -> None:
        self._inner = inner
        self._access = access

    def handle(self, request: HttpRequest) -> Answer:
        """Answer whom the check lets through."""
        try:
            self._access.check(request)
        except (Unauthorized, Forbidden) as error:
            return refusal(error)
        except AccessUnknown as error:
            return plain(500, f'Internal Server Error: "{request.path}": {error}')
        return self._inner.handle(request)  # type: ignore[return-value]  # nothing inside waits for its turn

    def hot(self, request: HttpRequest) -> Response | None:
        """The check may have to ask, so nothing is answered on the loop."""
        del request
        return None

    def is_long_running(self, request: HttpRequest) -> bool:
        """Tell what the inner handler tells."""
        return self._inner.is_long_running(request)
