"""How the API server serves service accounts."""

from __future__ import annotations

from hyperkube_api.core.service_accounts.strategy import ServiceAccountStrategy
from hyperkube_api.core.service_accounts.token import TOKEN
from hyperkube_api.core.versions import V1
from hyperkube_api.meta.columns import AGE, NAME
from hyperkube_api.meta.specs import OnFirstUse

from hyperkube.hookspecs.api import ResourceSpec


def service_accounts() -> ResourceSpec:
    """Return the specification of the resource ``serviceaccounts``."""
    return V1.resource(
        "serviceaccounts",
        "ServiceAccount",
        short_names=("sa",),
        storage_prefix="serviceaccounts",
        storage_version_hash="pbx9ZvyFpBE=",
        strategy=ServiceAccountStrategy(),
        columns=(NAME, AGE),
        cells=OnFirstUse("hyperkube_api.core.service_accounts.table:service_account_cells"),
        subresources=(TOKEN,),
    )
