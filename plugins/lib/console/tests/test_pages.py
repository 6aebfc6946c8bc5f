"""The pages, on the in-memory twin: who gets in, what is shown, what is written."""

import pytest

from hyperkube.kinds.resources import DEPLOYMENTS, EVENTS, NAMESPACES, NODES, PODS
from hyperkube.machinery.errors import Conflict, Forbidden

DEMO = {"metadata": {"name": "demo"}}
POD = {
    "metadata": {"name": "web-0", "namespace": "demo", "labels": {"app": "<b>web</b>"}},
    "spec": {"containers": [{"name": "web", "image": "nginx"}]},
    "status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "message": "no room"}]},
}
PLACE = "/object/core/v1/pods/demo/web-0"


def test_who_has_not_signed_in_is_sent_to_sign_in(browser):
    browser.client.delete_cookie("console")

    answer = browser.get("/")

    assert (answer.status_code, answer.headers["Location"]) == (303, "/sign-in")
    assert browser.get("/", headers={"X-Fragment": "1"}).status_code == 401
    assert browser.client.post(PLACE, data={"do": "delete"}).status_code == 303


def test_a_token_of_the_cluster_signs_in(browser):
    browser.client.delete_cookie("console")

    refused = browser.client.post("/sign-in", data={"token": "bad"})
    taken = browser.client.post("/sign-in", data={"token": "good"})

    assert refused.status_code == 401
    assert taken.status_code == 303
    cookie = taken.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie


def test_signing_out_ends_the_session(browser):
    browser.post("/sign-out")

    assert browser.console.sessions.find(browser.session.key, None) is None


def test_a_form_without_the_sessions_secret_changes_nothing(browser):
    browser.twin.seed(PODS, POD)

    answer = browser.client.post(PLACE, data={"do": "delete", "csrf": "guessed"})

    assert answer.status_code == 403
    assert browser.twin.get(PODS, "web-0", "demo")


def test_pages_are_not_kept_by_browsers(browser):
    assert browser.get("/sign-in").headers["Cache-Control"] == "no-store"


def test_no_page_has_anything_inline(browser):
    browser.twin.seed(PODS, POD)
    browser.twin.seed(NODES, {"metadata": {"name": "n"}, "status": {}})
    browser.prints("/api/v1/nodes", ["Name", "Status"], ["n", "Ready"])

    for path in ("/", PLACE, f"{PLACE}?tab=yaml", "/nodes", "/access", "/simulate", "/resources", "/sign-in"):
        text = browser.get(path).text
        assert "<script>" not in text
        assert " style=" not in text
        assert "<style" not in text
        assert " onclick" not in text


@pytest.mark.parametrize("many", [False, True], ids=["few objects", "many objects"])
def test_a_list_is_the_servers_table(browser, many):
    browser.twin.seed(NAMESPACES, DEMO)
    columns, rows = ["Name", "Ready", "Status"], [["web-0", "1/1", "Running"], ["bad-0", "0/1", "CrashLoopBackOff"]]
    if many:
        browser.prints("/api/v1/pods", columns, rows[0], namespace="demo", more="token")
        browser.prints("/api/v1/namespaces/demo/pods", columns, *rows)
    else:
        browser.prints("/api/v1/pods", columns, *rows, namespace="demo")

    text = browser.get("/list/core/v1/pods?q=bad").text

    assert "CrashLoopBackOff</span>" in text
    assert f'href="{PLACE.replace("web", "bad")}"' in text
    assert "web-0" not in text
    assert "1 of 2" in text
    assert 'data-watch="/k8s/api/v1/pods?watch=1&amp;resourceVersion=7' in text


def test_a_list_that_must_not_be_read_says_so_and_offers_a_namespace(browser):
    status = {"kind": "Status", "reason": "Forbidden", "code": 403, "message": "ada cannot list pods"}
    browser.says("/api/v1/pods", status, 403)

    answer = browser.get("/list/core/v1/pods")

    assert answer.status_code == 403
    assert "ada cannot list pods" in answer.text
    assert 'name="ns"' in answer.text
    assert "Ask why" in answer.text


def test_the_overview_leaves_out_what_must_not_be_read(browser):
    answer = browser.get("/")

    assert answer.status_code == 200
    assert "Not looked at" in answer.text


def test_an_object_shows_what_it_says_escaped(browser):
    browser.twin.seed(PODS, POD)

    text = browser.get(PLACE).text

    assert "&lt;b&gt;web" in text
    assert "<b>web" not in text


def test_an_object_that_is_not_there_is_not_found(browser):
    assert browser.get(PLACE).status_code == 404
    assert browser.get("/object/core/v1/gizmos/demo/x").status_code == 404


def test_events_of_an_object_come_latest_first(browser):
    (pod,) = browser.twin.seed(PODS, POD)
    for name, moment in (("a", "2026-01-01T00:00:00Z"), ("b", "2026-01-01T00:00:09Z")):
        event = {"metadata": {"name": name, "namespace": "demo"}, "reason": f"reason-{name}", "lastTimestamp": moment,
                 "involvedObject": {"kind": "Pod", "name": "web-0", "uid": pod["metadata"]["uid"]}}  # fmt: skip
        browser.twin.seed(EVENTS, event)

    text = browser.get(f"{PLACE}?tab=events").text

    assert text.index("reason-b") < text.index("reason-a")


def test_why_pending_shows_who_refused_which_node(browser):
    browser.twin.seed(PODS, POD)
    refusal = {"node": "n", "refused": [{"plugin": "NodeResourcesFit", "reason": "Insufficient cpu"}]}
    browser.says("/debug/scheduler/explain", {"pod": "demo/web-0", "message": "0/1 nodes", "nodes": [refusal]})

    text = browser.get(f"{PLACE}?tab=why").text

    assert "why pending" in text
    assert "<b>NodeResourcesFit</b>: Insufficient cpu" in text


def test_a_reason_that_the_condition_and_the_scheduler_give_is_shown_once(browser):
    browser.twin.seed(PODS, POD)
    browser.says("/debug/scheduler/explain", {"pod": "demo/web-0", "message": "no room", "nodes": []})

    assert browser.get(f"{PLACE}?tab=why").text.count("no room") == 1


def test_why_without_a_record_shows_the_condition(browser):
    browser.twin.seed(PODS, POD)

    assert "no room" in browser.get(f"{PLACE}?tab=why").text


def test_deleting_asks_the_server_as_the_user(browser):
    browser.twin.seed(PODS, POD)

    answer = browser.post(PLACE, do="delete")

    assert answer.status_code == 303
    assert ("delete", "pods", "demo/web-0") in browser.twin.actions


def test_scaling_takes_numbers_only(browser):
    browser.twin.seed(DEPLOYMENTS, {"metadata": {"name": "web", "namespace": "demo"}, "spec": {"replicas": 1}})
    place = "/object/apps/v1/deployments/demo/web"

    assert browser.post(place, do="scale", replicas="many").status_code == 400
    assert browser.post(place, do="scale", replicas="3").status_code == 303
    assert ("patch", "deployments", "demo/web/scale") in browser.twin.actions


def test_restarting_marks_the_template(browser):
    browser.twin.seed(DEPLOYMENTS, {"metadata": {"name": "web", "namespace": "demo"}, "spec": {}})

    browser.post("/object/apps/v1/deployments/demo/web", do="restart")

    spec = browser.twin.get(DEPLOYMENTS, "web", "demo")["spec"]
    assert "kubectl.kubernetes.io/restartedAt" in spec["template"]["metadata"]["annotations"]


def test_a_conflict_of_an_apply_keeps_the_edited_text(browser):
    browser.twin.seed(PODS, {**POD, "kind": "Pod", "apiVersion": "v1"})
    browser.twin.fail_next("patch", "pods", Conflict("conflict with kubectl: .spec.replicas"))
    text = "apiVersion: v1\nkind: Pod\nmetadata: {name: web-0, namespace: demo, labels: {mine: kept}}\n"

    answer = browser.post(PLACE, do="apply", text=text)

    assert answer.status_code == 409
    assert "conflict with kubectl" in answer.text
    assert "mine: kept" in answer.text


def test_text_of_another_object_is_not_applied(browser):
    browser.twin.seed(PODS, POD)

    answer = browser.post(PLACE, do="apply", text="kind: Pod\nmetadata: {name: other, namespace: demo}")

    assert answer.status_code == 422
    assert not [each for each in browser.twin.actions if each[0] == "patch"]


def test_a_refusal_is_shown_with_the_servers_words(browser):
    browser.twin.seed(PODS, POD)
    browser.twin.fail_next("delete", "pods", Forbidden("pods is forbidden: User ada cannot delete"))

    answer = browser.post(PLACE, do="delete")

    assert answer.status_code == 403
    assert "User ada cannot delete" in answer.text


def test_the_past_is_not_changed(browser):
    browser.twin.seed(PODS, POD)

    assert browser.post(f"{PLACE}?at=5", do="delete").status_code == 405
    assert browser.twin.get(PODS, "web-0", "demo")


def test_links_stay_in_the_past(browser):
    page = browser.get("/access?at=5").text

    assert 'href="/nodes?at=5"' in page
    assert "revision 5" in page


@pytest.mark.parametrize("at", ["x", "-1", "5;drop"])
def test_a_revision_is_a_number(browser, at):
    assert "as it was" not in browser.get(f"/access?at={at}").text


def test_who_can_do_it_is_a_table_that_scrolls_for_itself(browser):
    text = browser.get("/access?ask=who&verb=get&resource=pods").text

    assert "Nobody." in text
    assert 'class="scroll" tabindex="0" role="region" aria-label="Who can"' in text
