"""The tables of the simpler kinds."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.core.config_maps.table import config_map_cells
from hyperkube_api.core.limit_ranges.table import limit_range_cells
from hyperkube_api.core.namespaces.table import namespace_cells
from hyperkube_api.core.pod_templates.table import pod_template_cells
from hyperkube_api.core.replication_controllers.table import replication_controller_cells
from hyperkube_api.core.secrets.table import secret_cells
from hyperkube_api.core.service_accounts.table import service_account_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2026-01-01T11:55:00Z"}
TEMPLATE = {"metadata": {"labels": {"b": "2", "a": "1"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


@pytest.mark.parametrize(
    ("cells", "obj", "shown"),
    [
        (config_map_cells, {}, [0, "5m"]),
        (config_map_cells, {"data": {"x": "1"}, "binaryData": {"y": "", "z": ""}}, [3, "5m"]),
        (secret_cells, {"type": "Opaque", "data": {"x": ""}}, ["Opaque", 1, "5m"]),
        (service_account_cells, {"secrets": [{}]}, ["5m"]),
        (namespace_cells, {"status": {"phase": "Terminating"}}, ["Terminating", "5m"]),
        (limit_range_cells, {}, ["2026-01-01T11:55:00Z"]),
        (pod_template_cells, {"template": TEMPLATE}, ["c", "i", "a=1,b=2"]),
        (pod_template_cells, {}, ["", "", "<none>"]),
        (replication_controller_cells, {"spec": {"replicas": 5}, "status": {"replicas": 2, "readyReplicas": 1}},
         [5, 2, 1, "5m", "", "", "<none>"]),
        (replication_controller_cells, {"spec": {"template": TEMPLATE, "selector": {"a": "b"}}},
         [0, 0, 0, "5m", "c", "i", "a=b"]),
    ],
)  # fmt: skip
def test_a_row_of_a_simple_kind(cells, obj, shown):
    assert cells({"metadata": META, **obj}, NOW) == ["a", *shown]
