// SPDX-License-Identifier: Apache-2.0
// How the page of counted kernels writes its figures: once for the diagram, the roofline and the tables.
'use strict';

const shareOf = pointsText;

function bytesOf(bytes) {
	return isKnown(bytes) ? formatComputed(Math.floor(bytes), 'B') : 'n/a';
}

function rateOf(bytesPerSecond) {
	return isKnown(bytesPerSecond) ? `${significant(bytesPerSecond / 1e9)} GB/s` : 'n/a';
}

function flopOf(flopPerSecond) {
	return isKnown(flopPerSecond) ? formatValue(flopPerSecond, 'FLOP/s') : 'n/a';
}

function ratioOf(value) {
	return isKnown(value) ? `${significant(value)} ×` : 'n/a';
}

const EDGE_TITLES = {
	'registers-l1': 'registers ↔ L1, shared memory', 'l1-l2': 'L1 ↔ L2', 'l2-device': 'L2 ↔ device memory',
	host: 'L2 ↔ host memory', peer: 'L2 ↔ other devices',
};

// An edge's figures as text: what the diagram shows and its table lists.
function edgeTexts(edge) {
	return {
		title: EDGE_TITLES[edge.edge] || edge.name, bytes: bytesOf(edge.bytes), rate: rateOf(edge.bytes_per_s), share: shareOf(edge.share),
		measured: shareOf(edge.measured_share), given: ratioOf(edge.over_compulsory), remark: edge.remark,
	};
}

// One sentence for who does not see the diagram.
function edgeSentence(edge) {
	const texts = edgeTexts(edge);
	if (!isKnown(edge.bytes))
		return `${texts.title}: n/a${texts.remark ? `, ${texts.remark}` : ''}`;
	return `${texts.title}: ${texts.bytes} a launch, ${texts.rate}, ${texts.share} of the maximum, ${texts.measured} of what was measured here, ` +
		`${texts.given} of what the launch was given${edge.binding ? '; this binds' : ''}${texts.remark ? `; ${texts.remark}` : ''}`;
}

function coreTimeSentence(time) {
	return `issuing ${shareOf(time.active)}, stalled ${shareOf(time.stalled)}, without work ${shareOf(time.idle)}`;
}
