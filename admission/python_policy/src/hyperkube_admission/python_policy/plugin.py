"""The plugin: which policies are about a write, what they say, and what happens when one says nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from hyperkube_admission.python_policy.lookups import Lookups
from hyperkube_admission.python_policy.matching import Matcher
from hyperkube_admission.python_policy.pool import Generation, Pool
from hyperkube_admission.python_policy.process import Job, NotStarted, NoVerdict, Process, Reloaded, Turn
from hyperkube_admission.python_policy.settings import Entry, read

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.machinery.errors import ApiError, InternalError, UsageError, from_status
from hyperkube.machinery.objects import Object
from hyperkube.machinery.patch.json_patch import apply_json_patch
from hyperkube.plugin import Plugin, PluginContext

FAILED_OPEN = "failed-open.python-policy.hyperkube.dev/"


class _Policy:
    """One policy in force."""

    def __init__(self, index: int, declared: Object, entry: Entry) -> None:
        self.index = index
        self.name: str = declared["name"]
        self.mutates: bool = declared["mutates"]
        self.entry = entry
        self.is_closed = entry.failure_policy == "Fail"
        self.matches = Matcher(declared)


class _InForce:
    """The policies of one generation."""

    def __init__(self, generation: Generation, entries: Sequence[Entry]) -> None:
        self.generation = generation
        found = [_Policy(index, row, entries[row["entry"]]) for index, row in enumerate(generation.policies)]
        self.mutating = [policy for policy in found if policy.mutates]
        self.validating = [policy for policy in found if not policy.mutates]


class PythonPolicy(Plugin):
    """Asks the policies that are about a write."""

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        table = dict(context.settings)
        path = str(table.pop("admission_control_config_file", ""))
        self._settings = settings = read(table, Path(path).parent if path else Path.cwd())
        entries = [{"source": one.source, "name": one.name, "params": one.params} for one in settings.entries]
        job = Job(entries, settings.memory)
        self._pool = Pool(job, settings.workers, context.clock, context.logger)
        self._lookups = Lookups(self.client, self.informers, context.clock)
        self._known: _InForce | None = None
        self._started = False

    def start(self) -> None:
        """Load the policies.

        Raises:
            UsageError: they cannot be loaded.
        """
        if not self._settings.entries:
            self.context.logger.warning("no policies are configured or installed: every write passes")
            return
        try:
            self._pool.start()
            self._in_force()
        except NotStarted as error:
            raise UsageError(f"admission plugin {self.context.name!r}: {error}") from error
        self._started = True

    def ready(self) -> bool:
        """Tell whether policies can be asked."""
        if not self._settings.entries:
            return True
        if not self._started:
            return False
        return self._lookups.learn() and self._pool.full()

    def close(self) -> None:
        """End the policies' processes."""
        self._pool.close()

    @hookimpl
    def admission_mutate(self, request: AdmissionRequest) -> None:
        """Let the mutating policies change the object, one after the other."""
        self._run(self._mutate, request)

    @hookimpl
    def admission_validate(self, request: AdmissionRequest) -> None:
        """Refuse what the first of the validating policies refuses."""
        self._run(self._validate, request)

    def _run(self, step: Callable[[_InForce, AdmissionRequest], None], request: AdmissionRequest) -> None:
        if not self._settings.entries:
            return
        while True:
            try:
                step(self._in_force(), request)
            except Reloaded:
                continue
            break

    def _mutate(self, policies: _InForce, request: AdmissionRequest) -> None:
        for policy in policies.mutating:
            if not policy.matches(request):
                continue
            for told in self._answers(policies, [policy], request):
                try:
                    changed = _change(request, told)
                except ApiError as error:  # its patch does not fit
                    self._failed(policy, request, error.message)
                    continue
                request.wants_reinvocation = request.wants_reinvocation or changed

    def _validate(self, policies: _InForce, request: AdmissionRequest) -> None:
        meant = [policy for policy in policies.validating if policy.matches(request)]
        if meant:
            self._answers(policies, meant, request)

    def _in_force(self) -> _InForce:
        generation, known = self._pool.generation, self._known
        if known is None or known.generation is not generation:
            known = self._known = _InForce(generation, self._settings.entries)
        return known

    def _answers(self, policies: _InForce, meant: Sequence[_Policy], request: AdmissionRequest) -> list[Object]:
        """Ask policies in order and return what they said, without those that failed open.

        Raises:
            ApiError: one of them refuses, or gives no verdict and fails closed.
            Reloaded: these policies are not in force any more.
        """
        answers: list[Object] = []
        while meant:
            deadline = self.context.clock.monotonic() + meant[0].entry.budget
            done = 0
            process: Process | None = None
            usable = False
            try:
                process = self._pool.borrow(policies.generation, deadline)
                turns = [Turn(one.index, one.entry.budget, one.is_closed) for one in meant]
                for told in process.ask(turns, _asked(request), deadline, self._lookups.answer):
                    done += 1
                    self._note(meant[done - 1], request, told)
                    answers.append(told)
                usable = True
                break
            except NoVerdict as error:
                self._failed(meant[done], request, str(error))
                meant = meant[done + 1 :]
            except ApiError:
                usable = True  # the process says nothing more after what ends a review
                raise
            finally:
                if process is not None:
                    (self._pool.give_back if usable else self._pool.discard)(process)
        return answers

    def _note(self, policy: _Policy, request: AdmissionRequest, told: Object) -> None:
        """Take over what a policy said.

        Raises:
            ApiError: it refuses, or failed and fails closed.
        """
        if "failed" in told:
            if told.get("trace"):
                self.context.logger.warning("policy %r failed:\n%s", policy.name, told["trace"])
            self._failed(policy, request, told["failed"])
            return
        request.annotations.update(
            {f"{policy.name}/{key}": value for key, value in (told.get("annotations") or {}).items()}
        )
        request.warnings.extend(text for text in told.get("warnings") or () if text not in request.warnings)
        if "deny" in told:
            raise _refusal(policy, told["deny"])

    def _failed(self, policy: _Policy, request: AdmissionRequest, why: str) -> None:
        self.context.logger.warning("policy %r gave no verdict: %s", policy.name, why)
        if policy.is_closed:
            raise InternalError.because(f'failed running policy "{policy.name}": {why}')
        request.annotations[FAILED_OPEN + policy.name] = why


def _asked(request: AdmissionRequest) -> Object:
    """Return a request as `hyperkube_admission.python_policy.review.review_from` reads it."""
    user = request.user
    return {
        "operation": request.operation,
        "group": request.resource.group,
        "version": request.resource.version,
        "resource": request.resource.resource,
        "subresource": request.subresource,
        "kind": request.kind.kind,
        "namespace": request.namespace,
        "name": request.name,
        "user": {"name": user.name, "uid": user.uid, "groups": user.groups, "extra": {**user.extra}},
        "object": request.object or {},
        "old_object": request.old_object or {},
        "options": request.options or {},
        "dry_run": request.dry_run,
    }


def _refusal(policy: _Policy, said: Object) -> ApiError:
    text = f'policy "{policy.name}" denied the request: {said["message"]}'
    return from_status({"message": text, "reason": said["reason"], "code": said["code"], "details": {}})


def _change(request: AdmissionRequest, told: Object) -> bool:
    """Make the change that a mutating policy answered with; tell whether there was one."""
    obj = request.object
    if obj is None or not ("object" in told or "patch" in told):
        return False
    after = told["object"] if "object" in told else apply_json_patch(obj, told["patch"])
    if after == obj:
        return False
    obj.clear()
    obj.update(after)
    return True
