#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the wrappers of tare's Level Zero recorder from the installed headers and api/levelzero.roles.

    tools/gen_levelzero.py --roles api/levelzero.roles --newer NEWER.h --source WRAPPERS.c --header HOOKS.h -- CC [ARG...]
    tools/gen_levelzero.py --roles api/levelzero.roles --newer NEWER.h --check -- CC [ARG...]

CC is the C compiler; it is asked to preprocess the headers. NEWER.h has prototypes that some of the headers that
tare is built with lack. A function of the headers without a role is left alone, with a warning on standard error;
--check writes nothing and fails where something is to be done by a maintainer.
"""
import argparse
import pathlib
import re
import sys

from prototypes import SHORT, Complaint, closing, nameless, preprocess, split_parameters

HEADERS = ['level_zero/ze_api.h', 'level_zero/ze_ddi.h']
ROLES = ['other', 'command', 'wait', 'build', 'allocate', 'create', 'start', 'poll', 'query', 'release', 'own', 'pass']
KINDS = ['kernel', 'copy', 'fill', 'migrate', 'marker', 'barrier', 'graph', 'other']
HOOKS = ['instead', 'before', 'after']
# Members of struct ze_what that an argument fills as it is.
PLAIN = {'kernel': 'kernel', 'groups': 'groups', 'to': 'to', 'from': 'from', 'bytes': 'bytes', 'region': 'region',
         'extent': 'extent', 'image': 'image', 'source': 'source', 'graph': 'graph'}
# Those whose address it takes, for the argument is passed by value.
VALUES = {'groups.': 'groups', 'group.': 'group'}
MEANINGS = set(PLAIN) | set(VALUES) | {'-', 'list', 'event', 'waits#', 'waits', 'about', 'made', 'released', 'size'}
SLOTS = 8  # drivers that may be recorded in one process


class Function:
    """A prototype: name, types of the parameters with @ where a name goes; getter and place of its table."""

    def __init__(self, name, parameters):
        self.name, self.parameters = name, parameters
        self.table = self.place = None

    @property
    def declared(self):
        return ', '.join(t.replace('@', f'a{i}') for i, t in enumerate(self.parameters))

    @property
    def named(self):
        return [f'a{i}' for i in range(len(self.parameters))]

    def pointer(self, name):
        types = ', '.join(t.replace('@', '') for t in self.parameters)
        return f'ze_result_t (ZE_APICALL *{name})({types})'


class Role:
    """A line of the roles."""

    def __init__(self, words, arguments, line):
        self.role, self.arguments, self.line = words[0], arguments, line
        rest = words[1:]
        self.kind = rest.pop(0) if self.role == 'command' and rest else None
        self.since, self.table, self.place = 0, None, None
        flags = []
        for word in rest:
            key, _, value = word.partition('=')
            if key in ('since', 'place') and value.isdigit():
                setattr(self, key, int(value))
            elif key == 'table' and value:
                self.table = f'zeGet{value}ProcAddrTable'
            elif word == 'extension':
                self.table, self.place = '-', 0  # in none
            else:
                flags.append(word)
        self.instead, self.before, self.after = (word in flags for word in HOOKS)
        unknown = [word for word in flags if word not in HOOKS] + [a for a in arguments if a not in MEANINGS]
        if self.role not in ROLES or (self.role == 'command' and self.kind not in KINDS):
            unknown.append(self.kind or self.role)
        if unknown:
            raise Complaint(f'line {line}: unknown word {unknown[0]!r}')

    def at(self, meaning):
        return f'a{self.arguments.index(meaning)}' if meaning in self.arguments else None


def read_roles(text):
    roles = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith('#'):
            continue
        head, _, arguments = line.partition(':')
        words = head.split()
        if len(words) < 2 or words[0] in roles:
            raise Complaint(f'line {number}: a function and its role are needed, once')
        roles[words[0]] = Role(words[1:], arguments.split(), number)
    return roles


def prototypes(text, prefix):
    """Functions by name, of typedefs of pointers to them."""
    functions = {}
    for match in re.finditer(r'typedef ze_result_t ?\( ?\* ?' + prefix + r'(\w+)_t ?\) ?(\()', text):
        end = closing(text, match.start(2))
        name = f'ze{match[1]}'
        functions[name] = Function(name, [nameless(p) for p in split_parameters(text[match.end(2):end])])
    return functions


def parse(text, newer, roles):
    """All functions, each with its table's getter and its place therein."""
    functions = prototypes(text, 'ze_pfn')
    for table in re.finditer(r'typedef struct _(ze_\w+_dditable_t) \{(.*?)\}', text):
        getter = re.search(r'ze_pfn(Get\w+ProcAddrTable)_t ?\) ?\( ?ze_api_version_t ?\w*, ?' + table[1], text)
        for place, member in enumerate(re.findall(r'ze_pfn(\w+)_t (\w+) ?;', table[2])):
            function = functions.get(f'ze{member[0]}')
            if getter and function:
                function.table, function.place = f'ze{getter[1]}', place
    for name, function in newer.items():
        role = roles.get(name)
        if role:
            function.table, function.place = role.table, role.place
            functions[name] = function
    return {name: function for name, function in functions.items() if function.table}


def check(functions, roles):
    """What a maintainer has to do, one sentence each."""
    todo = [f'{name} has no role' for name in functions if name not in roles]
    for name, role in roles.items():
        if name in functions and role.arguments and len(role.arguments) != len(functions[name].parameters):
            todo.append(f'line {role.line}: {name} has {len(functions[name].parameters)} arguments, '
                        f'not {len(role.arguments)}')
        elif name not in functions and role.table:
            todo.append(f'line {role.line}: {name} has no prototype')
    return todo


def command(function, role, number):
    arguments = function.named
    if role.at('event'):
        arguments[role.arguments.index('event')] = 'command.event'
    members = [f'.kind = TARE_KIND_{role.kind.upper()}']
    members += [f'.{PLAIN[m]} = a{i}' for i, m in enumerate(role.arguments) if m in PLAIN]
    members += [f'.{VALUES[m]} = &a{i}' for i, m in enumerate(role.arguments) if m in VALUES]
    # Where there is nothing to wait for, the event is what the call is about, and no option.
    takes = 'true' if role.at('event') and role.at('waits#') else 'false'
    counted = [f'\tze_count_launch(thread, &command, {role.at("kernel")}, {role.at("waits#") or 0}, '
               f'{role.at("waits") or "NULL"});'] if role.at('kernel') else []
    return ['\tstruct ze_command command;',
            f'\tze_command_begin(thread, &command, {number}, {role.at("list")}, {role.at("event") or "NULL"}, {takes});',
            *counted,
            f'\tze_result_t result = {call_of(function, role)}({", ".join(arguments)});',
            f'\tze_command_end(thread, &command, result, &(struct ze_what){{{", ".join(members)}}},',
            f'\t               {role.at("waits#") or 0}, {role.at("waits") or "NULL"});']


def call_of(function, role):
    return f'ze_do_{function.name}' if role.instead else f'driver->call.{function.name}'


def other(function, role, number):
    arguments = ', '.join((['driver'] if role.instead else []) + function.named)
    invocation = f'\tze_result_t result = {call_of(function, role)}({arguments});'
    about = role.at('about') or role.at('released') or 'NULL'
    if role.role in SHORT:
        poll = 'true' if role.role == 'poll' else 'false'
        return ['\tuint64_t enter = guest_ticks();', invocation,
                f'\tze_asked(thread, {number}, enter, result, (uintptr_t){about}, {poll});']
    waits = 'true' if role.role in ('wait', 'build') else 'false'
    members = ['.status = result', f'.released = {"true" if role.at("released") else "false"}']
    if role.at('made'):
        made = role.at('made')
        members.append(f'.object = result == ZE_RESULT_SUCCESS && {made} != NULL ? (uintptr_t)*{made} : 0')
    elif about != 'NULL':
        members.append(f'.object = (uintptr_t){about}')
    for meaning, member in (('size', 'bytes'), ('waits#', 'wait_count'), ('waits', 'waits')):
        if role.at(meaning):
            members.append(f'.{member} = {role.at(meaning)}')
    # Where a program is killed in its first build, what it was in is known.
    known = [f'\tze_know_function(thread, {number});'] if role.role == 'build' else []
    return [*known, f'\tuint64_t enter = ze_call_begin(thread, {number}, {waits});', invocation,
            f'\tze_call_end(thread, {number}, enter, {waits}, &(struct ze_said){{{", ".join(members)}}});']


def wrapper(function, role, number):
    declared = f'const struct ze_driver *driver, {function.declared}'
    own = ', '.join(['thread', 'driver'] + function.named)
    lines = [f'static ze_result_t body_{function.name}({declared})', '{',
             '\tstruct guest_thread *thread = ze_enter();', '\tif (thread == NULL)']
    plain = f'ze_do_{function.name}(driver, ' if role.instead and role.role != 'command' else \
        f'driver->call.{function.name}('
    lines.append(f'\t\treturn {plain}{", ".join(function.named)});')
    if role.before:
        lines += ['\tint before = errno;', '\tuint32_t told = guest_aside_begin(thread, TARE_TRACE_LEVELZERO);',
                  f'\tze_before_{function.name}({own});', '\tguest_aside_end(thread, told);', '\terrno = before;']
    if role.role == 'own':
        lines.append(f'\tze_result_t result = ze_own_{function.name}({own});')
    else:
        lines += (command if role.role == 'command' else other)(function, role, number)
    if role.after:
        lines += ['\tint saved = errno;', '\tuint32_t aside = guest_aside_begin(thread, TARE_TRACE_LEVELZERO);',
                  f'\tze_after_{function.name}({own}, result);', '\tguest_aside_end(thread, aside);', '\terrno = saved;']
    lines += ['\tze_leave(thread);', '\treturn result;', '}']
    for slot in range(SLOTS):
        lines += [f'static ze_result_t ZE_APICALL via{slot}_{function.name}({function.declared})', '{',
                  f'\treturn body_{function.name}(&ze_drivers[{slot}], {", ".join(function.named)});', '}']
    return '\n'.join(lines) + '\n'


def plan(functions, roles):
    """(number, function, role) of all that have a role."""
    rows = []
    for name, role in roles.items():
        if name in functions:
            rows.append((len(rows), functions[name], role))
    for name in functions:
        if name not in roles:
            print(f'gen_levelzero.py: warning: {name} has no role: left alone', file=sys.stderr)
    return rows


def hooks(rows):
    lines = ['// Written by tools/gen_levelzero.py.', '#pragma once',
             "// A hook is given all that the vendor's function is, and needs little of it.",
             '#pragma GCC diagnostic ignored "-Wunused-parameter"', '', f'#define ZE_FUNCTIONS {len(rows)}',
             f'#define ZE_SLOTS {SLOTS}', 'struct ze_driver;', 'enum ze_function {']
    lines += [f'\tZE_{function.name} = {number},' for number, function, _ in rows]
    lines += ['};', '// Of the driver: NULL where it lacks one.', 'struct ze_calls {']
    lines += [f'\t{function.pointer(function.name)};' for _, function, _ in rows]
    lines.append('};')
    for _, function, role in rows:
        declared = f'const struct ze_driver *driver, {function.declared}'
        if role.role == 'pass':
            continue
        if role.role == 'own':
            lines.append(f'ze_result_t ze_own_{function.name}(struct guest_thread *thread, {declared});')
        if role.instead:
            lines.append(f'ze_result_t ze_do_{function.name}({declared});')
        if role.before:
            lines.append(f'void ze_before_{function.name}(struct guest_thread *thread, {declared});')
        if role.after:
            lines.append(f'void ze_after_{function.name}(struct guest_thread *thread, {declared}, ze_result_t result);')
    return '\n'.join(lines) + '\n'


def trace_role(role):
    return 'COMMAND' if role.role == 'own' else 'OTHER' if role.role == 'pass' else role.role.upper()


def source(rows, roles):
    lines = ['// Written by tools/gen_levelzero.py.', '#include "guest/levelzero/ze.h"', '', '#include <errno.h>', '']
    lines += [wrapper(function, role, number) for number, function, role in rows if role.role != 'pass']
    lines.append('const struct ze_row ze_rows[ZE_FUNCTIONS] = {')
    for _, function, role in rows:
        vias = ', '.join(f'(void *)via{slot}_{function.name}' for slot in range(SLOTS)) \
            if role.role != 'pass' else 'NULL'
        lines.append(f'\t{{"{function.name}", "{function.table}", TARE_ROLE_{trace_role(role)}, {function.place}, '
                     f'{role.since}, offsetof(struct ze_calls, {function.name}), {{{vias}}}}},')
    lines += ['};', '// Those that only ask and that these headers lack.', 'const char *const ze_asking[] = {']
    known = {function.name for _, function, _ in rows}
    lines += [f'\t"{name}",' for name, role in roles.items() if role.role == 'pass' and name not in known]
    lines += ['\tNULL,', '};', '']
    return '\n'.join(lines)


def main():
    parser = argparse.ArgumentParser()
    for name in ('--roles', '--newer', '--source', '--header'):
        parser.add_argument(name, type=pathlib.Path, required=name in ('--roles', '--newer'))
    parser.add_argument('--check', action='store_true')
    parser.add_argument('compiler', nargs='+')
    options = parser.parse_args()
    try:
        roles = read_roles(options.roles.read_text(encoding='utf-8'))
        text = preprocess(options.compiler, ''.join(f'#include <{header}>\n' for header in HEADERS), 'Level Zero')
        newer = re.sub(r'\s+', ' ', re.sub(r'//[^\n]*', '', options.newer.read_text(encoding='utf-8')))
        functions = parse(text, prototypes(newer.replace('ZE_APICALL ', ''), 'ze_newer_'), roles)
    except Complaint as complaint:
        sys.exit(f'{options.roles}: {complaint}')
    if options.check:
        todo = check(functions, roles)
        if todo:
            sys.exit(f'{options.roles}: ' + f'\n{options.roles}: '.join(todo))
        return
    rows = plan(functions, roles)
    options.source.write_text(source(rows, roles), encoding='utf-8')
    options.header.write_text(hooks(rows), encoding='utf-8')


if __name__ == '__main__':
    main()
