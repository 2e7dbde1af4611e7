"""The base of the browser tests: a cluster, Chromium, and a page of the console."""

from __future__ import annotations

import os
import pathlib
import unittest
from typing import Any

from cluster import Cluster
from family import Family
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
PICTURES = pathlib.Path(os.environ.get("CONSOLE_PICTURES", pathlib.Path(__file__).parent / "failed"))
WIDE = {"width": 1600, "height": 1000}
# The console logs the refusals that tests provoke as failed loads.
EXPECTED = ("Failed to load resource",)
# Beside other tests on the same cores, a passcode takes many seconds.
PATIENCE = 60_000

expect.set_options(timeout=PATIENCE)


def launch(playwright: Any) -> Browser:
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    # The first start reads a large program from the disk.
    return playwright.chromium.launch(executable_path=CHROMIUM, args=options, timeout=3 * PATIENCE)


class ConsoleTest(unittest.TestCase):
    """Each test has a cluster of its own. No test may leave an error or a policy report behind."""

    def setUp(self) -> None:
        self.problems: list[str] = []
        self.cluster = Cluster()
        self.addCleanup(self.cluster.close)
        self._playwright = sync_playwright().start()
        self.addCleanup(self._playwright.stop)
        self.browser = launch(self._playwright)
        self.addCleanup(self.browser.close)
        self.context = self.new_context()
        self.page = self.open(self.context)
        self.family = Family(self.page)
        self.addCleanup(self._keep_picture)

    def tearDown(self) -> None:
        self.assertEqual(self.problems, [])

    def new_context(self, **options: Any) -> BrowserContext:
        options = {"viewport": WIDE, "locale": "en-US", "color_scheme": "light", **options}
        context = self.browser.new_context(**options)
        context.set_default_timeout(PATIENCE)
        return context

    def open(self, context: BrowserContext) -> Page:
        page = context.new_page()
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("console", self._note)
        page.goto(self.cluster.url)
        page.locator("#child-screen .status-bar").wait_for()
        return page

    def _note(self, message: Any) -> None:
        if message.type == "error" and not message.text.startswith(EXPECTED):
            self.problems.append(message.text)

    def _keep_picture(self) -> None:
        outcome = self._outcome  # type: ignore[attr-defined]
        result = getattr(outcome, "result", None)
        failed = [test for test, _ in getattr(result, "failures", []) + getattr(result, "errors", [])]
        if self not in failed and getattr(outcome, "success", True):
            return
        PICTURES.mkdir(parents=True, exist_ok=True)
        for index, page in enumerate(page for context in self.browser.contexts for page in context.pages):
            page.screenshot(path=PICTURES / f"{self.id()}-{index}.png")
