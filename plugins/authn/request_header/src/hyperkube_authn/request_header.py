"""RequestHeader: a front proxy that we trust has authenticated the user and says who it is in headers.

The proxy proves itself by a client certificate of its own authority (``--requestheader-client-ca-file``), whose common
name may be restricted (``--requestheader-allowed-names``). Without that authority no header is ever believed.
Source: kubernetes apiserver ``pkg/authentication/request/headerrequest``.
"""

from __future__ import annotations

from hyperkube_lib.client_certificates import CertificateRefused, FrontProxy

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.authn import Authenticated, Credentials
from hyperkube.machinery.errors import Unauthorized
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin, PluginContext


class Settings(Record):
    """The front proxy's authority, the names its certificate may have, and its headers."""

    requestheader_client_ca_file: str = ""
    requestheader_allowed_names: tuple[str, ...] = ()
    requestheader_username_headers: tuple[str, ...] = ("x-remote-user",)
    requestheader_uid_headers: tuple[str, ...] = ()
    requestheader_group_headers: tuple[str, ...] = ("x-remote-group",)
    requestheader_extra_headers_prefix: tuple[str, ...] = ("x-remote-extra-",)


class RequestHeader(Plugin):
    """Names the user that a trusted front proxy passes on."""

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        settings = self.settings(Settings)
        path = settings.requestheader_client_ca_file
        self._proxy = None
        if path:
            self._proxy = FrontProxy(
                path,
                allowed_names=settings.requestheader_allowed_names,
                username_headers=settings.requestheader_username_headers,
                uid_headers=settings.requestheader_uid_headers,
                group_headers=settings.requestheader_group_headers,
                extra_headers_prefix=settings.requestheader_extra_headers_prefix,
            )

    @hookimpl
    def authn_authenticate(self, credentials: Credentials) -> Authenticated | None:
        """Believe the headers once the proxy's certificate is verified."""
        if self._proxy is None:
            return None
        try:
            user = self._proxy.user(credentials.certificate, credentials.headers or {}, self.context.clock.now())
        except CertificateRefused as error:
            raise Unauthorized from error
        return None if user is None else Authenticated(user, credentials.audiences)
