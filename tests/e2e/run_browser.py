# SPDX-License-Identifier: Apache-2.0
"""The page of a run in the browser: opened, and used by wheel, pointer and keys."""
import time


class RunPage:
    """A page, opened."""

    shown = None

    def __init__(self, browser):
        self.browser = browser

    def open(self, path, width=1280, scheme='light', motion='no-preference', fresh=False):
        """The page as it is when opened; one that is open already is only set back, unless it has to be `fresh`."""
        wanted = (path, width, scheme, motion)
        if RunPage.shown == wanted and not fresh:
            self.js('scrollTo(0, 0); const view = timelineView; setRange(view, null); chooseSlice(view, null); startSearch(view, ""); view.glide++;'
                    'view.hover = null; view.scroller.scrollTop = 0; showTimes(view, view.least, view.most); endHover(view)')
            return self
        RunPage.shown = wanted if path.name == 'small.html' else None
        for kind in ('browser', 'performance'):
            self.browser.get_log(kind)
        self.cdp('Emulation.setDeviceMetricsOverride', width=width, height=900, deviceScaleFactor=1, mobile=width < 500)
        self.cdp('Emulation.setEmulatedMedia', media='', features=[{'name': 'prefers-color-scheme', 'value': scheme},
                                                                   {'name': 'prefers-reduced-motion', 'value': motion}])
        self.browser.get(path.as_uri())
        self.browser.execute_async_script('const done = arguments[0]; pageReady.then(() => requestAnimationFrame(() => requestAnimationFrame(done)))')
        return self

    def settle(self):
        """Until the page has nothing more to do: what glides has arrived, and is drawn."""
        self.browser.execute_async_script('whenSettled(0, arguments[0])')

    def cdp(self, command, **arguments):
        return self.browser.execute_cdp_cmd(command, arguments)

    def js(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def console(self):
        return [entry['message'] for entry in self.browser.get_log('browser')]

    def key(self, key):
        """A key to the timeline."""
        self.js('timelineView.canvas.dispatchEvent(new KeyboardEvent("keydown", {key: arguments[0], bubbles: true, cancelable: true}))', key)

    def press(self, key, code, number):
        """A key of the keyboard, to whatever has the focus."""
        text = {'text': '\r'} if key == 'Enter' else {}
        self.cdp('Input.dispatchKeyEvent', type='keyDown', key=key, code=code, windowsVirtualKeyCode=number, **text)
        self.cdp('Input.dispatchKeyEvent', type='keyUp', key=key, code=code, windowsVirtualKeyCode=number)

    def mouse(self, kind, x, y, **more):
        """At a point of the canvas."""
        top = self.js('const before = scrollY; document.getElementById("timeline-section").scrollIntoView({behavior: "instant"}); return scrollY !== before')
        if top:
            time.sleep(0.4)  # a wheel that turns soon after a scroll of the page belongs to that, by Chromium's clock
        box = self.js('const box = timelineView.canvas.getBoundingClientRect(); return [box.left, box.top]')
        self.cdp('Input.dispatchMouseEvent', type=kind, x=box[0] + x, y=box[1] + y, **more)

    def view(self):
        return self.js('const {from, to, least, most, width, gutter} = timelineView; return {from, to, least, most, width, gutter}')

    def fields(self):
        return self.js('return Object.fromEntries([...document.querySelectorAll(".timeline-details dd")].map((dd) => [dd.dataset.field, dd.textContent]))')

    def selected(self):
        return self.js('const {selected} = timelineView; return selected && {kind: selected.kind, id: selected.id, row: selected.row.title}')

    def choose(self, row):
        self.js('chooseSlice(timelineView, commandSlice(timelineView, arguments[0]))', row)
