from datetime import UTC, datetime

import pytest
from office_hours import OfficeHours

from hyperkube.hookspecs.authz import Attributes
from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.users import UserInfo
from hyperkube.plugin import PluginContext
from hyperkube.testing.contracts.authz import AuthzContract

ANN = UserInfo("ann", "", ("signed:names",))
BOB = UserInfo("bob")
FRIDAY, SATURDAY = datetime(2030, 1, 4, 12, tzinfo=UTC), datetime(2030, 1, 5, 12, tzinfo=UTC)


def built(day=FRIDAY):
    return OfficeHours(PluginContext(name="OfficeHours", clock=FakeClock(day)))


class TestContract(AuthzContract):
    def build(self, **_options):
        return built()

    def questions(self):
        return [
            Attributes(ANN, "get", resource="pods", namespace="ns"),
            Attributes(ANN, "get", resource="secrets", namespace="ns"),
            Attributes(BOB, "delete", resource="namespaces", name="ns"),
            Attributes(BOB, "get", path="/version"),
        ]


@pytest.mark.parametrize(
    ("day", "attributes", "verdict"),
    [
        (FRIDAY, Attributes(ANN, "list", resource="pods"), "allow"),
        (FRIDAY, Attributes(ANN, "get", resource="secrets"), "no opinion"),
        (FRIDAY, Attributes(ANN, "create", resource="pods"), "no opinion"),
        (FRIDAY, Attributes(BOB, "list", resource="pods"), "no opinion"),
        (FRIDAY, Attributes(BOB, "delete", resource="namespaces"), "no opinion"),
        (SATURDAY, Attributes(BOB, "delete", resource="namespaces"), "deny"),
    ],
    ids=["looks", "secrets", "writes", "another", "friday", "saturday"],
)
def test_it_decides(day, attributes, verdict):
    assert built(day).authz_authorize(attributes).verdict == verdict
