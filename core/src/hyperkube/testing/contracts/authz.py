# ruff: noqa: D102 - tests, whose names are their docstrings
"""What every authorizer promises: subclass `AuthzContract`, build the plugin and say what to ask it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from resource import RUSAGE_THREAD, getrusage
from statistics import median
from typing import ClassVar

from hyperkube.hookspecs import authz as specs
from hyperkube.hookspecs.authz import NO_OPINION, Attributes, AuthzHooks, Decision, Rules
from hyperkube.hookspecs.base import Plugin
from hyperkube.kinds.rbac import rule_allows, rule_allows_path
from hyperkube.machinery.objects import Object
from hyperkube.plugin.loader import PluginHost

ROUNDS = 200
MOST_CALLS = 5000
"""Calls, and returns, of a decision and of what asks for it; counted, as time would be that of a busy machine, too."""


class AuthzContract:
    """The promises of `hyperkube.hookspecs.authz`, as tests.

    Attributes:
        in_memory: whether it decides without asking another server.
    """

    in_memory: ClassVar[bool] = True

    def build(self) -> Plugin:
        """Return the plugin, started, on a world in which it has something to say."""
        raise NotImplementedError

    def questions(self) -> Sequence[Attributes]:
        """Return what to ask; it should have an opinion on at least one."""
        raise NotImplementedError

    def change(self, built: Plugin) -> bool:
        """Make the world such that one of the answers differs; return False if nothing can change them."""
        return False

    def decide(self, built: Plugin, attributes: Attributes) -> Decision:
        """Call the deciding hook."""
        host: PluginHost[AuthzHooks] = PluginHost("authz", specs, [(built.context.name, built)])
        (decision,) = host.hook.authz_authorize(attributes=attributes)
        return decision

    def epoch(self, built: Plugin) -> int:
        """Call the hook that counts changes; 0 if the plugin leaves it out."""
        call = getattr(built, "authz_epoch", None)
        return int(call()) if call else 0

    def test_it_has_an_opinion(self) -> None:
        built = self.build()

        decisions = [self.decide(built, question) for question in self.questions()]

        assert any(decision != NO_OPINION for decision in decisions), "an opinion, or a reason for having none"
        assert {decision.verdict for decision in decisions} <= {"allow", "deny", "no opinion"}

    def test_decisions_depend_on_the_question_alone(self) -> None:
        built, questions = self.build(), list(self.questions())

        forwards = [self.decide(built, question) for question in questions]
        backwards = [self.decide(built, question) for question in reversed(questions)]

        assert forwards == backwards[::-1]
        assert forwards == [self.decide(self.build(), question) for question in questions]

    def test_the_epoch_stands_still_while_nothing_changes(self) -> None:
        built = self.build()
        before = self.epoch(built)

        for question in self.questions():
            self.decide(built, question)

        assert self.epoch(built) == before

    def test_the_epoch_grows_when_an_answer_may_differ(self) -> None:
        built = self.build()
        questions = self.questions()
        before, answers = self.epoch(built), [self.decide(built, question) for question in questions]

        if not self.change(built):
            return

        assert [self.decide(built, question) for question in questions] != answers
        assert self.epoch(built) > before

    def test_it_answers_from_memory(self) -> None:
        if not self.in_memory:
            return
        built, questions, waits, calls = self.build(), self.questions(), list[int](), list[str]()
        for number in range(ROUNDS):
            sys.setprofile((lambda _frame, event, _: calls.append(event)) if number == 1 else None)
            before = getrusage(RUSAGE_THREAD).ru_nvcsw
            for question in questions:
                self.decide(built, question)
            waits.append(getrusage(RUSAGE_THREAD).ru_nvcsw - before)

        # The median: other threads may make some rounds wait, a question to another server makes all of them wait.
        assert (median(waits), len(calls) < len(questions) * MOST_CALLS) == (0, True)

    def test_its_rules_list_what_it_allows_or_say_that_they_are_incomplete(self) -> None:
        built = self.build()
        call = getattr(built, "authz_rules", None)
        for question in self.questions():
            if call is None or not self.decide(built, question).allowed:
                continue

            rules: Rules = call(user=question.user, namespace=question.namespace)

            assert rules.incomplete or _listed(rules, question)

    def test_its_bootstrap_objects_are_complete_and_the_same_on_each_call(self) -> None:
        call = getattr(self.build(), "authz_bootstrap_objects", None)
        objects: Sequence[Object] = call() if call else []

        assert all(obj.get("apiVersion") and obj.get("kind") and obj["metadata"].get("name") for obj in objects)
        assert list(objects) == list(call() if call else [])


def _listed(rules: Rules, question: Attributes) -> bool:
    if not question.is_resource:
        return any(rule_allows_path(rule, question.verb, question.path) for rule in rules.non_resource_rules)
    return any(
        rule_allows(rule, question.verb, question.group, question.resource, question.subresource, question.name)
        for rule in rules.resource_rules
    )
