"""What says who acts is one value per header line: a comma in a name never makes two of it."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))

from attacked_world import MAPS, Call, World, remote

REVIEW = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
COMMA = "CN=x,system:masters"


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("identity-headers"))
    yield world
    world.close()


def user(world, who, headers):
    """Return whom the server takes the request's sender for."""
    answer = world.ask(Call(who, "POST", REVIEW, {}, headers))
    assert answer.status == 201, answer.body
    return answer.json["status"]["userInfo"]


def by_proxy(world, **headers):
    return user(world, "cert:proxy", remote(**headers))


def acting(world, **headers):
    return user(world, "admin", {f"Impersonate-{name.replace('_', '-')}": value for name, value in headers.items()})


@pytest.mark.parametrize("become", [by_proxy, acting], ids=["front proxy", "impersonation"])
class TestEachLineIsOneValue:
    def test_a_group_with_a_comma_is_one_group(self, world, become):
        assert become(world, User="x", Group=COMMA)["groups"] == [COMMA, "system:authenticated"]

    def test_a_group_with_comma_and_blank_is_one_group(self, world, become):
        assert become(world, User="x", Group="a, system:masters")["groups"][0] == "a, system:masters"

    def test_several_lines_are_several_groups(self, world, become):
        assert become(world, User="x", Group=("a", "b,c"))["groups"] == ["a", "b,c", "system:authenticated"]

    def test_the_first_line_names_the_user(self, world, become):
        assert become(world, User=("x", "admin"))["username"] == "x"

    def test_a_user_with_a_comma_is_one_user(self, world, become):
        assert become(world, User="x, admin")["username"] == "x, admin"

    def test_extra_values_keep_their_commas_and_lines(self, world, become):
        extra = become(world, User="x", **{"Extra-scopes": ("view,write", "all")})["extra"]

        assert extra["scopes"] == ["view,write", "all"]

    def test_an_extra_key_is_unescaped_once_and_a_wrong_escape_stays(self, world, become):
        extra = become(world, User="x", **{"Extra-acme.io%2fa%252f": "1", "Extra-acme.io%2fb%zz": "2"})["extra"]

        assert extra == {"acme.io/a%2f": ["1"], "acme.io%2fb%zz": ["2"]}

    def test_names_are_utf_8(self, world, become):
        assert become(world, User="jürgen".encode(), Group="größe".encode())["groups"][0] == "größe"
        assert become(world, User="jürgen".encode())["username"] == "jürgen"


def test_a_member_made_of_a_comma_is_no_master(world):
    secret = Call("cert:proxy", "GET", "/api/v1/namespaces/a/secrets/s", headers=remote(User="x", Group=COMMA))

    assert world.ask(secret).status == 403


@pytest.mark.parametrize("header", [{"Uid": "u"}, {"Group": ""}, {"Group": "g"}, {"Extra-a": "b"}, {"Extra-a": ""}])
def test_parts_of_an_identity_without_a_user_are_refused_also_on_the_hot_path(world, header):
    headers = {f"Impersonate-{name}": value for name, value in header.items()}
    plain = Call("reader", "GET", f"{MAPS}/m")
    assert [world.ask(plain).status for _ in range(3)] == [200, 200, 200]

    assert world.ask(Call("reader", "GET", f"{MAPS}/m", headers=headers)).status == 400


def test_the_first_authorization_line_counts_and_is_not_remembered(world):
    """A line that is remembered under both would let the second one in where it comes first."""
    both = ("Bearer token-reader", "Bearer token-admin")
    headers = {"Authorization": both}

    assert [world.ask(Call("", "GET", f"{MAPS}/m", headers=headers)).status for _ in range(2)] == [200, 200]
    assert user(world, "", headers)["username"] == "reader"
    assert world.ask(Call("", "GET", f"{MAPS}/m", headers={"Authorization": ", ".join(both)})).status == 401
