"""What `up` refuses before it touches anything."""

import pytest
from hyperkube_command.local_cluster.arguments import Wishes
from hyperkube_command.local_cluster.up import refuse_bad_words
from hyperkube_lib.local_cluster.layout import Layout

from hyperkube.machinery.errors import UsageError


def _wishes(tmp_path, **words):
    return Wishes(layout=Layout(tmp_path), **{"node_name": "here", **words})


def test_everyday_words_are_fine(tmp_path):
    refuse_bad_words(_wishes(tmp_path, service_range=""))
    refuse_bad_words(_wishes(tmp_path, service_range="10.0.0.0/24"))


def test_a_name_that_no_node_can_have(tmp_path):
    with pytest.raises(UsageError, match=r"'my_laptop' cannot be a node's name: .*choose another with --node-name"):
        refuse_bad_words(_wishes(tmp_path, node_name="my_laptop"))


def test_a_range_that_is_none(tmp_path):
    with pytest.raises(UsageError, match=r"--service-cluster-ip-range: .*10.0.0.0/33"):
        refuse_bad_words(_wishes(tmp_path, service_range="10.0.0.0/33"))
