# SPDX-License-Identifier: Apache-2.0
"""What tests of the page of a run share: traces, a page with a finding at a known place, and how it is asked."""
import os
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))
import run_pages  # noqa: E402
from page_browser import CHROMIUM, DRIVER  # noqa: E402
from run_browser import RunPage  # noqa: E402

TARE = os.environ.get('TARE')
MAKE = os.environ.get('TARE_MAKE_TRACE')
# Of a module that opens pages.
NEEDS = [pytest.mark.skipif(not TARE or not MAKE, reason='TARE and TARE_MAKE_TRACE name no programs (run through meson)'),
         pytest.mark.skipif(not CHROMIUM or not DRIVER, reason='chromium or chromium-driver is not installed')]
COMMANDS = 600
BIG = 1000000
PLACE = 301  # the command that the finding is about


def made(folder, commands):
    trace, page = folder / f'{commands}.tare', folder / f'{commands}.html'
    subprocess.run([MAKE, str(commands), trace], check=True)
    subprocess.run([TARE, 'report', trace, '--html', page], check=True, capture_output=True)
    return page


@pytest.fixture(scope='session')
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp('runs')


@pytest.fixture(scope='session')
def small(folder):
    """A page with a finding at a known place and a table that is long enough for a filter."""
    page = made(folder, COMMANDS)
    report, text = run_pages.read(page)
    header, tables = run_pages.decode(text)
    at = tables['commands']['number'].index(PLACE)
    place = {'from_ns': tables['commands']['start'][at], 'to_ns': tables['commands']['end'][at], 'command': PLACE, 'what': 'it',
             'site': None, 'count': 3, 'cost_ns': 5000}
    report['findings'].append({'id': 'made-up', 'title': 'A <b>title</b>', 'evidence': 'because', 'cost_ns': 7000, 'cost_low_ns': 5000,
                               'cost_high_ns': 9000, 'source': 'model', 'confidence': 'possible', 'advice': 'do', 'occurrences': 3,
                               'device': None, 'device_number': None, 'figures': [{'name': 'some_ns', 'value': 1500, 'source': 'model'}],
                               'places': [place], 'claims_ns': 9000, 'shared_ns': 0})
    for i in range(20):
        report['api'].append({**report['api'][0], 'function': f'clMadeUp{i}', 'count': i + 1, 'nested': 0, 'total_ns': 1000 * (i * 7 % 20), 'max_ns': 1000})
    run_pages.rewrite(page, folder / 'small.html', report)
    return {'path': folder / 'small.html', 'report': report, 'header': header, **tables}


@pytest.fixture
def page(chromium):
    return RunPage(chromium)


def moment(ns):
    """As the page writes moments: in the unit that fits, to the nanosecond."""
    for unit, digits in (('s', 9), ('ms', 6), ('µs', 3)):
        if abs(ns) >= 10 ** digits:
            return f'{ns // 10 ** digits}.{ns % 10 ** digits:0{digits}d} {unit}'
    return f'{ns} ns'
