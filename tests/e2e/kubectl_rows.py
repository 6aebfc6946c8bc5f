"""The matrix of kubectl: which requests each of its commands sends, as recorded from kubectl 1.32.

A row has steps: a command line, the requests that it must send (and get an answer for), and what it prints. The words
``NODE``, ``ROOM`` and ``FOLDER`` stand for the node, the namespace of the matrix and a scratch folder. Tests of other
modules that show more of a row than its requests are named in `MORE`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """One command line: `sends` are patterns of "METHOD path?query", `shows` is a piece of its output."""

    words: str
    sends: tuple[str, ...] = ()
    shows: str = ""
    code: int = 0
    given: str = ""


HERE = "/api/v1/namespaces/ROOM"
APPS = "/apis/apps/v1/namespaces/ROOM"
DISCOVERY = ("GET /api$", "GET /apis$")
VALIDATION = ("GET /openapi/v3", r"GET /openapi/v3/api/v1\?hash=")
MAP = """
apiVersion: v1
kind: ConfigMap
metadata: {name: NAME}
data: {a: 'VALUE'}
"""
HPA = "apis/autoscaling/v1/namespaces/ROOM/horizontalpodautoscalers"
CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
NODES = "GET /api/v1/nodes/NODE"
STRATEGIC = r"fieldManager=kubectl-client-side-apply&fieldValidation=Strict"
SOLO = "fieldSelector=metadata.name%3Dsolo"


def config_map(name, value="1"):
    """Return the manifest of a ConfigMap."""
    return MAP.replace("NAME", name).replace("VALUE", value)


def _patch(path, manager):
    return f"PATCH {path}\\?fieldManager={manager}"


ROWS: dict[str, list[Step]] = {
    "version": [Step("version", ("GET /version",), "Server Version: v1.36")],
    "api-resources, api-versions": [
        Step("api-resources --cached=false", DISCOVERY, "configmaps"),
        Step("api-versions", DISCOVERY, "apps/v1"),
    ],
    "get": [
        Step("get pods", (f"GET {HERE}/pods\\?limit=500",), "solo"),
        Step("get pods -o yaml", (f"GET {HERE}/pods\\?limit=500",), "kind: List"),
        Step("get pod solo -o json", (f"GET {HERE}/pods/solo$",), '"kind": "Pod"'),
        Step("get pods -o wide", (f"GET {HERE}/pods\\?limit=500",), "READINESS GATES"),
        Step("get pods -o name", (f"GET {HERE}/pods\\?limit=500",), "pod/solo"),
        Step("get pods -o custom-columns=N:.metadata.name", (), "solo"),
        Step("get pods -A", (r"GET /api/v1/pods\?limit=500",), "NAMESPACE"),
        Step("get pods --sort-by=.metadata.name", (r"includeObject=Object",), "solo"),
        Step("get clusterroles --chunk-size=20", (r"clusterroles\?limit=20", r"continue=.+limit=20"), "view"),
        Step("get pods -l run=solo", ("labelSelector=run%3Dsolo&limit=500",), "solo"),
        Step("get pods --field-selector=metadata.name=solo", (f"{SOLO}&limit=500",), "solo"),
        Step("get deployment web --subresource=status", (f"GET {APPS}/deployments/web/status",), "web"),
        Step("get deployment web --subresource=scale", (f"GET {APPS}/deployments/web/scale",), "web"),
        Step("get all", (f"GET {APPS}/deployments\\?limit=500", f"GET {HERE}/services\\?limit=500"), "deployment.apps/web"),
        Step("get pods -w --request-timeout=1s", (r"resourceVersion=\d+&.*watch=true",), "solo"),
        Step("get pod solo -w --request-timeout=1s", (f"{SOLO}&.*watch=true",), "solo"),
    ],
    "describe": [
        Step("describe pod solo", (f"GET {HERE}/pods/solo$", f"GET {HERE}/events.*involvedObject"), "Controlled|Node:"),
        Step("describe deployment web", (f"GET {APPS}/replicasets\\?labelSelector=",), "NewReplicaSet:"),
        Step(
            "describe node NODE",
            (r"pods\?fieldSelector=spec.nodeName%3DNODE%2Cstatus.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed", "kube-node-lease/leases/NODE",
             "events.*involvedObject.uid", "events.*involvedObject.name"),
            "Allocated resources:",
        ),
    ],
    "apply (client-side)": [
        Step("apply -f -", (f"GET {HERE}/configmaps/made$", f"POST {HERE}/configmaps\\?{STRATEGIC}", *VALIDATION),
             "created", given=config_map("made")),
        Step("apply -f -", (f"PATCH {HERE}/configmaps/made\\?{STRATEGIC}",), "configured", given=config_map("made", "2")),
        Step("apply view-last-applied configmap/made", (), "a: "),
    ],
    "apply --server-side": [
        Step("apply --server-side -f -", (f"PATCH {HERE}/configmaps/ours\\?fieldManager=kubectl&fieldValidation=Strict&force=false",),
             "serverside-applied", given=config_map("ours")),
        Step("apply --server-side --force-conflicts -f -", ("PATCH .*force=true", "PATCH .*fieldManager=kubectl-last-applied"),
             "serverside-applied", given=config_map("made", "3")),
    ],
    "apply --dry-run=server / diff": [
        Step("apply --dry-run=server -f -", ("PATCH .*dryRun=All",), "server dry run", given=config_map("made", "4")),
        Step("diff -f -", ("PATCH .*dryRun=All&fieldManager=kubectl-client-side-apply",), "4", 1, config_map("ours", "4")),
        Step("diff --server-side --force-conflicts -f -", ("PATCH .*dryRun=All.*force=true",), "4", 1, config_map("ours", "4")),
    ],
    "create -f / replace / replace --force": [
        Step("create -f -", (f"POST {HERE}/configmaps\\?fieldManager=kubectl-create&fieldValidation=Strict",),
             "created", given=config_map("put")),
        Step("replace -f -", (f"GET {HERE}/configmaps/put", f"PUT {HERE}/configmaps/put\\?fieldManager=kubectl-replace&fieldValidation=Strict"),
             "replaced", given=config_map("put", "2")),
        Step("replace --force -f -", (f"DELETE {HERE}/configmaps/put", f"POST {HERE}/configmaps"), "replaced",
             given=config_map("put", "3")),
    ],
    "edit": [
        Step("edit configmap settings", (f"GET {HERE}/configmaps/settings", f"PATCH {HERE}/configmaps/settings\\?fieldManager=kubectl-edit&fieldValidation=Strict"), "edited"),
    ],
    "patch": [
        Step('patch configmap settings --type=json -p [{"op":"add","path":"/data/p","value":"1"}]',
             (f"GET {HERE}/configmaps/settings", _patch(f"{HERE}/configmaps/settings", "kubectl-patch")), "patched"),
        Step('patch configmap settings --type=merge -p {"data":{"p":"2"}}', (_patch(f"{HERE}/configmaps/settings", "kubectl-patch"),), "patched"),
        Step('patch configmap settings -p {"data":{"p":"3"}}', (_patch(f"{HERE}/configmaps/settings", "kubectl-patch"),), "patched"),
        Step('patch deployment web --subresource=scale --type=merge -p {"spec":{"replicas":1}}',
             (_patch(f"{APPS}/deployments/web/scale", "kubectl-patch"),), "web"),
        Step('patch service web --subresource=status --type=merge -p {"status":{"loadBalancer":{}}}',
             (_patch(f"{HERE}/services/web/status", "kubectl-patch"),), "web"),
        Step('patch pod solo --subresource=resize -p {"spec":{"containers":[]}}', (_patch(f"{HERE}/pods/solo/resize", "kubectl-patch"),), "solo"),
    ],
    "label/annotate": [
        Step("label configmap settings a=b", (_patch(f"{HERE}/configmaps/settings", "kubectl-label"),), "labeled"),
        Step("annotate configmap settings a=b", (_patch(f"{HERE}/configmaps/settings", "kubectl-annotate"),), "annotated"),
    ],
    "set image/env/resources/sa": [
        Step("set env deployment/idle A=B", (_patch(f"{APPS}/deployments/idle", "kubectl-set"),), "env updated"),
        Step("set image deployment/idle host=host:2", (_patch(f"{APPS}/deployments/idle", "kubectl-set"),), "image updated"),
        Step("set resources deployment/idle --limits=cpu=1", (_patch(f"{APPS}/deployments/idle", "kubectl-set"),), "requirements updated"),
        Step("set serviceaccount deployment/idle robot", (_patch(f"{APPS}/deployments/idle", "kubectl-set"),), "serviceaccount updated"),
        Step("set selector service/web app=web", ("PATCH .*services/web",), "selector updated"),
        Step("set subject rolebinding/views --user=somebody", ("rolebindings/views",), "subjects updated"),
    ],
    "scale": [
        Step("scale deployment/idle --replicas=0", (f"GET {APPS}/deployments/idle", f"PATCH {APPS}/deployments/idle/scale$"), "scaled"),
    ],
    "autoscale": [
        Step("autoscale deployment idle --max=3 --cpu-percent=50", (f"GET {APPS}/deployments/idle", f"POST /{HPA}"), "autoscaled"),
    ],
    "expose": [
        Step("expose deployment idle --port=80", (f"GET {APPS}/deployments/idle", f"POST {HERE}/services\\?fieldManager=kubectl-expose"), "exposed"),
    ],
    "rollout status": [
        Step("rollout status deployment/web --timeout=30s", (f"GET {APPS}/deployments/web", f"GET {APPS}/deployments\\?.*fieldSelector=metadata.name%3Dweb"), "successfully rolled out"),
    ],
    "rollout history/undo": [
        Step("rollout history deployment/idle", (f"GET {APPS}/deployments/idle", f"GET {APPS}/replicasets\\?labelSelector="), "REVISION"),
        Step("rollout undo deployment/idle --to-revision=1", (f"PATCH {APPS}/deployments/idle",), "rolled back"),
    ],
    "rollout restart/pause": [
        Step("rollout restart deployment/idle", (_patch(f"{APPS}/deployments/idle", "kubectl-rollout"),), "restarted"),
        Step("rollout pause deployment/idle", (_patch(f"{APPS}/deployments/idle", "kubectl-rollout"),), "paused"),
        Step("rollout resume deployment/idle", (_patch(f"{APPS}/deployments/idle", "kubectl-rollout"),), "resumed"),
    ],
    "run": [
        Step("run brief --image=host --restart=Never -- true", (f"POST {HERE}/pods\\?fieldManager=kubectl-run",), "created"),
        Step("run said --rm -i --image=host --restart=Never -- sh -c read\tx;\techo\tgot\t$x",
             (f"POST {HERE}/pods", f"GET {HERE}/pods\\?.*fieldSelector=metadata.name%3Dsaid", "(GET|POST) .*/pods/said/attach"), "got", given="it\n"),
    ],
    "logs": [
        Step("logs solo -c solo --tail=1 --since=1h --timestamps --limit-bytes=100",
             (f"GET {HERE}/pods/solo$", r"pods/solo/log\?container=solo&limitBytes=100&sinceSeconds=3600&tailLines=1&timestamps=true"), "ready"),
        Step("logs deploy/web", (f"GET {APPS}/deployments/web", f"GET {HERE}/pods\\?labelSelector=", r"/log\?container=host"), ""),
        Step("logs solo --since-time=2020-01-01T00:00:00Z --insecure-skip-tls-verify-backend", ("insecureSkipTLSVerifyBackend=true&sinceTime=",), "ready"),
        Step("logs solo --previous", ("previous=true",), "previous terminated container", code=1),
    ],
    "exec/attach/cp/port-forward": [
        Step("exec solo -- echo there", (r"GET .*/pods/solo/exec\?command=echo&command=there&container=solo&stderr=true&stdout=true",), "there"),
        Step("cp solo:/etc/hostname FOLDER/hostname", (r"pods/solo/exec\?command=tar",), ""),
    ],
    "debug": [
        Step("debug solo --image=host --container=helper -- true", (f"GET {HERE}/pods/solo", f"PATCH {HERE}/pods/solo/ephemeralcontainers"), ""),
        Step("debug node/NODE --image=host -- true", (NODES, f"POST {HERE}/pods"), "Creating debugging pod"),
    ],
    "wait": [
        Step("wait --for=condition=Ready pod/solo --timeout=30s", (f"GET {HERE}/pods\\?.*{SOLO}",), "condition met"),
        Step("wait --for=jsonpath={.status.phase}=Running pod/solo --timeout=30s", (), "condition met"),
        Step("wait --for=create pod/solo --timeout=30s", (), "condition met"),
        Step("wait --for=delete pod/nosuch --timeout=30s", (f"GET {HERE}/pods/nosuch 404",), ""),
    ],
    "explain": [Step("explain configmap.data", VALIDATION, "FIELD: data")],
    "auth can-i": [
        Step("auth can-i create pods", ("POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews",), "yes"),
        Step("auth can-i --list", ("POST /apis/authorization.k8s.io/v1/selfsubjectrulesreviews",), "Non-Resource URLs"),
        Step("auth whoami", ("POST /apis/authentication.k8s.io/v1/selfsubjectreviews",), "system:masters"),
    ],
    "create token": [Step("create token robot", (f"POST {HERE}/serviceaccounts/robot/token",), "ey")],
    "certificate approve/deny": [
        Step("certificate approve ROOM-yes", (f"GET {CSRS}/ROOM-yes", f"PUT {CSRS}/ROOM-yes/approval"), "approved"),
        Step("certificate deny ROOM-no", (f"PUT {CSRS}/ROOM-no/approval",), "denied"),
    ],
    "cordon/uncordon": [
        Step("cordon NODE", (NODES, "PATCH /api/v1/nodes/NODE"), "cordoned"),
        Step("uncordon NODE", (NODES, "PATCH /api/v1/nodes/NODE"), "uncordoned"),
    ],
    "taint": [
        Step("taint node NODE matrix=x:PreferNoSchedule", (r"PATCH /api/v1/nodes/NODE\?fieldManager=kubectl-taint&fieldValidation=Strict",), "tainted"),
        Step("taint node NODE matrix-", ("PATCH /api/v1/nodes/NODE",), "untainted"),
    ],
    "drain": [
        Step("drain NODE --pod-selector=run=drained --force --grace-period=1 --timeout=30s",
             (r"pods\?fieldSelector=spec.nodeName%3DNODE&.*limit=500", f"POST {HERE}/pods/drained/eviction", f"GET {HERE}/pods/drained"), "drained"),
        Step("uncordon NODE"),
    ],
    "delete": [
        Step("delete configmap doomed --cascade=foreground", (f"DELETE {HERE}/configmaps/doomed",), "deleted"),
        Step("delete configmaps -l goes=yes --cascade=orphan", ("configmaps.*labelSelector=goes", f"DELETE {HERE}/configmaps/labelled"), "labelled"),
        Step("delete pod brief --now", (f"DELETE {HERE}/pods/brief",), "deleted"),
        Step("delete resourcequotas --all", (f"GET {HERE}/resourcequotas", f"DELETE {HERE}/resourcequotas/most"), "most"),
    ],
    "events": [
        Step("events", (r"GET .*events\?limit=500",), "Scheduled"),
        Step("events --for pod/solo", ("involvedObject.name%3Dsolo",), "pod/solo|Pod/solo"),
        Step("events --watch --request-timeout=1s", ("events.*watch=true",), "Scheduled"),
    ],
    "top": [
        Step("top nodes", (*DISCOVERY, "GET /apis/metrics.k8s.io/v1beta1/nodes"), "250m"),
        Step("top pods", ("GET /apis/metrics.k8s.io/v1beta1/namespaces/ROOM/pods",), "64Mi"),
    ],
    "cluster-info": [
        Step("cluster-info --namespace=kube-system", (r"kube-system/services\?labelSelector=kubernetes.io%2Fcluster-service%3Dtrue",), "is running at"),
        Step("cluster-info dump --namespaces=ROOM --output-directory=FOLDER/dump",
             ("GET /api/v1/nodes", f"GET {HERE}/events", f"GET {HERE}/replicationcontrollers", f"GET {APPS}/daemonsets", "/pods/solo/log"), "dumped"),
    ],
    "proxy / get --raw": [Step("get --raw /readyz?verbose", (r"GET /readyz\?verbose",), "readyz check passed")],
    "--as/--as-group/--as-uid": [
        Step("auth whoami --as=somebody --as-group=staff --as-uid=7 -o json", (), json.dumps("staff")),
        Step("get secrets --as=somebody", (f"GET {HERE}/secrets.* 403",), 'User "somebody" cannot list resource "secrets"', code=1),
    ],
}  # fmt: skip

MORE = {
    "get": ["test_hello.test_get_shows_what_runs_where", "test_hello.test_scaling_adds_and_removes_pods_while_a_watch_looks_on"],
    "describe": ["test_hello.test_describe_tells_the_story", "test_nodes.test_the_node_is_ready_and_says_what_it_has"],
    "apply (client-side)": ["test_objects.test_apply_again_prunes_what_left_the_file", "test_objects.test_an_unknown_field_is_refused_by_name"],
    "apply --server-side": ["test_objects.test_server_side_apply_keeps_owners_apart"],
    "apply --dry-run=server / diff": ["test_objects.test_diff_shows_what_apply_would_do", "test_objects.test_a_dry_run_leaves_nothing"],
    "create -f / replace / replace --force": ["test_objects.test_replace_needs_the_version_that_was_read"],
    "edit": ["test_objects.test_edit_with_an_editor"],
    "patch": ["test_objects.test_patch_in_three_ways", "test_objects.test_a_strategic_patch_merges_containers_by_name"],
    "label/annotate": ["test_objects.test_labels_and_annotations"],
    "set image/env/resources/sa": ["test_hello.test_a_changed_template_rolls_out_and_back"],
    "scale": ["test_hello.test_scaling_adds_and_removes_pods_while_a_watch_looks_on"],
    "expose": ["test_objects.test_run_and_expose", "test_hello.test_a_node_port_reaches_every_pod"],
    "rollout history/undo": ["test_hello.test_a_changed_template_rolls_out_and_back"],
    "rollout restart/pause": ["test_hello.test_restart_replaces_every_pod"],
    "run": ["test_streams.test_run_with_a_terminal"],
    "logs": ["test_streams.test_logs_follow", "test_streams.test_logs_of_the_previous_run"],
    "exec/attach/cp/port-forward": [
        "test_streams.test_exec_over_both_protocols", "test_streams.test_attach_reaches_the_running_process",
        "test_streams.test_port_forward_reaches_the_pod", "test_streams.test_port_forward_over_spdy",
        "test_streams.test_cp_carries_files_there_and_back",
    ],
    "wait": ["test_objects.test_wait_sees_a_value_and_a_deletion"],
    "explain": ["test_objects.test_the_api_describes_itself"],
    "auth can-i": ["test_objects.test_authorization_can_be_asked"],
    "create token": ["test_objects.test_a_token_speaks_for_its_service_account"],
    "certificate approve/deny": ["test_joining.test_a_node_joins_once_its_request_is_approved"],
    "taint": ["test_nodes.test_a_taint_keeps_pods_away_until_they_tolerate_it"],
    "drain": ["test_nodes.test_drain_empties_the_node_and_uncordon_opens_it"],
    "delete": ["test_objects.test_a_deleted_namespace_takes_its_objects_along"],
    "events": ["test_objects.test_events_are_listed_for_one_object"],
    "proxy / get --raw": ["test_streams.test_the_api_server_proxies_to_pods_services_and_nodes"],
}  # fmt: skip
