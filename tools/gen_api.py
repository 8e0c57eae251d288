#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the wrappers of tare's OpenCL layer from the installed headers and api/opencl.roles.

    tools/gen_api.py --roles api/opencl.roles --source WRAPPERS.c --header HOOKS.h -- CC [ARG...]
    tools/gen_api.py --roles api/opencl.roles --check -- CC [ARG...]

CC is the C compiler; it is asked to preprocess the headers. A function of the headers without a
role is wrapped as a plain call (`other`) when it is in the loader's table, else left alone, with a warning
on standard error. --check writes nothing and fails where something is to be done by a maintainer:
a function without a role, a role without a function, a wrong number of arguments.
"""
import argparse
import pathlib
import re
import sys

from prototypes import SHORT, Complaint, closing, nameless, preprocess, split_parameters

HEADERS = ['CL/cl_icd.h', 'CL/cl_ext.h']
SOURCE = ('#define CL_TARGET_OPENCL_VERSION 300\n#define CL_USE_DEPRECATED_OPENCL_1_0_APIS\n' +
          ''.join(f'#include <{header}>\n' for header in HEADERS))
ROLES = ['other', 'command', 'wait', 'flush', 'build', 'allocate', 'create', 'start', 'poll', 'query', 'release']
KINDS = ['kernel', 'task', 'write', 'read', 'copy', 'fill', 'map', 'unmap', 'migrate', 'marker',
         'barrier', 'graph', 'other']
HOOKS = ['instead', 'before', 'after', 'first']
NEWER = 'newer'  # not in all headers that tare is built with
DIRECTIONS = {'to': 'TO_DEVICE', 'from': 'FROM_DEVICE', 'local': 'LOCAL', 'host': 'HOST'}
# Members of struct layer_what that an argument fills as it is, or as a number.
PLAIN = {'bytes': 'bytes', 'offset': 'offset', 'origin': 'origin', 'region': 'region',
         'row': 'row_pitch', 'slice': 'slice_pitch', 'memory-row': 'memory_row',
         'memory-slice': 'memory_slice', 'host': 'host', 'from': 'from', 'to': 'to',
         'memories#': 'count', 'memories': 'memories', 'pointers#': 'count',
         'pointers': 'pointers', 'sizes': 'sizes', 'flags': 'flags', 'waits#': 'wait_count',
         'waits': 'waits'}
NUMBERS = {'memory': 'object', 'graph': 'object', 'memory2': 'object2'}
# Of struct layer_range.
RANGE = {'dims': 'dimensions', 'offsets': 'offsets', 'globals': 'globals', 'locals': 'locals'}
MEANINGS = set(PLAIN) | set(RANGE) | set(NUMBERS) | {
    '-', 'kernel', 'queue', 'queues#', 'queues', 'about', 'retain', 'release', 'value', 'image', 'image2',
    'origin2', 'svm', 'free', 'frees#', 'frees', 'blocking', 'event', 'error'}
SLOTS = 2  # vendors that may each have an extension function of their own


class Function:
    """A prototype: name, type of the result, types of the parameters with @ where a name goes."""

    def __init__(self, name, result, parameters):
        self.name, self.result, self.parameters = name, result, parameters

    @property
    def declared(self):
        """Parameters a0, a1 ... as they are declared."""
        return ', '.join(t.replace('@', f'a{i}') for i, t in enumerate(self.parameters)) or 'void'

    @property
    def pointer(self):
        """The type of a pointer to the function, with @ where a name goes."""
        types = ', '.join(t.replace('@', '') for t in self.parameters) or 'void'
        return f'{self.result} (CL_API_CALL *@)({types})'


class Role:
    """A line of the roles."""

    def __init__(self, words, arguments, line):
        self.role, self.arguments, self.line = words[0], arguments, line
        rest = words[1:]
        self.kind = self.direction = None
        if self.role == 'command':
            self.kind = rest.pop(0) if rest else None
            if rest and rest[0] in DIRECTIONS:
                self.direction = rest.pop(0)
        self.instead, self.before, self.after, self.first = (word in rest for word in HOOKS)
        self.newer = NEWER in rest
        unknown = [word for word in rest if word not in [*HOOKS, NEWER]]
        unknown += [a for a in arguments if a not in MEANINGS]
        if self.role not in ROLES + ['pass']:
            unknown.append(self.role)
        if self.role == 'command' and self.kind not in KINDS:
            unknown.append(str(self.kind))
        if unknown:
            raise Complaint(f'line {line}: unknown word {unknown[0]!r}')

    def at(self, meaning):
        """The argument that means it, as the wrapper calls it, or None."""
        return f'a{self.arguments.index(meaning)}' if meaning in self.arguments else None


def read_roles(text):
    """The roles by function's name."""
    roles = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith('#'):
            continue
        head, _, arguments = line.partition(':')
        words = head.split()
        if len(words) < 2:
            raise Complaint(f'line {number}: a function and its role are needed')
        if words[0] in roles:
            raise Complaint(f'line {number}: {words[0]} was given a role before')
        roles[words[0]] = Role(words[1:], arguments.split(), number)
    return roles


def parse(text):
    """The table's members in their order, and all prototypes by name, of preprocessed headers."""
    table = re.search(r'struct _cl_icd_dispatch \{(.*?)\}', text)
    if not table:
        raise Complaint('the headers define no struct _cl_icd_dispatch')
    order = re.findall(r'(\w+)\s*;', table[1])
    functions = {}
    # Older headers have cl_api_clX in cl_icd.h, newer ones clX_t; extensions clX_fn; and plain declarations.
    for pattern in (r'\btypedef ([\w ]+?[\w*]) ?\( ?\*\s*cl_api_(cl\w+)\) ?(\()',
                    r'\btypedef ([\w ]+?[\w* ]*?) ?\b(cl[A-Z]\w+)_t ?(\()',
                    r'\btypedef ([\w ]+?[\w* ]*?) ?\( ?\*\s*(cl\w+)_fn\) ?(\()',
                    r'\bextern ([\w ]+?[\w* ]*?) ?\b(cl[A-Z]\w+) ?(\()'):
        for match in re.finditer(pattern, text):
            end = closing(text, match.start(3))
            parameters = [nameless(p) for p in split_parameters(text[match.end(3):end])]
            functions.setdefault(match[2], Function(match[2], match[1].strip(), parameters))
    return order, functions


def check(order, functions, roles):
    """What a maintainer has to do, one sentence each."""
    todo = [f'{name} has no role' for name in [*order, *sorted(set(functions) - set(order))]
            if name not in roles and not unrelated(name, order, functions)]
    for name, role in roles.items():
        if name not in functions:
            if role.role != 'pass' and not role.newer:
                todo.append(f'line {role.line}: {name} is in no header')
        elif role.role != 'pass' and len(role.arguments) != len(functions[name].parameters):
            todo.append(f'line {role.line}: {name} has {len(functions[name].parameters)} '
                        f'arguments, not {len(role.arguments)}')
    return todo


def unrelated(name, order, functions):
    """Functions of cl.h, which every version of the table has, need their role there only."""
    return name not in order and name in functions and not functions[name].parameters


def what(function, role):
    """The initialiser of struct layer_what for a command."""
    members = [f'.kind = TARE_KIND_{role.kind.upper()}']
    if role.direction:
        members.append(f'.direction = TARE_DIRECTION_{DIRECTIONS[role.direction]}')
    for number, meaning in enumerate(role.arguments):
        name = f'a{number}'
        if meaning in PLAIN:
            members.append(f'.{PLAIN[meaning]} = {name}')
        elif meaning in NUMBERS:
            members.append(f'.{NUMBERS[meaning]} = (uintptr_t){name}')
        elif meaning in ('image', 'image2'):
            member = 'object' if meaning == 'image' else 'object2'
            members += [f'.{member} = (uintptr_t){name}', f'.image = {name}']
        elif meaning == 'svm':
            members += [f'.object = (uintptr_t){name}', f'.svm = {name}']
        elif meaning == 'blocking':
            members.append(f'.blocking = {name} != CL_FALSE')
    if role.kind == 'map' and function.result == 'void *':
        members.append('.host = result')
    return '{' + ', '.join(members) + '}'


def command_end(function, role):
    """The statement that records a command."""
    if role.kind == 'kernel':
        return [f'\tlayer_kernel_end(thread, &command, {status(function, role)}, &range,',
                f'\t                 {role.at("waits#") or 0}, {role.at("waits") or "NULL"});']
    return [f'\tlayer_command_end(thread, &command, {status(function, role)},',
            f'\t                  &(struct layer_what){what(function, role)});']


def is_handle(function):
    return function.result != 'void' and not function.result.endswith('int')


def status(function, role):
    """The expression for the call's error code."""
    if not is_handle(function):
        return 'CL_SUCCESS' if function.result == 'void' else 'result'
    if role.at('error'):
        return 'result != NULL ? CL_SUCCESS : *error'
    if role.role in SHORT:
        return 'CL_SUCCESS'
    return 'result != NULL ? CL_SUCCESS : CL_INVALID_VALUE'


def is_short(role):
    """Whether calls in a row are one record; the last release of an object has one of its own."""
    return role.role in SHORT or (role.role == 'release' and not role.at('release'))


def queue_of(role):
    if role.at('queue'):
        return role.at('queue')
    if role.at('queues'):
        return (f"{role.at('queues#')} != 0 && {role.at('queues')} != NULL ? {role.at('queues')}[0] "
                f": layer_graph_queue({role.at('graph')})")
    return 'NULL'


def named(function):
    """The arguments' names in a wrapper."""
    return [f'a{i}' for i in range(len(function.parameters))]


def wrapper(function, role, number, call):
    """The body of a wrapper that calls `call`; the recorder's thread is NULL when nothing is recorded."""
    void = function.result == 'void'
    arguments = named(function)
    error = role.at('error')
    if role.role == 'command' and role.at('event'):
        arguments[role.arguments.index('event')] = 'command.event'
    if error:
        arguments[role.arguments.index('error')] = 'error'
    if role.instead:
        arguments.insert(0, call)
    target = f'layer_do_{function.name}' if role.instead else call
    plain = f'{target}({", ".join(([call] if role.instead else []) + named(function))})'
    lines = ['\tstruct guest_thread *thread = layer_enter();', '\tif (thread == NULL)']
    lines.append(f'\t\treturn {plain};' if not void else f'\t{{\n\t\t{plain};\n\t\treturn;\n\t}}')
    if error:
        lines += ['\tcl_int unasked = CL_SUCCESS;',
                  f'\tcl_int *error = {error} != NULL ? {error} : &unasked;']
    for meaning, helper in (('retain', 'layer_retaining'), ('free', 'layer_freeing')):
        if role.at(meaning):
            lines.append(f'\t{helper}({role.at(meaning)});')
    if role.at('frees'):
        lines.append(f"\tlayer_freeing_all({role.at('frees#')}, {role.at('frees')});")
    if role.before:
        lines += ['\tint before = errno;',
                  '\tuint32_t told = guest_aside_begin(thread, TARE_TRACE_OPENCL);',
                  f'\tlayer_before_{function.name}({", ".join(["thread"] + named(function))});',
                  '\tguest_aside_end(thread, told);', '\terrno = before;']
    released = 'false'
    if role.at('release'):
        released = 'last'
        lines.append(f"\tbool last = layer_releasing({role.at('release')});")
    elif role.at('free'):
        released = 'true'
    result = '' if void else f'{function.result} result = '
    invocation = f"\t{result}{target}({', '.join(arguments)});"
    if role.role == 'command':
        waits = 'true' if role.role == 'wait' else f"{role.at('blocking')} != CL_FALSE" \
            if role.at('blocking') else 'false'
        lines.append('\tstruct layer_command command;')
        if role.kind == 'kernel':
            members = [f'.kernel = {role.at("kernel")}']
            members += [f'.{RANGE[m]} = {role.at(m)}' for m in RANGE if role.at(m)]
            lines.append(f'\tconst struct layer_range range = {{{", ".join(members)}}};')
        lines.append(f"\tlayer_command_begin(thread, &command, {number}, {queue_of(role)}, "
                     f"{role.at('event') or 'NULL'}, {'true' if role.at('event') else 'false'}, {waits}, "
                     f"{'&range' if role.kind == 'kernel' else 'NULL'}, {role.at('bytes') or 0});")
        lines.append(invocation)
        lines += command_end(function, role)
        if role.at('event'):
            lines.append('\tlayer_give_event(&command);')
    elif is_short(role):
        about = role.at('about') or role.at('retain') or 'NULL'
        lines += ['\tuint64_t enter = layer_call_begin(thread, 0, false);', invocation,
                  f'\tlayer_asked(thread, {number}, enter, {status(function, role)}, '
                  f'(uintptr_t){about}, {"true" if role.role == "poll" else "false"});']
    else:
        may_wait = 'true' if role.role in ('wait', 'build') else 'false'
        members = [f'.status = {status(function, role)}', f'.released = {released}']
        about = role.at('about') or role.at('release') or role.at('queue') or role.at('free')
        if is_handle(function):
            about = 'result'
        if about:
            members.append(f'.object = (uintptr_t){about}')
        for meaning, member in (('queue', 'queue'), ('bytes', 'bytes'), ('value', 'value'),
                                ('waits', 'waits'), ('waits#', 'wait_count')):
            if role.at(meaning):
                members.append(f'.{member} = {role.at(meaning)}')
        if role.role == 'wait' and role.at('queue'):
            lines.append(f"\tuint64_t heads = layer_mark(thread, {role.at('queue')});")
            members.append('.known_heads = heads')
        if role.role == 'build':  # where it is killed in its first one, what it was in is known
            lines.append(f'\tlayer_know_function(thread, {number});')
        lines += [f'\tuint64_t enter = layer_call_begin(thread, {number}, {may_wait});', invocation,
                  f'\tlayer_call_end(thread, {number}, enter, {may_wait},',
                  f'\t               &(struct layer_said){{{", ".join(members)}}});']
    if role.after:
        extra = ', '.join(['thread'] + ([] if void else ['result']) + named(function))
        # What it asks of the vendor may alter errno, which is the program's.
        lines += ['\tint saved = errno;',
                  '\tuint32_t aside = guest_aside_begin(thread, TARE_TRACE_OPENCL);',
                  f'\tlayer_after_{function.name}({extra});',
                  '\tguest_aside_end(thread, aside);', '\terrno = saved;']
    lines.append('\tlayer_leave(thread);')
    if not void:
        lines.append('\treturn result;')
    return '\n'.join(lines)


def table_wrapper(function, role, number):
    name = f'{function.result} CL_API_CALL layer_any_{function.name}' if role.first else \
        f'static {function.result} CL_API_CALL wrap_{function.name}'
    return (f'{name}({function.declared})\n{{\n' + wrapper(function, role, number, f'layer_next.{function.name}') + '\n}\n')


def extension_wrapper(function, role, number, row):
    """One body and SLOTS functions, each with a vendor's pointer of its own."""
    vendor = function.pointer.replace('@', 'vendor')
    declared = vendor + (', ' + function.declared if function.parameters else '')
    text = (f'static {function.result} body_{function.name}({declared})\n{{\n'
            + wrapper(function, role, number, 'vendor') + '\n}\n')
    for slot in range(SLOTS):
        text += (f'static {function.result} CL_API_CALL via{slot}_{function.name}({function.declared})\n{{\n'
                 f'\t{"" if function.result == "void" else "return "}body_{function.name}('
                 f'({function.pointer.replace("@", "")})layer_extensions[{row}].vendor[{slot}]'
                 f'{"".join(", " + name for name in named(function))});\n}}\n')
    return text


def plan(order, functions, roles):
    """What is wrapped: (number, function, role) of the table, then of the extensions."""
    table, extensions = [], []
    unknown = Role(['other'], [], 0)
    for number, name in enumerate(order):
        role = roles.get(name)
        if name not in functions or (role and role.role == 'pass'):
            continue
        function = functions[name]
        if role is None or len(role.arguments) != len(function.parameters):
            print(f'gen_api.py: warning: {name} has no role that fits: timed as a plain call',
                  file=sys.stderr)
            role = unknown
        table.append((number, function, role))
    for name, role in roles.items():
        if name in order or role.role == 'pass':
            continue
        function = functions.get(name)
        if function is None and role.newer:
            continue
        if function is None or len(role.arguments) != len(function.parameters):
            print(f'gen_api.py: warning: {name} is left alone: the headers lack it or differ',
                  file=sys.stderr)
            continue
        extensions.append((len(order) + len(extensions), function, role))
    for name in sorted(set(functions) - set(order) - set(roles)):
        if not unrelated(name, order, functions):
            print(f'gen_api.py: warning: {name} has no role: left alone', file=sys.stderr)
    return table, extensions


def hooks(table, extensions, order):
    """The header: numbers, and prototypes of what is written by hand."""
    lines = ['// Written by tools/gen_api.py.', '#pragma once',
             "// A hook is given all that the vendor's function is, and needs little of it.",
             '#pragma GCC diagnostic ignored "-Wunused-parameter"', '']
    lines.append(f'#define LAYER_TABLE_FUNCTIONS {len(order)}')
    lines.append(f'#define LAYER_FUNCTIONS {len(order) + len(extensions)}')
    lines.append(f'#define LAYER_EXTENSIONS {len(extensions)}')
    lines.append(f'#define LAYER_SLOTS {SLOTS}')
    lines.append('enum layer_function {')
    lines += [f'\tLAYER_{function.name} = {number},' for number, function, _ in table + extensions]
    lines.append('};')
    for _, function, role in table + extensions:
        arguments = '' if not function.parameters else ', ' + function.declared
        if role.instead:
            lines.append(f'typedef {function.pointer.replace("@", f"layer_next_{function.name}")};')
            lines.append(f'{function.result} layer_do_{function.name}('
                         f'layer_next_{function.name} next{arguments});')
        if role.before:
            lines.append(f'void layer_before_{function.name}(struct guest_thread *thread{arguments});')
        if role.first:
            lines += [f'{function.result} CL_API_CALL layer_{which}_{function.name}({function.declared});'
                      for which in ('first', 'any')]
        if role.after:
            result = '' if function.result == 'void' else f', {function.result} result'
            lines.append(f'void layer_after_{function.name}(struct guest_thread *thread{result}{arguments});')
    return '\n'.join(lines) + '\n'


def source(table, extensions):
    """The wrappers, what fills the table with them, and the names and roles of all functions."""
    lines = ['// Written by tools/gen_api.py.', '#include "guest/opencl/wrap.h"', '',
             '#include <errno.h>', '']
    lines += [table_wrapper(function, role, number) for number, function, role in table]
    lines += [extension_wrapper(function, role, number, row)
              for row, (number, function, role) in enumerate(extensions)]
    lines.append('struct layer_extension layer_extensions[LAYER_EXTENSIONS + 1] = {')
    for number, function, _ in extensions:
        vias = ', '.join(f'(void *)via{slot}_{function.name}' for slot in range(SLOTS))
        lines.append(f'\t{{"{function.name}", {{{vias}}}, {{NULL}}}},')
    lines += ['\t{NULL, {NULL}, {NULL}},', '};', '']
    lines.append('const struct layer_function_name layer_function_names[LAYER_FUNCTIONS] = {')
    for number, function, role in table + extensions:
        lines.append(f'\t[{number}] = {{"{function.name}", TARE_ROLE_{role.role.upper()}}},')
    lines += ['};', '', 'void layer_wrap(cl_icd_dispatch *table)', '{']
    for _, function, role in table:
        lines += [f'\tif (layer_next.{function.name} != NULL)',
                  f"\t\ttable->{function.name} = {'layer_first' if role.first else 'wrap'}_{function.name};"]
    lines += ['}', '']
    return '\n'.join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--roles', required=True, type=pathlib.Path)
    parser.add_argument('--source', type=pathlib.Path)
    parser.add_argument('--header', type=pathlib.Path)
    parser.add_argument('--check', action='store_true')
    parser.add_argument('compiler', nargs='+')
    options = parser.parse_args()
    try:
        roles = read_roles(options.roles.read_text(encoding='utf-8'))
        order, functions = parse(preprocess(options.compiler, SOURCE, 'OpenCL'))
    except Complaint as complaint:
        sys.exit(f'{options.roles}: {complaint}')
    if options.check:
        todo = check(order, functions, roles)
        if todo:
            sys.exit(f'{options.roles}: ' + f'\n{options.roles}: '.join(todo))
        return
    table, extensions = plan(order, functions, roles)
    options.source.write_text(source(table, extensions), encoding='utf-8')
    options.header.write_text(hooks(table, extensions, order), encoding='utf-8')


if __name__ == '__main__':
    main()
