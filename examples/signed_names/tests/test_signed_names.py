import pytest
from signed_names import SignedNames, sign

from hyperkube.hookspecs.authn import Credentials
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import PluginContext
from hyperkube.testing.contracts.authn import AuthnContract

KEY = b"sesame"


@pytest.fixture
def key_file(tmp_path, monkeypatch):
    path = tmp_path / "key"
    path.write_bytes(KEY + b"\n")
    monkeypatch.setenv("SIGNED_NAMES_KEY_FILE", str(path))


class TestContract(AuthnContract):
    @pytest.fixture
    def built(self, key_file):
        return SignedNames(PluginContext(name="SignedNames"))

    def good(self, built):
        return [Credentials(token=sign(KEY, name)) for name in ("ann", "ann.lee@example.com")]

    def bad(self, built):
        good = sign(KEY, "ann")
        return [
            Credentials(token=token)
            for token in (
                sign(b"other", "ann"),
                good.replace("ann", "root"),
                good[:-1],
                "signed.",
                "signed.ann",
                "signed..x",
            )
        ]


def test_without_a_key_it_says_so(monkeypatch):
    monkeypatch.setenv("SIGNED_NAMES_KEY_FILE", "/none")

    with pytest.raises(UsageError, match="cannot read SIGNED_NAMES_KEY_FILE '/none'"):
        SignedNames(PluginContext(name="SignedNames"))
