"""Draws docs/console.png from a real family: picture.py [FILE]

The relay is killed by its button between question and answer, and the answer arrives.
"""

from __future__ import annotations

import os
import pathlib
import sys
import tempfile

from cluster import Cluster
from family import Family
from fixture import WIDE, launch
from playwright.sync_api import Page, expect, sync_playwright

LARGEST = 300_000
FILE = pathlib.Path(__file__).parents[2] / "docs" / "console.png"
# Chromium on Debian takes its own idea of system-ui; the picture shows the fonts of `prepare`.
FONTS = """<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>
<include ignore_missing="yes">/etc/fonts/fonts.conf</include>%s</fontconfig>""" % "".join(
    f"""<match target="pattern"><test name="family"><string>{family}</string></test>
    <edit name="family" mode="prepend" binding="strong"><string>Inter</string></edit></match>"""
    for family in ("system-ui", "sans", "sans-serif"))


def act(page: Page) -> None:
    """Leads the family to the moment when the child reads the answer."""
    family = Family(page)
    for index, text in ((1, "Home by six, please."), (0, "There is soup at seven.")):
        family.choose_guardian(index)
        family.post(text)
        expect(family.guardian.locator(".bubble").last).to_have_text(text)
    family.open_app()
    answer(family)
    family.child.locator(".notice[data-kind=decided]").click()
    family.child.locator(".back").click()
    family.ask("Maria")
    family.review()
    page.wait_for_timeout(2500)
    # The answer waits while the relay is kept down, and is sent again.
    family.keep_down().click()
    family.press("relay", ".kill")
    family.wait_for_state("relay", "held")
    family.approve()
    expect(family.process("parent-agent").locator(".waiting")).to_have_text("1")
    family.keep_down().click()
    expect(family.notices("decided")).to_have_count(1)
    family.wait_for_state("relay", "up")
    family.wait_until_well()
    # The notification and the last hop have arrived, and their motion has ended.
    page.wait_for_timeout(1500)


def answer(family: Family) -> None:
    """One question and its answer without a fault, so that a chat is open."""
    family.ask("Ada")
    family.review()
    family.approve()
    expect(family.notices("decided")).to_have_count(1)


def draw(file: pathlib.Path) -> None:
    cluster = Cluster()
    try:
        with sync_playwright() as playwright:
            browser = launch(playwright)
            page = browser.new_page(viewport=WIDE, locale="en-US", color_scheme="light")
            page.goto(cluster.url)
            act(page)
            page.mouse.move(0, 0)
            page.screenshot(path=file)
            browser.close()
    finally:
        cluster.close()
    size = file.stat().st_size
    print(f"{file}: {size} bytes")
    if size > LARGEST:
        raise SystemExit(f"the picture has more than {LARGEST} bytes")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        fonts = pathlib.Path(folder) / "fonts.conf"
        fonts.write_text(FONTS)
        os.environ["FONTCONFIG_FILE"] = str(fonts)
        draw(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else FILE)
