// SPDX-License-Identifier: Apache-2.0
// Elements from data. Data reaches the document as text nodes and attributes only, never as HTML.
'use strict';

// h('td', {class: 'number', onclick: f}, 'text', element, [more]); null and false are left out.
function h(tag, attributes, ...children) {
	return fill(document.createElement(tag), attributes, children);
}

// The same for SVG.
function svg(tag, attributes, ...children) {
	return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

function fill(element, attributes, children) {
	for (const [name, value] of Object.entries(attributes || {})) {
		if (value === null || value === undefined || value === false)
			continue;
		if (typeof value === 'function')
			element.addEventListener(name.slice(2), value);
		else
			element.setAttribute(name, value === true ? '' : String(value));
	}
	for (const child of children.flat(Infinity))
		if (child !== null && child !== undefined && child !== false)
			element.append(child);
	return element;
}

const LONG_TEXT = 240;

// A text from the result: isolated, so that it cannot turn the text around it; folded when long.
function dataText(text, limit = LONG_TEXT) {
	const whole = String(text);
	if (whole.length <= limit)
		return h('bdi', {}, whole);
	return h('details', { class: 'long' },
		h('summary', {}, h('bdi', {}, shortenName(whole, 120)), ` (${whole.length} characters)`),
		h('bdi', {}, whole));
}

// h2 to h5: charts and tables stand one deeper in a part of a document than in a document.
function heading(level, ...children) {
	return h(`h${level}`, {}, children);
}

// For places that cannot fold: charts and their legends.
function shorten(text, length) {
	const letters = Array.from(String(text));
	return letters.length <= length ? letters.join('') : letters.slice(0, length - 1).join('') + '…';
}

// "n/a" and why. The reason is on the page, not only in a tooltip: it must print, and be touched.
function notAvailable(reason) {
	return h('span', { class: 'absent', title: reason ? shorten(reason, 400) : null },
		h('span', { class: 'na' }, 'n/a'),
		reason ? h('span', { class: 'reason' }, ': ', dataText(reason)) : null);
}

function announce(text) {
	document.getElementById('announce').textContent = text;
}

// Hands `text` to the user as a file.
function download(name, type, text) {
	const url = URL.createObjectURL(new Blob([text], { type }));
	const link = h('a', { href: url, download: name });
	document.body.append(link);
	link.click();
	link.remove();
	setTimeout(() => URL.revokeObjectURL(url), 10000);
}
