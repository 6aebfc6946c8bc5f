"""The file of ``--cloud-config``: gcfg, as Kubernetes' provider and CloudStack's cloud controller manager read it.

Source: kubernetes ``pkg/cloudprovider/providers/cloudstack/cloudstack.go`` (CSConfig), the same file of
cloudstack-kubernetes-provider.
"""

from __future__ import annotations

from hyperkube_lib.cloud_provider.gcfg import fields_of, read_gcfg

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.record import Record

_WITHOUT_EFFECT = frozenset({"version"})
"""Which API calls a management server has is not asked: what an old one lacks is not used."""


class CloudStackConfig(Record):
    """``[Global]``: where the API is, as whom it is asked, and what is the cluster's.

    Attributes:
        project_id: of the project in which all is made, empty for the account's own.
        zone: of the machine that asks; without it the machine's metadata tell.
        region: of all nodes; without it a node's region is its zone.
    """

    api_url: str = ""
    api_key: str = ""
    secret_key: str = ""
    ssl_no_verify: bool = False
    project_id: str = ""
    zone: str = ""
    region: str = ""

    def __repr__(self) -> str:
        return f"CloudStackConfig(api_url={self.api_url!r})"  # never what is secret

    @property
    def can_ask(self) -> bool:
        """Whether the API may be asked: a kubelet may do with its machine's metadata alone."""
        return bool(self.api_url and self.api_key and self.secret_key)


def read_config(path: str) -> CloudStackConfig:
    """Return what a file says; no file says nothing.

    Raises:
        UsageError: it cannot be read, has an unknown key, or a part of the credentials: one line that names the file.
    """
    values = read_gcfg(path, known=("global",)).get(("global", ""), {})
    try:
        config = fields_of(CloudStackConfig, "Global", values, _WITHOUT_EFFECT)
    except ValueError as error:
        raise UsageError(f"--cloud-config={path!r}: {error}") from error
    given = {"api-url": config.api_url, "api-key": config.api_key, "secret-key": config.secret_key}
    if missing := [key for key, value in given.items() if not value]:
        if len(missing) < len(given):
            raise UsageError(f"--cloud-config={path!r}: [Global] has no {' and no '.join(missing)}")
    elif not config.api_url.startswith(("https://", "http://")):
        raise UsageError(
            f"--cloud-config={path!r}: [Global] api-url is no URL such as https://cloud.example/client/api"
        )
    return config
