# ruff: noqa: D102 - tests, whose names are their docstrings
"""What every admission plugin promises: subclass `AdmissionContract` and give it writes that concern the plugin.

::

    class TestContract(AdmissionContract):
        plugin = MyPlugin

        def concerned(self, rig):
            return [rig.request("CREATE", PODS, {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c"}]}})]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from hyperkube.hookspecs.admission import AdmissionRequest, Repeats
from hyperkube.hookspecs.base import Plugin
from hyperkube.kinds.resources import LEASES
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.objects import Object, copy_object
from hyperkube.testing.admission_rig import AdmissionRig


def mutate(rig: AdmissionRig, request: AdmissionRequest) -> str:
    """Call the mutating hook if the plugin has it; return its refusal's text, or the empty string."""
    return _refusal(rig.plugin, "admission_mutate", request)


def validate(rig: AdmissionRig, request: AdmissionRequest) -> str:
    """Call the validating hook if the plugin has it; return its refusal's text, or the empty string."""
    return _refusal(rig.plugin, "admission_validate", request)


def _refusal(plugin: Plugin, hook: str, request: AdmissionRequest) -> str:
    call = getattr(plugin, hook, None)
    if call is None:
        return ""
    try:
        call(request=request)
    except ApiError as error:
        return error.message or error.reason
    return ""


def _pass_through(rig: AdmissionRig, request: AdmissionRequest) -> str:
    """Mutate, then validate unless that refused; return the refusal's text, or the empty string."""
    return mutate(rig, request) or validate(rig, request)


def _copy(obj: Object | None) -> Object | None:
    return copy_object(obj) if obj is not None else None


def _world(rig: AdmissionRig) -> list[Object]:
    """Return all objects that are there, without what every write changes."""
    found = [copy_object(obj) for objects in rig.client._objects.values() for obj in objects.values()]  # noqa: SLF001  the whole world is compared
    for obj in found:
        obj["metadata"].pop("resourceVersion", None)
    return found


class AdmissionContract:
    """The promises of `hyperkube.hookspecs.admission`, as tests.

    Attributes:
        plugin: the plugin class.
        settings: its settings.
        acts: whether one of `concerned` is changed, refused or leaves a trace in the world.
    """

    plugin: ClassVar[type[Plugin]]
    settings: ClassVar[Mapping[str, Any]] = {}
    acts: ClassVar[bool] = True

    def populate(self, rig: AdmissionRig) -> None:
        """Seed the world with what the plugin looks up."""

    def concerned(self, rig: AdmissionRig) -> Sequence[AdmissionRequest]:
        """Return requests that are the plugin's business, at least one of which it changes or refuses."""
        raise NotImplementedError

    def unconcerned(self, rig: AdmissionRig) -> Sequence[AdmissionRequest]:
        """Return requests that are none of its business; the empty list if everything is."""
        lease = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": "contract", "namespace": "kube-system"},
            "spec": {"holderIdentity": "somebody"},
        }
        return [rig.request("CREATE", LEASES, lease), rig.request("DELETE", LEASES, old=lease)]

    def rig(self) -> AdmissionRig:
        """Return the plugin on a populated world."""
        rig = AdmissionRig(self.plugin, settings=self.settings)
        self.populate(rig)
        rig.informers.refresh()
        return rig

    def test_it_handles_what_concerns_it(self) -> None:
        rig = self.rig()
        handled = self.plugin.handles

        asked = {"/".join(filter(None, (one.resource.resource, one.subresource))) for one in self.concerned(rig)}

        assert handled is None or asked <= handled

    def test_it_has_a_hook(self) -> None:
        assert hasattr(self.plugin, "admission_mutate") or hasattr(self.plugin, "admission_validate")

    def test_it_acts_on_what_concerns_it(self) -> None:
        if not self.acts:
            return
        rig = self.rig()
        before = _world(rig)
        originals = [_copy(request.object) for request in self.concerned(rig)]

        requests = self.concerned(rig)
        refusals = [_pass_through(rig, request) for request in requests]

        assert any(refusals) or [request.object for request in requests] != originals or _world(rig) != before

    def test_mutation_is_idempotent(self) -> None:
        rig = self.rig()
        for request in self.concerned(rig):
            if mutate(rig, request):
                continue
            once = _copy(request.object)

            mutate(rig, request)

            assert request.object == once

    def test_what_it_does_to_an_object_holds_for_the_next_of_its_template(self) -> None:
        if not isinstance(self.rig().plugin, Repeats):
            return
        rig = self.rig()
        for one, other in zip(self.concerned(rig), self.concerned(rig), strict=True):
            if one.operation != "CREATE" or other.object is None or _pass_through(rig, one):
                continue
            own = {"name": "the-next", "uid": "the-next"}
            other.object["metadata"] |= own
            other.name = "the-next"

            _pass_through(rig, other)

            assert one.object is not None
            assert other.object == {**one.object, "metadata": {**one.object["metadata"], **own}}
            assert other.annotations == one.annotations

    def test_what_it_does_to_an_object_that_stays_holds_for_the_next(self) -> None:
        if not isinstance(self.rig().plugin, Repeats):
            return
        rig = self.rig()
        for one in self.concerned(rig):
            if one.operation != "CREATE" or one.subresource or _pass_through(rig, one) or one.object is None:
                continue
            done = []
            for label in ("a", "b"):
                meta = {**one.object["metadata"], "name": label, "labels": {"only": label}}
                obj = {**one.object, "metadata": meta}
                update = replace(one, operation="UPDATE", name=label, object=_copy(obj), old_object=obj, annotations={})
                refused = _pass_through(rig, update)
                done.append((refused, update.written().get("spec"), update.annotations))
                assert update.written()["metadata"] == meta

            assert done[0] == done[1]

    def test_it_leaves_alone_what_is_none_of_its_business(self) -> None:
        rig = self.rig()
        before = _world(rig)
        for request in self.unconcerned(rig):
            original = _copy(request.object)

            refused = _pass_through(rig, request)

            assert refused == ""
            assert request.object == original
        assert _world(rig) == before

    def test_it_does_not_change_the_old_object(self) -> None:
        rig = self.rig()
        for request in self.concerned(rig):
            old = _copy(request.old_object)

            _pass_through(rig, request)

            assert request.old_object == old

    def test_validation_does_not_change_the_object(self) -> None:
        rig = self.rig()
        for request in self.concerned(rig):
            mutate(rig, request)
            mutated = _copy(request.object)

            validate(rig, request)

            assert request.object == mutated

    def test_a_dry_run_leaves_no_trace(self) -> None:
        rig = self.rig()
        before, actions = _world(rig), len(rig.client.actions)

        for request in self.concerned(rig):
            _pass_through(rig, replace(request, dry_run=True))

        assert _world(rig) == before
        assert rig.client.actions[actions:] == []

    def test_a_failed_write_gives_back_what_was_charged(self) -> None:
        for index in range(len(self.concerned(self.rig()))):
            rig = self.rig()
            request = self.concerned(rig)[index]
            before = _world(rig)

            _pass_through(rig, request)
            for undo in reversed(request.on_failure):
                undo()

            charged = [obj for obj in _world(rig) if obj.get("status")]
            assert charged == [obj for obj in before if obj.get("status")]

    def test_it_does_not_change_what_its_informers_hold(self) -> None:
        rig = self.rig()

        for request in self.concerned(rig):
            _pass_through(rig, request)

        rig.informers.check_mutations()
