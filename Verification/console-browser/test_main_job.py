"""The main job: a child asks, a guardian approves, the chat opens."""

from __future__ import annotations

import unittest

from fixture import ConsoleTest
from playwright.sync_api import expect


class MainJobTests(ConsoleTest):
    def test_by_clicks(self) -> None:
        family = self.family
        decided = family.log_kinds().count("decided")
        family.open_app()
        number = family.ask()
        family.review()
        family.approve()
        # The banner is shown for some seconds only.
        family.notices("decided").click()
        expect(family.child.locator(".nav-title")).to_be_visible()
        expect(family.child.locator(".conversation .bubble").first).to_be_visible()
        family.child.locator(".back").click()
        expect(family.chat(number).locator(".chat-title")).to_have_count(1)
        expect(family.notices("decided")).to_have_count(0)
        done = self.page.locator(".hop")
        expect(self.page.locator(".hop[data-state=done]")).to_have_count(done.count())
        family.wait_for_event("decided", decided + 1)
        family.wait_until_well()

    def test_by_the_keyboard_alone(self) -> None:
        family = self.family
        asked = family.log_kinds().count("asked")
        family.open_app()
        family.go_home()
        family.press_key("1")
        family.tab_to("[data-key=open-app]")
        family.press_key("Enter")
        number = family.hidden_chat()
        ask = f"[data-key=ask-{number}]"
        family.tab_to(ask)
        # Esc leaves each step and sends nothing; the focus returns to what opened it.
        family.press_key("Enter")
        family.focus_matches("[data-key=askByMessage]")
        family.press_key("Escape")
        family.focus_matches(ask)
        family.press_key("Enter")
        family.focus_matches("[data-key=askByMessage]")
        family.press_key("Enter")
        family.focus_matches("[data-key=send]")
        family.press_key("Escape")
        family.focus_matches(ask)
        self.assertEqual(family.log_kinds().count("asked"), asked)
        family.press_key("Enter")
        family.focus_matches("[data-key=askByMessage]")
        family.press_key("Enter")
        family.focus_matches("[data-key=send]")
        self._name_people_by_keys()
        family.press_key("Enter")
        family.wait_for_event("asked", asked + 1)
        expect(family.open_cards()).to_have_count(1)
        family.press_key("3")
        family.tab_to("[data-key^=review-]")
        family.press_key("Enter")
        family.focus_matches(".choice.approve")
        family.press_key("Escape")
        family.focus_matches("[data-key^=review-]")
        family.press_key("Enter")
        family.focus_matches(".choice.approve")
        family.press_key("Enter")
        expect(family.chat(number).locator(".chat-title")).to_have_count(1)
        family.press_key("1")
        family.tab_to(f"[data-key=chat-{number}]")
        family.press_key("Enter")
        expect(family.child.locator(".conversation .bubble").first).to_be_visible()

    def _name_people_by_keys(self) -> None:
        """Names are typed if the app gave none; Tab stays inside of the sheet."""
        for index in range(self.family.child.locator(".layer .field input").count()):
            self.family.press_key("Tab")
            if not self.page.evaluate("() => document.activeElement.value"):
                self.page.keyboard.type("Maria")
        self.family.tab_to("[data-key=send]", 6)

    def test_a_passcode_decides_in_person(self) -> None:
        family = self.family
        self._set_passcode("258000")
        family.open_app()
        number = family.hidden_chat()
        family.press_ask(number)
        family.prompt("approveInPerson").click()
        field = family.child.locator(".layer input[type=password]")
        field.fill("111111")
        family.child.locator(".layer .choice").first.click()
        expect(family.child.locator(".layer .failure")).not_to_be_empty()
        field.fill("258000")
        family.child.locator(".layer .choice").first.click()
        expect(family.chat(number).locator(".chat-title")).to_have_count(1)
        family.wait_for_event("answeredInPerson", 1)

    def _set_passcode(self, passcode: str) -> None:
        family = self.family
        changes = family.log_kinds().count("passcodeChanged")
        family.guardian.locator("[data-key=details]").click()
        form = family.guardian.locator(".row-form:has(input[type=password])")
        form.locator("input").fill(passcode)
        form.locator("button").click()
        expect(form.locator("input")).to_have_value("")
        family.wait_for_event("passcodeChanged", changes + 1)


if __name__ == "__main__":
    unittest.main()
