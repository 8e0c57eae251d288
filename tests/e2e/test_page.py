# SPDX-License-Identifier: Apache-2.0
"""The page, opened in headless Chromium: it draws, sorts, prints, asks nothing of the network."""
import base64
import csv
import io
import json
import os
import pathlib
import subprocess
import sys
import time

import pytest

sys.path.insert(0, os.path.dirname(__file__))
import page_fixtures  # noqa: E402
import validate  # noqa: E402
from parts import thorough_but  # noqa: E402
from page_browser import ALL, CATCH, NEEDS, RENDER, Page, chromium, page, pages  # noqa: E402, F401

pytestmark = NEEDS


# What each chart on the page holds: points per series, and whether anything is drawn inside the axes.
CHARTS = '''
return plotViews.map((view) => {
	const { left, top, width, height } = view.chart.chartArea;
	const ratio = view.chart.currentDevicePixelRatio;
	const pixels = view.canvas.getContext('2d').getImageData(left * ratio + 2, top * ratio, width * ratio - 2, height * ratio - 2).data;
	const grid = themeColour('--grid').match(/../g).length && themeColour('--grid');
	const wanted = [1, 3, 5].map((at) => parseInt(grid.slice(at, at + 2), 16));
	let drawn = 0;
	for (let i = 0; i < pixels.length; i += 4)
		drawn += pixels[i + 3] > 200 && wanted.some((value, c) => Math.abs(value - pixels[i + c]) > 40);
	return { title: view.plot.title, counts: view.chart.data.datasets.map((set) => set.data.length), drawn };
});
'''


def charted(document):
    """The plots that Chart.js draws, in the order of the page: of the parts, then of the whole."""
    every = [plot for part in document.get('parts', []) for plot in part['plots']] + document['plots']
    return [plot for plot in every if plot['kind'] != 'timeline' and drawable(plot)]


def drawable(plot):
    return any(point[1] is not None for series in plot['series'] for point in series['points'])


@pytest.fixture(scope='module', params=thorough_but(['checkup', 'hostile'], ALL))
def shown(request, chromium, pages):
    """Each fixture's page, opened once for the tests that only look at it."""
    opened = Page(chromium, pages).open(request.param)
    opened.first_messages, opened.first_requests = opened.console(), opened.asked()
    yield opened
    chromium.execute_cdp_cmd('Emulation.clearDeviceMetricsOverride', {})


def test_every_chart_draws_every_point(shown):
    plots = charted(shown.document)
    charts = shown.js(CHARTS)
    assert [chart['title'] for chart in charts] == [plot['title'] for plot in plots]
    for plot, chart in zip(plots, charts):
        assert sum(chart['counts']) == sum(len(series['points']) for series in plot['series']), plot['title']
        assert chart['drawn'] > 20, plot['title']


def test_the_console_is_empty_and_nothing_is_requested(shown):
    assert shown.first_messages == []
    assert shown.first_requests != []
    assert [url for url in shown.first_requests if not url.startswith(('file:', 'data:'))] == []
    assert shown.js('return performance.getEntriesByType("resource").length') == 0


def test_the_json_to_download_is_byte_for_byte_what_was_written(shown):
    shown.js(CATCH + 'document.getElementById("download-json").click()')
    file, text = shown.js('return window.caught')
    assert file == f'tare-{shown.document["command"]}.json'
    assert text == shown.source.read_text()


def test_no_figure_is_printed_as_nan_undefined_or_infinity(shown):
    words = shown.js('return document.body.innerText')
    for wrong in ('NaN', 'undefined', 'Infinity', 'null', '[object'):
        assert wrong not in words, wrong


@pytest.mark.parametrize('name', thorough_but(['checkup', 'hostile'], ALL))
def test_fixtures_are_valid_results(name, pages):
    pytest.importorskip('jsonschema', reason='python3-jsonschema is not installed')
    assert validate.faults(json.loads(pages[name][0].read_text())) == []


def test_the_window_title_is_escaped_in_the_file_itself(pages):
    assert '<title>fixture &lt;tare&gt; &amp; "co"</title>' in pages['empty'][1].read_text()


def test_the_file_carries_the_licence_of_the_charts(pages):
    text = pages['empty'][1].read_text()
    assert 'Chart.js v3' in text and 'Released under the MIT License' in text
    # The licence asks for the whole notice, which NOTICE has, too.
    words = ' '.join(text.replace('\n * ', ' ').split())
    notice = (pathlib.Path(__file__).parents[2] / 'NOTICE').read_text()
    terms = notice[notice.index('Copyright (c)'):notice.index('A recorder that was built')]
    assert 'The above copyright notice and this permission notice' in terms
    for paragraph in terms.strip().split('\n\n'):
        assert ' '.join(paragraph.split()) in words


@pytest.mark.skipif(not os.path.exists('/dev/full'), reason='there is no /dev/full')
def test_a_page_that_cannot_be_written_is_an_error(pages):
    run = subprocess.run([RENDER, pages['empty'][0], '/dev/full'], capture_output=True, text=True, check=False)
    assert run.returncode == 1 and 'No space left on device' in run.stderr


@pytest.mark.skipif(not os.environ.get('TARE'), reason='TARE names no program (run through meson)')
@pytest.mark.parametrize('name, title', thorough_but([('devices', 'devices')], [
    ('bandwidth', 'bandwidth of NVIDIA H200'), ('latency', 'latency of NVIDIA H200'), ('devices', 'devices')]))
def test_tare_render_writes_the_same_page(page, name, title, pages, tmp_path):
    written = tmp_path / 'page.html'
    subprocess.run([os.environ['TARE'], 'render', pages[name][0], '--html', written], check=True, capture_output=True)
    # But for the tables, which tare makes: the other page is of a text that nobody has read.
    text = 'document.querySelectorAll("#figures").forEach((each) => each.remove()); return document.getElementById("content").innerText'
    page.open(name)
    expected = page.js(text)
    page.browser.get(written.as_uri())
    page.settle()
    assert page.js(text) == expected and len(expected) > 500
    assert f'<title>{title} - tare</title>' in written.read_text()


def test_intervals_are_drawn_where_the_data_says(page):
    page.open('odd_plots')
    whisker = '''
		const view = plotViews.find((each) => each.plot.id === "point");
		const context = view.canvas.getContext("2d");
		const ratio = view.chart.currentDevicePixelRatio;
		const at = (value) => context.getImageData(Math.round(view.chart.scales.x.getPixelForValue(8192) * ratio) + 2,
			Math.round(view.chart.scales.y.getPixelForValue(value) * ratio) - 1, 1, 3).data;
		const blue = (value) => { const data = at(value); let most = 0;
			for (let i = 0; i < data.length; i += 4) most = Math.max(most, data[i + 3] > 60 && data[i + 2] > data[i] + 60);
			return most; };
		return [blue(2.4), blue(2.6), blue(2.45), blue(2.65)];'''
    assert page.js(whisker) == [1, 1, 0, 0]


AXIS_LABELS = '''
		const bad = [];
		for (const view of plotViews)
			for (const axis of ['x', 'y']) {
				const scale = view.chart.scales[axis];
				const context = view.chart.ctx;
				context.font = `12px ${Chart.defaults.font.family}`;
				const boxes = scale.ticks.map((tick, i) => {
					const lines = [tick.label].flat();
					const size = axis === 'y' ? lines.length * 12 : Math.max(...lines.map((line) => context.measureText(line).width));
					return { label: String(tick.label), at: scale.getPixelForTick(i), size };
				}).filter((box) => box.label).sort((a, b) => a.at - b.at);
				if (axis === 'x' && scale.labelRotation)
					continue;
				for (let i = 1; i < boxes.length; i++)
					if (boxes[i - 1].at + boxes[i - 1].size / 2 > boxes[i].at - boxes[i].size / 2)
						bad.push([view.plot.id, axis, boxes[i - 1].label, boxes[i].label]);
				if (boxes.length < 2 && view.plot.id !== 'point')
					bad.push([view.plot.id, axis, 'too few labels', String(boxes.length)]);
			}
		return bad;'''


@pytest.mark.parametrize('name', thorough_but(['odd_plots'], ['bandwidth', 'latency', 'odd_plots', 'hostile', 'peak', 'matmul', 'overlap']))
def test_axis_labels_never_overlap(page, name):
    page.open(name, 360)
    assert page.js(AXIS_LABELS) == []
    page.resize(1280)
    page.settle()
    assert page.js(AXIS_LABELS) == []


def test_sizes_are_labelled_as_people_write_them(page):
    page.open('bandwidth')
    labels = page.js('return plotViews[0].chart.scales.x.ticks.map((tick) => tick.label)')
    assert {'8 KB', '1 MB', '1 GB'} <= set(labels)
    assert page.js('return plotViews[0].chart.scales.x.type + plotViews[0].chart.scales.y.type') == 'logarithmic' * 2


COLUMN = '''
const table = document.querySelector("#figures table");
const index = [...table.querySelectorAll("thead th")].findIndex((cell) => cell.textContent.startsWith(arguments[0]));
return [...table.tBodies[0].rows].map((row) => row.cells[index].textContent);
'''


def test_tables_sort_by_keyboard_and_say_so(page):
    page.open('bandwidth')
    button = page.js('''return [...document.querySelectorAll("#figures table button.sort")]
		.find((each) => each.textContent.startsWith("rate"))''')
    header = page.js('return arguments[0].closest("th")', button)
    before = page.js(COLUMN, 'rate')
    button.send_keys('\n')
    ascending = page.js(COLUMN, 'rate')
    assert header.get_attribute('aria-sort') == 'ascending'
    numbers = [float(text) for text in ascending if text != 'n/a']
    assert numbers == sorted(numbers) and len(numbers) == len(before) - 1
    assert ascending[-1] == 'n/a' and before[0] == 'n/a'
    button.click()
    descending = page.js(COLUMN, 'rate')
    assert header.get_attribute('aria-sort') == 'descending'
    assert [float(text) for text in descending[:-1]] == sorted(numbers, reverse=True)
    assert descending[-1] == 'n/a', 'what is not known stays last'
    others = page.js('''return [...arguments[0].parentNode.cells].filter((cell) => cell !== arguments[0])
		.map((cell) => cell.getAttribute("aria-sort"))''', header)
    assert set(others) <= {'none', None}
    assert 'descending' in page.js('return document.getElementById("announce").textContent')


def test_sizes_sort_as_numbers(page):
    page.open('bandwidth')
    page.js('''[...document.querySelectorAll("#figures table button.sort")].find((each) => each.textContent.startsWith("size")).click()''')
    sizes = [text for text in page.js(COLUMN, 'size') if text]
    assert sizes[0] == '8 KB' and sizes[-1] == '1 GB' and sizes.index('512 KB') < sizes.index('2 MB')


def test_the_filter_keeps_the_rows_with_all_words(page):
    page.open('bandwidth')
    page.browser.find_element('css selector', '#figures .filter input').send_keys('host-to-device 1 GB host')
    shown = page.js('return [...document.querySelectorAll("#figures tbody tr")].filter((row) => !row.hidden && row.closest("table").tBodies[0].rows.length > 30).map((row) => row.textContent)')
    assert shown and all('host-to-device' in text and '1 GB' in text for text in shown)


def test_only_what_did_not_converge_is_limited_by_the_timer(page):
    page.open('bandwidth')
    states = page.js('return [...document.querySelectorAll("#figures tbody tr")].map((row) => row.outerHTML)')
    assert sum('timer-limited' in state for state in states) == 1


# Contrast of every visible text with what lies behind it (WCAG 2).
CONTRAST = '''
const parse = (colour) => (colour.match(/[\\d.]+/g) || []).map((part, i) => part * (colour.startsWith('color(srgb') && i < 3 ? 255 : 1));
const light = ([r, g, b]) => [r, g, b].map((value) => value / 255)
	.map((value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
	.reduce((sum, value, i) => sum + value * [0.2126, 0.7152, 0.0722][i], 0);
const behind = (element) => {
	for (let at = element; at; at = at.parentElement) {
		const colour = parse(getComputedStyle(at).backgroundColor);
		if (colour.length === 3 || colour[3] > 0.99)
			return colour;
	}
	return [255, 255, 255];
};
const poor = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
	const element = walker.currentNode.parentElement;
	if (!walker.currentNode.data.trim() || !element.getClientRects().length || element.closest('script'))
		continue;
	const [a, b] = [light(parse(getComputedStyle(element).color)), light(behind(element))];
	const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
	if (ratio < 4.5)
		poor.push([walker.currentNode.data.slice(0, 40), ratio.toFixed(2)]);
}
return { poor, back: light(behind(document.body)) };
'''


@pytest.mark.parametrize('name', thorough_but(['overlap'], ['bandwidth', 'devices', 'latency', 'empty', 'overlap', 'matmul']))
def test_text_is_readable_in_light_and_dark(page, name):
    page.open(name, scheme='dark')
    for scheme in ('dark', 'light'):
        page.scheme(scheme)
        found = page.js(CONTRAST)
        assert found['poor'] == [], scheme
        assert (found['back'] < 0.1) == (scheme == 'dark')


def test_series_stand_out_from_the_background(page):
    page.open('bandwidth')
    ratios = page.js('''
		const light = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
			.map((value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
			.reduce((sum, value, i) => sum + value * [0.2126, 0.7152, 0.0722][i], 0);
		const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		return [...PALETTES.light.map((colour) => ratio(light(colour), light('#ffffff'))),
			...PALETTES.dark.map((colour) => ratio(light(colour), light('#14171b')))];''')
    assert min(ratios) >= 3


def test_the_toggle_changes_the_page_and_its_charts(page):
    page.open('bandwidth', scheme='light')
    colour = 'return [getComputedStyle(document.body).backgroundColor, plotViews[0].chart.data.datasets[0].borderColor]'
    light = page.js(colour)
    page.browser.find_element('id', 'theme').click()
    dark = page.js(colour)
    assert light[0] != dark[0] and light[1] != dark[1]
    assert page.js(CONTRAST)['poor'] == []
    page.browser.find_element('id', 'theme').click()
    assert page.js(colour) == light


def test_nothing_is_wider_than_the_screen(shown):
    try:
        for width in (768, 360):
            shown.resize(width)
            shown.settle()
            assert outside(shown, width) == []
    finally:
        shown.resize(1280)


def outside(page, width):
    """What sticks out of a screen of that width."""
    assert page.js('return document.scrollingElement.scrollWidth') <= width
    return page.js('''return [...document.querySelectorAll("canvas, figure, .card, .advice li, h1, h2, h3, dl, button, p")]
		.filter((each) => each.getClientRects().length && !each.closest(".scroll, .visually-hidden, .skip"))
		.filter((each) => each.getBoundingClientRect().right > arguments[0] + 0.5 || each.getBoundingClientRect().left < -0.5)
		.map((each) => each.outerHTML.slice(0, 120))''', width)


@pytest.mark.parametrize('scheme', thorough_but(['dark'], ['light', 'dark']))
def test_it_prints_light_with_whole_charts_and_comes_back(page, scheme):
    page.open('bandwidth', scheme=scheme)
    page.js('''window.addEventListener("beforeprint", () => { window.onPaper = plotViews.map((view) => ({
		width: view.box.clientWidth, canvas: view.canvas.clientWidth, aspect: view.chart.aspectRatio,
		drawn: view.canvas.width / view.canvas.height, colour: view.chart.data.datasets[0].borderColor,
		back: getComputedStyle(document.body).backgroundColor })); });''')
    before = page.js('return plotViews.map((view) => [view.box.clientWidth, view.chart.data.datasets[0].borderColor])')
    pdf = base64.b64decode(page.cdp('Page.printToPDF', preferCSSPageSize=True)['data'])
    assert pdf.startswith(b'%PDF-') and len(pdf) > 20000
    for chart in page.js('return window.onPaper'):
        assert chart['canvas'] == chart['width'] < 700
        assert chart['back'] == 'rgb(255, 255, 255)'
        assert chart['colour'] in page.js('return PALETTES.light')
    page.settle()
    assert page.js('return plotViews.map((view) => [view.box.clientWidth, view.chart.data.datasets[0].borderColor])') == before
    assert page.console() == []


def test_hostile_names_are_shown_as_text(page):
    page.open('hostile')
    found = page.js('''return { owned: window.owned, images: document.images.length, title: document.title,
		scripts: document.scripts.length, h1: document.querySelector("h1").textContent,
		elements: document.querySelectorAll("[onerror], iframe, object, embed, link[href^=http]").length }''')
    clean = Page(page.browser, page.paths).open('latency').js('return document.scripts.length')
    assert found['owned'] is None and found['images'] == 0 and found['elements'] == 0
    assert found['scripts'] == clean
    assert page_fixtures.HOSTILE in found['h1']
    assert '<img src=x' in found['title']


def test_long_names_are_there_whole_but_folded(page):
    page.open('hostile')
    folded = page.js('''return [...document.querySelectorAll("details.long")].map((each) =>
		[each.open, each.querySelector(":scope > bdi").textContent.length])''')
    assert folded and all(not opened and length > 240 for opened, length in folded)
    assert any(length == len(page_fixtures.LONG) for _, length in folded)


@pytest.mark.parametrize('name', thorough_but(['hostile'], ['bandwidth', 'latency', 'hostile']))
def test_the_csv_to_download_holds_every_cell(page, name):
    page.open(name)
    page.js(CATCH + 'document.getElementById("download-csv").click()')
    rows = list(csv.DictReader(io.StringIO(page.js('return window.caught')[1], newline='')))
    assert len(rows) == len(page.document['cells'])
    for row, cell in zip(rows, page.document['cells']):
        for label, value in cell['labels'].items():
            assert row[label] == str(value)
        assert row['median'] == '' if cell['median'] is None else float(row['median']) == cell['median']
        assert row['absent'] == (cell['absent'] or '')
        assert (float(row['rate_ci_low']) == cell['rate']['ci'][0]) if cell['rate'] else row['rate_unit'] == ''


@pytest.mark.parametrize('name', thorough_but(['latency'], ['latency', 'big']))
def test_a_window_that_changes_its_width_keeps_the_charts(page, name):
    page.open(name)
    assert page.js('return plotViews.length')
    page.browser.find_element('css selector', '#figures td.samples button').send_keys('\n')
    for width in (700, 360, 1280, 500, 1280):
        page.resize(width, mobile=False)
        page.settle()
        fits = page.js('return plotViews.every((view) => view.canvas.clientWidth === view.box.clientWidth && view.box.clientWidth > 0)')
        assert fits, width
    assert page.console() == []


def test_the_legend_switches_series_and_says_so(page):
    page.open('bandwidth')
    button = page.browser.find_elements('css selector', 'figure.plot .legend button')[1]
    assert button.get_attribute('aria-pressed') == 'true'
    button.send_keys(' ')
    assert button.get_attribute('aria-pressed') == 'false'
    assert page.js('return plotViews[0].chart.isDatasetVisible(1)') is False
    page.browser.find_element('id', 'theme').click()
    assert page.js('return plotViews[0].chart.isDatasetVisible(1)') is False, 'and another theme keeps it'


def test_a_logarithmic_axis_turns_bars_into_dots(page):
    page.open('bandwidth')
    figure = page.browser.find_element('css selector', 'figure[data-plot="bandwidth-small"]')
    assert page.js('return plotViews[1].chart.config.type') == 'bar'
    figure.find_element('css selector', 'button.axis').click()
    assert page.js('return plotViews[1].chart.scales.y.type') == 'logarithmic'
    assert page.js('return plotViews[1].chart.data.datasets.every((set) => set.dot && set.backgroundColor === "transparent")')
    assert page.js(CHARTS)[1]['drawn'] > 500
    page.open('bandwidth')
    assert page.js('return plotViews[1].chart.data.datasets.some((set) => set.dot)') is False


def test_what_cannot_be_drawn_or_measured_is_named(page):
    page.open('odd_plots')
    text = page.js('return document.body.innerText')
    assert text.count('This chart has no points') == 2
    assert '1 point is zero or less' in text
    assert 'Interrupted' in text
    page.open('bandwidth')
    text = page.js('return document.body.innerText')
    assert 'this device copies no shared memory by an engine' in text
    assert 'Not in the charts: shared → shared' in text
    assert '2 not, 1 not available' in text


def test_facts_without_a_value_give_the_reason_on_the_page(page):
    page.open('devices')
    rows = page.js('return [...document.querySelectorAll("table.facts tr")].map((row) => row.innerText)')
    assert any('sub-group size' in row and 'n/a: OpenCL does not tell' in row.replace('\n', ' ') for row in rows)
    assert not any('not asked' in row for row in rows)
    text = page.js('return document.body.innerText')
    assert 'One device under 2 APIs, recognised by its UUID' in text
    assert "Install Debian's libze1" in text


def test_actions_come_before_what_they_are_for(page):
    page.open('bandwidth')
    items = page.js('return [...document.querySelectorAll("#advice li")].map((item) => item.innerText)')
    assert items[0].startswith('Use --budget 120.') and '3 of 181 cells' in items[0]
    assert items[-1] == 'Sizes end at 1 GB.'
    top = page.js('return ["advice", "charts", "figures"].map((id) => document.getElementById(id).getBoundingClientRect().top)')
    assert top == sorted(top)


def test_samples_open_below_their_row(page):
    page.open('latency')
    button = page.browser.find_element('css selector', '#figures td.samples button')
    button.send_keys('\n')
    page.settle()
    assert button.get_attribute('aria-expanded') == 'true'
    counts = page.js('''return [...document.querySelectorAll("tr.opened canvas")].map((canvas) => {
		const chart = Chart.getChart(canvas);
		return [chart.config.type, chart.data.datasets[0].data.reduce((sum, point) => sum + (chart.config.type === "bar" ? point.y : 1), 0)]; })''')
    samples = len(page.document['cells'][0]['samples'])
    assert counts == [['bar', samples], ['scatter', samples]]
    button.click()
    assert page.js('return document.querySelectorAll("tr.opened").length') == 0


def test_charts_have_a_text_and_a_table(page):
    page.open('bandwidth')
    figures = page.js('''return [...document.querySelectorAll("figure[data-plot]")].map((figure) =>
		[figure.querySelector("canvas[role=img]").getAttribute("aria-label"), figure.querySelectorAll("details table tbody tr").length])''')
    assert [rows for _, rows in figures] == [18, 10, 8]
    assert all('throughput from' in label for label, _ in figures)


@pytest.mark.thorough
def test_half_a_million_samples_open_and_sort(page):
    began = time.monotonic()
    page.open('big')
    opened = time.monotonic() - began
    assert page.js('return document.querySelectorAll("#figures tbody tr").length') == 500
    took = page.js('''const began = performance.now();
		document.querySelectorAll("#figures table button.sort")[3].click();
		document.body.offsetHeight; return performance.now() - began''')
    print(f'opened in {opened:.2f} s, sorted in {took:.0f} ms')  # for people: pytest -s
    assert page.console() == []
