# SPDX-License-Identifier: Apache-2.0
"""The pages of the fixtures and the browser that opens them, for the page's tests."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

webdriver = pytest.importorskip('selenium.webdriver', reason='python3-selenium is not installed')
sys.path.insert(0, os.path.dirname(__file__))
import page_fixtures  # noqa: E402
from patience import HUNG_S  # noqa: E402

RENDER = os.environ.get('TARE_RENDER_FIXTURE')
CHROMIUM = shutil.which('chromium')
DRIVER = shutil.which('chromedriver')
NEEDS = [
    pytest.mark.skipif(not RENDER, reason='TARE_RENDER_FIXTURE names no program (run through meson)'),
    pytest.mark.skipif(not CHROMIUM or not DRIVER, reason='chromium or chromium-driver is not installed')]
ALL = list(page_fixtures.ALL)
FLAGS = ('--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking '
         '--disable-component-update --disable-sync --disable-dev-shm-usage').split()


# What a page has still to do: the timers and frames that it has asked for. (Timers of many seconds only tidy up.)
WATCH = '''
const toCome = new Set(), frameOfTest = requestAnimationFrame.bind(window);
for (const [ask, cancel, soon] of [['setTimeout', 'clearTimeout', (wait) => !(wait > 1000)],
		['requestAnimationFrame', 'cancelAnimationFrame', () => true]]) {
	const asked = window[ask].bind(window), cancelled = window[cancel].bind(window);
	window[ask] = (work, ...more) => {
		if (!soon(...more))
			return asked(work, ...more);
		const id = asked((...given) => { toCome.delete(ask + id); work(...given); }, ...more);
		toCome.add(ask + id);
		return id;
	};
	window[cancel] = (id) => { toCome.delete(ask + id); cancelled(id); };
}
// Calls back when the page is as wide as asked for, has drawn, and has nothing more to do.
function whenSettled(width, done, quiet = 0) {
	const wide = !width || matchMedia(`(width: ${width}px)`).matches;
	if (quiet > 2)
		done();
	else
		frameOfTest(() => whenSettled(width, done, wide && !toCome.size ? quiet + 1 : 0));
}
'''


class Pages(dict):
    """Paths of JSON and page of every fixture, made when first asked for."""

    def __init__(self, folder):
        super().__init__()
        self.folder = folder

    def __missing__(self, name):
        source = page_fixtures.write(name, self.folder)
        page = self.folder / f'{name}.html'
        subprocess.run([RENDER, source, page], check=True)
        self[name] = (source, page)
        return self[name]


@pytest.fixture(scope='session')
def pages(tmp_path_factory):
    return Pages(tmp_path_factory.mktemp('pages'))


@pytest.fixture(scope='session')
def chromium():
    """One browser for all tests."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for flag in FLAGS + [f'--user-data-dir={profile}']:
            options.add_argument(flag)
        options.set_capability('goog:loggingPrefs', {'browser': 'ALL', 'performance': 'ALL'})
        browser = webdriver.Chrome(service=webdriver.chrome.service.Service(DRIVER), options=options)
        browser.set_script_timeout(HUNG_S)
        browser.execute_cdp_cmd('Page.addScriptToEvaluateOnNewDocument', {'source': WATCH})
        yield browser
        browser.quit()


def asked_by_page(browser):
    """Addresses that the page requested since this was last called. Chromium's own pages (the first tab) ask too."""
    events = [json.loads(entry['message'])['message'] for entry in browser.get_log('performance')]
    requests = [event['params'] for event in events if event['method'] == 'Network.requestWillBeSent']
    return [request['request']['url'] for request in requests if not request['documentURL'].startswith('chrome')]


class Page:
    """A fixture's page, opened."""

    width = None

    def __init__(self, browser, paths):
        self.browser = browser
        self.paths = paths
        self.requests = []

    def open(self, name, width=1280, scheme='light'):
        for kind in ('browser', 'performance'):
            self.browser.get_log(kind)
        self.resize(width)
        self.scheme(scheme)
        self.browser.get(self.paths[name][1].as_uri())
        self.source = self.paths[name][0]
        self.document = json.loads(self.source.read_text())
        self.settle()
        return self

    def resize(self, width, mobile=None):
        self.width = width
        self.cdp('Emulation.setDeviceMetricsOverride', width=width, height=900, deviceScaleFactor=1,
                 mobile=width < 500 if mobile is None else mobile)

    def scheme(self, name):
        self.cdp('Emulation.setEmulatedMedia', media='', features=[{'name': 'prefers-color-scheme', 'value': name}])

    def settle(self):
        self.browser.execute_async_script('whenSettled(...arguments)', self.width)

    def cdp(self, command, **arguments):
        return self.browser.execute_cdp_cmd(command, arguments)

    def js(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def console(self):
        return [entry['message'] for entry in self.browser.get_log('browser')]

    def asked(self):
        return asked_by_page(self.browser)


@pytest.fixture
def page(chromium, pages):
    opened = Page(chromium, pages)
    yield opened
    chromium.execute_cdp_cmd('Emulation.clearDeviceMetricsOverride', {})


# Hands what would be downloaded to the test.
CATCH = 'window.caught = null; window.download = (name, type, text) => { window.caught = [name, text]; };'
