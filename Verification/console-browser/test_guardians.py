"""Two guardians, what stays hidden, and explanations."""

from __future__ import annotations

import unittest

from fixture import ConsoleTest
from playwright.sync_api import expect


class GuardianTests(ConsoleTest):
    def test_two_guardians_race(self) -> None:
        family = self.family
        decided = family.log_kinds().count("decided")
        family.open_app()
        family.ask()
        family.keep_down().click()
        family.press("relay", ".kill")
        family.wait_for_state("relay", "held", "down")
        # Both answers wait in the outboxes: the relay accepts one of them.
        family.review()
        family.approve()
        expect(family.process("parent-agent", 0).locator(".waiting")).to_have_text("1")
        family.choose_guardian(1)
        family.decline()
        expect(family.process("parent-agent", 1).locator(".waiting")).to_have_text("1")
        family.press("relay", ".go")
        family.wait_for_event("decided", decided + 1)
        expect(self.page.locator(".process-card .waiting")).to_have_count(0)
        self.assertEqual(self._refused(), 1)
        family.go_home()
        expect(family.notices("decided")).to_have_count(1)
        self.assertEqual(family.log_kinds().count("decided"), decided + 1)

    def _refused(self) -> int:
        """The number of guardians who read that another one has already answered."""
        count = 0
        for index in range(2):
            self.family.choose_guardian(index)
            expect(self.family.guardian.locator(".question-card").last.locator(".outcome")).to_be_visible()
            count += self.family.guardian.locator(".strip.bad", has_text="already answered").count()
        return count

    def test_hidden_chats_are_nowhere_in_the_page(self) -> None:
        family = self.family
        family.open_app()
        number = family.ask()
        family.review()
        family.approve()
        row = family.chat(number)
        expect(row.locator(".chat-title")).to_have_count(1)
        preview = row.locator(".preview").inner_text().strip()
        self.assertTrue(preview)
        # The app is asleep while the permission is withdrawn.
        family.go_home()
        family.wait_for_state("app-agent", "asleep")
        self._withdraw_last()
        family.wait_for_event("withdrawn", 1)
        family.open_app()
        expect(row.locator("[data-key^=ask-]")).to_have_count(1)
        self.assertNotIn(preview, self.page.content())
        hidden = family.child.locator(".chats li:has([data-key^=ask-])")
        for index in range(hidden.count()):
            self.assertEqual(hidden.nth(index).locator(".chat-title, .preview, img").count(), 0)

    def _withdraw_last(self) -> None:
        family = self.family
        family.guardian.locator("[data-key=details]").click()
        button = family.guardian.locator(".withdraw").last
        button.click()
        # Withdrawing starts on Cancel, and Esc changes nothing.
        family.focus_matches(".alert .choice.cancel")
        family.press_key("Escape")
        expect(family.guardian.locator(".alert")).to_have_count(0)
        button.click()
        family.guardian.locator("[data-key=confirm-withdraw]").click()

    def test_sites_and_pictures_are_settings_of_a_child(self) -> None:
        phone = self.family.guardian
        phone.locator("[data-key=details]").click()
        others = phone.locator("select[data-key=web-others]")
        others.select_option("ask")
        expect(others).to_have_value("ask")
        form = phone.locator("form:has(input[name=site])")
        form.locator("input").fill("www.example.co.uk")
        form.locator("button").click()
        rule = phone.locator("select[data-key='rule example.co.uk']")
        expect(rule).to_have_value("ask")
        rule.select_option("block")
        expect(rule).to_have_value("block")
        rule.select_option("")
        expect(rule).to_have_count(0)
        safety = phone.locator("select[data-key=safety]")
        safety.select_option("descriptive")
        expect(safety).to_have_value("descriptive")
        # The settings are events that every guardian reads.
        self.family.choose_guardian(1)
        phone.locator("[data-key=details]").click()
        expect(phone.locator("select[data-key=safety]")).to_have_value("descriptive")
        expect(phone.locator("select[data-key=web-others]")).to_have_value("ask")

    def test_a_hidden_chat_is_explained_by_click_key_and_hover(self) -> None:
        family = self.family
        family.open_app()
        number = family.hidden_chat()
        why = family.child.locator(f"[data-key=why-{number}]")
        sentences = self.page.locator("#explain dd")
        why.click()
        expect(sentences.first).to_contain_text("not known")
        family.press_key("Escape")
        expect(sentences.first).to_be_hidden()
        why.focus()
        family.press_key("Enter")
        expect(sentences.first).to_be_visible()
        family.press_key("Escape")
        family.focus_matches(f"[data-key=why-{number}]")
        family.chat(number).locator(".hidden-label").hover()
        expect(sentences.first).to_be_visible()
        family.focus_matches(f"[data-key=why-{number}]")

    def test_an_age_answer_is_asked_once_and_explained(self) -> None:
        family = self.family
        family.open_app()
        family.child.locator("[data-key=tab-photos]").click()
        photos = family.child.locator("[data-key=photos]")
        photos.click()
        family.prompt("share").click()
        answer = family.child.locator(".card-box .line").first
        expect(answer).to_be_visible()
        text = answer.inner_text()
        if photos.count():
            photos.click()
            self.page.wait_for_timeout(1000)
            expect(family.child.locator(".layer")).to_have_count(0)
            self.assertEqual(answer.inner_text(), text)
        family.child.locator("[data-key=why-age]").click()
        expect(self.page.locator("#explain dd").first).to_be_visible()
        self._has_no_birthdate()
        family.press_key("Escape")
        family.guardian.locator("[data-key=details]").click()
        family.guardian.locator(".setting-list").wait_for()
        self._has_no_birthdate()

    def _has_no_birthdate(self) -> None:
        page = self.page.content()
        for birthdate in ("2014-05-17", "May 17, 2014", "17 May 2014"):
            self.assertNotIn(birthdate, page)


if __name__ == "__main__":
    unittest.main()
