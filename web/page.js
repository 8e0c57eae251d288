// SPDX-License-Identifier: Apache-2.0
// Builds the page from the result inlined in it.
'use strict';

const PRINT_WIDTH = 660;

function contentsLinks(sections) {
	return h('ul', {}, sections.map((part) => h('li', {},
		h('a', { href: `#${part.id}` }, part.querySelector('h2').textContent))));
}

// A document with parts has them in place of charts and figures of its own, unless it has both.
function pageSections(result) {
	const parts = result.parts.filter((part) => !part.listsDevices).map((part) => partSection(result, part));
	return [adviceSection(result), ...parts, chartsSection(result), figuresSection(result), deviceSection(result),
		clockSection(result), telemetrySection(result), methodSection(result), dataSection(result)].filter(Boolean);
}

function buildPage() {
	const result = readDocument();
	document.title = `${shorten(pageTitle(result), 120)} - tare`;
	Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
	Chart.defaults.font.size = 12;
	const sections = pageSections(result);
	document.getElementById('head').append(...headSection(result).filter(Boolean));
	document.getElementById('contents').append(contentsLinks(sections));
	document.getElementById('content').append(headlineSection(result), ...sections);
	document.getElementById('foot').append(h('p', {}, dataText(`Written by tare ${result.version || '(version not given)'}` +
		`${result.writtenAt ? `, ${result.writtenAt}` : ''}, ${result.schema}. Charts: Chart.js.`)));
	drawPlots();
	drawTimelines();
}

function redrawAll() {
	drawPlots();
	drawTimelines();
	detailViews.forEach((view) => view.draw());
}

// Paper has its own width and is light; afterwards the screen is as it was.
function setPrinting(on) {
	if (printing === on)
		return;
	printing = on;
	document.documentElement.classList.toggle('printing', on);
	redrawAll();
}

onThemeChange(redrawAll);
window.addEventListener('beforeprint', () => setPrinting(true));
window.addEventListener('afterprint', () => setPrinting(false));

try {
	buildPage();
} catch (error) {
	document.getElementById('content').append(h('p', { class: 'banner bad' },
		`This page could not be drawn: ${error.message}. The data is in its source, in the element "tare-result".`));
	throw error;
}
