"""Looking back: an old state is shown and accepts nothing."""

from __future__ import annotations

import unittest

from fixture import ConsoleTest
from playwright.sync_api import expect


class PastTests(ConsoleTest):
    def test_an_old_state_is_shown_and_accepts_nothing(self) -> None:
        family = self.family
        posted = family.log_kinds().count("posted")
        family.post("First.")
        family.wait_for_event("posted", posted + 1)
        self.page.wait_for_timeout(3000)
        family.post("Second.")
        family.wait_for_event("posted", posted + 2)
        commands: list[str] = []
        self.page.on("request", lambda request: request.method == "POST" and commands.append(request.url))
        first = self.page.locator("table.log tbody tr").nth(1)
        first.locator("button").click()
        banner = self.page.locator(".banner.warn")
        expect(banner).to_be_visible()
        family.wait_for_event("posted", posted + 1)
        expect(family.guardian.locator(".bubble").last).to_have_text("First.")
        expect(family.guardian.locator(".content")).to_have_attribute("inert", "")
        expect(family.child.locator(".content")).to_have_attribute("inert", "")
        kill = family.process("relay").locator(".kill")
        expect(kill).to_be_disabled()
        kill.dispatch_event("click")
        self.page.wait_for_timeout(1500)
        self.assertEqual([url for url in commands if url.endswith("/act")], [])
        family.press_key("Escape")
        expect(banner).to_have_count(0)
        family.wait_for_event("posted", posted + 2)
        expect(family.guardian.locator(".bubble").last).to_have_text("Second.")

    def test_the_keyboard_moves_in_time_and_in_the_log(self) -> None:
        family = self.family
        posted = family.log_kinds().count("posted")
        family.post("First.")
        family.wait_for_event("posted", posted + 1)
        family.wait_until_well()
        self.page.locator("#scrub").focus()
        for _ in range(3):
            family.press_key("ArrowLeft")
        expect(self.page.locator(".banner.warn")).to_be_visible()
        family.press_key("End")
        expect(self.page.locator(".banner.warn")).to_have_count(0)
        rows = self.page.locator("table.log tbody button")
        rows.first.focus()
        family.press_key("ArrowDown")
        expect(rows.nth(1)).to_be_focused()
        family.press_key("ArrowUp")
        expect(rows.first).to_be_focused()
        family.press_key("k")
        family.focus_matches("[data-process=relay] button")


if __name__ == "__main__":
    unittest.main()
