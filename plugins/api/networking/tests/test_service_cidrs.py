"""How the API server serves ServiceCIDRs."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.networking.service_cidrs import (
    service_cidr_cells,
    validate_service_cidr,
    validate_service_cidr_update,
)

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2016-01-01T12:00:00Z"}
FAMILIES = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"


@pytest.mark.parametrize(
    ("ranges", "shown"),
    [(None, ""), (["10.1.0.0/16"], "10.1.0.0/16"), (["10.1.0.0/16", "fd00::/64"], "10.1.0.0/16,fd00::/64")],
)
def test_a_service_range_row(ranges, shown):
    assert service_cidr_cells({"metadata": META, "spec": {"cidrs": ranges}}, NOW) == ["a", shown, "10y"]


def messages(errors):
    """Return the text of each error."""
    return [str(error) for error in errors]


def ranges(*texts):
    return {"spec": {"cidrs": list(texts)}}


@pytest.mark.parametrize(
    ("errors", "texts"),
    [
        (validate_service_cidr(ranges("10.0.0.0/8", "x", "y")), [
            'spec.cidrs: Invalid value: {"CIDRs":["10.0.0.0/8","x","y"]}: may only hold up to 2 values',
        ]),
        (validate_service_cidr(ranges("10.0.0.1/8", "10.1.0.0/16")), [
            f'spec.cidrs: Invalid value: {{"CIDRs":["10.0.0.1/8","10.1.0.0/16"]}}: {FAMILIES}',
        ]),
        (validate_service_cidr(ranges("10.0.0.0/8", "x")), [
            'spec.cidrs[1]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
        ]),
        (validate_service_cidr(ranges("2001:DB8::/64")), [
            'spec.cidrs[0]: Invalid value: "2001:DB8::/64": must be in canonical form ("2001:db8::/64")',
        ]),
        (validate_service_cidr_update(ranges("10.1.0.0/16"), ranges("10.0.0.0/16")), [
            'spec.cidrs[0]: Invalid value: "10.1.0.0/16": field is immutable',
        ]),
        (validate_service_cidr_update(ranges("10.0.0.0/16", "fd00::/64"), ranges("10.0.0.0/16")), []),
        (validate_service_cidr_update(ranges("10.0.0.0/16"), ranges("10.0.0.0/16", "fd00::/64")), [
            'spec.cidrs: Invalid value: ["10.0.0.0/16"]: field is immutable',
        ]),
    ],
)  # fmt: skip
def test_ranges_of_services_that_break_a_rule_are_refused(errors, texts):
    assert messages(errors) == texts
