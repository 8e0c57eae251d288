# SPDX-License-Identifier: Apache-2.0
"""Result documents for the page's tests, as tare writes them. The numbers are invented, near those
of a fast GPU; the same document comes out each time.

    python3 page_fixtures.py FOLDER    writes each of them there
"""
import json
import math
import pathlib
import random
import sys

HOSTILE = '<img src=x onerror="document.title=\'owned\'">"\'&</script><script>owned=1</script></script x<!-- <script \u2028 \u202e\\u003c'
LONG = 'a very long name ' * 600

# line, latency ns, bytes a ns, which are measured by the host too
LINES = [('shared-to-shared', None, None), ('heap-to-device', 9200, 12.0), ('device-to-heap', 8100, 13.1),
         ('device-to-device', 1900, 2081.0), ('host-to-device', 2800, 55.6), ('device-to-host', 1800, 55.4)]
SIZES = [1 << power for power in range(13, 31)]


def summary(samples):
    """The figures of a cell that follow from its samples."""
    ordered = sorted(samples)
    n = len(ordered)
    half = max(1, round(0.98 * math.sqrt(n)))
    return {'n': n, 'min': ordered[0], 'median': ordered[n // 2] + 0.0, 'p95': ordered[int(0.95 * (n - 1))] + 0.0,
            'max': ordered[-1],
            'ci': [ordered[max(0, n // 2 - half)] + 0.0, ordered[min(n - 1, n // 2 + half)] + 0.0],
            'autocorrelation': 0.12, 'effective_n': round(n * 0.79, 1), 'outliers': {'mild': 2, 'severe': 1},
            'drifting': False, 'quantised': False}


def unknown():
    """The figures of a cell without samples."""
    return {'n': 0, 'min': None, 'median': None, 'p95': None, 'max': None, 'ci': [None, None],
            'autocorrelation': None, 'effective_n': None, 'outliers': None, 'drifting': None, 'quantised': None}


def cell(labels, samples, source, method, work=None, **more):
    """A measured cell; with `work` bytes it has a rate, too."""
    figures = summary(samples)
    rate = None
    if work:
        low, high = figures['ci']
        rate = {'unit': 'GB/s', 'work': work + 0.0, 'min': work / figures['max'], 'median': work / figures['median'],
                'p95': work / figures['min'], 'ci': [work / high, work / low]}
    return {'labels': labels, 'quantity': 'time', 'unit': 'ns', 'source': source, 'method': method, 'absent': None,
            'converged': True, 'verified': True if work else None, **figures, 'rate': rate, 'samples': samples, **more}


def absent(labels, source, reason):
    """A cell that could not be measured."""
    return {'labels': labels, 'quantity': 'time', 'unit': 'ns', 'source': source, 'method': None, 'absent': reason,
            'converged': False, 'verified': None, **unknown(), 'rate': None, 'samples': []}


def model(labels, quantity, unit, value, low, high):
    """A figure computed from others."""
    figures = unknown() | {'median': value, 'ci': [low, high]}
    return {'labels': labels, 'quantity': quantity, 'unit': unit, 'source': 'model',
            'method': 't = latency + bytes / rate, weighted least squares on relative error', 'absent': None,
            'converged': True, 'verified': None, **figures, 'rate': None, 'samples': []}


def noisy(rng, value, n, spread=0.02, tail=0.05):
    """Samples around a value with a long tail."""
    return [max(1, round(value * (1 + abs(rng.gauss(0, spread)) + (rng.random() < tail) * rng.random() * 0.6)))
            for _ in range(n)]


def fact(value, unit='', origin='driver'):
    return {'value': value, 'unit': unit, 'origin': origin}


def device(backend='cuda', title='CUDA', index=0, number=0, same_by=None):
    """One device as one backend sees it."""
    facts = {
        'name': fact('NVIDIA H200'), 'type': fact('GPU'), 'vendor': fact('NVIDIA'), 'driver': fact('580.159'),
        'api_version': fact('13.0' if backend == 'cuda' else 'OpenCL 3.0 CUDA'),
        'uuid': fact('7d6bd1a2-8a52-0a2e-6f0f-3d3a65f3a1b4'), 'pci_address': fact('0000:3b:00.0'),
        'compute_units': fact(132), 'max_clock_hz': fact(1980000000, 'Hz'), 'fp64': fact(True),
        'sub_group_size': {'value': None, 'reason': f'{title} does not tell'} if backend == 'opencl' else fact(32),
        'peak_fp32_flops': fact(66.9e12, 'FLOP/s', 'formula'), 'peak_memory_rate': fact(4.916e12, 'B/s', 'formula'),
        'peak_link_rate': fact(63.0e9, 'B/s', 'formula'), 'memory_bytes': fact(150754820096, 'B'),
        'timer_resolution_ns': fact(32.0, 'ns', 'measured'), 'link_now': fact('PCIe 5.0 x16', '', 'system'),
        'numa_node': {'value': None, 'reason': 'the system names no NUMA node for 0000:3b:00.0'},
        'throttle_reasons': {'value': None, 'reason': 'not asked'},
    }
    engines = [{'class': 'compute', 'index': 0, 'known': True, 'title': 'SMs'}]
    engines += [{'class': 'copy', 'index': i, 'known': backend == 'cuda', 'title': f'copy engine {i}'} for i in range(3)]
    return {'backend': backend, 'backend_title': title, 'index': index, 'number': number, 'same_by': same_by,
            'facts': facts, 'engines': engines}


def document(command, **more):
    """What every result has."""
    return {'schema': 'tare.result/1', 'tool': {'name': 'tare', 'version': '0.1.0'},
            'written_at': '2025-11-20T10:00:00Z', 'command': command, 'interrupted': False,
            'parameters': {'seed': 7, 'budget_s': 60},
            'host': {'cpu': 'Xeon Platinum 8480+', 'kernel': 'Linux 6.8.0', 'memory_bytes': 540 << 30},
            'device': device(),
            'clock': {'rate': {'hz_numerator': 1000000000, 'hz_denominator': 1, 'valid_bits': 64, 'resolution_ticks': 32},
                      'fit': {'origin_host_ns': 1000, 'origin_ticks': '18446744073709551615', 'drift_ppm': 3.41,
                              'drift_error_ppm': 0.4, 'residual_ns': 40, 'tightest_bracket_ns': 61, 'pairs': 64},
                      'floor_ns': 480, 'note': None},
            'warnings': [], 'plots': [], 'cells': [], **more}


def axis(title, unit, scale):
    return {'title': title, 'unit': unit, 'scale': scale}


def rate_plot(identity, title, kind, cells, sizes, scale):
    """Rates of the cells over their sizes, a series a line."""
    series = {}
    for item in cells:
        if item['rate'] and item['labels']['bytes'] in sizes:
            rate = item['rate']
            series.setdefault(item['labels']['line'], []).append(
                [item['labels']['bytes'], rate['median'], rate['ci'][0], rate['ci'][1]])
    return {'id': identity, 'title': title, 'kind': kind,
            'note': 'Median and its 95 % interval; GB/s are 10⁹ bytes a second, sizes are binary.',
            'x': axis('size', 'B', 'logarithmic'), 'y': axis('throughput', 'GB/s', scale),
            'series': [{'name': name, 'points': points} for name, points in series.items()]}


def bandwidth():
    """Six lines at eighteen sizes, one of them missing, some not converged."""
    rng = random.Random(1)
    cells = []
    for line, latency, rate in LINES:
        if latency is None:
            cells.append(absent({'line': line}, 'device', 'this device copies no shared memory by an engine'))
            continue
        for size in SIZES:
            time = latency + size / rate
            labels = {'line': line, 'bytes': size}
            both = [cell(labels, noisy(rng, time, 40), 'device', 'start to end by the device\'s stamps', size),
                    cell(labels, noisy(rng, time + 4100, 30), 'host', 'append to the return of finish', size)]
            cells += reversed(both) if 'heap' in line else both  # the first is the line's figure
        cells.append(model({'line': line, 'fit': 'latency'}, 'latency', 'ns', latency * 1.0, latency * 0.97, latency * 1.03))
        cells.append(model({'line': line, 'fit': 'rate'}, 'rate', 'GB/s', rate, rate * 0.995, rate * 1.005))
        cells.append(model({'line': line, 'fit': 'half-rate size'}, 'size', 'B', latency * rate, latency * rate * 0.9,
                           latency * rate * 1.1))
    for index in (5, 40, 77):
        cells[index].update(converged=False, drifting=True)
    timed = [item for item in cells if item['source'] == 'device']
    small, large = SIZES[:10], SIZES[10:]
    return document('bandwidth', cells=cells, plots=[
        rate_plot('bandwidth', 'Throughput over size', 'line', timed, SIZES, 'logarithmic'),
        rate_plot('bandwidth-small', 'Throughput, small sizes (figure 2)', 'bar', timed, small, 'linear'),
        rate_plot('bandwidth-large', 'Throughput, large sizes (figure 3)', 'bar', timed, large, 'linear')],
        warnings=[
            {'id': 'not-converged', 'message': '3 of 181 cells did not converge in 60 s (±1.8 %, ±2.2 %, ±1.4 %).',
             'action': 'Use --budget 120.'},
            {'id': 'pageable', 'message': 'Pageable copies reach 22 % of pinned ones.',
             'action': 'Allocate host memory with cudaHostAlloc, or see what overlapping would give: tare overlap.'},
            {'id': 'memory', 'message': 'Sizes end at 1 GB.', 'action': None}])


def latency():
    """What a launch, a synchronise, a 1-byte copy cost, with their distributions."""
    rng = random.Random(2)
    rows = [('clock', 'host clock, read twice', 'host', 22),
            ('launch', 'launch then wait', 'host', 6500), ('launch', 'launch, start to end', 'device', 1312),
            ('launch', 'launch, many then wait', 'host', 2210), ('launch', 'launch, issue only', 'host', 1890),
            ('launch', 'launch, gated', 'device', 1088), ('synchronise', 'finish, idle queue', 'host', 480),
            ('synchronise', 'wait for a completed event', 'host', 210), ('copy', '1 byte, pinned to device', 'host', 9310),
            ('copy', '1 byte, device to pinned', 'host', 9870), ('copy', '1 byte, pageable to device', 'host', 7420),
            ('event', 'event query', 'host', 96), ('event', 'callback', 'host', 41200)]
    cells = [cell({'group': group, 'what': name}, noisy(rng, value, 400, 0.05, 0.08), source,
                  f'{name}: time of one, after a warm-up') for group, name, source, value in rows]
    cells += [absent({'group': 'graph', 'what': 'graph of one'}, 'host', 'this API has no graphs'),
              model({'group': 'clock', 'what': 'drift'}, 'drift', 'ppm', 3.4, 3.0, 3.8)]
    measured = [item for item in cells if item['samples']]
    plot = {'id': 'latency', 'title': 'What a call costs', 'note': 'Median and its 95 % interval.', 'kind': 'bar',
            'x': axis('', '', 'linear'), 'y': axis('time', 'ns', 'logarithmic'),
            'series': [{'name': f"{item['labels']['what']} ({item['source']})",
                        'points': [[0, item['median'], *item['ci']]]} for item in measured]}
    spread = {'id': 'distribution-launch', 'title': 'How the samples spread: launch', 'note': None, 'kind': 'line',
              'x': axis('time', 'ns', 'logarithmic'), 'y': axis('samples that took at most so long', '%', 'linear'),
              'series': [{'name': f"{item['labels']['what']} ({item['source']})",
                          'points': [[sorted(item['samples'])[q * (item['n'] - 1) // 40], 2.5 * q, None, None]
                                     for q in range(41)]} for item in measured if item['labels']['group'] == 'launch']}
    return document('latency', cells=cells, plots=[plot, spread], warnings=[
        {'id': 'launch', 'message': 'An isolated launch costs 6.5 µs, a batched one 2.2 µs.',
         'action': 'Do not wait after each launch.'}])


def devices():
    """One GPU under two APIs, a CPU under one, and a backend without a device."""
    cpu = device('opencl', 'OpenCL', 1, 1)
    cpu['facts'] = {'name': fact('cpu-skylake-avx512-Intel(R) Xeon(R) Platinum 8480+'), 'type': fact('CPU'), 'vendor': fact('pocl'), 'driver': fact('3.1'),
                    'memory_bytes': fact(540 << 30, 'B'), 'peak_fp32_flops': {'value': None, 'reason': 'no formula for this CPU'},
                    'host_unified_memory': fact(True), 'max_clock_hz': fact(3800000000, 'Hz', 'guess')}
    return document('devices', device=None, clock=None, devices=[device(), device('opencl', 'OpenCL', 0, 0, 'UUID'), cpu],
                    absences=[{'backend': 'levelzero', 'reason': 'no loader: tried libze_loader.so.1',
                               'action': 'Install Debian\'s libze1 and Intel\'s driver.'}])


def hostile():
    """Names that would break a page that trusted them."""
    result = latency()
    result['command'] = 'latency'
    result['device']['facts']['name']['value'] = HOSTILE
    result['device']['facts']['driver']['value'] = LONG
    result['host'][HOSTILE] = HOSTILE
    result['host']['long'] = LONG
    result['parameters']['{{result}}'] = '{{page.css}}'
    result['warnings'] += [{'id': 'hostile', 'message': HOSTILE, 'action': LONG}]
    result['cells'][2] = absent({}, 'host', HOSTILE)
    for item, name in zip(result['cells'], (HOSTILE, LONG, '', '=cmd|calc', '__proto__', 'constructor')):
        item['labels'] = {'what': name, HOSTILE: name}
    result['cells'][1]['method'] = LONG
    result['plots'][0].update(title=HOSTILE, note=LONG, id=HOSTILE)
    result['plots'][0]['x']['unit'] = HOSTILE
    for series, name in zip(result['plots'][0]['series'], (HOSTILE, LONG, '')):
        series['name'] = name
    line = bandwidth()['plots'][0]
    line['series'][0]['name'], line['series'][1]['name'] = HOSTILE, LONG
    line['y']['title'] = LONG
    result['plots'].append(line)
    return result


def big():
    """500 cells of 1,000 samples."""
    rng = random.Random(3)
    cells = [cell({'line': f'line-{i // 20}', 'bytes': 1024 << i % 20}, noisy(rng, 2000 + i * 40, 1000), 'host', 'the usual way',
                  1024 << i % 20) for i in range(500)]
    return document('bandwidth', cells=cells, plots=[
        rate_plot('all', 'All lines', 'line', cells, [1024 << i for i in range(20)], 'logarithmic')])


def odd_plots():
    """Charts at the edges: nothing, one point, gaps, zero on a logarithmic axis, one size, many bars."""
    size = axis('size', 'B', 'logarithmic')
    rate = axis('throughput', 'GB/s', 'logarithmic')
    plots = [
        {'id': 'none', 'title': 'No series', 'note': None, 'kind': 'line', 'x': size, 'y': rate, 'series': []},
        {'id': 'hollow', 'title': 'Nothing known', 'note': None, 'kind': 'bar', 'x': size, 'y': rate,
         'series': [{'name': 'a', 'points': [[8192, None, None, None]]}]},
        {'id': 'point', 'title': 'One point', 'note': None, 'kind': 'line', 'x': size, 'y': rate,
         'series': [{'name': 'a', 'points': [[8192, 2.5, 2.4, 2.6]]}]},
        {'id': 'gaps', 'title': 'Gaps and zero', 'note': None, 'kind': 'line', 'x': size, 'y': rate,
         'series': [{'name': 'a', 'points': [[8192, 2.5, 0.0, 2.6], [16384, None, None, None], [32768, 0.0, 0.0, 0.1],
                                             [65536, 9.0, None, None], [131072, 12.0, 11.0, 13.0]]}]},
        {'id': 'single-size', 'title': 'Six lines at one size', 'note': None, 'kind': 'bar', 'x': size,
         'y': axis('throughput', 'GB/s', 'linear'),
         'series': [{'name': f'line {i}', 'points': [[1 << 20, 3.0 + i, 2.9 + i, 3.3 + i]]} for i in range(6)]},
        {'id': 'crowd', 'title': 'Twelve series of eight', 'note': None, 'kind': 'bar', 'x': size,
         'y': axis('throughput', 'GB/s', 'linear'),
         'series': [{'name': f'series {i}', 'points': [[8192 << j, 1.0 + i * j, None, None] for j in range(8)]}
                    for i in range(12)]},
    ]
    return document('bandwidth', plots=plots, cells=[cell({'line': 'only'}, [5, 5, 5], 'host', None)], interrupted=True)


def empty():
    """A result that holds nothing at all."""
    return document('latency', device=None, clock=None, parameters={}, host={})


ALL = {'bandwidth': bandwidth, 'latency': latency, 'devices': devices, 'hostile': hostile, 'big': big,
       'odd_plots': odd_plots, 'empty': empty}


def write(name, folder):
    """Writes one document; returns its path."""
    path = pathlib.Path(folder) / f'{name}.json'
    path.write_text(json.dumps(ALL[name](), indent=1, ensure_ascii=False))
    return path


if __name__ == '__main__':
    for each in ALL:
        write(each, sys.argv[1])
