# SPDX-License-Identifier: Apache-2.0
"""What the generators of wrappers (gen_api.py, gen_levelzero.py) read of a vendor's headers: prototypes in C."""
import re
import subprocess

QUALIFIERS = {'const', 'volatile', 'struct', 'unsigned', 'signed', 'restrict'}
SHORT = ['query', 'poll', 'other']  # roles: calls of one function in a row are one record


class Complaint(Exception):
    """What is wrong with the roles, a sentence."""


def preprocess(compiler, source, whose):
    """`source`, which includes the headers of `whose`, as the compiler sees it, without attributes, in one line."""
    done = subprocess.run([*compiler, '-E', '-P', '-x', 'c', '-'], input=source, text=True, capture_output=True,
                          check=False)
    if done.returncode != 0:
        raise Complaint(f'the compiler cannot read the {whose} headers: {done.stderr.strip()}')
    return re.sub(r'\s+', ' ', re.sub(r'__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)', ' ', done.stdout))


def split_parameters(text):
    """Parameters between commas that are in no parentheses."""
    parts, depth = [''], 0
    for character in text:
        depth += (character == '(') - (character == ')')
        if character == ',' and depth == 0:
            parts.append('')
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip() not in ('', 'void')]


def nameless(parameter):
    """A parameter's declaration with @ for its name, whether it had one or not."""
    pointer = re.search(r'\(\s*\*\s*\w*\s*\)', parameter)
    if pointer:
        return parameter[:pointer.start()] + '(*@)' + parameter[pointer.end():]
    array = re.match(r'(.*?)\b(\w+)\s*\[[^]]*\]$', parameter)
    if array:
        return array[1].strip() + ' *@'
    words = [w for w in re.findall(r'\w+', parameter) if w not in QUALIFIERS]
    if len(words) > 1 and re.search(r'\w$', parameter):
        parameter = re.sub(r'\w+$', '', parameter).strip()
    return parameter + ('@' if parameter.endswith('*') else ' @')


def closing(text, start):
    """Where the parenthesis that opens at `start` closes."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == '(') - (text[at] == ')')
        if depth == 0:
            return at
    raise Complaint('the headers end within parentheses')
