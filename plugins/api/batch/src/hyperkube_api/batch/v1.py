"""The types of batch/v1, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: N815 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="batch",
    version="v1",
    proto="k8s.io.api.batch.v1",
    openapi="io.k8s.api.batch.v1",
)


class CronJob(KubeObject):
    """Makes a Job whenever its schedule says so."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("CronJobSpec", 2, required=True, omitempty=True, doc="What is wished for.")
    status = f.Struct("CronJobStatus", 3, omitempty=True, doc="What is observed.")


class CronJobList(KubeObject):
    """A list of CronJob objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("CronJob", 2, required=True, nullable=True, doc="The objects.")


class CronJobSpec(KubeSchema):
    """When to make which Job."""

    schedule = f.String(1, required=True, dv=('k8s:alpha(since: "1.36")=+k8s:required',), doc="When, as in a crontab.")
    timeZone = f.String(8, ptr=True, omitempty=True, doc="The time zone of the schedule.")
    startingDeadlineSeconds = f.Int64(2, ptr=True, omitempty=True, doc="How late a Job may start.")
    concurrencyPolicy = f.String(
        3,
        omitempty=True,
        enum=("Allow", "Forbid", "Replace"),
        typedef="v1.ConcurrencyPolicy",
        doc="What to do when the last Job still runs.",
    )
    suspend = f.Bool(4, ptr=True, omitempty=True, doc="Whether to make no Jobs.")
    jobTemplate = f.Struct("JobTemplateSpec", 5, required=True, doc="The Jobs to make.")
    successfulJobsHistoryLimit = f.Int32(6, ptr=True, omitempty=True, doc="How many successful Jobs are kept.")
    failedJobsHistoryLimit = f.Int32(7, ptr=True, omitempty=True, doc="How many failed Jobs are kept.")


class CronJobStatus(KubeSchema):
    """What is observed of a CronJob."""

    active = f.List("hyperkube_api.core.v1:ObjectReference", 1, omitempty=True, list_type="atomic")
    lastScheduleTime = f.Time(4, ptr=True, omitempty=True)
    lastSuccessfulTime = f.Time(5, ptr=True, omitempty=True)


class Job(KubeObject):
    """Runs pods until enough of them have finished successfully."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("JobSpec", 2, omitempty=True, doc="What is wished for.")
    status = f.Struct("JobStatus", 3, omitempty=True, doc="What is observed.")


class JobCondition(KubeSchema):
    """Job condition: part of JobStatus.conditions."""

    type = f.String(1, required=True, typedef="v1.JobConditionType")
    status = f.String(2, required=True, typedef="v1.ConditionStatus", doc="What is observed.")
    lastProbeTime = f.Time(3, omitempty=True)
    lastTransitionTime = f.Time(4, omitempty=True, doc="When the condition last changed.")
    reason = f.String(5, omitempty=True, doc="Why, in one word in CamelCase.")
    message = f.String(6, omitempty=True, doc="Why, for people.")


class JobList(KubeObject):
    """A list of Job objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("Job", 2, required=True, nullable=True, doc="The objects.")


class JobSpec(KubeSchema):
    """What a Job should do."""

    parallelism = f.Int32(1, ptr=True, omitempty=True, doc="How many pods run at a time.")
    completions = f.Int32(2, ptr=True, omitempty=True, doc="How many pods must succeed.")
    activeDeadlineSeconds = f.Int64(3, ptr=True, omitempty=True, doc="The seconds after which the Job has failed.")
    podFailurePolicy = f.Struct("PodFailurePolicy", 11, ptr=True, omitempty=True)
    successPolicy = f.Struct("SuccessPolicy", 16, ptr=True, omitempty=True)
    backoffLimit = f.Int32(7, ptr=True, omitempty=True, doc="How many failures are too many.")
    backoffLimitPerIndex = f.Int32(12, ptr=True, omitempty=True)
    maxFailedIndexes = f.Int32(13, ptr=True, omitempty=True)
    selector = f.Struct("hyperkube_api.meta.v1:LabelSelector", 4, ptr=True, omitempty=True)
    manualSelector = f.Bool(5, ptr=True, omitempty=True)
    template = f.Struct("hyperkube_api.core.v1:PodTemplateSpec", 6, required=True, doc="The pods to make.")
    ttlSecondsAfterFinished = f.Int32(
        8, ptr=True, omitempty=True, doc="The seconds after which the finished Job is deleted."
    )
    completionMode = f.String(
        9,
        ptr=True,
        omitempty=True,
        enum=("Indexed", "NonIndexed"),
        typedef="v1.CompletionMode",
        doc="Whether pods are equal or each has an index.",
    )
    suspend = f.Bool(10, ptr=True, omitempty=True, doc="Whether to run no pods.")
    podReplacementPolicy = f.String(
        14, ptr=True, omitempty=True, enum=("Failed", "TerminatingOrFailed"), typedef="v1.PodReplacementPolicy"
    )
    managedBy = f.String(15, ptr=True, omitempty=True)


class JobStatus(KubeSchema):
    """What is observed of a Job."""

    conditions = f.List(
        "JobCondition",
        1,
        omitempty=True,
        list_type="atomic",
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Aspects of the state, each true, false or unknown.",
    )
    startTime = f.Time(2, ptr=True, omitempty=True)
    completionTime = f.Time(3, ptr=True, omitempty=True)
    active = f.Int32(4, omitempty=True)
    succeeded = f.Int32(5, omitempty=True)
    failed = f.Int32(6, omitempty=True)
    terminating = f.Int32(11, ptr=True, omitempty=True)
    completedIndexes = f.String(7, omitempty=True)
    failedIndexes = f.String(10, ptr=True, omitempty=True)
    uncountedTerminatedPods = f.Struct("UncountedTerminatedPods", 8, ptr=True, omitempty=True)
    ready = f.Int32(9, ptr=True, omitempty=True)


class JobTemplateSpec(KubeSchema):
    """Job template spec: part of CronJobSpec.jobTemplate."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("JobSpec", 2, omitempty=True, doc="What is wished for.")


class PodFailurePolicy(KubeSchema):
    """Pod failure policy: part of JobSpec.podFailurePolicy."""

    rules = f.List("PodFailurePolicyRule", 1, required=True, nullable=True, list_type="atomic")


class PodFailurePolicyOnExitCodesRequirement(KubeSchema):
    """Pod failure policy on exit codes requirement: part of PodFailurePolicyRule.onExitCodes."""

    containerName = f.String(1, ptr=True, omitempty=True)
    operator = f.String(2, required=True, enum=("In", "NotIn"), typedef="v1.PodFailurePolicyOnExitCodesOperator")
    values = f.List(f.Int32(), 3, required=True, nullable=True, list_type="set")


class PodFailurePolicyOnPodConditionsPattern(KubeSchema):
    """Pod failure policy on pod conditions pattern: part of PodFailurePolicyRule.onPodConditions."""

    type = f.String(1, required=True, typedef="v1.PodConditionType")
    status = f.String(2, typedef="v1.ConditionStatus", doc="What is observed.")


class PodFailurePolicyRule(KubeSchema):
    """Pod failure policy rule: part of PodFailurePolicy.rules."""

    action = f.String(
        1, required=True, enum=("Count", "FailIndex", "FailJob", "Ignore"), typedef="v1.PodFailurePolicyAction"
    )
    onExitCodes = f.Struct("PodFailurePolicyOnExitCodesRequirement", 2, ptr=True, omitempty=True)
    onPodConditions = f.List("PodFailurePolicyOnPodConditionsPattern", 3, omitempty=True, list_type="atomic")


class SuccessPolicy(KubeSchema):
    """Success policy: part of JobSpec.successPolicy."""

    rules = f.List("SuccessPolicyRule", 1, required=True, nullable=True, list_type="atomic")


class SuccessPolicyRule(KubeSchema):
    """Success policy rule: part of SuccessPolicy.rules."""

    succeededIndexes = f.String(1, ptr=True, omitempty=True)
    succeededCount = f.Int32(2, ptr=True, omitempty=True)


class UncountedTerminatedPods(KubeSchema):
    """Uncounted terminated pods: part of JobStatus.uncountedTerminatedPods."""

    succeeded = f.List(f.String(), 1, omitempty=True, list_type="set")
    failed = f.List(f.String(), 2, omitempty=True, list_type="set")
