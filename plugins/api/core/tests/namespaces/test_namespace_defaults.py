"""What a namespace has though its author did not write it."""

import pytest
from hyperkube_api.core.namespaces.defaults import default_namespace


@pytest.mark.parametrize("status", [None, {}, {"phase": ""}])
def test_a_namespace_without_a_phase_is_active(status):
    namespace = {"metadata": {"name": "n"}, "status": status}

    default_namespace(namespace)

    assert namespace["status"] == {"phase": "Active"}
    assert namespace["metadata"]["labels"] == {"kubernetes.io/metadata.name": "n"}


def test_a_namespace_that_goes_stays_so():
    namespace = {"metadata": {"name": "n"}, "status": {"phase": "Terminating", "conditions": []}}

    default_namespace(namespace)

    assert namespace["status"] == {"phase": "Terminating", "conditions": []}
