"""Faults by the page's own buttons: nothing is lost and nothing is applied twice."""

from __future__ import annotations

import re
import unittest

from family import texts
from fixture import ConsoleTest
from playwright.sync_api import expect


class FaultTests(ConsoleTest):
    def test_the_relay_is_killed_between_question_and_answer(self) -> None:
        family = self.family
        decided = family.log_kinds().count("decided")
        family.open_app()
        number = family.ask()
        old = family.pid("relay")
        family.press("relay", ".kill")
        family.review()
        family.approve()
        expect(family.chat(number).locator(".chat-title")).to_have_count(1)
        expect(family.process("relay").locator(".identity .mono")).not_to_have_text(old)
        family.wait_for_state("relay", "up")
        expect(self.page.locator(".fault .pill").first).to_contain_text(
            re.compile(rf"{old}.*{family.pid('relay')}"))
        expect(self.page.locator(".legend .message")).to_contain_text(
            re.compile(r"Sent again \d+, lost 0, applied twice 0"))
        family.wait_for_event("decided", decided + 1)
        family.wait_until_well()
        self.assertEqual(self._stored("decided"), decided + 1)

    def _stored(self, kind: str) -> int:
        """The events of a kind in the relay's store, read as a page does."""
        events = self.page.evaluate("() => fetch('/log?before=1000000').then(reply => reply.json())")
        return [event["kind"] for event in events["events"]].count(kind)

    def test_an_answer_waits_while_the_relay_is_kept_down(self) -> None:
        family = self.family
        decided = family.log_kinds().count("decided")
        family.open_app()
        number = family.ask()
        family.keep_down().click()
        family.press("relay", ".kill")
        family.wait_for_state("relay", "held", "down")
        family.review()
        family.approve()
        card = family.guardian.locator(".question-card").last
        expect(card.locator(".outcome.warn")).to_be_visible()
        expect(family.process("parent-agent").locator(".waiting")).to_have_text("1")
        expect(family.verdict()).to_have_attribute("data-state", "warn")
        family.press("relay", ".go")
        expect(family.chat(number).locator(".chat-title")).to_have_count(1)
        expect(card.locator(".outcome.ok")).to_be_visible()
        family.wait_for_event("decided", decided + 1)
        family.wait_until_well()

    def test_a_paused_child_agent_catches_up(self) -> None:
        family = self.family
        family.open_app()
        family.press("child-agent", "[data-key^=pause]")
        family.wait_for_state("child-agent", "paused")
        posted = family.log_kinds().count("posted")
        family.post("There is soup at seven.")
        family.wait_for_event("posted", posted + 1)
        newest = self.page.locator("table.log tbody tr").first
        letter = self.page.locator("#child-name").inner_text()[0]
        missing = newest.locator(".holders i:not(.has)")
        expect(missing).to_have_text([letter])
        expect(family.child.locator(".veil.paused")).to_be_visible()
        family.press("child-agent", ".go")
        expect(missing).to_have_count(0)
        self.assertEqual(self._conversations(), 1)

    def _conversations(self) -> int:
        """The number of different orders that the three phones show."""
        family = self.family
        family.go_home()
        family.child.locator(".app-button").last.click()
        expect(family.child.locator(".bubble").last).to_have_text("There is soup at seven.")
        orders = {tuple(texts(family.child.locator(".conversation .bubble")))}
        for index in range(2):
            family.choose_guardian(index)
            expect(family.guardian.locator(".bubble").last).to_have_text("There is soup at seven.")
            orders.add(tuple(texts(family.guardian.locator(".conversation .bubble"))))
        return len(orders)

    def test_a_guardian_goes_offline_and_returns(self) -> None:
        family = self.family
        network = self.page.locator("#guardian-caption .network")
        network.click()
        expect(network).to_have_attribute("aria-pressed", "true")
        expect(family.guardian.locator(".strip.warn")).to_be_visible()
        posted = family.log_kinds().count("posted")
        family.post("I am in the tunnel.")
        expect(family.process("parent-agent").locator(".waiting")).to_have_text("1")
        expect(family.guardian.locator(".delivery-line").last).to_have_text("Sending…")
        network.click()
        family.wait_for_event("posted", posted + 1)
        expect(family.guardian.locator(".strip.warn")).to_have_count(0)
        expect(family.guardian.locator(".delivery-line").last).not_to_have_text("Sending…")
        family.wait_until_well()

    def test_a_reload_shows_the_same_state(self) -> None:
        family = self.family
        asked = family.log_kinds().count("asked")
        family.open_app()
        number = family.hidden_chat()
        family.press_ask(number)
        family.prompt("askByMessage").click()
        family.prompt("send").wait_for()
        family.keep_down().click()
        family.press("relay", ".kill")
        family.wait_for_state("relay", "held", "down")
        fields = family.child.locator(".layer .field input")
        for field in fields.all():
            field.fill("Marianne")
        self.page.reload()
        family.prompt("send").wait_for()
        self.assertTrue(all(field.input_value() == "Marianne" for field in fields.all()))
        family.wait_for_state("relay", "held", "down")
        family.prompt("send").click()
        expect(family.process("child-agent").locator(".waiting")).to_have_text("1")
        family.press("relay", ".go")
        family.wait_for_event("asked", asked + 1)
        family.review()
        self.page.reload()
        expect(family.guardian.locator(".sheet .choice.approve")).to_be_visible()
        family.approve()
        expect(family.chat(number).locator(".chat-title")).to_have_count(1)


if __name__ == "__main__":
    unittest.main()
