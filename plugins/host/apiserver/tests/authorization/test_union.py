import pytest
from hyperkube_host.apiserver.authorization.union import Authorization, refusal

from hyperkube.hookspecs.authz import NO_OPINION, Attributes, Decision, Rules
from hyperkube.machinery.users import LOOPBACK, UserInfo

ALICE = UserInfo("alice")
READ = Attributes(ALICE, "get", "", "v1", "pods", "", "ns", "p")


class Policy:
    """Allows what is listed; counts how often it was asked."""

    def __init__(self, *allowed):
        self.allowed = set(allowed)
        self.asked = 0
        self.epoch = 0

    def authorize(self, attributes):
        self.asked += 1
        wanted = (attributes.verb, attributes.resource or attributes.path)
        return Decision("allow") if wanted in self.allowed else NO_OPINION


class Quick(Policy):
    """Knows everything by itself."""

    may_block = False


def host(policy):
    return Authorization([policy.authorize], [lambda: policy.epoch])


def test_masters_are_allowed_before_anybody_is_asked():
    policy = Policy()

    assert host(policy).authorize(Attributes(LOOPBACK, "delete", "", "v1", "nodes")).allowed
    assert policy.asked == 0


def test_the_rules_of_masters_are_those_that_the_authorizers_list():
    listed = Rules([{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}], [])

    found = Authorization(rule_listers=[lambda **_: listed]).rules(LOOPBACK, "ns")

    assert found == listed


def test_a_decision_is_remembered_until_the_epoch_changes():
    policy = Policy(("get", "pods"))
    authorization = host(policy)

    for _ in range(4):
        authorization.authorize(READ)
    asked = policy.asked
    policy.allowed, policy.epoch = set(), 1

    assert not authorization.authorize(READ).allowed
    assert (asked, policy.asked) == (1, 2)


def test_decisions_on_objects_that_are_read_once_are_not_kept_nor_those_of_an_epoch_that_is_over():
    policy = Quick(("list", "pods"), ("get", "pods"))
    authorization = host(policy)
    authorization.authorize(Attributes(ALICE, "list", "", "v1", "pods", "", "ns"))
    for number in range(100):
        authorization.authorize(Attributes(ALICE, "get", "", "v1", "pods", "", "ns", f"p{number}"))
    before = len(authorization._decisions)
    policy.epoch = 1
    for _ in range(2):
        authorization.authorize(READ)

    assert before == 1
    assert len(authorization._decisions) == 1


@pytest.mark.parametrize("path", ["/healthz", "/metrics"])
def test_no_path_is_open_of_itself(path):
    assert not host(Policy()).authorize(Attributes(ALICE, "get", path=path)).allowed


def test_a_refusal_names_user_verb_and_place():
    error = refusal(READ)

    assert error.message == (
        'pods "p" is forbidden: User "alice" cannot get resource "pods" in API group "" in the namespace "ns"'
    )


def test_a_refused_path_has_empty_details():
    error = refusal(Attributes(ALICE, "get", path="/metrics"))

    assert error.status()["details"] == {}
    assert error.message == 'forbidden: User "alice" cannot get path "/metrics"'


def test_an_answer_that_may_change_unseen_is_asked_for_again():
    answers = iter([Decision("no opinion", cacheable=False), Decision("allow", cacheable=False)])
    authorization = Authorization([lambda attributes: next(answers), lambda attributes: Decision("no opinion")])
    asked = Attributes(UserInfo("alice"), "get", resource="pods")

    assert not authorization.authorize(asked).allowed
    assert authorization.authorize(asked).allowed
    assert authorization.remembered(asked) is None


def test_a_decision_that_was_forgotten_is_asked_for_again():
    policy = Policy(("get", "pods"))
    authorization = host(policy)
    authorization.authorize(READ)

    authorization.forget()

    assert authorization.authorize(READ).allowed
    assert policy.asked == 2


class Patient(Policy):
    """May wait with questions about secrets."""

    def waits_for(self, attributes):
        return attributes.resource == "secrets"


def test_only_questions_with_which_an_authorizer_may_wait_are_decided_elsewhere():
    policy, elsewhere = Patient(("get", "pods"), ("get", "secrets")), []

    def call(decide):
        elsewhere.append(1)
        return decide()

    authorization = Authorization([policy.authorize], [lambda: 0], elsewhere=call)
    secret = Attributes(ALICE, "get", "", "v1", "secrets", "", "ns", "s")

    assert authorization.at_once(READ).allowed
    assert authorization.at_once(secret) is None
    assert not elsewhere
    assert authorization.authorize(secret).allowed
    assert elsewhere == [1]
    assert authorization.at_once(secret).allowed
