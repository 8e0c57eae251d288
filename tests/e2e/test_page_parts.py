# SPDX-License-Identifier: Apache-2.0
"""The page of documents with conclusions, parts, timelines and grids, opened in headless Chromium."""
import csv
import io
import json
import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))
from parts import thorough_but  # noqa: E402
from page_browser import CATCH, NEEDS, chromium, page, pages  # noqa: E402, F401

pytestmark = NEEDS


# ---- conclusions and parts

def test_the_verdict_comes_before_every_figure_and_its_first_sentence_stands_out(page):
    page.open('overlap')
    assert page.js('return [...document.querySelectorAll(".verdict strong")].map((each) => each.innerText)') == [
        'Worth it: yes, 2.81 times faster (±0.4 %) with 32 chunks and 3 queues, depth-first.',
        'The copy to the host limits it: nothing but a faster link would help.']
    assert page.document['conclusions'][0]['text'] in page.js('return document.querySelector(".verdict").innerText')
    tops = page.js('return [".verdict", ".cards", "#advice"].map((each) => document.querySelector(each).getBoundingClientRect().top)')
    assert tops == sorted(tops)
    page.open('latency')
    assert page.js('return document.querySelectorAll(".verdict").length') == 0


@pytest.mark.parametrize('name', thorough_but(['checkup'], ['checkup', 'overlap', 'devices']))
def test_every_entry_of_the_contents_leads_to_its_section(page, name):
    page.open(name)
    links = page.js('''return [...document.querySelectorAll("a[href^='#']:not(.skip)")].map((link) => {
        const target = document.getElementById(link.hash.slice(1));
        return [link.closest("#contents") ? link.innerText : null, target ? target.querySelector("h2, h3").innerText : null]; })''')
    assert all(target for _, target in links)
    assert all(text == target for text, target in links if text)
    ids = page.js('return [...document.querySelectorAll("[id]")].map((each) => each.id)')
    assert len(ids) == len(set(ids))


def test_a_checkup_has_a_section_for_each_part_and_one_for_the_device(page):
    page.open('checkup')
    contents = page.js('return [...document.querySelectorAll("#contents a")].map((link) => link.innerText)')
    assert contents == ['What to do', 'Latency', 'Bandwidth', 'Peak', 'Matmul', 'Overlap', 'Device', 'Clock',
                        'How each figure was measured', 'Raw data']
    parts = page.js('return [...document.querySelectorAll("section.part")].map((part) => part.innerText)')
    for part, text in zip(page.document['parts'][1:], parts, strict=True):
        for said in part.get('conclusions', []) + part['warnings']:
            assert said.get('text', said.get('message')) in text
        for plot in part['plots']:
            assert plot['title'] in text
    text = page.js('return document.getElementById("device").innerText')
    assert 'One device under 2 APIs' in text and "Install Debian's libze1" in text and 'Xeon' in text
    assert page.js('return document.querySelector("h1").innerText') == 'Checkup of NVIDIA H200'
    figures = sum(len(part['cells']) for part in page.document['parts'])
    assert f'{figures} figures: ' in page.js('return document.getElementById("headline").innerText')


@pytest.mark.parametrize('name', thorough_but(['checkup'], ['checkup', 'overlap', 'latency']))
def test_headings_step_down_by_one(page, name):
    page.open(name)
    levels = page.js('''return [...document.querySelectorAll("h1, h2, h3, h4, h5")].filter((each) => !each.closest(".card"))
        .map((each) => Number(each.tagName[1]))''')
    assert len(levels) > 2 and all(after <= before + 1 for before, after in zip(levels, levels[1:]))
    inner = page.js('return [...document.querySelectorAll("section.part")].map((part) => part.querySelectorAll("h2").length)')
    assert set(inner) == ({1} if name == 'checkup' else set())


# ---- timelines

BARS = '''return [...document.querySelectorAll(`figure[data-plot="${arguments[0]}"] .track:not(.ticks)`)].map((track) => {
    const lane = track.getBoundingClientRect();
    return [...track.querySelectorAll(".bar")].map((bar) => { const at = bar.getBoundingClientRect();
        return [bar.innerText, (at.left - lane.left) / lane.width, at.width / lane.width, at.top - lane.top, at.height]; }); });'''


def test_a_timeline_has_its_bars_where_the_data_says(page):
    page.open('overlap')
    plot = next(plot for plot in page.document['plots'] if plot['kind'] == 'timeline')
    end = max(point[3] for series in plot['series'] for point in series['points'])
    lanes = page.js(BARS, 'timeline')
    assert [len(lane) for lane in lanes] == [32, 32, 32]
    for series, lane in zip(plot['series'], lanes):
        for (_, chunk, low, high), (text, left, width, _, height) in zip(series['points'], lane):
            assert text == str(chunk) and height > 15
            assert abs(left - low / end) < 0.002 and abs(width - (high - low) / end) < 0.002


def test_bars_that_run_at_once_stand_below_each_other_and_short_ones_are_seen(page):
    page.open('timelines')
    kernel, _, nothing = page.js(BARS, 'beside')
    tops = [bar[3] for bar in kernel]
    assert tops[0] == tops[2] == tops[3] and tops[1] > tops[0] + kernel[0][4] - 1
    assert min(bar[2] for bar in kernel) * 1100 > 0.9, 'a bar of no length is still a line'
    assert nothing == []
    assert page.js('return document.querySelectorAll("figure[data-plot=timeline] .bar").length') == 480
    assert page.js('return document.querySelectorAll("figure[data-plot=none] .timeline").length') == 0
    assert 'This chart has no bars' in page.js('return document.querySelector("figure[data-plot=none]").innerText')


@pytest.mark.parametrize('name, width', thorough_but([('timelines', 360)], [('overlap', 1280), ('overlap', 360), ('timelines', 1280), ('timelines', 360)]))
def test_numbers_of_chunks_are_shown_whole_or_not_at_all(page, name, width):
    page.open(name, width)
    cut = page.js('''return [...document.querySelectorAll(".bar > span")].filter((each) => each.getClientRects().length)
        .map((each) => [each.getBoundingClientRect(), each.parentNode.getBoundingClientRect()])
        .filter(([text, bar]) => text.left < bar.left || text.right > bar.right).length''')
    assert cut == 0
    rows = page.js('''return [...document.querySelectorAll(".timeline")].map((each) =>
        [...each.querySelectorAll(".ticks span")].filter((tick) => tick.getClientRects().length).map((tick) => {
            const at = tick.getBoundingClientRect(); return [at.left, at.right]; }))''')
    for row in rows:
        assert len(row) >= 2 and all(a[1] <= b[0] for a, b in zip(row, row[1:]))


@pytest.mark.parametrize('width', thorough_but([360], [360, 1280]))
def test_a_timeline_says_what_is_pointed_at(page, width):
    page.open('overlap', width)
    area = page.browser.find_element('css selector', '.timeline')
    tip = '''const tip = document.querySelector(".tip"); const at = tip.getBoundingClientRect();
        return tip.hidden ? null : [tip.innerText, at.left, at.right]'''
    assert page.js(tip) is None
    said = []
    for key in ('\ue014', '\ue014', '\ue015', '\ue010', '\ue012'):  # right, right, down, end, left
        area.send_keys(key)
        said.append(page.js(tip))
    assert [text.split(':')[0] for text, *_ in said] == ['to-device, chunk 0', 'to-device, chunk 1', 'kernel, chunk 1',
                                                          'kernel, chunk 31', 'kernel, chunk 30']
    assert all(left >= 0 and right <= width for _, left, right in said)
    assert said[0][0] == 'to-device, chunk 0: 0 ns to 303.1 µs (303.1 µs)'
    assert 'kernel, chunk 30' in page.js('return document.getElementById("announce").textContent')
    assert page.js('return document.querySelectorAll(".bar.same").length') == 2
    page.js('document.querySelectorAll(".bar")[40].dispatchEvent(new PointerEvent("pointerover", { bubbles: true }))')
    assert page.js(tip)[0].startswith('kernel, chunk 8: ')
    area.send_keys('\ue00c')  # escape
    assert page.js(tip) is None
    assert page.js('return document.querySelectorAll("figure[data-plot=timeline] details tbody tr").length') == 96


def test_a_timeline_follows_the_theme_and_the_paper(page):
    page.open('overlap', scheme='light')
    colour = 'return getComputedStyle(document.querySelector(".bar")).getPropertyValue("--bar")'
    light = page.js(colour)
    page.browser.find_element('id', 'theme').click()
    assert page.js(colour) != light
    page.js('''window.addEventListener("beforeprint", () => { window.onPaper = [document.querySelector(".timeline").clientWidth,
        (() => { ''' + colour + ''' })()]; })''')
    page.cdp('Page.printToPDF', preferCSSPageSize=True)
    assert page.js('return window.onPaper') == [660, light]


# ---- tables, charts and cards of the newer commands

TABLES = '''return [...document.querySelectorAll("#figures table")].map((table) => ({
    caption: table.caption.textContent,
    columns: [...table.tHead.rows[0].cells].map((cell) => cell.textContent),
    rows: [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent)) }));'''


@pytest.mark.parametrize('name', thorough_but(['overlap'], ['peak', 'matmul', 'overlap', 'latency', 'bandwidth']))
def test_tables_have_no_empty_columns_and_hold_every_figure(page, name):
    page.open(name)
    tables = page.js(TABLES)
    for table in tables:
        for index, column in enumerate(table['columns']):
            if column not in ('samples', 'how'):
                assert any(row[index] for row in table['rows']), (table['caption'], column)
    lists = [table for table in tables if 'by ' not in table['caption']]
    assert sum(len(table['rows']) for table in lists) == len(page.document['cells'])


def test_groups_with_labels_of_their_own_have_tables_of_their_own(page):
    page.open('peak')
    labels = {table['caption']: table['columns'][:table['columns'].index('time by')]
              for table in page.js(TABLES) if 'time by' in table['columns']}
    assert labels == {'Figures: Compute: time': ['type', 'width'], 'Figures: Memory: time': ['op', 'width', 'stride'],
                      'Figures: Sweep: time': ['size'], 'Figures: Local: time': ['width'],
                      'Figures: Tensor: time': ['type', 'n']}
    page.open('latency')
    assert [table['columns'][:2] for table in page.js(TABLES)] == [['group', 'what']] + [['what', 'quantity']]


def test_a_reason_is_said_once_for_all_figures_that_share_it(page):
    page.open('matmul')
    text = page.js('return document.getElementById("figures").textContent')
    assert text.count('CLBlast is not installed') > 1, 'every figure says it in the list'


# Results as tare writes them: their pages have the tables that the text shows.
SAVED = pathlib.Path(__file__).parents[1] / 'golden' / 'saved'


@pytest.fixture(scope='module')
def saved(tmp_path_factory):
    if not os.environ.get('TARE'):
        pytest.skip('TARE names no program (run through meson)')
    folder = tmp_path_factory.mktemp('saved')

    def written(name):
        path = folder / name
        subprocess.run([os.environ['TARE'], 'render', SAVED / f'{name}.json', '-q', '--html', path.with_suffix('.html'), '--json',
                        path.with_suffix('.json')], check=True, stdout=subprocess.DEVNULL)
        return path.with_suffix('.json'), path.with_suffix('.html')
    return written


@pytest.mark.parametrize('name', thorough_but(['h200-overlap-cuda'], ['h200-peak-cuda', 'h200-matmul-cuda', 'h200-overlap-cuda',
                                                                      'h200-bandwidth-cuda', 'h200-latency-cuda']))
def test_the_page_shows_the_tables_of_the_text(page, saved, name):
    data, html = saved(name)
    document = json.loads(data.read_text())
    page.browser.get(html.as_uri())
    page.settle()
    shown = page.js(TABLES)
    wanted = [table for table in document['tables'] if table['id'] not in ('latency', 'bandwidth_cells')]
    assert bool(wanted) == (name != 'h200-latency-cuda')
    for table, drawn in zip(wanted, shown):
        assert drawn['caption'] == ': '.join(filter(None, [table['title'], table['subject']]))
        assert len(drawn['rows']) == len(table['rows'])
        for row, cells in zip(table['rows'], drawn['rows']):
            values = [value for key, value in row.items() if key != 'marks'
                      for value in (value if isinstance(value, list) else [value])]
            assert len(cells) == len(values)
            # A star a figure that did not converge; nothing or "n/a" for what there is no figure of.
            assert sum(cell.endswith('*') for cell in cells) == list(row.get('marks', {}).values()).count('not_converged')
            assert [cell in ('', 'n/a', 'WRONG DATA') for cell in cells[1:]] == [value in (None, '') for value in values[1:]]
    assert page.console() == []


def test_a_series_of_one_point_is_a_point_that_is_seen(page):
    page.open('matmul')
    assert page.js('return plotViews[2].chart.data.datasets.map((set) => set.pointRadius)') == [3, 6, 6, 6, 6]
    ticks = page.js('return plotViews.map((view) => view.chart.scales.x.ticks.map((tick) => tick.label))')
    assert ticks[0] == ticks[1] == ['32', '64', '128', '256', '512', '1024', '2048']


def test_a_prediction_looks_like_what_it_predicts_but_dashed(page):
    page.open('timelines')
    lines = page.js('return plotViews[0].chart.data.datasets.map((set) => [set.label, set.borderColor, set.borderDash])')
    colours = {name: colour for name, colour, _ in lines}
    assert colours['3 queues'] == colours['3 queues (predicted)'] != colours['1 queue'] == colours['1 queue (predicted)']
    assert [dash for name, _, dash in lines if 'predicted' in name] == [[2, 3], [2, 3]]


CARDS = [
    ('peak', ['FP32', 'Memory, read', 'Tensor, BF16', 'FP64', 'Memory, copy', 'Local memory']),
    ('matmul', ['register, n = 2048', 'second, n = 2048', 'tiled, n = 2048', 'naive, n = 2048']),
    ('overlap', ['Speed-up at 440 cycles', 'Engines at work at once', 'Speed-up at 110 cycles', 'Speed-up at 220 cycles',
                 'Speed-up at 880 cycles', 'Speed-up at 1760 cycles'])]


@pytest.mark.parametrize('name, cards', thorough_but(CARDS[-1:], CARDS))
def test_the_first_screen_shows_what_is_asked_first(page, name, cards):
    page.open(name)
    assert page.js('return [...document.querySelectorAll("#headline .card h3")].map((each) => each.innerText)') == cards
    text = page.js('return document.querySelector("#headline .card").innerText')
    for part in {'peak': ['64.4', 'TFLOP/s', '% of 66.9 TFLOP/s (by formula)'], 'matmul': ['27.7', 'share of measured 43'],
                 'overlap': ['2.81', '95.3 % of the bound', 'one after the other 29.5 ms']}[name]:
        assert part in text


def test_a_card_of_matrix_units_tells_the_clock_that_it_was_measured_at(page):
    page.open('peak')
    text = page.js('return document.querySelectorAll("#headline .card")[2].innerText')
    for part in ['TFLOP/s', 'n = 16384', 'at 1.65 GHz', '77.3 % of the paper', '3165 FLOP a clock and unit',
                 'slowed down in 87.5 % of the readings']:
        assert part in text


def number_or_text(text):
    try:
        return float(text)
    except ValueError:
        return text


@pytest.mark.skipif(not os.environ.get('TARE'), reason='TARE names no program (run through meson)')
@pytest.mark.parametrize('name', thorough_but(['checkup'], ['checkup', 'devices', 'matmul', 'bandwidth']))
def test_the_csv_to_download_is_that_of_tare_render(page, pages, name):
    page.open(name)
    page.js(CATCH + 'document.getElementById("download-csv").click()')
    ours = list(csv.reader(io.StringIO(page.js('return window.caught')[1], newline='')))
    run = subprocess.run([os.environ['TARE'], 'render', pages[name][0], '--csv', '-'], check=True, capture_output=True, text=True)
    theirs = list(csv.reader(io.StringIO(run.stdout, newline='')))
    assert len(ours) > 50
    assert [[number_or_text(text) for text in row] for row in ours] == [[number_or_text(text) for text in row] for row in theirs]
