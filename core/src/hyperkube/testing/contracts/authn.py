# ruff: noqa: D102 - tests, whose names are their docstrings
"""What every authenticator promises: subclass `AuthnContract`, build the plugin and say which credentials it knows."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from hyperkube.hookspecs import authn as specs
from hyperkube.hookspecs.authn import Authenticated, AuthnHooks, Credentials
from hyperkube.hookspecs.base import Plugin
from hyperkube.machinery.errors import Unauthorized
from hyperkube.plugin.loader import PluginHost
from hyperkube.testing.harness import raises

if TYPE_CHECKING:
    import pytest


class _Secret(str):
    """A text that notices when it is compared byte by byte."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str) and other and str.__len__(self):
            raise AssertionError("a secret was compared with == instead of in constant time")
        return str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other


class AuthnContract:
    """The promises of `hyperkube.hookspecs.authn`, as tests; a subclass gives the plugin as pytest fixture ``built``.

    Attributes:
        names_the_nameless: whether showing nothing at all is an identity to it (anonymous).
    """

    names_the_nameless: ClassVar[bool] = False

    def good(self, built: Plugin) -> Sequence[Credentials]:
        """Return credentials that it recognises; at least one."""
        raise NotImplementedError

    def bad(self, built: Plugin) -> Sequence[Credentials]:
        """Return credentials of its kind that are wrong, expired or revoked, and that it refuses."""
        return ()

    def foreign(self, built: Plugin) -> Sequence[Credentials]:
        """Return credentials that say nothing to it."""
        return [Credentials(token="a-token-of-another-family")]  # noqa: S106  no real token

    def ask(self, built: Plugin, credentials: Credentials) -> Authenticated | None:
        """Call the hook."""
        host: PluginHost[AuthnHooks] = PluginHost("authn", specs, [(built.context.name, built)])
        return next(iter(host.hook.authn_authenticate(credentials=credentials)), None)

    def test_good_credentials_name_a_user(self, built: Plugin) -> None:
        good = self.good(built)

        answers = [self.ask(built, credentials) for credentials in good]

        assert good
        assert all(answer is not None and answer.user.name for answer in answers)

    def test_the_same_credentials_name_the_same_user(self, built: Plugin) -> None:
        for credentials in self.good(built):
            first, second = self.ask(built, credentials), self.ask(built, credentials)

            assert first is not None
            assert second is not None
            assert first.user == second.user

    def test_bad_credentials_are_refused(self, built: Plugin) -> None:
        for credentials in self.bad(built):
            with raises(Unauthorized):
                self.ask(built, credentials)

    def test_foreign_credentials_are_left_to_others(self, built: Plugin) -> None:
        for credentials in self.foreign(built):
            assert self.ask(built, credentials) is None

    def test_an_empty_token_names_no_user(self, built: Plugin) -> None:
        if self.names_the_nameless:
            return

        assert self.ask(built, Credentials(token="")) is None

    def test_secrets_are_compared_in_constant_time(self, built: Plugin) -> None:
        for credentials in self.good(built):
            basic = (credentials.basic[0], _Secret(credentials.basic[1])) if credentials.basic else None
            watched = replace(credentials, token=_Secret(credentials.token), basic=basic)

            assert self.ask(built, watched) is not None

    def test_no_credential_is_logged(self, built: Plugin, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.DEBUG)
        shown = [*self.good(built), *self.bad(built), *self.foreign(built)]

        for credentials in shown:
            try:
                self.ask(built, credentials)
            except Unauthorized as refusal:
                assert not _secrets(credentials, refusal.message)

        assert not [secret for credentials in shown for secret in _secrets(credentials, caplog.text)]


def _secrets(credentials: Credentials, text: str) -> list[str]:
    """Return the secrets of `credentials` that stand in `text`."""
    secrets = [credentials.token, credentials.basic[1] if credentials.basic else ""]
    return [secret for secret in secrets if secret and secret in text]
