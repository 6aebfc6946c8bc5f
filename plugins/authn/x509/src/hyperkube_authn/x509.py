"""X509: the certificate is the identity.

The common name of a client certificate is the user, its organizations are the groups. Who may sign such certificates
is the file of ``--client-ca-file``; without it the plugin recognises no client.
Source: kubernetes apiserver ``pkg/authentication/request/x509/x509.go``.
"""

from __future__ import annotations

import hashlib

from hyperkube_lib.client_certificates import CertificateAuthorities, CertificateRefused

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.authn import Authenticated, Credentials
from hyperkube.machinery.errors import Unauthorized
from hyperkube.machinery.record import Record
from hyperkube.machinery.users import UserInfo
from hyperkube.plugin import Plugin, PluginContext

_CREDENTIAL_ID = "authentication.kubernetes.io/credential-id"
_CACHE_SECONDS = 60.0


class Settings(Record):
    """The authorities of client certificates."""

    client_ca_file: str = ""


class X509(Plugin):
    """Names the user of a certificate that ``--client-ca-file`` vouches for."""

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        path = self.settings(Settings).client_ca_file
        self._authorities = CertificateAuthorities(path) if path else None

    @hookimpl
    def authn_authenticate(self, credentials: Credentials) -> Authenticated | None:
        """Verify the chain and read the subject."""
        if not credentials.certificate or self._authorities is None:
            return None
        try:
            user = self._authorities.user(credentials.certificate, self.context.clock.now())
        except CertificateRefused as error:
            raise Unauthorized from error
        if user is None:
            return None
        fingerprint = hashlib.sha256(credentials.certificate[0]).hexdigest()
        extra = {_CREDENTIAL_ID: (f"X509SHA256={fingerprint}",)}
        return Authenticated(UserInfo(user.name, user.uid, user.groups, extra), credentials.audiences, _CACHE_SECONDS)
