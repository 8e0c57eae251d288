// SPDX-License-Identifier: Apache-2.0
// Axes whose ticks are read at a glance: 8 KB, 1 MB; 10 µs, 1 ms; 1, 2, 5, 10.
'use strict';

function axisText(value, unit) {
	switch (unit) {
	case 'B':
	case 'ns':
	case 'ps':
	case 'Hz':
	case 'B/s':
	case 'FLOP/s':
	case 'op/s':
		return formatValue(value, unit).replace(/(\.\d*?)0+ /, '$1 ').replace('. ', ' ');
	default:
		return plain(value);
	}
}

// The title names the unit, unless each tick does.
function axisTitle(axis) {
	const scaledTicks = axisText(1, axis.unit) !== '1';
	const title = shorten(axis.title || '', 80);
	return axis.unit && axis.unit !== '1' && !scaledTicks ? `${title}${title ? ', ' : ''}${shorten(axis.unit, 20)}` : title;
}

// Powers of two at a stride that keeps 1 KB, 1 MB and 1 GB among them.
function byteTicks(low, high, most) {
	const from = Math.ceil(Math.log2(low) - 1e-9);
	const to = Math.floor(Math.log2(high) + 1e-9);
	for (const stride of [1, 2, 5, 10]) {
		const ticks = [];
		for (let power = Math.ceil(from / stride) * stride; power <= to; power += stride)
			ticks.push(2 ** power);
		if (ticks.length <= most && ticks.length)
			return ticks;
	}
	return [2 ** to];
}

// 1, 2, 5, 10 where there is room, else powers of ten, else every nth of them.
function decimalTicks(low, high, most) {
	const from = Math.floor(Math.log10(low));
	const to = Math.ceil(Math.log10(high));
	for (const [steps, stride] of [[[1, 1.5, 2, 3, 5, 7], 1], [[1, 2, 5], 1], [[1, 3], 1], [[1], 1], [[1], 2], [[1], 3], [[1], 6]]) {
		const ticks = [];
		for (let power = from; power <= to; power += stride)
			for (const step of steps) {
				const tick = Number(`${step}e${power}`);
				if (tick >= low * 0.999 && tick <= high * 1.001)
					ticks.push(tick);
			}
		if (ticks.length <= most && ticks.length >= 2)
			return ticks;
	}
	return linearTicks(low, high, most);
}

// Round steps, for an axis too short for powers.
function linearTicks(low, high, most) {
	const rough = (high - low) / Math.max(Math.min(most, 6) - 1, 1);
	const power = 10 ** Math.floor(Math.log10(rough));
	const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough);
	const ticks = [];
	for (let i = Math.ceil(low / step); i * step <= high * (1 + 1e-9); i++)
		ticks.push(Number((i * step).toPrecision(6)));
	return ticks;
}

// The values themselves, where they are few, apart, and whole or near powers of two: n = 32, 64, 128;
// 0.25, 0.5, 1.
function ownTicks(values, most) {
	const round = (value) => {
		const power = 2 ** Math.round(Math.log2(value));
		return Math.abs(value / power - 1) < 0.02 ? power : value;
	};
	const own = [...new Set(values.map(round))].sort((a, b) => a - b);
	const apart = own.every((value, i) => i === 0 || value >= 1.25 * own[i - 1]);
	const plainly = own.every((value) => Number.isInteger(value) || Number.isInteger(1 / value));
	return own.length >= 2 && own.length <= most && apart && plainly ? own : null;
}

// The options of one Chart.js axis. `values` are the finite numbers shown on it.
function axisOptions(axis, logarithmic, values, options) {
	const colour = themeColour('--muted');
	const positive = logarithmic ? values.filter((value) => value > 0) : values;
	const low = Math.min(...positive);
	const high = Math.max(...positive);
	const common = {
		title: { display: true, text: axisTitle(axis), color: colour },
		grid: { color: themeColour('--grid'), borderColor: themeColour('--border') },
		ticks: {
			color: colour, autoSkip: !logarithmic, maxRotation: 0,
			callback: (value) => axisText(value, axis.unit),
		},
	};
	if (!logarithmic || !positive.length)
		return { ...common, type: 'linear', beginAtZero: true, suggestedMin: low, suggestedMax: high, ...options };
	const pad = Math.max((high / low) ** 0.03, 1.05);
	return {
		...common,
		type: 'logarithmic',
		min: low / pad,
		max: high * pad,
		afterBuildTicks: (scale) => {
			// Beside a ranking's names there is less room for its values.
			const room = scale.chart.options.indexAxis === 'y' ? 0.6 : 0.92;
			const pixels = scale.isHorizontal() ? room * scale.chart.width / 58 : scale.chart.height / 30;
			const most = Math.max(Math.floor(pixels), 2);
			const own = scale.axis === 'x' && scale.isHorizontal() && scale.chart.options.indexAxis !== 'y' && axis.unit !== 'B' ?
				ownTicks(positive, most) : null;
			const ticks = own || (axis.unit === 'B' ? byteTicks(scale.min, scale.max, most) :
				decimalTicks(scale.min, scale.max, most));
			scale.ticks = ticks.map((value) => ({ value }));
		},
		...options,
	};
}
