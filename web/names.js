// SPDX-License-Identifier: Apache-2.0
// Names of a program's kernels and functions in little room: what src/report/terminal/names.c does for the terminal, step by
// step. tests/data/short_names.txt holds both to the same.
'use strict';

const COMMON_ARGUMENTS = new Set(['bool', 'char', 'short', 'int', 'long', 'float', 'double', 'unsigned', 'void', 'const', 'true', 'false',
	'array', 'Half', 'BFloat16', 'half_t', '__half', 'bfloat16_t', '__nv_bfloat16']);
const LEAST_ARGUMENTS = 6;
const UNNAMED = '(anonymous namespace)::';
// An operator has its signs, "operator<<"; a template's arguments may follow without a blank, "operator-<float>".
const SIGNS = '<=>|->\\*|<<=|>>=|\\[\\]|->|<<|>>|&&|\\|\\||\\+\\+|--|[=!<>+\\-*\\/%&|^]=|[<>=!+\\-*\\/%^&|~]';
const LETTERS = '[A-Za-z0-9_$\\u0080-\\u{10ffff}]', WORDS = `operator(?:${SIGNS})|${LETTERS}+`;
const WORD = new RegExp(WORDS, 'uy');
const letterCount = (text) => Array.from(text).length;

function wordAt(text, at) {
	WORD.lastIndex = at;
	const found = WORD.exec(text);
	return found ? found[0] : '';
}

// Behind the bracket that closes the one at `at`; the end where none does.
function behindBracket(text, at) {
	for (let depth = 0; at < text.length; at++) {
		if ('({'.includes(text[at]))
			depth++;
		else if (')}'.includes(text[at]) && --depth === 0)
			return at + 1;
	}
	return at;
}

function behindParameters(text, at) {
	const end = behindBracket(text, at);
	return text.startsWith(' const', end) ? end + 6 : end;
}

// "{lambda(float)#1}" is "#1".
function lambdaNumber(text) {
	const sign = text.lastIndexOf('#');
	return sign < 0 ? '' : text.slice(sign, text.endsWith('}') ? -1 : undefined);
}

// The name without parameters, and without namespaces within template arguments (`inner`) and before them (`outer`).
function simplifiedName(text, inner, outer) {
	let simple = '', depth = 0;

	for (let at = 0; at < text.length;) {
		const word = wordAt(text, at);
		if (text.startsWith('operator()', at)) {
			at = behindParameters(text, at + 10);
		} else if (word) {
			const end = at + word.length;
			const left = text.startsWith('::', end) && (depth ? inner : outer) && text[end + 2] !== '{';
			simple += left ? '' : word;
			at = left ? end + 2 : end;
		} else if (text.startsWith(UNNAMED, at)) {
			at += UNNAMED.length;
		} else if (text[at] === '(') {
			at = behindParameters(text, at);
		} else if (text[at] === '{') {
			const end = behindBracket(text, at);
			simple += lambdaNumber(text.slice(at, end));
			at = end;
		} else if (text.startsWith('::{', at) || text.startsWith('::operator()', at)) {
			at += 2;
		} else if (text.startsWith(' >', at) || text.startsWith(' const&', at)) {
			at += text[at + 1] === '>' ? 1 : 7;
		} else {
			depth += text[at] === '<' ? 1 : text[at] === '>' && depth ? -1 : 0;
			simple += text[at++];
		}
	}
	return simple;
}

function worthOfArgument(word, isLambda) {
	if (/^[0-9]/.test(word) || COMMON_ARGUMENTS.has(word))
		return 0;
	return /unctor/i.test(word) ? 3 : isLambda ? 2 : 1;
}

// The words of most worth, with the numbers of their lambdas.
function tellingArguments(text) {
	const words = Array.from(text.matchAll(new RegExp(`(${WORDS})((?:#${LETTERS}*)*)`, 'gu')),
		([all, word, lambdas]) => ({ all, worth: worthOfArgument(word, lambdas !== '') }));
	const most = Math.max(1, ...words.map(({ worth }) => worth));
	return words.filter(({ worth }) => worth === most).map(({ all }) => all).join(', ');
}

// Where the template's arguments begin; -1: it has none.
function argumentsAt(text) {
	for (let at = 0; at < text.length; at += wordAt(text, at).length || 1)
		if (text[at] === '<')
			return at;
	return -1;
}

// What follows the template's arguments, as of a member; '' where nothing does.
function behindArguments(text) {
	for (let at = 0, depth = 0; at < text.length; at += wordAt(text, at).length || 1) {
		depth += text[at] === '<' ? 1 : 0;
		if (text[at] === '>' && --depth === 0)
			return text.slice(at + 1);
	}
	return '';
}

function cutMiddle(text, length) {
	const letters = Array.from(text), tail = length < 8 ? 0 : Math.floor((length - 1) / 3);
	return letters.length <= length ? text : `${letters.slice(0, length - 1 - tail).join('')}…${letters.slice(letters.length - tail).join('')}`;
}

function cutBoth(name, telling, length) {
	const width = letterCount(telling), least = Math.min(Math.floor(length / 3), letterCount(name));
	const first = width + 1 + least > length ? least : length - 1 - width;
	return `${Array.from(name).slice(0, first).join('')}…${shorten(telling, length - first - 1)}`;
}

// Whether it is a name of C++ that has something to leave out: no words beside each other.
function isQualifiedName(name) {
	const plain = simplifiedName(name, true, true), word = wordAt(plain, 0);
	return /<|::|\(/.test(name) && word !== '' && !name.includes('…') &&
		(word === plain || plain.startsWith(' <', word.length) || '<#:~'.includes(plain[word.length]));
}

// A name in at most so many letters (at least 4). Of a member the template's arguments are left out.
function shortenName(text, most) {
	const name = String(text), length = Math.max(most, 4);

	if (letterCount(name) <= length)
		return name;
	if (!isQualifiedName(name))
		return wordAt(name, 0) === name ? cutMiddle(name, length) : shorten(name, length);
	for (const [inner, outer] of [[false, false], [true, false], [true, true]]) {
		const simple = simplifiedName(name, inner, outer);
		if (letterCount(simple) <= length)
			return simple;
	}
	const simple = simplifiedName(name, true, true), from = argumentsAt(simple);
	const own = from < 0 ? simple : simple.slice(0, from), rest = from < 0 ? '' : behindArguments(simple.slice(from));
	if (wordAt(rest, 0) || rest.startsWith('::'))
		return cutMiddle(`${own}<>${rest}`, length);
	const telling = from < 0 ? '' : tellingArguments(simple.slice(from));
	// Numbers and plain types tell apart where nothing else does.
	if (!telling)
		return cutMiddle(letterCount(own) + LEAST_ARGUMENTS <= length ? simple : own, length);
	const both = `${own}<${telling}>`;
	return letterCount(both) <= length ? both : cutBoth(own, telling, length);
}
