"""Actions of people on the page, and the things they see there."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Locator, Page, expect


class Family:
    def __init__(self, page: Page) -> None:
        self.page = page
        self.child = page.locator("#child-screen")
        self.guardian = page.locator("#guardian-screen")

    # The child's phone

    def open_app(self) -> None:
        """Opens the app if the home screen is shown."""
        chats = self.child.locator(".chats li[data-chat]").first
        button = self.child.locator("[data-key=open-app]")
        chats.or_(button).first.wait_for()
        if button.count():
            button.click()
        chats.wait_for()

    def hidden_chat(self) -> str:
        """The number of the first hidden chat of one person that no guardian was asked about."""
        rows = self.child.locator(".chats li[data-chat]:has(button.pill[data-key^=ask-])")
        rows.first.wait_for()
        return rows.first.get_attribute("data-chat") or ""

    def chat(self, number: str) -> Locator:
        return self.child.locator(f".chats li[data-chat='{number}']")

    def press_ask(self, number: str) -> None:
        self.child.locator(f"[data-key=ask-{number}]").click()

    def prompt(self, choice: str) -> Locator:
        return self.child.locator(f".layer [data-key={choice}]")

    def ask(self, name: str = "Maria") -> str:
        """Asks about the first hidden chat, up to the question's card on the guardian's phone."""
        number = self.hidden_chat()
        cards = self.open_cards().count()
        self.press_ask(number)
        self.prompt("askByMessage").click()
        self.name_people(name)
        self.prompt("send").click()
        expect(self.open_cards()).to_have_count(cards + 1)
        return number

    def name_people(self, name: str = "Maria") -> None:
        """Types a name into each empty field of the compose sheet."""
        self.prompt("send").wait_for()
        for field in self.child.locator(".layer .field input").all():
            if not field.input_value():
                field.fill(name)

    def go_home(self) -> None:
        """Closes the app, or leaves the conversation."""
        self.child.locator(".home-bar button").click()
        self.child.locator(".home-page").wait_for()

    def notices(self, kind: str) -> Locator:
        return self.child.locator(f".notice[data-kind={kind}]")

    # The guardians' phone

    def choose_guardian(self, index: int) -> None:
        tab = self.page.locator("#guardian-caption [role=tab]").nth(index)
        tab.click()
        # The page draws the other guardian's device together with the tab.
        expect(tab).to_have_attribute("aria-selected", "true")

    def open_cards(self) -> Locator:
        return self.guardian.locator(".question-card[data-state=open]")

    def review(self) -> None:
        self.guardian.locator("[data-key^=review-]").last.click()
        self.guardian.locator(".sheet [data-key^=choice-]").first.wait_for()

    def approve(self) -> None:
        self.guardian.locator(".sheet .choice.approve").click()

    def decline(self) -> None:
        self.guardian.locator("[data-key^=decline-]").last.click()

    def post(self, text: str) -> None:
        form = self.guardian.locator(".message-form")
        form.locator("input").fill(text)
        form.locator("button").click()

    # The relay

    def process(self, kind: str, index: int = 0) -> Locator:
        return self.page.locator(f".process-card.{kind}").nth(index)

    def pid(self, kind: str, index: int = 0) -> str:
        return self.process(kind, index).locator(".identity .mono").inner_text()

    def press(self, kind: str, control: str, index: int = 0) -> None:
        self.process(kind, index).locator(f".process-buttons {control}").click()

    def wait_for_state(self, kind: str, *states: str, index: int = 0) -> None:
        expect(self.process(kind, index)).to_have_attribute(
            "data-state", re.compile(f"^({'|'.join(states)})$"))

    def keep_down(self) -> Locator:
        return self.page.locator("[data-key=keep-down]")

    def log_kinds(self) -> list[str]:
        return self.page.locator("table.log .event-kind").all_inner_texts()

    def wait_for_event(self, kind: str, count: int) -> None:
        """Waits until the log shows this number of events of a kind."""
        rows = self.page.locator("table.log .event-kind").get_by_text(kind, exact=True)
        expect(rows).to_have_count(count)

    def verdict(self) -> Locator:
        return self.page.locator("#verdict-button")

    def wait_until_well(self) -> None:
        # Beside other tests, commands have waited in an outbox for more than a minute.
        expect(self.verdict()).to_have_attribute("data-state", "ok", timeout=180_000)

    # The keyboard

    def tab_to(self, selector: str, limit: int = 60) -> None:
        """Presses Tab until the focus is on an element."""
        for _ in range(limit):
            if self.page.evaluate("s => !!document.activeElement?.matches(s)", selector):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"Tab does not reach {selector}")

    def focus_matches(self, selector: str) -> None:
        self.page.wait_for_function("s => !!document.activeElement?.matches(s)", arg=selector)

    def press_key(self, key: str) -> None:
        self.page.keyboard.press(key)


def texts(locator: Locator) -> list[Any]:
    return [text.strip() for text in locator.all_inner_texts()]
