"""What all API servers agree on is said of the resource; where they differ, that is said."""

from hyperkube_lib.storage_versions import with_common_encoding_version, with_server

from hyperkube.machinery.times import parse_time

NOW = parse_time("2026-01-01T00:00:00Z")


def test_servers_that_do_not_agree_leave_no_common_version():
    status = with_common_encoding_version(with_server({}, "a", "apps/v1", ["apps/v1"], []), 1, NOW)
    both = with_common_encoding_version(with_server(status, "b", "apps/v2", ["apps/v1", "apps/v2"], []), 1, NOW)
    again = with_common_encoding_version(with_server(both, "a", "apps/v2", ["apps/v2"], []), 1, NOW)

    assert status["commonEncodingVersion"] == "apps/v1"
    assert "commonEncodingVersion" not in both
    assert both["conditions"][0]["status"] == "False"
    assert again["commonEncodingVersion"] == "apps/v2"
    assert [row["apiServerID"] for row in again["storageVersions"]] == ["a", "b"]
