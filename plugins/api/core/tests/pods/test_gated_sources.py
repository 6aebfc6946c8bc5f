"""Sources of projected volumes that are behind gates."""

from types import SimpleNamespace

import pytest
from hyperkube_api.core.pods.strategy import _drop_gated_sources


def pod(**source):
    return {"spec": {"volumes": [{"name": "v", "projected": {"sources": [dict(source), {"secret": {"name": "s"}}]}}]}}


@pytest.mark.parametrize(
    ("member", "gate"),
    [("podCertificate", "PodCertificateRequest"), ("clusterTrustBundle", "ClusterTrustBundleProjection")],
)
def test_a_source_goes_while_its_gate_is_off_unless_the_pod_had_one(member, gate):
    source = {member: {"path": "x"}}
    off, on = SimpleNamespace(gates={}), SimpleNamespace(gates={gate: True})
    dropped, kept, had = pod(**source), pod(**source), pod(**source)

    _drop_gated_sources(off, dropped, pod())
    _drop_gated_sources(on, kept, None)
    _drop_gated_sources(off, had, pod(**source))

    assert (dropped, kept, had) == (pod(), pod(**source), pod(**source))
