"""Headless Chromium from Debian, driven by Selenium: one for all tests of a module."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from hyperkube.testing.waiting import eventually

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
OPTIONS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions",
    "--disable-background-networking", "--disable-component-update", "--no-first-run", "--window-size=1300,900",
)  # fmt: skip


def missing_browser() -> str:
    """Return why there is no browser, empty if there is one."""
    absent = [name for name, found in (("chromium", CHROMIUM), ("chromedriver", DRIVER)) if found is None]
    return f"not installed: {', '.join(absent)}" if absent else ""


@contextlib.contextmanager
def chromium(folder: Path) -> Iterator:
    """Start a browser whose profile is in a folder; yield Selenium's driver."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    for option in (*OPTIONS, f"--user-data-dir={folder}"):
        options.add_argument(option)
    options.binary_location = CHROMIUM
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=Service(DRIVER), options=options)
    try:
        driver.set_script_timeout(60)
        yield driver
    finally:
        driver.quit()


def axe_source() -> str:
    """Return axe-core's script: of ``$HYPERKUBE_AXE``, or as npm has installed it for all; empty for neither."""
    named = os.environ.get("HYPERKUBE_AXE", "")
    npm = shutil.which("npm")
    if not named and npm is not None:
        root = subprocess.run([npm, "root", "-g"], capture_output=True, text=True, check=False).stdout.strip()
        named = f"{root}/axe-core/axe.min.js"
    return Path(named).read_text() if named and Path(named).is_file() else ""


class Page:
    """The browser, with words for what tests do."""

    def __init__(self, driver, base):
        self.driver = driver
        self.base = base

    def open(self, path):
        self.driver.get(self.base + path)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def text(self, selector="main"):
        return self.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def count(self, selector):
        return self.run("return document.querySelectorAll(arguments[0]).length", selector)

    def click(self, selector):
        self.run("document.querySelector(arguments[0]).click()", selector)

    def fill(self, selector, text):
        self.run("document.querySelector(arguments[0]).value = arguments[1]", selector, text)

    def keys(self, *keys):
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def shows(self, wanted, selector="main"):
        eventually(lambda: wanted in self.text(selector), why=f"{wanted!r} is shown in {selector}")

    def is_at(self, path):
        eventually(lambda: path in self.driver.current_url, why=f"the browser is at {path}")

    def submit(self, path, selector):
        """Press a button of a form and wait for the page that follows."""
        self.run("window.before = true")
        self.click(selector)
        eventually(lambda: not self.run("return window.before ?? false"), why="another page is shown")
        self.is_at(path)
