"""The key that opens the nodes is made, and put on them by a cloud."""

import logging
import shutil
import stat
import subprocess

import pytest
from hyperkube_host.apiserver.connect.ssh_keys import SshKeyInstaller, make_missing, public_key
from hyperkube_host.apiserver.server import ApiServer

from hyperkube.hookspecs.cloud import CloudUnavailable
from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.loader import installed
from hyperkube.storage.memory import MemoryStore
from hyperkube.testing.waiting import eventually

needs_keygen = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen")


class Machines:
    """Machines that take keys, or fail so many times before."""

    def __init__(self, failing=0):
        self.failing, self.keys = failing, []

    def add_ssh_key(self, user, public_key):
        if self.failing:
            self.failing -= 1
            raise CloudUnavailable("the cloud is down")
        self.keys.append((user, public_key))


@pytest.fixture
def key(tmp_path):
    return str(tmp_path / "key")


def keygen(*args):
    return subprocess.run(["ssh-keygen", *args], check=True, capture_output=True, text=True).stdout


@needs_keygen
def test_a_missing_pair_is_made_for_its_owner_alone(tmp_path, key):
    make_missing(key)

    assert keygen("-y", "-f", key).split()[:2] == public_key(key).split()
    assert keygen("-l", "-f", key).startswith("2048 ")
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {
        "key": 0o600,
        "key.pub": 0o600,
    }


@needs_keygen
@pytest.mark.parametrize("words", [["-t", "ed25519"], ["-t", "rsa", "-b", "2048", "-m", "PEM"]], ids=["openssh", "pem"])
def test_a_private_key_is_kept_and_the_public_one_made_of_it(tmp_path, key, words):
    keygen("-q", "-N", "", "-f", key, *words)
    private, public = (tmp_path / "key").read_bytes(), (tmp_path / "key.pub").read_text()
    (tmp_path / "key.pub").unlink()

    make_missing(key)

    assert (tmp_path / "key").read_bytes() == private
    assert public_key(key).split() == public.split()[:2]


@needs_keygen
def test_a_public_key_in_the_form_of_kubernetes_is_read(tmp_path, key):
    make_missing(key)
    line = public_key(key)
    (tmp_path / "key.pub").write_text(keygen("-e", "-m", "PKCS8", "-f", key))

    assert public_key(key) == line


@needs_keygen
def test_a_private_key_with_a_passphrase_ends_the_start(tmp_path, key):
    keygen("-q", "-N", "secret of the test", "-t", "ed25519", "-f", key)
    (tmp_path / "key.pub").unlink()

    with pytest.raises(UsageError, match=r"--ssh-keyfile=.*key: "):
        make_missing(key)


def test_a_key_that_cannot_be_written_ends_the_start(tmp_path):
    with pytest.raises(UsageError, match=r"--ssh-keyfile=.*No such file or directory"):
        make_missing(str(tmp_path / "missing" / "key"))


def test_it_is_put_on_the_machines_again_every_five_minutes_and_sooner_after_a_failure(key):
    make_missing(key)
    machines = Machines(failing=3)
    installer = SshKeyInstaller(machines, "u" * 40, key, FakeClock())

    waits = [installer.install() for _ in range(5)]

    assert waits == [5, 10, 20, 300, 300]
    assert machines.keys == [("u" * 32, public_key(key))] * 2


def test_what_is_no_key_is_not_put_there_and_told(tmp_path, key, caplog):
    (tmp_path / "key.pub").write_text("no key")
    machines = Machines()

    with caplog.at_level(logging.WARNING):
        assert SshKeyInstaller(machines, "core", key, FakeClock()).install() == 5

    assert machines.keys == []
    assert "Failed to install ssh key" in caplog.text


def test_it_goes_on_until_it_is_closed(key):
    make_missing(key)
    machines, clock, closed = Machines(), FakeClock(), []
    installer = SshKeyInstaller(machines, "core", key, clock, lambda: closed.append(True))
    installer.start()
    eventually(lambda: len(machines.keys) == 1)

    eventually(lambda: (clock.advance(300), len(machines.keys) > 1)[1])
    installer.close()

    assert closed == [True]


@pytest.mark.skipif(shutil.which("ssh") is None or "fake" not in installed("cloud"), reason="needs ssh and a cloud")
def test_a_server_has_the_cloud_install_the_key_that_it_makes(key):
    from hyperkube_cloud.fake import FakeInstances

    seen, add = [], FakeInstances.add_ssh_key
    given = {"admission-control": ["AlwaysAdmit"], "authorization-mode": ["AlwaysAllow"], "cloud-provider": "fake"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FakeInstances, "add_ssh_key", lambda self, *words: (seen.append(words), add(self, *words)))
        server = ApiServer(options={**given, "ssh-user": "core", "ssh-keyfile": key}, store=MemoryStore())
        server.start()
        try:
            eventually(lambda: seen)
        finally:
            server.close()

    assert seen == [("core", public_key(key))]


@pytest.mark.skipif(shutil.which("ssh") is None or "local" not in installed("cloud"), reason="needs ssh and a cloud")
def test_a_cloud_that_installs_no_keys_is_told_of(tmp_path, key, caplog):
    make_missing(key)
    given = {"admission-control": ["AlwaysAdmit"], "authorization-mode": ["AlwaysAllow"], "cloud-provider": "local"}

    with caplog.at_level(logging.WARNING):
        ApiServer(options={**given, "ssh-user": "core", "ssh-keyfile": key}, store=MemoryStore()).close()

    assert "cloud provider 'local' installs no SSH keys: that of --ssh-keyfile has to be on the nodes" in caplog.text
