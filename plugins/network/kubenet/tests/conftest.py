"""A node of its own for a test, and Debian's programs of CNI."""

from pathlib import Path

import pytest
from hyperkube_testing.node_contracts.own_node import NoNamespaces, own_node, pod_namespaces

DEBIAN = "/usr/lib/cni"


@pytest.fixture
def namespace():
    """Move into a node of its own; return what makes network namespaces of pods."""
    try:
        with own_node(), pod_namespaces() as make:
            yield make
    except NoNamespaces as error:
        pytest.skip(str(error))


@pytest.fixture
def debian():
    """Return the folder of Debian's programs."""
    if not Path(DEBIAN, "bridge").exists():
        pytest.skip("needs Debian's package containernetworking-plugins")
    return DEBIAN
