"""Clusters of one machine share its loopback network without meeting."""

from hyperkube_command.local_cluster.loopback_slice import locked_slice


def test_two_clusters_get_two_slices_and_each_remembers_its_own(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    with locked_slice(first) as one, locked_slice(second) as two:
        assert one.number != two.number
    with locked_slice(second) as again:
        assert again.number == two.number
    assert one.pods.startswith(f"127.{one.number}.")
