"""How the page looks: languages, widths, themes, accessibility, motion and cost."""

from __future__ import annotations

import gzip
import json
import pathlib
import unittest

from axe_playwright_python import sync_playwright as axe
from fixture import ConsoleTest
from playwright.sync_api import expect

FOLDER = pathlib.Path(__file__).parent
PAGE = FOLDER.parent / "ClusterConsole" / "Page"
BOXES = "".join(
    line for line in (FOLDER / "boxes.js").read_text().splitlines(True) if not line.startswith("//"))
AXE = (pathlib.Path(axe.__file__).parent / "axe.min.js").read_text()
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
LANGUAGES = ["en", "fr", "es", "pt-BR", "ja", "zh-Hans"]
# The whole page scrolls at 820 pixels; its bars cover what is below them, so it is shown whole.
SIZES = [(360, 740), (390, 844), (820, 2400), (1100, 900), (1600, 1000), (2000, 1100)]
NARROW = 680
WEIGHT = 60_000
ELEMENTS = 1500


class LookTests(ConsoleTest):
    def setUp(self) -> None:
        super().setUp()
        self.page.emulate_media(reduced_motion="reduce")

    def test_nothing_leaves_its_box(self) -> None:
        self._show_much()
        self.assertEqual(self._findings(), [])
        for language in LANGUAGES:
            self._choose(language)
            for theme in ("light", "dark"):
                self.page.emulate_media(color_scheme=theme, reduced_motion="reduce")
                for size in SIZES:
                    for part in self._parts(size):
                        self.assertEqual(self._findings(), [], (language, theme, size, part))
        # The search finds a text that leaves its box. One call changes and searches, because the page
        # renders again at any time.
        change = ("const kind = document.querySelector('.kind'); kind.style.textOverflow = 'clip'; "
                  "kind.querySelector('.full').append('x'.repeat(300));")
        found = self.page.evaluate(f"() => {{ {change} return ({BOXES.strip().rstrip(';')})(); }}")
        self.assertNotEqual(found, [])

    def test_screen_readers_are_served(self) -> None:
        self._show_much()
        for theme in ("light", "dark"):
            self.page.emulate_media(color_scheme=theme, reduced_motion="reduce")
            for size in SIZES:
                for part in self._parts(size):
                    self.assertEqual(self._violations(), [], (theme, size, part))
        for language in LANGUAGES:
            self._choose(language)
            self.assertEqual(self._violations(), [], language)

    def test_each_step_serves_screen_readers(self) -> None:
        family = self.family
        family.open_app()
        family.go_home()
        self.assertEqual(self._violations(), [], "home")
        family.open_app()
        number = family.hidden_chat()
        family.child.locator(f"[data-key=why-{number}]").click()
        self.page.locator("#explain dd").first.wait_for()
        self.assertEqual(self._violations(), [], "explanation")
        family.press_key("Escape")
        family.press_ask(number)
        family.prompt("askByMessage").wait_for()
        self.assertEqual(self._violations(), [], "prompt")
        family.prompt("askByMessage").click()
        family.name_people()
        self.assertEqual(self._violations(), [], "compose")
        family.prompt("send").click()
        expect(family.open_cards()).to_have_count(1)
        family.press("child-agent", "[data-key^=pause]")
        family.wait_for_state("child-agent", "paused")
        self.assertEqual(self._violations(), [], "paused")
        family.press("child-agent", ".go")
        family.guardian.locator("[data-key=details]").click()
        family.guardian.locator(".setting-list").wait_for()
        self.assertEqual(self._violations(), [], "settings")
        for name in ("help", "verdict"):
            self.page.locator(f"#{name}-button").click()
            self.assertEqual(self._violations(), [], name)
            family.press_key("Escape")

    def test_all_languages_have_the_same_words(self) -> None:
        keys = "code => import(`/words-${code}.js`).then(module => Object.entries(module.default))"
        english = dict(self.page.evaluate(keys, "en"))
        for language in LANGUAGES:
            words = dict(self.page.evaluate(keys, language))
            self.assertEqual(words.keys(), english.keys(), language)
            for key, text in words.items():
                self.assertTrue(text, (language, key))
                for place in ("{0}", "{1}", "{2}"):
                    self.assertEqual(place in text, place in english[key], (language, key))

    def test_reduced_motion_leaves_no_animation(self) -> None:
        self._show_much()
        longest = self.page.evaluate("""() => Math.max(0, ...document.getAnimations().map(
            each => each.effect.getComputedTiming().endTime))""")
        self.assertLessEqual(longest, 1)

    def test_the_page_is_light(self) -> None:
        names = [path.name for path in PAGE.iterdir() if not path.name.startswith("words-")]
        files = [(PAGE / name).read_bytes() for name in [*sorted(names), "words-fr.js"]]
        self.assertLess(len(gzip.compress(b"".join(files), 9)), WEIGHT)
        self._show_much()
        self.assertLess(self.page.evaluate("() => document.querySelectorAll('*').length"), ELEMENTS)

    def _show_much(self) -> None:
        """A question whose relay was killed, with its review sheet open."""
        family = self.family
        family.open_app()
        family.ask()
        family.press("relay", ".kill")
        family.wait_for_state("relay", "up")
        family.review()

    def _choose(self, language: str) -> None:
        self.page.locator("#language").select_option(language)
        expect(self.page.locator("html")).to_have_attribute("lang", language)
        self.page.wait_for_timeout(500)

    def _parts(self, size: tuple[int, int]):
        """Sets the size and yields the parts that are shown one at a time, or one for all."""
        self.page.set_viewport_size({"width": size[0], "height": size[1]})
        if size[0] >= NARROW:
            self._settle()
            yield "all"
            return
        for part in ("child", "relay", "guardian"):
            self.page.locator(f"#part-{part}").click()
            self._settle()
            yield part

    def _settle(self) -> None:
        self.page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 60)))")

    def _findings(self) -> list:
        return self.page.evaluate(BOXES)

    def _violations(self) -> list:
        """The findings of axe. The page's policy forbids its script, so the debugger runs it."""
        self._settle()
        session = self.context.new_cdp_session(self.page)
        session.send("Runtime.evaluate", {"expression": AXE})
        run = ("axe.run(document, { runOnly: %s }).then(found => JSON.stringify(found.violations.map("
               "each => [each.id, each.nodes.slice(0, 3).map(node => node.html.slice(0, 200))])))")
        reply = session.send("Runtime.evaluate", {
            "expression": run % json.dumps(RULES), "awaitPromise": True, "returnByValue": True})
        session.detach()
        return json.loads(reply["result"]["value"])


if __name__ == "__main__":
    unittest.main()
