# SPDX-License-Identifier: Apache-2.0
"""The page of tare blocks in headless Chromium: what is read is legible, light and dark, in narrow windows and on paper,
and all of it can be reached by keys."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from page_browser import CHROMIUM, DRIVER, chromium  # noqa: E402, F401
from recorded import SANITIZED, built  # noqa: E402
from test_blocks import TOOLS  # noqa: E402
from test_blocks_page import made  # noqa: E402, F401

pytestmark = [built(), pytest.mark.skipif(SANITIZED, reason="drivers cannot load a sanitized layer"),
              pytest.mark.skipif(not TOOLS, reason="there is no clang with an llvm-spirv of its version"),
              pytest.mark.skipif(not CHROMIUM or not DRIVER, reason="chromium or chromium-driver is not installed")]

CONTRAST = """
const rgb = (text) => { const [r, g, b, a] = text.match(/[\\d.]+/g).map(Number); return [r, g, b, a === undefined ? 1 : a]; };
const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
const luminance = (c) => [0.2126, 0.7152, 0.0722].reduce((sum, w, i) => sum + w * ((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)(c[i] / 255), 0);
const behind = (element) => { const own = rgb(getComputedStyle(element).backgroundColor);
  return own[3] === 1 || !element.parentElement ? own : over(own, behind(element.parentElement)); };
const bad = [];
for (const element of document.body.querySelectorAll('*')) {
  const text = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  if (!text || !element.checkVisibility()) continue;
  const below = behind(element), ink = over(rgb(getComputedStyle(element).color), below);
  const [a, b] = [luminance(ink), luminance(below)].sort((x, y) => y - x);
  if ((a + 0.05) / (b + 0.05) < 4.5) bad.push(element.outerHTML.slice(0, 120) + ' ' + ((a + 0.05) / (b + 0.05)).toFixed(2));
}
return bad.slice(0, 5);
"""


@pytest.fixture(scope="module")
def opened(made, chromium):  # noqa: F811
    chromium.get(made.page.as_uri())
    return chromium


def resize(browser, width, scheme="light", media=""):
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": [{"name": "prefers-color-scheme", "value": scheme}]})


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_is_legible(opened, scheme):
    resize(opened, 1280, scheme)
    opened.execute_script("document.querySelectorAll('details').forEach((one) => one.open = true)")
    assert opened.execute_script(CONTRAST) == []


@pytest.mark.parametrize("width", [400, 800, 1280, 2000])
def test_the_page_is_not_wider_than_its_window(opened, width):
    resize(opened, width)
    assert opened.execute_script("return document.documentElement.scrollWidth") <= width


def test_source_and_instructions_are_beside_each_other_where_there_is_room(opened):
    tops = "const [a, b] = [...document.querySelectorAll('.pane')].map((one) => one.getBoundingClientRect()); return [a.top, b.top, a.left, b.left]"
    resize(opened, 1280)
    top, other, left, right = opened.execute_script(tops)
    assert top == other and left < right
    resize(opened, 700)
    top, other, left, right = opened.execute_script(tops)
    assert top < other and left == right


def test_what_scrolls_and_folds_can_be_reached_by_keys(opened):
    resize(opened, 1280)
    assert opened.execute_script("return [...document.querySelectorAll('.pane')].every((one) => one.tabIndex === 0 && one.getAttribute('aria-label'))")
    opened.execute_script("const one = document.querySelector('.pane details'); one.open = false; one.querySelector('summary').focus()")
    for kind in ("keyDown", "keyUp"):
        opened.execute_cdp_cmd("Input.dispatchKeyEvent", {"type": kind, "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"})
    assert opened.execute_script("return document.querySelector('.pane details').open")


def test_a_link_to_a_block_shows_it(opened):
    resize(opened, 1280)
    opened.execute_script("document.querySelector('a.n[href^=\"#k0b\"]').click()")
    assert opened.execute_script("return document.querySelector('details:target') !== null")


def test_on_paper_nothing_is_cut_off(opened):
    resize(opened, 1000, media="print")
    assert opened.execute_script("return [...document.querySelectorAll('.pane')].every((one) => one.scrollHeight <= one.clientHeight + 1 && one.scrollWidth <= one.clientWidth + 1)")
