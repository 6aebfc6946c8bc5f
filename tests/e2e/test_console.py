"""The console in a real browser: one cluster, one Chromium, and what a user sees and does there."""

import re
import urllib.error
import urllib.request

import pytest
from browser import Page, axe_source, chromium, missing_browser
from local_cluster import Room, pod

from hyperkube.testing.waiting import eventually

pytestmark = [
    pytest.mark.skipif(bool(missing_browser()), reason=missing_browser() or "there is a browser"),
    pytest.mark.timeout(300),  # the first test visits all pages
]
NAME = "console"
TALKS = 'i=0; while true; do i=$((i+1)); echo "line $i"; sleep 1; done'
READER = {"verbs": ["get", "list", "watch"], "apiGroups": [""], "resources": ["pods"]}
PAGES = {
    "/": "Overview",
    "/show/workloads": "Deployments",
    "/list/core/v1/pods": "Pods",
    "/show/storage": "PersistentVolumeClaims",
    "/list/core/v1/configmaps": "ConfigMaps",
    "/resources": "All kinds",
    "/nodes": "Nodes",
    "/access?ask=mine": "Access",
    "/simulate": "Simulation",
    f"/object/core/v1/pods/{NAME}/talks": "talks",
    f"/object/core/v1/pods/{NAME}/talks?tab=logs": "talks",
    f"/object/core/v1/pods/{NAME}/talks?tab=terminal": "talks",
    f"/object/core/v1/pods/{NAME}/talks?tab=events": "talks",
    f"/object/core/v1/pods/{NAME}/talks?tab=why": "talks",
    f"/object/core/v1/pods/{NAME}/talks?tab=changes": "talks",
    f"/object/core/v1/pods/{NAME}/talks?tab=yaml": "talks",
}
NARROW = {"width": 700, "height": 900, "deviceScaleFactor": 1, "mobile": False}
"""Half of a small screen."""
NOT_OURS = "Failed to load resource"
"""Chromium notes each refused request; the pages say so themselves."""


@pytest.fixture(scope="module")
def room(up):
    room = Room(up, NAME)
    up.kubectl("create", "namespace", NAME)
    sleeps = {"name": "c", "image": "host", "command": ["sleep", "3600"]}
    big = {**sleeps, "resources": {"requests": {"cpu": "900"}}}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [sleeps]}}
    web = {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    room.apply(
        pod("talks", TALKS),
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "big"}, "spec": {"containers": [big]}},
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": web},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"colour": "red"}},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "ada"}},
        {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "r"}, "rules": [READER]},
    )
    room.kubectl("create", "rolebinding", "r", "--role=r", f"--serviceaccount={NAME}:ada")
    room.kubectl("wait", "--for=condition=Ready", "pod/talks", "--timeout=60s")
    yield room
    up.kubectl("delete", "namespace", NAME, "--wait=false")


@pytest.fixture(scope="module")
def page(up, room, tmp_path_factory):
    """The browser, signed in by the link of the data folder."""
    link = (up.root / "console.url").read_text().strip()
    with chromium(tmp_path_factory.mktemp("profile")) as driver:
        driver.get(link)
        page = Page(driver, link.partition("/sign-in")[0])
        page.shows("Overview")
        yield page


@pytest.fixture(scope="module")
def visits(page):
    """Each page once: its heading, what the browser complained of, and what axe-core finds."""
    axe = axe_source()
    seen = {}
    for path in PAGES:
        page.open(path)
        problems = []
        if axe:
            page.run(axe)
            rules = "{resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']}"
            script = f"axe.run(document, {rules}).then((found) => arguments[arguments.length - 1](found.violations))"
            found = page.driver.execute_async_script(script)
            problems = [(each["id"], each["impact"], each["nodes"][0]["html"]) for each in found]
        log = [row["message"] for row in page.driver.get_log("browser") if NOT_OURS not in row["message"]]
        seen[path] = {"heading": page.text("h1"), "log": log, "problems": problems, "checked": bool(axe)}
        page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", NARROW)
        seen[path]["beyond"] = page.run("return document.documentElement.scrollWidth - innerWidth")
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    return seen


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_whole_and_the_browser_has_no_complaint(visits, path):
    assert visits[path]["heading"] == PAGES[path]
    assert visits[path]["log"] == []


@pytest.mark.parametrize("path", PAGES)
def test_on_half_a_screen_tables_scroll_and_pages_do_not(visits, path):
    assert visits[path]["beyond"] <= 0


@pytest.mark.parametrize("path", PAGES)
def test_axe_finds_nothing_serious(visits, path):
    if not visits[path]["checked"]:
        pytest.skip("axe-core is not installed (npm install -g axe-core, or HYPERKUBE_AXE=axe.min.js)")
    assert [each for each in visits[path]["problems"] if each[1] in {"serious", "critical"}] == []


def test_the_link_works_once(up, page):
    link = (up.root / "console.url").read_text().strip()

    assert "one-time" not in link
    page.driver.switch_to.new_window("tab")
    page.open("/sign-in?token=used-before")

    page.shows("was used already")
    page.driver.close()
    page.driver.switch_to.window(page.driver.window_handles[0])


def test_what_is_wrong_is_on_the_first_page(page):
    page.open("/")

    page.shows("pods Pending")
    page.click(f'a[href*="/{NAME}/big"]')
    page.shows("why pending")
    page.shows("Insufficient cpu")
    page.shows("NodeResourcesFit")


def test_a_list_is_filtered_by_keyboard(page):
    page.open(f"/list/core/v1/pods?ns={NAME}")

    page.keys("/")
    page.keys("talks", "\ue007")
    page.is_at("q=talks")

    page.shows("talks")
    assert "big" not in page.text("tbody")
    assert re.fullmatch(r"1 of \d+", page.text("#found"))


def test_a_list_is_sorted_by_its_columns(page):
    page.open(f"/list/core/v1/pods?ns={NAME}")
    page.submit("sort=0", "thead th a")
    names = [line.split("\t")[0] for line in page.text("tbody").splitlines()]
    assert names == sorted(names)

    page.submit("down=1", "thead th a")
    assert page.find("th[aria-sort]").get_attribute("aria-sort") == "descending"
    names = [line.split("\t")[0] for line in page.text("tbody").splitlines()]
    assert names == sorted(names, reverse=True)


def test_rows_are_walked_by_keyboard(page):
    page.open(f"/list/core/v1/pods?ns={NAME}&q=talks")

    page.keys("j")
    page.keys("\ue007")

    page.is_at(f"/object/core/v1/pods/{NAME}/talks")


def test_keys_go_to_pages(page):
    page.open("/")
    page.keys("g", "n")
    page.is_at("/nodes")

    page.keys("?")
    assert page.run("return document.getElementById('help').open")
    page.keys("\ue00c")
    assert not page.run("return document.getElementById('help').open")


def test_a_list_follows_changes_without_a_reload(room, page):
    page.open(f"/list/core/v1/configmaps?ns={NAME}")
    eventually(lambda: page.run("return document.getElementById('live').dataset.state") == "live", why="live")
    page.run("window.mark = 'same page'")

    room.kubectl("create", "configmap", "made-meanwhile")
    page.shows("made-meanwhile")
    room.kubectl("delete", "configmap", "made-meanwhile")
    eventually(lambda: "made-meanwhile" not in page.text(), why="it goes")

    assert page.run("return window.mark") == "same page"


def test_dark_stays_dark(page):
    page.open("/")
    light = page.run("return getComputedStyle(document.body).backgroundColor")
    page.click("#theme-button")
    dark = page.run("return getComputedStyle(document.body).backgroundColor")
    page.open("/nodes")

    assert page.run("return getComputedStyle(document.body).backgroundColor") == dark != light
    page.click("#theme-button")
    assert page.run("return getComputedStyle(document.body).backgroundColor") == light


def test_a_log_is_followed_and_filtered(page):
    page.open(f"/object/core/v1/pods/{NAME}/talks?tab=logs")

    page.shows("line 1\n", "#log")
    last = page.text("#log").strip().splitlines()[-1]
    eventually(lambda: page.text("#log").strip().splitlines()[-1] != last, why="more lines come")

    page.find("#log-filter").send_keys("line 2")
    lines = page.text("#log").strip().splitlines()
    assert lines
    assert all("line 2" in line for line in lines)


def test_a_terminal_runs_a_shell(page):
    page.open(f"/object/core/v1/pods/{NAME}/talks?tab=terminal")
    page.click("#connect")
    page.shows("connected", "#terminal-state")

    page.keys("echo $((40+2))-answer", "\ue007")
    page.shows("42-answer", "#terminal")
    page.keys("printf '\\033[31mred\\033[0m'", "\ue007")
    eventually(lambda: page.count("#terminal .fg1"), why="it is red")
    page.keys("exit", "\ue007")

    page.shows("ended", "#terminal-state")


def test_a_command_that_is_not_there_says_so(page):
    page.open(f"/object/core/v1/pods/{NAME}/talks?tab=terminal")
    page.fill("#shell", "no-such-command")

    page.click("#connect")

    eventually(lambda: re.search("ended: .+|not connected: .+", page.text("#terminal-state")), why="it says why")


def test_an_edit_shows_its_difference_and_is_applied(room, page):
    place = f"/object/core/v1/configmaps/{NAME}/settings"
    page.open(f"{place}?tab=yaml")
    text = page.run("return document.getElementById('text').value").replace("red", "green")
    page.fill("#text", text)

    page.submit(place, "button[value=preview]")
    page.shows("conflict")
    assert "-  colour: red" in page.text(".diff")
    assert "+  colour: green" in page.text(".diff")
    assert room.get("configmap", "settings")["data"] == {"colour": "red"}

    page.submit(place, "button[value=apply]")
    page.shows("conflict")
    page.click("input[name=force]")
    page.submit("saved=1", "button[value=apply]")
    page.shows("Applied")
    found = room.get("configmap", "settings")
    assert found["data"] == {"colour": "green"}
    managers = {row["manager"]: row["operation"] for row in found["metadata"]["managedFields"]}
    assert managers["hyperkube-console"] == "Apply"


def test_a_deployment_is_scaled_and_follows(room, page):
    page.open(f"/object/apps/v1/deployments/{NAME}/web")
    page.fill("#replicas", "2")

    page.submit("/web", "button[value=scale]")

    page.shows("of 2")
    page.shows("2 ready of 2")
    assert room.get("deployment", "web")["spec"]["replicas"] == 2


def test_deleting_asks_first(room, page):
    room.kubectl("create", "configmap", "unloved")
    page.open(f"/object/core/v1/configmaps/{NAME}/unloved")
    assert not page.find("button[value=delete]").is_displayed()

    page.click(".deeds details summary")
    page.submit("/configmaps", "button[value=delete]")

    assert "unloved" not in page.text()


def test_why_here_is_a_table_of_scores(page):
    page.open(f"/object/core/v1/pods/{NAME}/talks?tab=why")

    page.shows("The scheduler chose")
    assert page.count("tr.chosen") == 1


def test_nodes_are_a_heat_map(page):
    page.open("/nodes?by=memory&what=requested")

    assert page.count(".heat .tile") == 1
    assert re.search(r"\d+%", page.text(".tile-share"))
    page.click(".heat .tile")
    page.shows("Pods on this node")


def test_who_can_do_it_and_why_not(page):
    page.open(f"/access?ask=who&verb=list&resource=pods&namespace={NAME}")
    page.shows(f"{NAME}/ada")

    page.open(f"/access?ask=why&user=bob&verb=delete&resource=pods&namespace={NAME}")
    page.shows("may not")
    page.shows("roles that would allow it")


def test_the_past_is_shown_as_it_was(room, page):
    revision = room.get("configmap", "settings")["metadata"]["resourceVersion"]
    room.kubectl("create", "configmap", "later")
    page.open(f"/list/core/v1/configmaps?ns={NAME}")
    page.keys("t")
    eventually(lambda: page.run("return !document.getElementById('time-slider').disabled"), why="a range")
    assert page.run("const s = document.getElementById('time-slider'); return +s.min <= +s.max")

    script = "const s = document.getElementById('time-slider'); s.value = arguments[0]; "
    page.run(script + "s.dispatchEvent(new Event('input')); s.dispatchEvent(new Event('change'))", revision)
    page.is_at(f"at={revision}")

    page.shows(f"as it was at revision {revision}", "body")
    assert "settings" in page.text("tbody")
    assert "later" not in page.text("tbody")
    page.click("tbody tr th a")
    page.is_at(f"at={revision}")
    assert page.count("button[value=delete]") == 0
    page.click("#time-now")
    eventually(lambda: "at=" not in page.driver.current_url, why="it is now again")


def test_a_simulation_draws_what_would_come(page):
    page.open("/simulate")

    page.submit("/simulate", "main button.primary")

    page.shows("placed")
    assert page.count("svg.bar rect.came")


def test_a_user_without_rights_sees_what_rbac_lets_them(room, page):
    cookies = page.driver.get_cookies()
    token = room.kubectl("create", "token", "ada").out.strip()
    try:
        page.driver.delete_all_cookies()
        page.open("/")
        page.shows("Sign in")
        page.fill("#token", token)
        page.submit("/", "main button.primary")

        page.shows("Not looked at")
        assert page.text(".user") == f"system:serviceaccount:{NAME}:ada"
        page.open("/list/core/v1/pods")
        page.shows("cannot list resource")
        page.open(f"/list/core/v1/pods?ns={NAME}")
        page.shows("talks")
        page.open(f"/list/core/v1/secrets?ns={NAME}")
        page.shows("cannot list resource")
        page.open(f"/object/core/v1/pods/{NAME}/talks")
        page.submit("/talks", "button[value=delete]")
        page.shows("You may not")
        page.open(f"/object/core/v1/pods/{NAME}/talks?tab=terminal")
        page.click("#connect")
        page.shows("refused", "#terminal-state")
        page.open("/")
        page.submit("/sign-in", 'form[action="/sign-out"] button')
        page.open("/")
        page.shows("Sign in")
    finally:
        page.driver.delete_all_cookies()
        page.open("/static/icon.svg")
        for cookie in cookies:
            page.driver.add_cookie(cookie)
    assert room.get("pod", "talks")["metadata"]["name"] == "talks"


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"Host": "evil.example"}, 421), ({"Origin": "http://127.0.0.1:1"}, 403), ({"Sec-Fetch-Site": "cross-site"}, 403)],
    ids=["another name", "another port", "another site"],
)
def test_other_sites_are_refused(page, headers, status):
    request = urllib.request.Request(f"{page.base}/sign-in", headers=headers)

    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=60)

    refused.value.close()
    assert refused.value.code == status
