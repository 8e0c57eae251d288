# SPDX-License-Identifier: Apache-2.0
"""The page of counted kernels, opened in headless Chromium: the same figures in pictures, tables, JSON and text."""
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))
import validate  # noqa: E402
from page_browser import CHROMIUM, DRIVER, asked_by_page, chromium  # noqa: E402, F401

FIXTURE = os.environ.get('TARE_HOTSPOTS_FIXTURE')
pytestmark = [pytest.mark.skipif(not FIXTURE, reason='TARE_HOTSPOTS_FIXTURE names no program (run through meson)'),
              pytest.mark.skipif(not CHROMIUM or not DRIVER, reason='chromium or chromium-driver is not installed')]
SHOW_ALL = 'for (const each of document.querySelectorAll("details.kernel")) { each.makeBody(); each.open = true; }'
HOSTILE, UNDECIDED, CAPTURED = 3, 8, 9


def made(what):
    return subprocess.run([FIXTURE, what], check=True, capture_output=True).stdout


@pytest.fixture(scope='session')
def document():
    return json.loads(made('json'))


@pytest.fixture(scope='session')
def paths(tmp_path_factory):
    folder = tmp_path_factory.mktemp('hotspots')
    for what in ('page', 'none', 'timeline', 'asked'):
        (folder / f'{what}.html').write_bytes(made(what))
    return folder


class Opened:
    def __init__(self, browser, paths):
        self.browser, self.paths = browser, paths

    def open(self, what='page', width=1280, scheme='light'):
        for kind in ('browser', 'performance'):
            self.browser.get_log(kind)
        self.cdp('Emulation.setDeviceMetricsOverride', width=width, height=900, deviceScaleFactor=1, mobile=width < 500)
        self.cdp('Emulation.setEmulatedMedia', media='', features=[{'name': 'prefers-color-scheme', 'value': scheme}])
        self.browser.get((self.paths / f'{what}.html').as_uri())
        self.browser.execute_async_script('whenSettled(...arguments)', width)
        return self

    def cdp(self, command, **arguments):
        return self.browser.execute_cdp_cmd(command, arguments)

    def js(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)


@pytest.fixture
def page(chromium, paths):  # noqa: F811
    yield Opened(chromium, paths)
    chromium.execute_cdp_cmd('Emulation.clearDeviceMetricsOverride', {})


def rows(page, selector):
    return page.js('return [...document.querySelectorAll(arguments[0] + " tbody tr")].map((row) => [...row.children].map((cell) => cell.textContent))',
                   selector)


@pytest.mark.parametrize('scheme', ['light', 'dark'])
@pytest.mark.parametrize('width', [1280, 390])
def test_console_is_empty_nothing_is_requested_and_nothing_is_wider_than_the_window(page, width, scheme):
    page.open(width=width, scheme=scheme)
    page.js(SHOW_ALL)
    assert page.browser.get_log('browser') == []
    assert [url for url in asked_by_page(page.browser) if not url.startswith(('file:', 'data:'))] == []
    assert page.js('return document.documentElement.scrollWidth <= innerWidth')
    assert page.js('return getComputedStyle(document.body).backgroundColor') == {'light': 'rgb(255, 255, 255)', 'dark': 'rgb(20, 23, 27)'}[scheme]


def test_every_kernel_has_its_row_and_its_verdict(page, document):
    page.open().js(SHOW_ALL)
    table = rows(page, 'table.kernels')
    assert len(table) == len(document['kernels'])
    for row, kernel in zip(table, document['kernels']):
        assert row[-1] == (kernel['verdict']['short'] if not kernel['not_counted'] else f'n/a: {kernel["not_counted"]}')
    counted = [kernel for kernel in document['kernels'] if not kernel['not_counted']]
    assert page.js('return [...document.querySelectorAll("details.kernel .verdict strong")].map((each) => each.textContent)') == \
        [kernel['verdict']['text'] for kernel in counted]
    assert document['kernels'][UNDECIDED - 1]['verdict']['decided'] is False
    assert '?' in table[UNDECIDED - 1][-1]


@pytest.mark.parametrize('what', ['page', 'none', 'timeline', 'asked'])
def test_the_pages_data_are_as_the_schema_says(paths, what):
    pytest.importorskip('jsonschema')
    data = re.search(r'<script type="application/json" id="hotspots">(.*?)</script>', (paths / f'{what}.html').read_text(), re.S)[1]
    assert validate.faults(json.loads(data)) == []


def test_names_stay_text(page):
    page.open().js(SHOW_ALL)
    assert page.js('return document.querySelectorAll("main b, main script").length') == 0
    assert rows(page, 'table.kernels')[HOSTILE - 1][1].startswith('</script><b onclick=')


def test_the_diagram_has_the_tables_figures(page, document):
    page.open().js(SHOW_ALL)
    for number, kernel in enumerate(document['kernels'], 1):
        if kernel['not_counted']:
            continue
        table = {row[0]: row[1:] for row in rows(page, f'#kernel-{number} table.edges')}
        drawn = page.js('return [...document.querySelectorAll(arguments[0])].map((edge) => [edge.dataset.edge, edge.querySelector(".figures").textContent,'
                        ' edge.querySelector(".more").textContent, edge.getAttribute("aria-label"), edge.classList.contains("binding")])',
                        f'#kernel-{number} .hierarchy .edge')
        assert len(drawn) == len(table) == len(kernel['edges'])
        for edge in kernel['edges']:
            name, figures, more, label, binding = next(each for each in drawn if each[0] == edge['edge'])
            moved, rate, share, measured, given, remark = next(row for title, row in table.items() if label.startswith(title))
            assert binding == edge['binding'] == ('binds' in figures) == ('binds' in remark) == ('this binds' in label)
            if edge['bytes'] is None:
                assert figures == moved == 'n/a' and edge['remark'] in more and edge['remark'] in label
                continue
            assert abs(float(rate.split()[0]) / (edge['bytes_per_s'] / 1e9) - 1) < 0.006 and rate.endswith(' GB/s')
            assert figures.startswith(f'{moved}  ·  {rate}  ·  {share} of max')
            assert more.startswith(f'{measured} of measured  ·  {given}')
            assert all(text in label for text in (moved, rate, share, measured, given))


def test_the_terminal_has_the_same_figures(page, document):
    text = made('text').decode()
    page.open().js(SHOW_ALL)
    parts = re.split(r'\n\n(?=\S)', text)[1:]
    for number, part in enumerate(parts[:2], 1):
        for row in rows(page, f'#kernel-{number} table.edges'):
            if row[1] == 'n/a':
                continue
            wanted = [row[1], row[2].split()[0], row[3], row[4], row[5].split()[0]]
            assert any(all(figure in line for figure in wanted) for line in part.splitlines()), (wanted, part)


def test_bars_sum_to_the_time_of_the_cores(page, document):
    page.open()
    bars = page.js('return [...document.querySelectorAll("table.kernels .core-time")].map((bar) => [bar.getAttribute("aria-label"),'
                   ' ...[...bar.children].map((part) => part.getBoundingClientRect().width)])')
    times = [kernel['time'] for kernel in document['kernels'] if kernel['time']['active'] is not None]
    assert len(bars) == len(times) == len(document['kernels']) - 1
    for (label, *widths), time in zip(bars, times):
        for name, width in zip(('active', 'stalled', 'idle'), widths):
            assert abs(100 * width / sum(widths) - time[name]) < 1
        assert label.startswith('issuing ') and 'without work' in label


def test_the_roofline_has_every_kernel_that_computes(page, document):
    page.open()
    labels = page.js('return [...document.querySelectorAll(".roofline .point")].map((point) => point.getAttribute("aria-label"))')
    table = rows(page, '#roofline-section details table')
    wanted = [(number, edge) for number, kernel in enumerate(document['kernels'], 1) if (kernel['arithmetic']['flop_per_s'] or 0) > 0
              for edge in kernel['edges'] if edge['flop_per_byte'] and edge['edge'] in ('l2-device', 'l1-l2', 'registers-l1')]
    assert len(labels) == len(wanted) > 10
    assert sorted(int(label.split()[0]) for label in labels) == [number for number, _ in wanted]
    for label in labels:
        number, figure = int(label.split()[0]), re.search(r': (\S+) FLOP a byte', label)[1]
        assert any(row[0].startswith(f'{number} ') and row[2] == figure for row in table)
    ceilings = {row[0]: row[1] for row in table if len(row) == 2}
    assert ceilings['device memory, measured'] == '900 GB/s' and ceilings['FP32, paper'] == '20 TFLOP/s'
    assert 'FP16, paper' not in ceilings  # not known
    note = page.js('return document.getElementById("roofline-section").textContent')
    assert 'Not drawn, since no floating-point operation or no rate of it is known: 1, 6, 9.' in note


def test_a_point_lies_on_its_figures(page, document):
    """Positions are read back from the grid, whose decades are labelled."""
    page.open()
    ticks = page.js('return [...document.querySelectorAll(".roofline .tick")].map((tick) => [tick.textContent, Number(tick.getAttribute("x")), Number(tick.getAttribute("y")),'
                    ' tick.getAttribute("text-anchor")])')
    across = [(float(text), x) for text, x, _, anchor in ticks if anchor == 'middle']
    (v0, x0), (v1, x1) = across[0], across[-1]
    points = page.js('return [...document.querySelectorAll(".roofline .point.circle")].map((point) => [point.getAttribute("aria-label"), Number(point.querySelector("circle").getAttribute("cx"))])')
    assert points
    for label, x in points:
        value = float(re.search(r': (\S+) FLOP a byte', label)[1])
        read = v0 * (v1 / v0) ** ((x - x0) / (x1 - x0))
        assert abs(read / value - 1) < 0.02


def test_the_keyboard_reaches_every_edge_and_point(page):
    page.open()
    reached = page.js('''
        const wanted = [...document.querySelectorAll(".hierarchy .edge, .roofline .point")];
        return wanted.filter((each) => { each.focus(); return document.activeElement !== each || !each.getAttribute("aria-label") || each.tabIndex !== 0; }).length''')
    assert reached == 0
    assert page.js('return [...document.querySelectorAll("svg.hierarchy, svg.roofline")].every((each) => '
                   'each.getAttribute("aria-labelledby").split(" ").every((id) => document.getElementById(id).textContent))')


def test_a_link_opens_its_kernel(page):
    page.open()
    assert page.js('return document.getElementById("kernel-6").open') is False
    page.js('document.querySelector("a[href=\'#kernel-6\']").click()')
    page.browser.execute_async_script('whenSettled(0, arguments[0])')
    assert page.js('return document.getElementById("kernel-6").open && document.querySelectorAll("#kernel-6 .hierarchy").length === 1')
    assert page.js(f'return document.getElementById("kernel-{CAPTURED}")') is None


def test_a_device_without_counters_says_so(page):
    page.open('none')
    assert page.browser.get_log('browser') == []
    assert page.js('return document.querySelector("main .verdict").textContent') == 'n/a: no counters here: its driver offers none'


def test_instructions_in_place_of_counters_are_drawn_at_l1_and_no_verdict_is_given(page):
    page.open('asked')
    assert page.browser.get_log('browser') == []
    verdict = page.js('return document.querySelector("main .verdict").textContent')
    assert verdict.startswith('n/a: no counters here') and 'What binds a kernel is not known' in verdict
    rows = page.js('return [...document.querySelectorAll("#kernels-section table tr")].map((row) => '
                   '[...row.cells].map((cell) => cell.textContent))')
    heads = [re.sub('[^a-zA-Z# ]', '', head).strip() for head in rows[0]]
    assert heads[2] == 'launches' and heads[4:] == ['share', 'a launch', 'bytes asked', 'of peak', 'arithmetic', 'of peak', 'FLOP a byte']
    assert rows[1][10] == '1.00' and rows[2][10] == '0.500' and 'tare blocks' in rows[9][10] and rows[9][6] == 'n/a'
    marks = page.js('return [...document.querySelectorAll("#roofline-section .point")].map((each) => each.getAttribute("class"))')
    assert len(marks) == 8 and all('triangle' in each and 'binding' not in each for each in marks)
    assert 'instructions ask for' in page.js('return document.getElementById("roofline-section").textContent')


def test_the_device_over_time_is_tracks_and_the_same_tables(page):
    page.open('timeline')
    assert page.browser.get_log('browser') == []
    tracks = page.js('return [...document.querySelectorAll(".tracks .track")].map((each) => { each.focus(); '
                     'return [each.getAttribute("aria-label"), document.activeElement === each]; })')
    assert all(reached for _, reached in tracks) and len(tracks) == 4
    rows = page.js('return [...document.querySelectorAll("#timeline-section table")].map((table) => '
                   '[...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent)))')
    sums, parts = rows
    for (sentence, _), row in zip(tracks, sums):
        assert all(text in sentence for text in row[:4]), (sentence, row)
    assert sums[2][1:5] == ['50 %', '100 %', '99 %', '40 %'] and sums[3][1:3] == ['10.0 GB/s', '40.0 GB/s']
    # The kernels began in the middle of the run; nothing is said where no sample was taken.
    assert len(parts) == 50 and parts[24][1] == '0.0 %' and parts[25][1] == '100 %'
    assert parts[44][3] != 'n/a' and parts[45][3] == parts[45][4] == 'n/a'
    bars = page.js('return [...document.querySelectorAll(".tracks .track .means")].map((each) => (each.getAttribute("d").match(/M/g) || []).length)')
    assert bars == [500, 0, 899, 400]
    assert 'Samples were lost 2 times.' in page.js('return document.getElementById("timeline-section").textContent')


def test_without_samples_the_page_has_no_tracks(page):
    page.open()
    assert page.js('return document.getElementById("timeline-section")') is None


def test_names_in_little_room_are_those_of_the_terminal(page):
    lines = (pathlib.Path(__file__).parents[1] / 'data/short_names.txt').read_text(encoding='utf-8').splitlines()
    cases = [line.split('\t') for line in lines if not line.startswith('#')]
    assert len(cases) > 50
    short = page.open().js('return arguments[0].map(([width, name]) => shortenName(name, Number(width)))', cases)
    assert short == [case[2] for case in cases]
