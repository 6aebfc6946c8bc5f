"""Tokens by which kubelets believe the API server: for one kubelet, for a while, and for nothing else."""

from __future__ import annotations

import pytest
from hyperkube_lib.serving.kubelet_tokens import SECONDS, USER, KubeletTokens, audiences_of

from hyperkube.machinery.clock import FakeClock


@pytest.fixture
def clock():
    return FakeClock()


def test_the_kubelet_it_was_made_for_learns_who_shows_it(clock):
    tokens = KubeletTokens(clock)
    token = tokens.token("box")

    assert tokens.user(token, audiences_of(token, "box")) == USER


def test_it_is_good_for_no_other_kubelet_and_not_for_the_api(clock):
    tokens = KubeletTokens(clock)
    token = tokens.token("box")

    assert tokens.user(token, audiences_of(token, "other")) is None
    assert tokens.user(token, ["https://kubernetes.default.svc.cluster.local"]) is None
    assert tokens.user(token, []) is None
    assert tokens.user(token + "0", audiences_of(token, "box")) is None


def test_it_ends(clock):
    tokens = KubeletTokens(clock)
    token = tokens.token("box")

    clock.advance(2 * SECONDS)

    assert tokens.user(token, audiences_of(token, "box")) is None


def test_servers_with_one_key_know_each_others_and_others_do_not(clock, tmp_path):
    (tmp_path / "a").write_text("key a")
    (tmp_path / "b").write_text("key b")
    token = KubeletTokens(clock, str(tmp_path / "a")).token("box")
    audiences = audiences_of(token, "box")

    assert KubeletTokens(clock, str(tmp_path / "a")).user(token, audiences) == USER
    assert KubeletTokens(clock, str(tmp_path / "b")).user(token, audiences) is None
    assert KubeletTokens(clock).user(token, audiences) is None


def test_other_tokens_are_reviewed_for_the_audiences_of_the_api_server():
    assert audiences_of("a.service.account", "box") == []
