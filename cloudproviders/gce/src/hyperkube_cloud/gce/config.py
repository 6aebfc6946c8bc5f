"""The file of ``--cloud-config``: gcfg, as Kubernetes' provider reads it.

Source: cloud-provider-gcp ``providers/gce/gce.go`` (ConfigGlobal).
"""

from __future__ import annotations

from hyperkube_lib.cloud_provider.gcfg import fields_of, read_gcfg

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.record import Record

API = "https://compute.googleapis.com/compute/v1/"
CONTAINER_API = "https://container.googleapis.com/"
WITHOUT_EFFECT = frozenset({"alpha-features"})


class GceConfig(Record):
    """All of ``[Global]``.

    Attributes:
        token_url: where tokens come from: empty for the machine's account, ``nil`` for Google's default credentials,
            else a URL that is given `token_body`.
        project_id, network_project_id: of the machines, and of their network if it is another's.
        network_name, subnetwork_name: names or URLs; without them the machine's network, and its subnetwork here.
        stack_type: ``IPV6`` puts those addresses first.
        node_tags: of the machines, for firewalls; without them the longest tag that begins each machine's name.
        node_instance_prefix: what all machines' names begin with.
        regional, multizone: machines stand in all zones of the region.
        api_endpoint, container_api_endpoint: other addresses of the API, and of that of clusters.
        secondary_range_name: of the subnetwork's ranges, that which machines get alias ranges of.
        local_zone: the zone; without it the machine's own.
    """

    token_url: str = ""
    token_body: str = ""
    project_id: str = ""
    network_project_id: str = ""
    network_name: str = ""
    subnetwork_name: str = ""
    stack_type: str = ""
    node_tags: tuple[str, ...] = ()
    node_instance_prefix: str = ""
    regional: bool = False
    multizone: bool = False
    api_endpoint: str = ""
    container_api_endpoint: str = ""
    secondary_range_name: str = ""
    local_zone: str = ""

    def __repr__(self) -> str:
        return f"GceConfig(project_id={self.project_id!r}, local_zone={self.local_zone!r})"  # never the token's body

    @property
    def endpoint(self) -> str:
        """Where the API is, with a slash at the end."""
        return f"{(self.api_endpoint or API).rstrip('/')}/"

    @property
    def container_endpoint(self) -> str:
        """Where the API of clusters is, with a slash at the end."""
        return f"{(self.container_api_endpoint or CONTAINER_API).rstrip('/')}/"


def read_config(path: str) -> GceConfig:
    """Return what a file says; no file says nothing.

    Raises:
        UsageError: it cannot be read, or has an unknown key: one line that names the file.
    """
    sections = read_gcfg(path, known=("global",))
    try:
        return fields_of(GceConfig, "Global", sections.get(("global", ""), {}), WITHOUT_EFFECT)
    except ValueError as error:
        raise UsageError(f"--cloud-config={path!r}: {error}") from error
