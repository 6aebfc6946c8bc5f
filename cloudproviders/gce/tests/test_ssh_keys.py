"""Keys for all machines, whoever else writes the project's metadata."""

import pytest

from hyperkube.hookspecs.cloud import CloudFailed, CloudUnavailable

KEYS = {"key": "sshKeys", "value": "ops:ssh-rsa AAAAB1 ops@desk"}
OTHER = {"key": "google-a", "value": "b"}


def written(double):
    return [body for _, path, body in double.sent if path.endswith("/setCommonInstanceMetadata")]


def raced(double, times):
    """Let another write the metadata before each of the next writes."""
    play, left = double.play, iter(range(times))

    def meanwhile(method, path, query, body):
        if path.endswith("/setCommonInstanceMetadata") and (number := next(left, None)) is not None:
            rows = [row for row in double.metadata["items"] if row["key"] != f"other-{number}"]
            rows.append({"key": f"other-{number}", "value": "x"})
            double.metadata = double.metadata | {"items": rows, "fingerprint": f"another's {number}"}
        return play(method, path, query, body)

    double.play = meanwhile


def test_the_line_is_appended_as_kubernetes_writes_it(double, cloud):
    cloud.instances.add_ssh_key("core", "ssh-rsa AAAAB3\n")

    (told,) = written(double)
    appended = {"key": "sshKeys", "value": "ops:ssh-rsa AAAAB1 ops@desk\ncore:ssh-rsa AAAAB3 core@core"}
    assert told == {"kind": "compute#metadata", "fingerprint": "m0", "items": [OTHER, appended]}


@pytest.mark.parametrize("items", [[OTHER], None], ids=["other items", "none"])
def test_the_first_key_makes_the_item(double, cloud, items):
    double.metadata = {"kind": "compute#metadata", "fingerprint": "m0"} | ({"items": items} if items else {})

    cloud.instances.add_ssh_key("core", "ssh-rsa AAAAB3")

    assert double.metadata["items"] == [*(items or ()), {"key": "sshKeys", "value": "core:ssh-rsa AAAAB3 core@core"}]


def test_a_key_that_another_one_begins_with_is_not_taken_for_it(double, cloud):
    cloud.instances.add_ssh_key("xcore", "ssh-rsa AAAAB3")
    cloud.instances.add_ssh_key("core", "ssh-rsa AAAAB3")

    assert len(written(double)) == 2


def test_what_another_writes_meanwhile_is_kept(double, cloud):
    raced(double, 2)

    cloud.instances.add_ssh_key("core", "ssh-rsa AAAAB3")

    values = {row["key"]: row["value"] for row in double.metadata["items"]}
    assert len(written(double)) == 3
    assert values.keys() == {"google-a", "sshKeys", "other-0", "other-1"}
    assert values["sshKeys"].endswith("\ncore:ssh-rsa AAAAB3 core@core")


def test_one_that_is_always_late_says_so(double, cloud):
    raced(double, 99)

    with pytest.raises(CloudFailed, match="412 conditionNotMet"):
        cloud.instances.add_ssh_key("core", "ssh-rsa AAAAB3")

    assert len(written(double)) == 5


@pytest.mark.parametrize("items", [5, ["sshKeys"], [{"value": "x"}]])
def test_rubbish_is_not_written_back(double, cloud, items):
    double.metadata = {"items": items}

    with pytest.raises(CloudUnavailable, match="metadata without keys"):
        cloud.instances.add_ssh_key("core", "ssh-rsa AAAAB3")

    assert written(double) == []
