"""The clusters of Kubernetes Engine, zone by zone."""

import pytest
from gce_google import ZONES, built, provider
from hyperkube_testing.rest_cloud import answer

from hyperkube.hookspecs.cloud import CloudUnavailable


def test_those_of_the_one_zone_are_listed(double, cloud):
    double.clusters = {ZONES[0]: ["shop", "lab"], ZONES[1]: ["other"]}

    assert cloud.clusters.list() == ["shop", "lab"]


def test_those_of_all_zones_are_listed_and_another_address_is_asked(double, tmp_path):
    double.clusters = {ZONES[1]: ["other"]}
    cloud = provider(built(double, tmp_path, multizone="true", container_api_endpoint="https://container.test"))

    assert cloud.clusters.list() == ["other"]
    asked = [path for _, path, _ in double.sent if path.endswith("/clusters")]
    assert asked == [f"/v1/projects/shop-project/locations/{zone}/clusters" for zone in ZONES]


@pytest.mark.parametrize("told", [{"missingZones": [ZONES[0]]}, {"clusters": 5}, {"clusters": [{}]}])
def test_a_zone_that_does_not_answer_is_no_zone_without_clusters(double, cloud, told):
    double.answer_next(answer(200, told))

    with pytest.raises(CloudUnavailable, match="does not tell the clusters of zone us-central1-a"):
        cloud.clusters.list()


def test_a_clusters_server_has_a_name(cloud):
    assert cloud.clusters.master("shop") == "k8s-shop-master.internal"
