"""Tokens and the addresses of services, from Keystone by OpenStack's own library.

Source: cloud-provider-openstack ``pkg/client/client.go`` (ToAuthOptions, NewOpenStackClient).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from hyperkube_cloud.openstack.config import Access

from hyperkube.hookspecs.cloud import CloudUnavailable

Endpoint = Callable[[str], str]
"""Returns where a service of the catalog is, by its type: ``compute``, ``network``, ``load-balancer``, ``volumev3``."""


def credentials_of(access: Access) -> dict[str, str]:
    """Return the arguments by which the library identifies itself: of an application's credentials, or of a user's."""
    if access.application_credential_secret:
        given = {
            "application_credential_id": access.application_credential_id,
            "application_credential_name": access.application_credential_name,
            "application_credential_secret": access.application_credential_secret,
            "username": access.username if not access.application_credential_id else "",
            "user_domain_id": access.user_domain_id or access.domain_id,
            "user_domain_name": access.user_domain_name or access.domain_name,
        }
    else:
        given = {
            "username": access.username,
            "user_id": access.user_id,
            "password": access.password,
            "trust_id": access.trust_id,
            "project_id": "" if access.trust_id else access.tenant_id,
            "project_name": "" if access.trust_id else access.tenant_name,
            "user_domain_id": access.user_domain_id or access.domain_id,
            "user_domain_name": access.user_domain_name or access.domain_name,
            "project_domain_id": access.tenant_domain_id or access.domain_id,
            "project_domain_name": access.tenant_domain_name or access.domain_name,
        }
    return {name: value for name, value in given.items() if value}


class Keystone:
    """Authenticates at first use; thread-safe."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._lock = threading.Lock()
        self._session: Any = None
        self._known: dict[str, str] = {}

    def headers(self, renew: bool) -> Mapping[str, str]:
        """Return the headers that authorize.

        Raises:
            CloudUnavailable: Keystone gives no token.
        """
        with self._lock:
            if renew and self._session is not None:
                self._session.invalidate()
            return {"X-Auth-Token": str(self._asked("a token", lambda session: session.get_token()))}

    def endpoint(self, service: str) -> str:
        """Return where a service is.

        Raises:
            CloudUnavailable: the catalog does not tell.
        """
        with self._lock:
            if service not in self._known:
                found = self._asked(
                    f"service {service!r}",
                    lambda session: session.get_endpoint(
                        service_type=service,
                        interface=self._access.os_endpoint_type,
                        region_name=self._access.region or None,
                    ),
                )
                if not found:
                    raise CloudUnavailable(f"Keystone's catalog has no service {service!r} in {self._access.region!r}")
                self._known[service] = str(found).rstrip("/")
            return self._known[service]

    def _asked(self, what: str, question: Callable[[Any], Any]) -> Any:
        from keystoneauth1.exceptions import ClientException

        try:
            self._session = self._session or self._begin()
            return question(self._session)
        except ClientException as error:  # their texts name the URL and the status alone
            raise CloudUnavailable(f"Keystone does not tell {what}: {type(error).__name__}") from None

    def _begin(self) -> Any:
        from keystoneauth1 import session
        from keystoneauth1.identity import v3

        access = self._access
        kind: Any = v3.ApplicationCredential if access.application_credential_secret else v3.Password
        verify: Any = False if access.tls_insecure else access.ca_file or True
        cert = (access.cert_file, access.key_file) if access.cert_file else None
        auth = kind(access.auth_url, **credentials_of(access))
        return session.Session(auth=auth, verify=verify, cert=cert, connect_retries=0, timeout=30)
