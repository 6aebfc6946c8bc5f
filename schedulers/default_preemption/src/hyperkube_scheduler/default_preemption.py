"""DefaultPreemption: make room for a pod by deleting pods of lower priority, as few and as unimportant as can be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from random import Random

from hyperkube_lib.scheduling.preparation import Preparation

from hyperkube.client.events import EventRecorder
from hyperkube.client.informer import Informer
from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.pod_groups import PodGroupDryRun, PodGroupInfo, PodGroupPostFilterPlugin
from hyperkube.hookspecs.scheduling import (
    DryRun,
    Filtered,
    FrameworkHandle,
    NodeTable,
    PodInfo,
    PostFilterPlugin,
    PostFilterResult,
    Victims,
)
from hyperkube.kinds.conditions import with_condition
from hyperkube.kinds.pods import DISRUPTION_TARGET, disruption_target, priority_of
from hyperkube.kinds.resources import POD_DISRUPTION_BUDGETS, POD_GROUPS, PODS
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ApiError, Conflict, NotFound, UsageError
from hyperkube.machinery.labels import from_label_selector
from hyperkube.machinery.objects import (
    NodeName,
    Object,
    is_being_deleted,
    key_of,
    labels_of,
    name_of,
    namespace_of,
    uid_of,
)

NO_VICTIMS = "No preemption victims found for incoming pod"
NOT_AGREED = "no candidate node for preemption"
NOT_HELPFUL = "Preemption is not helpful for scheduling"
BY_SCHEDULER = "PreemptionByScheduler"
OFFSET = 2**31
"""Added to each priority before they are summed, so that fewer victims of negative priority still cost less."""
SYNC_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node and the pods to be deleted there, the most important first."""

    index: int
    victims: Sequence[Object]
    violations: int

    def cost(self) -> tuple[int, int, int, int, str]:
        """Return what makes one candidate better than another: the smaller, the better.

        Budgets violated, the highest priority, the sum of priorities, the number of pods; then the latest start.
        """
        priorities = [priority_of(pod) for pod in self.victims]
        total = sum(value + OFFSET for value in priorities)
        highest = max(priorities)
        started = min(_started(pod) for pod in self.victims if priority_of(pod) == highest)
        latest_first = "".join(chr(0x10FFFF - ord(letter)) for letter in started)
        return self.violations, highest, total, len(self.victims), latest_first


def _check(percentage: int, absolute: int) -> None:
    """Source: kubernetes ``pkg/scheduler/apis/config/validation/validation_pluginargs.go``."""
    if not 0 <= percentage <= 100:
        raise UsageError(f"minCandidateNodesPercentage: Invalid value: {percentage}: not in valid range [0, 100]")
    if absolute < 0:
        raise UsageError(f"minCandidateNodesAbsolute: Invalid value: {absolute}: not in valid range [0, inf)")
    if percentage == absolute == 0:
        raise UsageError(
            "minCandidateNodesPercentage: Invalid value: 0: cannot be zero at the same time as"
            " minCandidateNodesAbsolute"
        )


class DefaultPreemption(PostFilterPlugin, PodGroupPostFilterPlugin):
    """Tries each node where evicting may help, and takes the cheapest.

    Settings: ``minCandidateNodesPercentage`` (10), ``minCandidateNodesAbsolute`` (100).
    Source: kubernetes ``pkg/scheduler/framework/preemption/preemption.go``,
    ``plugins/defaultpreemption/default_preemption.go``, ``preemption/podgrouppreemption.go``.
    """

    def __init__(self, context: PluginContext) -> None:
        """Read the settings.

        Raises:
            UsageError: a number of candidates outside its range, or both none.
        """
        super().__init__(context)
        settings = context.settings if context is not None else {}
        self._percentage = int(settings.get("minCandidateNodesPercentage", 10))
        self._absolute = int(settings.get("minCandidateNodesAbsolute", 100))
        _check(self._percentage, self._absolute)
        self._random = Random()  # noqa: S311  spreads the search, guards nothing
        self._budgets: Informer | None = None
        self._hand: FrameworkHandle | None = None
        self._groups: Informer | None = None
        self._recorders: dict[str, EventRecorder] = {}

    def connect(self, wake: Callable[[str], None]) -> None:
        """Follow pod groups where these are evicted for as a whole."""
        if self.context.informers is not None and self.context.gates.get("WorkloadAwarePreemption"):
            self._groups = self.context.informers.informer(POD_GROUPS)

    def set_handle(self, pods: FrameworkHandle) -> None:
        """Take what refuses pods that wait to be bound: these need not be deleted."""
        self._hand = pods

    def post_filter(
        self, pod: PodInfo, nodes: NodeTable, refused: Mapping[str, Filtered], dry_run: DryRun
    ) -> Callable[[], PostFilterResult] | PostFilterResult:
        """Choose victims with the table locked; delete them without, while others are scheduled."""
        if not len(nodes):
            return PostFilterResult(None)
        why_not = self._not_eligible(pod, nodes, refused)
        if why_not:
            return PostFilterResult(None, f"preemption: {why_not}", noop=True)
        helpless = _unresolvable(refused, len(nodes))
        columns = [index for index in range(len(nodes)) if not helpless[index]]
        first = self._random.randrange(len(columns)) if columns else 0
        verdicts = {NOT_HELPFUL: len(nodes) - len(columns)}
        candidates = self.candidates(pod, nodes, (*columns[first:], *columns[:first]), dry_run, verdicts)
        if not candidates:
            rows = sorted(f"{count} {text}" for text, count in verdicts.items() if count)
            return PostFilterResult(None, f"preemption: 0/{len(nodes)} nodes are available: {', '.join(rows)}.")
        try:
            candidates = _reviewed(candidates, nodes, dry_run)
        except ApiError as error:
            return PostFilterResult(None, f"preemption: {error}", noop=True)
        if not candidates:
            return PostFilterResult(None, f"preemption: {NOT_AGREED}", noop=True)
        best = min(candidates, key=Candidate.cost)
        node = nodes.names[best.index]
        expected = PostFilterResult(node, victims=len(best.victims))
        return Preparation(expected=expected, carry_out=lambda: self.evict(pod.pod, node, best.victims))

    def group_post_filter(
        self, group: PodGroupInfo, nodes: NodeTable, dry_run: PodGroupDryRun
    ) -> Callable[[], PostFilterResult] | PostFilterResult:
        """Choose victims for the whole group, anywhere in the cluster."""
        if any(pod.pod.get("spec", {}).get("preemptionPolicy") == "Never" for pod in group.pods):
            return PostFilterResult(None, "not eligible due to preemptionPolicy=Never.", noop=True)
        mine = int((group.group.get("spec") or {}).get("priority") or 0)
        nominated = {(pod.pod.get("status") or {}).get("nominatedNodeName") for pod in group.pods}
        for index, name in enumerate(nodes.names):
            if name in nominated and any(priority_of(each) < mine and _ends_for_us(each) for each in nodes.pods(index)):
                return PostFilterResult(None, "not eligible due to a terminating pod on the nominated node.", noop=True)
        from hyperkube_lib.scheduling import group_victims  # few pods are in groups

        units = group_victims.units_below(mine, nodes, lambda key: self._groups.get(*key) if self._groups else None)
        chosen = group_victims.choose(units, dry_run, lambda pods: by_budget(pods, self._all_budgets())[0])
        if isinstance(chosen, str):
            return PostFilterResult(None, chosen)
        where: dict[NodeName, list[Object]] = {}
        for unit in chosen:
            for index, each in unit.pods:
                where.setdefault(nodes.names[index], []).append(each)
        return lambda: self._evict_all(group.pods[0].pod, where)

    def _evict_all(self, pod: Object, where: Mapping[NodeName, Sequence[Object]]) -> PostFilterResult:
        nomination = PostFilterResult(None, "no pod has to be preempted")
        for node, victims in where.items():
            nomination = self.evict(pod, node, victims)
            if nomination.node is None:
                return nomination
        return replace(nomination, victims=sum(map(len, where.values())))

    def _not_eligible(self, pod: PodInfo, nodes: NodeTable, refused: Mapping[str, Filtered]) -> str:
        if pod.pod.get("spec", {}).get("preemptionPolicy") == "Never":
            return "not eligible due to preemptionPolicy=Never."
        nominated = (pod.pod.get("status") or {}).get("nominatedNodeName")
        if nominated and nominated in nodes.names:
            index = list(nodes.names).index(nominated)
            if _unresolvable(refused, len(nodes))[index]:
                return ""
            if any(priority_of(each) < pod.priority and _ends_for_us(each) for each in nodes.pods(index)):
                return "not eligible due to a terminating pod on the nominated node."
        return ""

    def candidates(
        self, pod: PodInfo, nodes: NodeTable, columns: Sequence[int], dry_run: DryRun, verdicts: dict[str, int]
    ) -> list[Candidate]:
        """Dry-run preemption node by node until there are enough candidates, at least one of which violates no budget.

        Args:
            pod: the pod that wants room.
            nodes: all nodes.
            columns: those to try, in this order.
            dry_run: to try with.
            verdicts: reason → nodes, to be counted up for the nodes where nothing helps.
        """
        enough = min(len(columns), max(len(columns) * self._percentage // 100, self._absolute))
        budgets: Sequence[Object] | None = None
        found: list[Candidate] = []
        for index in columns:
            lower = [each for each in nodes.pods(index) if priority_of(each) < pod.priority]
            budgets = self._all_budgets() if budgets is None and lower else budgets
            candidate = victims_on(index, lower, budgets or (), dry_run) if lower else [NO_VICTIMS]
            if not isinstance(candidate, Candidate):
                for text in candidate:
                    verdicts[text] = verdicts.get(text, 0) + 1
                continue
            if not candidate.violations or sum(each.violations > 0 for each in found) < enough:
                found.append(candidate)
            if len(found) >= enough and any(not each.violations for each in found):
                break
        return found

    def _all_budgets(self) -> Sequence[Object]:
        if self.context is None or self.context.informers is None:
            return ()
        if self._budgets is None:
            self._budgets = self.context.informers.informer(POD_DISRUPTION_BUDGETS)
        self._budgets.wait_synced(SYNC_SECONDS)
        return self._budgets.list()

    def evict(self, pod: Object, node: NodeName, victims: Sequence[Object]) -> PostFilterResult:
        """Delete the victims, telling each why; one that cannot be deleted leaves the pod where it is."""
        name = pod.get("spec", {}).get("schedulerName") or "default-scheduler"
        recorder = self._recorder(name)
        for victim in victims:
            if is_being_deleted(victim):
                continue
            try:
                if self._hand is None or not self._hand.reject(key_of(victim), "preempted"):
                    self._delete(victim, name)
            except NotFound:
                continue
            except (ApiError, OSError) as error:
                self.context.logger.warning("cannot preempt %s: %s", name_of(victim), error)
                return PostFilterResult(None, f"preemption: {error}", noop=True)
            recorder.event(victim, "Normal", "Preempted", f"Preempted by pod {uid_of(pod)} on node {node}")
        return PostFilterResult(node, victims=len(victims))

    def _recorder(self, scheduler: str) -> EventRecorder:
        """Return the recorder of a scheduler; several pods may ask at once."""
        found = self._recorders.get(scheduler)
        return found or self._recorders.setdefault(scheduler, EventRecorder(self.client, self.context.clock, scheduler))

    def _delete(self, victim: Object, scheduler: str) -> None:
        row = disruption_target(BY_SCHEDULER, f"{scheduler}: preempting to accommodate a higher priority pod")
        conditions = with_condition((victim.get("status") or {}).get("conditions") or [], row, self.context.clock.now())
        name, namespace = name_of(victim), namespace_of(victim)
        self.client.patch(PODS, name, {"status": {"conditions": conditions}}, namespace, subresource="status")
        try:
            self.client.delete(PODS, name, namespace, options={"preconditions": {"uid": uid_of(victim)}})
        except Conflict as error:
            raise NotFound(f"pod {name} is another one by now") from error


def _reviewed(candidates: Sequence[Candidate], nodes: NodeTable, dry_run: DryRun) -> list[Candidate]:
    """Let the extenders strike candidates out, and change their victims."""
    by_name = {nodes.names[each.index]: each for each in candidates}
    choices = dry_run.review({name: Victims(each.victims, each.violations) for name, each in by_name.items()})
    return [
        Candidate(by_name[name].index, sorted(victims.pods, key=importance), victims.violations)
        for name, victims in choices.items()
        if name in by_name and victims.pods
    ]


def victims_on(
    index: int, lower: Sequence[Object], budgets: Sequence[Object], dry_run: DryRun
) -> Candidate | list[str]:
    """Return the fewest pods of lower priority whose deletion makes the pod fit; if not even all do, why not.

    All are taken away, then put back one by one, those with a budget at stake and the important ones first.
    """
    for each in lower:
        dry_run.remove(index, each)
    if not dry_run.fits(index):
        reasons = dry_run.why_not(index)
        for each in lower:
            dry_run.put_back(index, each)
        return list(reasons)
    violating, others = by_budget(sorted(lower, key=importance), budgets)
    victims: list[Object] = []
    violations = 0
    for each in (*violating, *others):
        dry_run.put_back(index, each)
        if not dry_run.fits(index):
            dry_run.remove(index, each)
            victims.append(each)
            violations += any(each is other for other in violating)
    for each in victims:
        dry_run.put_back(index, each)
    if not victims:
        return ["expected at least one victim pod on the node"]
    return Candidate(index, sorted(victims, key=importance), violations)


def by_budget(pods: Sequence[Object], budgets: Sequence[Object]) -> tuple[list[Object], list[Object]]:
    """Split pods into those whose disruption a budget no longer allows, and the others; the order stays."""
    allowed = [int((budget.get("status") or {}).get("disruptionsAllowed") or 0) for budget in budgets]
    violating: list[Object] = []
    others: list[Object] = []
    for pod in pods:
        violated = False
        for number, budget in enumerate(budgets):
            if _covers(budget, pod):
                allowed[number] -= 1
                violated = violated or allowed[number] < 0
        (violating if violated else others).append(pod)
    return violating, others


def _covers(budget: Object, pod: Object) -> bool:
    if namespace_of(budget) != namespace_of(pod) or not labels_of(pod):
        return False
    selector = from_label_selector((budget.get("spec") or {}).get("selector"))
    if selector.is_empty or not selector.matches(labels_of(pod)):
        return False
    return name_of(pod) not in ((budget.get("status") or {}).get("disruptedPods") or {})


def importance(pod: Object) -> tuple[int, str]:
    """Return a key by which more important pods come first: higher priority, then longer running."""
    return -priority_of(pod), _started(pod)


def _started(pod: Object) -> str:
    """Return when a pod started; one that has not counts as starting later than any."""
    return str((pod.get("status") or {}).get("startTime") or "9999")


def _ends_for_us(pod: Object) -> bool:
    rows = (pod.get("status") or {}).get("conditions") or ()
    return is_being_deleted(pod) and any(
        row["type"] == DISRUPTION_TARGET and row["status"] == "True" and row.get("reason") == BY_SCHEDULER
        for row in rows
    )


def _unresolvable(refused: Mapping[str, Filtered], count: int) -> list[bool]:
    helpless = [False] * count
    for said in refused.values():
        if said.unresolvable is not None:
            for index in said.unresolvable.nonzero()[0]:
                helpless[int(index)] = True
    return helpless
