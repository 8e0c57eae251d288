# SPDX-License-Identifier: Apache-2.0
"""The timeline of a run's page, opened in headless Chromium: moved and asked by wheel, pointer and keys."""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
import run_pages  # noqa: E402
from page_browser import chromium  # noqa: E402, F401
from run_page_rig import COMMANDS, NEEDS, folder, moment, page, small  # noqa: E402, F401

pytestmark = NEEDS


# ---- moving

def test_wheel_zooms_about_the_pointer(page, small):
    page.open(small['path'])
    for x, delta in ((700, -400), (700, -400), (400, -300), (900, 200)):
        before, at = page.view(), page.js('return timeAt(timelineView, arguments[0])', x)
        page.mouse('mouseWheel', x, 100, deltaX=0, deltaY=delta)
        page.settle()
        after = page.view()
        assert (after['to'] - after['from'] < before['to'] - before['from']) == (delta < 0)
        if after['from'] > after['least'] and after['to'] < after['most']:
            assert abs(page.js('return timeAt(timelineView, arguments[0])', x) - at) < 2e-3 * (after['to'] - after['from'])


def test_shift_wheel_and_drag_pan(page, small):
    page.open(small['path'])
    for _ in range(4):
        page.key('+')
    page.settle()
    for gesture in ('wheel', 'drag'):
        before = page.view()
        if gesture == 'wheel':
            page.mouse('mouseWheel', 700, 100, deltaX=0, deltaY=100, modifiers=8)
        else:
            page.mouse('mousePressed', 700, 100, button='left', clickCount=1)
            page.mouse('mouseMoved', 650, 100, button='left', buttons=1)
            page.mouse('mouseMoved', 600, 100, button='left', buttons=1)
            page.mouse('mouseReleased', 600, 100, button='left', clickCount=1)
        page.settle()
        after = page.view()
        shift = 100 * (before['to'] - before['from']) / (before['width'] - before['gutter'])
        assert abs(after['from'] - before['from'] - shift) < 0.02 * shift, gesture
        assert abs((after['to'] - after['from']) - (before['to'] - before['from'])) < 1


def test_shift_drag_measures(page, small):
    page.open(small['path'])
    page.js('showTimes(timelineView, timelineView.most - 1e6, timelineView.most)')
    page.settle()
    before = page.view()
    page.mouse('mousePressed', 500, 100, button='left', clickCount=1, modifiers=8)
    for x in (550, 700):
        page.mouse('mouseMoved', x, 100, button='left', buttons=1, modifiers=8)
    page.mouse('mouseReleased', 700, 100, button='left', clickCount=1, modifiers=8)
    chosen = page.js('return timelineView.range')
    wanted = 200 * (before['to'] - before['from']) / (before['width'] - before['gutter'])
    assert abs(chosen['to'] - chosen['from'] - wanted) < 0.01 * wanted
    assert page.view() == before
    note = page.js('return document.querySelector(".range").textContent')
    assert note.startswith('Range: ' + page.js('return formatNs(arguments[0], 5)', chosen['to'] - chosen['from']))
    starts, ends, engine = (small['commands'][name] for name in ('start', 'end', 'engine'))
    busy = sum(max(0, min(end, chosen['to']) - max(start, chosen['from'])) for start, end, which in zip(starts, ends, engine) if which == 0)
    assert busy > 0
    assert f'compute {page.js("return significant(arguments[0], 3)", 100 * busy / (chosen["to"] - chosen["from"]))} %' in note


def test_pinch_zooms(page, small):
    page.open(small['path'], width=360)
    before = page.view()
    box = page.js('document.getElementById("timeline-section").scrollIntoView(); const box = timelineView.canvas.getBoundingClientRect(); return [box.left, box.top]')
    fingers = lambda apart: [{'x': box[0] + 160 + side * apart, 'y': box[1] + 80, 'id': n} for n, side in enumerate((-1, 1))]  # noqa: E731
    page.cdp('Input.dispatchTouchEvent', type='touchStart', touchPoints=fingers(30))
    for apart in (40, 60, 90):
        page.cdp('Input.dispatchTouchEvent', type='touchMove', touchPoints=fingers(apart))
    page.cdp('Input.dispatchTouchEvent', type='touchEnd', touchPoints=[])
    page.settle()
    after = page.view()
    assert 0.2 < (after['to'] - after['from']) / (before['to'] - before['from']) < 0.6


def test_keys_move(page, small):
    page.open(small['path'], motion='reduce')
    whole = page.view()
    span = lambda view: view['to'] - view['from']  # noqa: E731
    for zoom, back in (('+', '-'), ('w', 's')):
        page.key(zoom)
        assert span(page.view()) < 0.9 * span(whole)
        page.key(back)
        assert abs(span(page.view()) - span(whole)) < 2
    for _ in range(6):
        page.key('+')
    for right, left in (('ArrowRight', 'ArrowLeft'), ('d', 'a')):
        start = page.view()['from']
        page.key(right)
        assert page.view()['from'] > start
        page.key(left)
        assert abs(page.view()['from'] - start) < 2
    page.key('End')
    assert page.view()['to'] == whole['most'] and span(page.view()) < span(whole) / 3
    page.key('Home')
    assert page.view()['from'] == whole['least']
    # Without motion there is nothing in between.
    page.key('0')
    assert page.view() == whole


def test_motion_is_shown_unless_it_is_not_wanted(page, small):
    for motion, at_once in (('no-preference', False), ('reduce', True)):
        page.open(small['path'], motion=motion)
        assert page.js('''zoomToTimes(timelineView, 1e7, 1.01e7);
            return Math.abs(spanOf(timelineView) - 1e5 / 0.6) < 1''') is at_once
        page.settle()
        assert page.js('return Math.abs(spanOf(timelineView) - 1e5 / 0.6) < 1')


# ---- selecting

def expected_fields(small, row):
    commands, header = small['commands'], small['header']
    kind = header['kinds'][commands['kind'][row]]
    kernel = kind == 'kernel'
    return {'kind': kind, 'number': str(commands['number'][row]), 'enqueue': moment(commands['enter'][row]), 'start': moment(commands['start'][row]),
            'submit': moment(commands['submitted'][row]), 'end': moment(commands['end'][row]),
            'queue': f'queue {header["queues"][commands["queue"][row]]["number"]}', 'device': header['devices'][0]['name'],
            **({} if kernel else {'direction': {1: 'to device', 2: 'from device'}[commands['direction'][row]]})}, \
        header['strings'][header['kernels'][commands['object'][row]]] if kernel else kind


def test_keys_select_and_fields_are_the_commands(page, small):
    page.open(small['path'])
    page.choose(0)
    order = sorted((i for i in range(COMMANDS) if small['commands']['queue'][i] == small['commands']['queue'][0]), key=lambda i: small['commands']['start'][i])
    seen = []
    for key in 'nnnpn':
        page.key(key)
        row = page.selected()['id']
        seen.append(order.index(row) - order.index(0))
        fields, name = expected_fields(small, row)
        assert fields.items() <= page.fields().items()
        assert page.js('return document.querySelector(".timeline-details h4").textContent') == name
        assert page.js('return document.getElementById("announce").textContent').startswith(f'{name}, ')
    assert seen == [1, 2, 3, 2, 3]
    page.key('ArrowDown')
    assert page.selected()['row'] == page.js('return timelineView.rows[timelineView.rows.findIndex((row) => row.kind === "queue") + 1].title')
    page.key('f')
    page.settle()
    low, high = page.js('return timesOf(timelineView, timelineView.selected)')
    assert 0.5 < (high - low) / (page.view()['to'] - page.view()['from']) < 0.7
    page.key('Escape')
    assert page.selected() is None


def test_click_selects_what_is_under_it(page, small):
    page.open(small['path'], motion='reduce')
    page.choose(30)
    page.key('f')
    page.settle()
    x, y = page.js('''const place = placesOf(timelineView, timelineView.selected).find((each) => !each.call);
        return [pixelAt(timelineView, (place.from + place.to) / 2), place.y + 8]''')
    page.key('Escape')
    page.mouse('mousePressed', x, y, button='left', clickCount=1)
    page.mouse('mouseReleased', x, y, button='left', clickCount=1)
    assert page.selected()['id'] == 30
    # The tooltip has the fields, too.
    page.mouse('mouseMoved', x + 2, y)
    page.settle()
    tip = page.js('return [timelineView.tip.hidden, timelineView.tip.innerText]')
    assert not tip[0]
    for title, value in expected_fields(small, 30)[0].items():
        assert f'{title}: {value}' in tip[1]


def waits_of(small, row):
    first = sum(small['commands']['waits'][:row])
    return small['waits']['command'][first:first + small['commands']['waits'][row]]


def test_arrows_are_the_dependencies(page, small):
    page.open(small['path'])
    some = [row for row in range(COMMANDS) if small['commands']['waits'][row]][5:200:40]
    assert some
    for row in some:
        page.choose(row)
        arrows = page.js('return arrowsOf(timelineView, arguments[0])', row)
        wait = sorted((arrow['fromCommand'], arrow['toCommand']) for arrow in arrows if arrow['kind'] == 'wait')
        waiters = [other for other in range(row, COMMANDS) if row in waits_of(small, other)]
        assert wait == sorted([(other, row) for other in waits_of(small, row)] + [(row, other) for other in waiters])
        for arrow in arrows:
            start = small['commands']['enter' if arrow['kind'] == 'call' else 'end'][arrow['fromCommand']]
            assert [arrow['from'], arrow['to']] == [start, small['commands']['start'][arrow['toCommand']]]
        assert [arrow['kind'] for arrow in arrows].count('call') == 1
        assert page.js('return document.querySelectorAll("[data-field=\'waits for\'] button").length') == len(waits_of(small, row))


def test_the_phase_that_launched_a_command_is_named_and_led_to(page, small):
    page.open(small['path'])
    commands, phases, strings = small['commands'], small['phases'], small['header']['strings']
    shown = 'return [...document.querySelectorAll("[data-field=\'launched in\'] button")].map((button) => button.textContent)'
    launched = [row for row in range(COMMANDS) if commands['phase'][row] is not None]
    none = [row for row in range(COMMANDS) if commands['phase'][row] is None]
    assert launched
    for row in launched[3:200:60]:
        page.choose(row)
        name, = page.js(shown)
        assert strings[phases['name'][commands['phase'][row]]] in name
    page.js('document.querySelector("[data-field=\'launched in\'] button").click()')
    assert page.js('return [timelineView.selected.kind, timelineView.selected.id]') == ['phase', commands['phase'][row]]
    for row in none[:2]:
        page.choose(row)
        assert page.js(shown) == []


def test_search_counts_and_steps(page, small):
    page.open(small['path'])
    header, commands = small['header'], small['commands']
    name = header['strings'][header['kernels'][3]]
    hits = [i for i in range(COMMANDS) if header['kinds'][commands['kind'][i]] == 'kernel' and header['strings'][header['kernels'][commands['object'][i]]] == name]
    page.js('startSearch(timelineView, arguments[0])', name.upper())
    assert page.js('return timelineView.search.count') == len(hits) > 3
    stepped = []
    for _ in range(3):
        page.js('stepFound(timelineView, 1)')
        stepped.append(page.selected()['id'])
    assert stepped == hits[:3]
    page.js('stepFound(timelineView, -1)')
    assert page.selected()['id'] == hits[1] and page.js('return timelineView.found.textContent') == f'2 of {len(hits)}'
    page.js('chooseSlice(timelineView, commandSlice(timelineView, arguments[0])); stepFound(timelineView, 1)', hits[-1])
    assert page.selected()['id'] == hits[0]
    call = header['functions'][small['calls']['function'][0]]['name']
    page.js('startSearch(timelineView, arguments[0])', call)
    assert page.js('return timelineView.search.count') == sum(header['functions'][f]['name'] == call for f in small['calls']['function'] + commands['function'])
    # Commands and calls are passed in the order of time.
    both = sorted([(at, 0, i) for i, at in enumerate(commands['enter'])] + [(at, 1, i) for i, at in enumerate(small['calls']['enter'])])
    page.js('startSearch(timelineView, "cl"); chooseSlice(timelineView, {kind: "call", id: 40})')
    at = both.index((small['calls']['enter'][40], 1, 40))
    for direction, place in ((-1, at - 1), (-1, at - 2), (1, at - 1), (1, at), (1, at + 1)):
        page.js('stepFound(timelineView, arguments[0])', direction)
        assert (page.selected()['kind'] == 'call', page.selected()['id']) == (both[place][1] == 1, both[place][2])
    page.js('startSearch(timelineView, "no such name")')
    assert page.js('return [timelineView.search.count, timelineView.found.textContent]') == [0, 'Nothing is called "no such name"']


def test_nested_calls_have_lines_of_their_own(page, small, folder):
    calls = {**small['calls'], 'depth': [i % 3 for i in range(len(small['calls']['enter']))]}
    tables = {name: small[name] for name in small['header']['tables']}
    page.open(run_pages.rewrite(small['path'], folder / 'variant.html', timeline=run_pages.encode(small['header'], {**tables, 'calls': calls})))
    lines = page.js('''return timelineView.rows.filter((row) => row.kind === "calls").map((row) => row.lanes.map((line) =>
        line.filter((lane) => lane.source.kind === "call").flatMap((lane) => [...lane.ids])))''')
    for depth in range(3):
        assert {i % 3 for row in lines for i in row[depth]} == {depth}
