"""The admission host: calls the enabled plugins and words their refusals.

A plugin refuses with a bare message; what was refused is added here, as Kubernetes adds it around its plugins. Who
refused, and on demand who changed what, is kept for those who ask later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

import orjson
from hyperkube_host.apiserver.admission.plugin_times import ADMIT, VALIDATE, PluginTimes
from hyperkube_host.apiserver.admission.shared_members import part
from hyperkube_host.apiserver.admission.templates import FEWEST, RepeatedSteps
from hyperkube_host.apiserver.explain.records import Explanations, Step
from hyperkube_host.apiserver.plugins import may_block
from hyperkube_lib.serving.turns import Turns

from hyperkube.hookspecs.admission import AdmissionRequest, IdleAtTimes, Repeats, WaitsAtTimes
from hyperkube.hookspecs.authz import Attributes, Authorizer
from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.errors import ApiError, Forbidden
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, name_of
from hyperkube.machinery.recent import exact
from hyperkube.machinery.users import UserInfo

Hook = Callable[..., object]
_MEMORY = "hyperkube.explain"
_PLACES_MAX = 4096


class _Step(NamedTuple):
    """A hook in the chain.

    Attributes:
        call: calls the hook, elsewhere while it may wait.
        is_idle: tells whether it need not be called; None if it always has to.
        hook: the hook itself, for the name of its plugin.
        changes: whether it may change the object.
    """

    call: Hook
    is_idle: Callable[[AdmissionRequest], bool] | None
    hook: Hook
    changes: bool

    def unless_idle(self, *, request: AdmissionRequest) -> object:
        """Call the hook if it has anything to do."""
        return None if self.is_idle is not None and self.is_idle(request) else self.call(request=request)


Run: TypeAlias = Callable[[AdmissionRequest], None]
"""Calls some hooks."""


class _Steps(NamedTuple):
    """What is called for one resource or subresource, in order, and the same with their times taken.

    Attributes:
        mutators: each by itself.
        mutate: calls all of them, those that treat objects of a template alike together.
        validate: likewise.
        measured: the same, each called by itself and its time taken.
    """

    mutators: tuple[_Step, ...]
    mutate: tuple[Run, ...]
    validate: tuple[Run, ...]
    measured: _Steps | None = None


class UserMay:
    """Asks the authorizers about one user (`hyperkube.hookspecs.admission.Authorizes`)."""

    __slots__ = ("_authorizer", "_user")

    def __init__(self, authorizer: Authorizer, user: UserInfo) -> None:
        self._authorizer = authorizer
        self._user = user

    def __call__(
        self, verb: str, resource: GroupVersionResource, *, subresource: str = "", namespace: str = "", name: str = ""
    ) -> bool:
        """Tell whether the user of this request may do that."""
        asked = Attributes(
            self._user, verb, resource.group, resource.version, resource.resource, subresource, namespace, name
        )
        return self._authorizer.authorize(asked).allowed


class AdmissionChain:
    """The enabled plugins' hooks, in order; without plugins everything is admitted.

    Args:
        mutators: the ``admission_mutate`` functions in the order of the chain.
        validators: the ``admission_validate`` functions likewise.
        explanations: where refusals and, if it records them, changes are kept.
        turns: on which requests share a thread: hooks that may wait are called elsewhere.
        times: what takes the times of the plugins.
    """

    def __init__(
        self,
        mutators: Sequence[Hook] = (),
        validators: Sequence[Hook] = (),
        explanations: Explanations | None = None,
        turns: Turns | None = None,
        times: PluginTimes | None = None,
    ) -> None:
        self._times = times
        self._mutators = tuple(_step(hook, turns) for hook in mutators)
        self._validators = tuple(_step(hook, turns) for hook in validators)
        self._compiled: dict[tuple[str, str], _Steps] = {}
        self._explanations = explanations
        self._monotonic = explanations.clock.monotonic if explanations is not None else SystemClock().monotonic
        self._records_changes = explanations is not None and explanations.records_changes

    @property
    def mutates(self) -> bool:
        """Whether any plugin may change objects."""
        return bool(self._mutators)

    @property
    def is_empty(self) -> bool:
        """Whether there is no plugin at all."""
        return not self._mutators and not self._validators

    def metrics(self) -> bytes:
        """Return the times of the plugins in Prometheus' text format."""
        return self._times.text() if self._times is not None else b""

    def mutate(self, request: AdmissionRequest) -> None:
        """Let the plugins change the object; all of them once more when one of them asks for it.

        Raises:
            ApiError: a plugin refuses.
        """
        steps = self._steps_for(request)
        self._mutate(steps, request)
        if request.wants_reinvocation and not request.is_reinvocation:
            request.is_reinvocation = True
            self._mutate(steps, request)

    def _mutate(self, steps: _Steps, request: AdmissionRequest) -> None:
        if self._records_changes and request.object is not None:
            self._run_watched(steps.mutators, request)
            return
        for run in steps.mutate:
            run(request)

    def validate(self, request: AdmissionRequest) -> None:
        """Let the plugins refuse.

        Raises:
            ApiError: a plugin refuses.
        """
        for run in self._steps_for(request).validate:
            run(request)
        steps = request.memory.get(_MEMORY)
        if steps and self._explanations is not None:
            self._explanations.changed(request, steps)

    def _steps_for(self, request: AdmissionRequest) -> _Steps:
        """Return the hooks of the plugins that have to do with the request's resource."""
        place = (request.resource.resource, request.subresource)
        steps = self._compiled.get(place) or self._compile(place)
        if steps.measured is not None and self._times is not None and self._times.is_measured():
            return steps.measured
        return steps

    def _compile(self, place: tuple[str, str]) -> _Steps:
        if len(self._compiled) >= _PLACES_MAX:  # names of custom resources come and go
            self._compiled.clear()
        name = "/".join(part for part in place if part)
        mutators = [step for step in self._mutators if _handles(step.hook, name)]
        validators = [step for step in self._validators if _handles(step.hook, name)]
        measured = self._measured(mutators, validators) if self._times is not None else None
        steps = self._compiled[place] = _Steps(tuple(mutators), self._runs(mutators), self._runs(validators), measured)
        return steps

    def _runs(self, steps: Sequence[_Step]) -> tuple[Run, ...]:
        """Return what calls the hooks in order; those in a row that treat objects of a template alike are one."""
        runs: list[Run] = []
        for repeats, row in groupby(steps, key=lambda step: isinstance(_plugin(step.hook), Repeats)):
            part = tuple(row)
            run = partial(self._run, part)
            runs.append(
                RepeatedSteps([_plugin(step.hook) for step in part], run) if repeats and len(part) >= FEWEST else run
            )
        return tuple(runs)

    def _measured(self, mutators: Sequence[_Step], validators: Sequence[_Step]) -> _Steps:
        """Return steps that measure their call, and that of a plugin which is idle as well."""
        times = self._times
        assert times is not None  # noqa: S101  only called if there are times

        def around(steps: Sequence[_Step], kind: str) -> tuple[_Step, ...]:
            calls = times.around([(plugin_of(step.hook), step.unless_idle) for step in steps], kind)
            return tuple(_Step(call, None, step.hook, step.changes) for call, step in zip(calls, steps, strict=True))

        admit = around(mutators, ADMIT)
        return _Steps(admit, (partial(self._run, admit),), (partial(self._run, around(validators, VALIDATE)),))

    def _run(self, steps: Sequence[_Step], request: AdmissionRequest) -> None:
        hook: Hook | None = None
        try:
            for call, is_idle, hook, changes in steps:  # noqa: B007  named when it refuses
                if is_idle is None or not is_idle(request):
                    if changes:
                        part(request)
                    call(request=request)
        except ApiError as error:
            shown = self._refused(error, request, plugin_of(hook))
            if shown is error:
                raise
            raise shown from error

    def _run_watched(self, steps: Sequence[_Step], request: AdmissionRequest) -> None:
        """Run the mutators; take the object's JSON after each, and the time."""
        part(request)
        told: list[Step] = request.memory.setdefault(_MEMORY, [])
        monotonic, dumps = self._monotonic, orjson.dumps
        plugin, before, began = "", exact(dumps(request.object)), monotonic()
        try:
            for step in steps:
                plugin = plugin_of(step.hook)
                step.unless_idle(request=request)
                ended = monotonic()
                after = dumps(request.object)
                if after != before:
                    after = exact(after)  # it is kept
                    told.append(Step(plugin, ended - began, before, after))
                    before = after
                began = monotonic()
        except ApiError as error:
            shown = self._refused(error, request, plugin)
            if shown is error:
                raise
            raise shown from error

    def _refused(self, error: ApiError, request: AdmissionRequest, plugin: str) -> ApiError:
        """Give back what was charged; return the refusal as the client sees it."""
        undo(request)
        shown = error
        if isinstance(error, Forbidden) and not (error.details.get("kind") or error.details.get("name")):
            shown = _worded(error, request)
        if self._explanations is not None:
            self._explanations.refused(request, plugin, shown)
        return shown


class _MayWait:
    """A hook that is called elsewhere while it may wait: so requests that share the thread do not wait with it."""

    __slots__ = ("_hook", "_turns", "_waits_for")

    def __init__(self, hook: Hook, turns: Turns) -> None:
        plugin = _plugin(hook)
        self._hook = hook
        self._turns = turns
        self._waits_for = plugin.waits_for if isinstance(plugin, WaitsAtTimes) else None

    def __call__(self, *, request: AdmissionRequest) -> object:
        """Call the hook."""
        if not self._turns.is_here() or (self._waits_for is not None and not self._waits_for(request)):
            return self._hook(request=request)
        return self._turns.elsewhere(partial(self._hook, request=request))


def _step(hook: Hook, turns: Turns | None) -> _Step:
    plugin = _plugin(hook)
    call = hook if turns is None or not may_block(hook) else _MayWait(hook, turns)
    is_idle = plugin.is_idle if isinstance(plugin, IdleAtTimes) else None
    return _Step(call, is_idle, hook, not getattr(plugin, "only_refuses", False))


def _plugin(hook: Hook) -> Any:
    return getattr(hook, "__self__", None)


def _handles(hook: Hook, name: str) -> bool:
    """Tell whether a hook's plugin has to do with a resource or subresource; one that does not say so has with all."""
    handled = getattr(_plugin(hook), "handles", None)
    return handled is None or name in handled


def plugin_of(hook: Hook | None) -> str:
    """Return the name of the plugin whose hook it is."""
    context = getattr(getattr(hook, "__self__", None), "context", None)
    return str(getattr(context, "name", "") or getattr(hook, "__qualname__", "unknown"))


def _worded(error: Forbidden, request: AdmissionRequest) -> Forbidden:
    name = request.name or (name_of(request.object) if request.object else "") or _generated(request.object)
    worded = Forbidden.about(request.resource.group_resource, name, error.message)
    worded.details = {**worded.details, **error.details}
    return worded


def _generated(obj: Object | None) -> str:
    """Return what a name that is not generated yet will begin with."""
    return str(((obj or {}).get("metadata") or {}).get("generateName") or "")


def undo(request: AdmissionRequest) -> None:
    """Give back what the plugins charged: the write was refused or failed."""
    for give_back in reversed(request.on_failure):
        give_back()
    request.on_failure.clear()
