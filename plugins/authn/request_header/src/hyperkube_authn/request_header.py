"""RequestHeader: a front proxy that we trust has authenticated the user and says who it is in headers.

The proxy proves itself by a client certificate of its own authority (``--requestheader-client-ca-file``), whose common
name may be restricted (``--requestheader-allowed-names``). Without that authority no header is ever believed.
Source: kubernetes apiserver ``pkg/authentication/request/headerrequest``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hyperkube_lib.client_certificates import CertificateAuthorities, CertificateRefused

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.authn import Authenticated, Credentials
from hyperkube.machinery.errors import Unauthorized
from hyperkube.machinery.users import AUTHENTICATED_GROUP, UserInfo, unescape_extra_key
from hyperkube.plugin import Plugin, PluginContext

Headers = Mapping[str, Sequence[str]]
"""The values of headers, one per line: a comma in one is part of a name."""


def _first(headers: Headers, names: Sequence[str]) -> str:
    """Return the first line of the first header that is there and not empty."""
    return next((headers[name][0] for name in names if name in headers and headers[name][0]), "")


def _lower(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name.lower() for name in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
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
        self._authorities = CertificateAuthorities(path) if path else None
        self._allowed = frozenset(settings.requestheader_allowed_names)
        self._names = _lower(settings.requestheader_username_headers)
        self._uids = _lower(settings.requestheader_uid_headers)
        self._groups = _lower(settings.requestheader_group_headers)
        self._prefixes = _lower(settings.requestheader_extra_headers_prefix)

    @hookimpl
    def authn_authenticate(self, credentials: Credentials) -> Authenticated | None:
        """Believe the headers once the proxy's certificate is verified."""
        headers = credentials.headers or {}
        name = _first(headers, self._names)
        if self._authorities is None or not name or not credentials.certificate:
            return None
        self._verify(self._authorities, credentials)
        groups = [group for header in self._groups for group in headers.get(header, ()) if group]
        if AUTHENTICATED_GROUP not in groups:
            groups.append(AUTHENTICATED_GROUP)
        user = UserInfo(name, _first(headers, self._uids), tuple(groups), self._extra(headers))
        return Authenticated(user, credentials.audiences)

    def _verify(self, authorities: CertificateAuthorities, credentials: Credentials) -> None:
        from cryptography.x509.oid import NameOID

        try:
            proxy = authorities.verify(credentials.certificate, self.context.clock.now())
        except CertificateRefused as error:
            raise Unauthorized from error
        names = [str(name.value) for name in proxy.subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
        if self._allowed and not self._allowed.intersection(names):
            raise Unauthorized

    def _extra(self, headers: Headers) -> Mapping[str, tuple[str, ...]]:
        """Return the values of all headers with an extra prefix, by what follows it, percent-decoded."""
        found: dict[str, tuple[str, ...]] = {}
        for prefix in self._prefixes:
            for header, values in headers.items():
                if header.startswith(prefix):
                    key = unescape_extra_key(header[len(prefix) :])
                    found[key] = (*found.get(key, ()), *values)
        return found
