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
    cells[5].update(quantised=True)
    cells[6].update(quantised=True)
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


def computed(labels, quantity, unit, value, method, low=None, high=None):
    """A figure of source "model" with the method given."""
    return model(labels, quantity, unit, value, low, high) | {'method': method}


def rated(labels, rng, time_ns, work, unit, n=25, **more):
    """A measured cell of the device's stamps with a rate in `unit` (10^9 a second)."""
    made = cell(labels, noisy(rng, time_ns, n, 0.004, 0.03), 'device', 'kernel, start to end by the device\'s stamps', work)
    made['rate']['unit'] = unit
    return made | more


def peak():
    """Ceilings: compute by width, memory by operation, a sweep, local memory."""
    rng = random.Random(4)
    cells = []
    rates = {'fp32': 64500, 'fp64': 33200, 'fp16': None, 'int32': 32700}
    for kind, rate in rates.items():
        for width in (1, 2, 4, 8, 16):
            labels = {'group': 'compute', 'type': kind, 'width': width}
            if rate is None:
                cells.append(absent(labels, 'device', 'this device has no cl_khr_fp16'))
                continue
            work = rate * 5e6 * (0.99 if width == 16 else 1)
            cells.append(rated(labels, rng, 5e6, work, 'Gop/s' if kind == 'int32' else 'GFLOP/s'))
    for operation, rate in (('read', 4459), ('write', 4310), ('copy', 4020), ('triad', 4100)):
        for width in (1, 4, 16):
            cells.append(rated({'group': 'memory', 'op': operation, 'width': width}, rng, 3e5, rate * 3e5, 'GB/s'))
    for stride in (2, 4, 8, 16, 32, 64):
        cells.append(rated({'group': 'memory', 'op': 'strided', 'width': 1, 'stride': stride}, rng, 3e5,
                           3e5 * 4459 / stride, 'GB/s'))
    sweep = [4096 << i for i in range(0, 20)]
    for size in sweep:
        rate = 21000 if size <= 1 << 21 else 8900 if size <= 48 << 20 else 4459
        cells.append(rated({'group': 'sweep', 'bytes': size}, rng, 2e5, 2e5 * rate, 'GB/s'))
    for width in (1, 2, 4):
        cells.append(rated({'group': 'local', 'width': width}, rng, 2e5, 2e5 * 30000, 'GB/s'))
    for what, value, unit in (('fp32', 64500, 'GFLOP/s'), ('fp32, theory', 66900, 'GFLOP/s'), ('memory read', 4459, 'GB/s'),
                              ('memory, theory', 4916, 'GB/s')):
        cells.append(computed({'group': 'ceiling', 'what': what}, 'rate', unit, value, 'the best of its kind'))
    # The faster is too unsure to be the ceiling, and the ceiling was sampled under a power cap.
    for n, rate in ((8192, 700000), (16384, 689000)):
        cells.append(rated({'group': 'tensor', 'type': 'bf16', 'n': n}, rng, 5e6, rate * 5e6, 'GFLOP/s'))
    for quantity, value, unit in (('attainable', cells[-1]['rate']['median'], 'GFLOP/s'), ('clock', 1650, 'MHz'),
                                  ('per clock and unit', 3165, 'FLOP'), ('slowed down', 87.5, '%'),
                                  ('share at the clock', 77.3, '%')):
        cells.append(computed({'group': 'ceiling', 'what': 'tensor bf16'}, quantity, unit, value, 'by telemetry'))
    roof = [2.0 ** i for i in range(-4, 11)]
    plots = [
        {'id': 'roofline', 'title': 'Roofline', 'note': 'What a kernel can reach at most, by its FLOP for each byte.', 'kind': 'line',
         'x': axis('FLOP per byte', None, 'logarithmic'), 'y': axis('rate', 'GFLOP/s', 'logarithmic'),
         'series': [{'name': name, 'points': [[x, min(x * rate, 64500), None, None] for x in roof]}
                    for name, rate in (('memory read, FP32', 4459), ('cache, FP32', 21000), ('local memory, FP32', 30000))]},
        {'id': 'sweep', 'title': 'Rate by working set', 'note': None, 'kind': 'line', 'x': axis('working set', 'B', 'logarithmic'),
         'y': axis('rate', 'GB/s', 'linear'),
         'series': [{'name': 'read', 'points': [[item['labels']['bytes'], item['rate']['median'], *item['rate']['ci']]
                                                for item in cells if item['labels']['group'] == 'sweep']}]},
        {'id': 'compute', 'title': 'Compute by width', 'note': None, 'kind': 'bar', 'x': axis('vector width', None, 'linear'),
         'y': axis('rate', 'Gop/s', 'logarithmic'),
         'series': [{'name': kind, 'points': [[item['labels']['width'], item['rate']['median'], *item['rate']['ci']] for item in cells
                                              if item['labels'].get('type') == kind and item['rate']]}
                    for kind, rate in rates.items() if rate]}]
    return document('peak', cells=cells, plots=plots, conclusions=[
        {'id': 'ceilings', 'text': 'The device reaches 64.5 TFLOP/s in FP32, 96 % of what its paper says. Its memory reads at '
                                   '4459 GB/s: a kernel that does fewer than 14 FLOP for each byte is bound by memory.'}])


RUNGS = {'sequential': 2.5, 'host-blas': 900, 'element': 0.9, 'naive': 5200, 'tiled': 7400, 'second': 13000, 'register': 28000, 'blas': None}


def matmul():
    """The ladder of rungs at seven sizes, its parts kept apart."""
    rng = random.Random(5)
    cells, kernels, totals = [], {}, {}
    sizes = [32 << i for i in range(7)]
    for rung, rate in RUNGS.items():
        for n in sizes:
            host = rung in ('sequential', 'host-blas')
            if rate is None or (rung == 'element' and n > 256):
                for part in ('kernel', 'total'):
                    cells.append(absent({'rung': rung, 'n': n, 'part': part}, 'device', 'CLBlast is not installed (Debian: libclblast1)'
                                        if rate is None else 'one launch for each of the elements would not fit into the budget'))
                continue
            work, kernel = 2.0 * n ** 3, 2.0 * n ** 3 / rate + (0 if host else 4000 if rung != 'element' else 2200 * n * n)
            copy = 9000 + 4 * n * n / 55
            parts = {'total': kernel + (0 if host else 3 * copy + 9000)}
            if not host:
                parts |= {'build': 8e7, 'allocate': 210000, 'copy-in': 2 * copy, 'launch': 2100, 'submit-to-complete': kernel + 6500,
                          'kernel': kernel, 'copy-out': copy}
            for part, time in parts.items():
                labels = {'rung': rung, 'n': n, 'part': part}
                if part in ('kernel', 'total'):
                    made = rated(labels, rng, time, work, 'GFLOP/s')
                else:
                    made = cell(labels, noisy(rng, time, 1 if part in ('build', 'allocate') else 20), 'host', f'{part}: host\'s clock')
                cells.append(made)
            kernels[rung, n], totals[rung, n] = kernel, parts['total']
    cells[30].update(converged=False)
    for (rung, n), kernel in kernels.items():
        labels = {'rung': rung, 'n': n}
        if rung not in ('sequential', 'host-blas'):
            share = 100 * 2.0 * n ** 3 / kernel / 64500
            for what, unit, value in (('least time', 'ns', 2.0 * n ** 3 / 66900), ('required bytes', 'B', 8.0 * n ** 3),
                                      ('share-of-measured', '%', share), ('share-of-paper', '%', share * 0.96),
                                      ('speed-up-kernel', 'times', totals['sequential', n] / kernel)):
                cells.append(computed(labels | {'what': what}, what, unit, value, 'from n and the kernel\'s time'))
        cells.append(computed(labels | {'what': 'speed-up-total'}, 'speed-up-total', 'times',
                              totals['sequential', n] / totals[rung, n], 'sequential over total'))
    series = [{'name': rung, 'points': [[n, totals['sequential', n] / totals[rung, n], None, None] for n in sizes if (rung, n) in totals]}
              for rung in RUNGS if (rung, 32) in totals and rung != 'sequential']
    rates = [{'name': rung, 'points': [[n, 2.0 * n ** 3 / kernels[rung, n], None, None] for n in sizes if (rung, n) in kernels]}
             for rung in RUNGS if (rung, 32) in kernels]
    roofline = peak()['plots'][0]
    roofline['series'] = roofline['series'][:1] + [
        {'name': rung, 'points': [[{'naive': 0.25, 'tiled': 4, 'second': 8, 'register': 16}[rung], RUNGS[rung], None, None]]}
        for rung in ('naive', 'tiled', 'second', 'register')]
    plots = [{'id': 'speed-up', 'title': 'Speed-up over sequential (figure 1)', 'note': 'By the total, copies and all.', 'kind': 'bar',
              'x': axis('n', None, 'logarithmic'), 'y': axis('speed-up', 'times', 'logarithmic'), 'series': series},
             {'id': 'rate', 'title': 'Rate of the kernel', 'note': None, 'kind': 'line', 'x': axis('n', None, 'logarithmic'),
              'y': axis('rate', 'GFLOP/s', 'logarithmic'), 'series': rates}, roofline]
    return document('matmul', cells=cells, plots=plots, conclusions=[
        {'id': 'best', 'text': 'The fastest rung at n = 2048 is register-blocked: 28 TFLOP/s in its kernel, 5.4 times the naive one.'},
        {'id': 'small', 'text': 'Below n = 128 the host is faster by the total. The copies cost more than the product.'}],
        warnings=[{'id': 'not-converged', 'message': '1 of 170 figures did not converge', 'action': '--budget 120 would do'}])


def pipeline_lanes(chunks, times, order=(0, 1, 2)):
    """Lanes of a pipeline with an engine a stage: chunk c of a stage follows c - 1, and c of the stage before it."""
    done, lanes = [0.0] * chunks, []
    for stage in order:
        free, points = 0.0, []
        for chunk in range(chunks):
            begin = max(free, done[chunk])
            free = done[chunk] = begin + times[stage] / chunks
            points.append([begin, chunk, begin, free])
        lanes.append(points)
    return lanes


def timeline(chunks, times):
    return {'id': 'timeline', 'title': f'The best schedule: {chunks} chunks, 3 queues', 'note': 'By the device\'s stamps.',
            'kind': 'timeline', 'x': axis('time', 'ns', 'linear'), 'y': axis('chunk', None, 'linear'),
            'series': [{'name': name, 'points': points}
                       for name, points in zip(('to-device', 'kernel', 'to-host'), pipeline_lanes(chunks, times))]}


def overlap():
    """Sequential and concurrent, modes, bound, breaks, and the timeline of the best."""
    rng = random.Random(6)
    cells, points = [], {'measured': [], 'bound': [], 'attainable': [], 'Amdahl': []}
    copies = (9.7e6, 9.9e6)
    for cycles, ratio in ((110, 0.25), (220, 0.5), (440, 1.0), (880, 2.0), (1760, 4.0)):
        kernel = ratio * 9.9e6
        serial, longest = sum(copies) + kernel, max(copies[1], kernel)
        best = longest * 1.04 + 2e5
        for stage, time in (('to-device', copies[0]), ('kernel', kernel), ('to-host', copies[1]), ('total', serial)):
            cells.append(cell({'group': 'sequential', 'cycles': cycles, 'stage': stage}, noisy(rng, time, 12), 'host', 'one queue, finish'))
        for chunks, queues, order in ((8, 3, 'depth-first'), (32, 3, 'depth-first'), (32, 3, 'breadth-first'), (64, 2, 'interleaved')):
            labels = {'group': 'concurrent', 'cycles': cycles, 'chunks': chunks, 'queues': queues, 'order': order,
                      'mechanism': 'chunk-queues', 'sizes': 'equal'}
            time = best * (1 + abs(chunks - 32) / 200) * (1.2 if order == 'breadth-first' else 1)
            mark = {'best': 1} if time == best else {'control': 1} if chunks == 64 else {}
            cells.append(cell(labels | mark, noisy(rng, time, 15), 'host', 'first append until finish returned', verified=True))
            cells.append(computed(labels | {'what': 'predicted'}, 'time', 'ns', time * 1.02, 'engine model'))
            cells.append(computed(labels | {'what': 'error'}, 'error', '%', 2.0, 'predicted over measured'))
        # What the speed-up rests on is the measured one, not the sum of the stages.
        cells.append(cell({'group': 'concurrent', 'cycles': cycles, 'chunks': 1, 'queues': 1, 'order': 'depth-first',
                           'mechanism': 'chunk-queues', 'sizes': 'equal'}, [round(serial)] * 15, 'host', 'first append until finish returned', verified=True))
        for what, unit, value in (('bound', 'ns', longest * 1.01), ('serial', 'ns', 0.97 * serial), ('attainable', 'ns', longest * 1.03),
                                  ('speed-up', 'times', serial / best), ('share', '%', 100 * longest * 1.01 / best),
                                  ('amdahl', 'times', serial / (serial - min(sum(copies), kernel)))):
            cells.append(computed({'group': 'bound', 'cycles': cycles, 'what': what}, what, unit, value, 'linear programme over the measured modes'))
        for name, value in (('measured', serial / best), ('bound', serial / longest / 1.01), ('attainable', serial / longest / 1.03),
                            ('Amdahl', serial / (serial - min(sum(copies), kernel)))):
            points[name].append([ratio, value, None, None])
    for mode in ('to-device', 'kernel', 'to-host', 'to-device+kernel', 'to-device+to-host', 'kernel+to-host', 'to-device+kernel+to-host'):
        for stage in mode.split('+'):
            cells.append(rated({'group': 'mode', 'mode': mode, 'stage': stage, 'cycles': 440}, rng, 9.9e6 * (1.04 if '+' in mode else 1),
                               1 << 29, 'GB/s'))
    for name in ('default-queue', 'blocking', 'pageable', 'allocation'):
        cells.append(cell({'group': 'break', 'break': name, 'cycles': 440}, noisy(rng, 2.9e7, 9), 'host', 'the best schedule, broken', verified=True))
        cells.append(computed({'group': 'break', 'break': name, 'cycles': 440, 'what': 'factor'}, 'factor', 'times', 2.8, 'broken over best'))
    cells.append(computed({'group': 'engines', 'what': 'revealed'}, 'engines', '', 3.0, 'stages seen at work at one moment'))
    cells.append(computed({'group': 'engines', 'what': 'claimed'}, 'engines', '', 4.0, 'the device\'s word'))
    for what, value in (('fp32', 64500), ('memory read', 4459)):
        cells.append(computed({'group': 'ceiling', 'what': what}, 'attainable', 'GFLOP/s' if what == 'fp32' else 'GB/s', value, 'best'))
        cells.append(computed({'group': 'ceiling', 'what': what}, 'share', '%', 96.0, 'of the paper\'s'))
    cells.append(computed({'group': 'ceiling', 'what': 'fp32'}, 'theoretical', 'GFLOP/s', 66900, 'the paper\'s'))
    for n, time, memory, cache in ((32, 5, 4096, 8192), (64, 6, 16384, None)):
        cells.append(computed({'group': 'required', 'n': n, 'what': 'least-time'}, 'time', 'ns', time, 'formula'))
        for level, size in (('memory', memory), ('cache', cache)):
            if size:
                cells.append(computed({'group': 'required', 'n': n, 'what': 'bytes', 'level': level}, 'bytes', 'B', size, 'formula'))
    plots = [{'id': 'speed-up', 'title': 'Speed-up over kernel : copy', 'note': None, 'kind': 'line',
              'x': axis('kernel : copy', None, 'logarithmic'), 'y': axis('speed-up', 'times', 'linear'),
              'series': [{'name': name, 'points': each} for name, each in points.items()]},
             timeline(32, (9.7e6, 9.9e6, 9.9e6))]
    return document('overlap', cells=cells, plots=plots, conclusions=[
        {'id': 'worth-it', 'text': 'Worth it: yes, 2.81 times faster (±0.4 %) with 32 chunks and 3 queues, depth-first. '
                                   'That is 96 % of what the measured modes allow.'},
        {'id': 'limit', 'text': 'The copy to the host limits it: nothing but a faster link would help.'}],
        warnings=[{'id': 'pageable', 'message': 'Plain host memory makes it 2.8 times slower.', 'action': 'Allocate pinned memory.'}])


def checkup():
    """All commands as parts of one document, conclusions over all."""
    parts = [devices() | {'devices': devices()['devices'][:2]}, latency(), bandwidth(), peak(), matmul(), overlap()]
    texts = ['NVIDIA H200, measured through OpenCL (opencl:0). The same device is seen through CUDA, too.',
             'A launch that is waited for costs 6.5 µs, one of many 2.21 µs (host\'s clock): kernels shorter than that are launch-bound.',
             'Pinned memory moves at 55.6 GB/s to the device and 55.4 GB/s back (1 GB, host\'s clock).',
             'Overlapping copies and kernels: Worth it: yes, 2.81 times faster with 32 chunks and 3 queues.']
    return document('checkup', parts=parts, conclusions=[{'id': f'said-{i}', 'text': text} for i, text in enumerate(texts)],
                    warnings=[{'id': 'part-missing', 'message': 'no blas: CLBlast is not installed', 'action': None}])


def timelines():
    """Timelines at the edges: many bars, bars that overlap, short ones, no bars, names that hurt."""
    wide = timeline(160, (9.7e6, 2.4e6, 9.9e6))
    both = {'id': 'beside', 'title': 'Kernel beside kernel', 'note': None, 'kind': 'timeline', 'x': axis('time', 'ns', 'linear'),
            'y': axis('chunk', None, 'linear'), 'series': [
                {'name': 'kernel', 'points': [[0, 0, 0, 500], [100, 1, 100, 700], [510, 2, 510, 511], [600, 3, 600, 600]]},
                {'name': HOSTILE, 'points': [[0, 12345, 0, 700]]}, {'name': LONG, 'points': []}]}
    none = both | {'id': 'none', 'title': 'Nothing ran', 'series': [{'name': 'kernel', 'points': [[0, 0, None, None]]}]}
    searched = {'id': 'search', 'title': 'What was tried', 'note': None, 'kind': 'line', 'x': axis('chunks', None, 'logarithmic'),
                'y': axis('time', 'ns', 'linear'), 'series': [
                    {'name': name, 'points': [[n, 1e6 + 1e5 * n * (i + 1), None, None] for n in (1, 2, 4)]}
                    for i, name in enumerate(('1 queue', '1 queue (predicted)', '3 queues', '3 queues (predicted)'))]}
    return document('overlap', plots=[wide, both, none, searched], cells=[cell({'group': 'sequential', 'stage': 'total', 'cycles': 1}, [5, 6, 7], 'host', None)],
                    conclusions=[{'id': 'hostile', 'text': HOSTILE + '. ' + LONG}])


def empty():
    """A result that holds nothing at all."""
    return document('latency', device=None, clock=None, parameters={}, host={})


ALL = {'bandwidth': bandwidth, 'latency': latency, 'devices': devices, 'hostile': hostile, 'big': big,
       'odd_plots': odd_plots, 'empty': empty, 'peak': peak, 'matmul': matmul, 'overlap': overlap, 'checkup': checkup,
       'timelines': timelines}


def write(name, folder):
    """Writes one document; returns its path."""
    path = pathlib.Path(folder) / f'{name}.json'
    path.write_text(json.dumps(ALL[name](), indent=1, ensure_ascii=False))
    return path


if __name__ == '__main__':
    for each in ALL:
        write(each, sys.argv[1])
