// SPDX-License-Identifier: Apache-2.0
// Light and dark. The system decides until the reader does; paper is always light.
'use strict';

// Distinguishable with any kind of colour vision, at least 3:1 against the background; marks,
// dashes and hatching tell series apart where colour does not.
const PALETTES = {
	light: ['#0072B2', '#C44E00', '#00805C', '#9A3D8F', '#8A6A00', '#4A4A4A', '#2B8CC4', '#B03A5B'],
	dark: ['#56B4E9', '#FF9548', '#2EC99A', '#E59AD0', '#E8CB4A', '#C9CDD3', '#8FB0FF', '#FF8FA8'],
};
const MARKS = ['circle', 'triangle', 'rect', 'rectRot', 'star', 'crossRot', 'cross', 'rectRounded'];
const DASHES = [[], [6, 3], [2, 2], [8, 3, 2, 3]];

const darkSystem = window.matchMedia('(prefers-color-scheme: dark)');
let printing = false;
const themeListeners = [];

function isDark() {
	const chosen = document.documentElement.dataset.theme;
	return !printing && (chosen ? chosen === 'dark' : darkSystem.matches);
}

function seriesStyle(index) {
	const palette = PALETTES[isDark() ? 'dark' : 'light'];
	const round = Math.floor(index / palette.length);
	return {
		colour: palette[index % palette.length],
		mark: MARKS[(index + round) % MARKS.length],
		dash: DASHES[(index % 2 + round) % DASHES.length],
		hatched: (index + round) % 2 === 1,
	};
}

// The style of a plot's series: what was predicted of another looks like it, finely dashed.
function plotStyle(plot, index) {
	const { name } = plot.series[index];
	const of = plot.series.findIndex((each) => name === `${each.name} (predicted)`);
	return of < 0 ? seriesStyle(index) : { ...seriesStyle(of), dash: [2, 3] };
}

// The colour of a CSS custom property, for canvases.
function themeColour(name) {
	return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// The colour with an opacity from 0 to 1.
function faded(colour, opacity) {
	return colour + Math.round(opacity * 255).toString(16).padStart(2, '0');
}

// Diagonal lines, so that neighbouring bars differ without colour.
function hatch(colour) {
	const tile = document.createElement('canvas');
	tile.width = tile.height = 6;
	const context = tile.getContext('2d');
	context.fillStyle = faded(colour, 0.45);
	context.fillRect(0, 0, 6, 6);
	context.strokeStyle = colour;
	context.lineWidth = 2;
	context.beginPath();
	for (const x of [-6, 0, 6]) {
		context.moveTo(x - 1, 7);
		context.lineTo(x + 7, -1);
	}
	context.stroke();
	return context.createPattern(tile, 'repeat');
}

function onThemeChange(listener) {
	themeListeners.push(listener);
}

function themeChanged() {
	for (const listener of themeListeners)
		listener();
}

function themeToggle() {
	const label = () => (isDark() ? 'Light page' : 'Dark page');
	const button = h('button', {
		type: 'button', id: 'theme', class: 'plain',
		onclick: () => {
			document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
			themeChanged();
		},
	}, label());
	onThemeChange(() => { button.textContent = label(); });
	return button;
}

darkSystem.addEventListener('change', themeChanged);
