# SPDX-License-Identifier: Apache-2.0
"""A small machine that executes PTX, to compare kernels with counters in them with kernels without. It reads the text by
itself, knows integers, f32, f64, predicates, branches, calls, loads and stores, barriers, additions to memory and what
the threads of a warp tell each other, and counts what each thread executes."""
import re
import struct

REMARKS = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
FUNCTION = re.compile(r"(?:\.visible\s+|\.weak\s+)*\.(entry|func)\s*(\([^)]*\))?\s*([\w$]+)\s*(\([^)]*\))?[^;{}]*(;|\{)", re.S)
LABEL = re.compile(r"\s*([\w$%]+)\s*:(?!:)")
PARAMETER = re.compile(r"([\w$]+)\s*(?:\[\d+\])?\s*$")
WIDTHS = {"8": 1, "16": 2, "32": 4, "64": 8}
# What the threads of a warp do together.
WARP = ("activemask", "redux", "match")
SHARED, LOCAL, CONSTANTS = 1 << 40, 1 << 41, 1 << 42


class Function:
    """Statements of a body: (predicate or None, name, operands), and places of labels."""

    def __init__(self, kind, name, parameters, results, body):
        self.kind, self.name, self.parameters, self.results = kind, name, parameters, results
        self.statements, self.labels, self.targets, self.shared, self.local = [], {}, {}, {}, {}
        for statement in split(body):
            self.add(statement)

    def add(self, text):
        label = LABEL.match(text)
        while label:
            text = text[label.end():]
            if text.strip().startswith(".branchtargets"):
                self.targets[label[1]] = [name.strip() for name in text.strip()[len(".branchtargets"):].split(",")]
                return
            self.labels[label[1]] = len(self.statements)
            label = LABEL.match(text)
        text = text.strip()
        space = re.match(r"\.(shared|local)\s.*?\.b(8|64)\s+([\w$]+)\s*(?:\[(\d+)\])?$", text, re.S)
        if space:
            getattr(self, space[1])[space[3]] = int(space[4] or 1) * int(space[2]) // 8
        if not text or text.startswith("."):
            return
        predicate = None
        if text[0] == "@":
            predicate, text = re.match(r"@\s*(!?\s*[\w$%]+)\s*(.*)", text, re.S).groups()
        name, _, operands = text.partition(" ") if " " in text.split("\n")[0] else (text.split()[0], "", text[len(text.split()[0]):])
        name, operands = re.match(r"(\S+)\s*(.*)", text, re.S).groups()
        self.statements.append((predicate and predicate.replace(" ", ""), name, cut(operands)))


def cut(text):
    """Operands by their commas, those in brackets left alone."""
    parts, depth, part = [], 0, ""
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += letter
    return [*parts, part.strip()] if part.strip() else parts


def split(body):
    """Statements of a body; brackets of scopes, and lines of debug information, are left out."""
    body = re.sub(r"^\s*\.loc\s[^\n]*", "", body, flags=re.M)
    statements, part, depth = [], "", 0
    for letter in body:
        if depth == 0 and letter in "{}" and not part.strip():
            continue
        if depth == 0 and letter == "{" and LABEL.fullmatch(part.strip()):
            continue
        depth += (letter in "{(") - (letter in "})")
        if letter == ";" and depth == 0:
            statements.append(part)
            part = ""
        else:
            part += letter
    return [*statements, part + " "] if part.strip() else statements


class Program:
    def __init__(self, text):
        text = REMARKS.sub("", text)
        self.functions, self.globals = {}, {}
        at = 0
        while found := FUNCTION.search(text, at):
            at = found.end()
            if found[5] == ";":
                continue
            depth = 1
            while depth:
                depth += {"{": 1, "}": -1}.get(text[at], 0)
                at += 1
            names = [PARAMETER.search(part)[1] for part in cut((found[4] or "()")[1:-1]) if part]
            results = [PARAMETER.search(part)[1] for part in cut((found[2] or "()")[1:-1]) if part]
            self.functions[found[3]] = Function(found[1], found[3], names, results, text[found.end():at - 1])
        for found in re.finditer(r"^\s*(?:\.visible\s+)?\.global\s+\.align\s+\d+\s+\.b64\s+([\w$]+)\[(\d+)\];", text, re.M):
            self.globals[found[1]] = 8 * int(found[2])


class Thread:
    """One thread: a generator that yields what it waits for: nothing at a barrier, or what its warp has to tell it."""

    def __init__(self, machine, place, group, arguments):
        self.machine, self.place, self.group, self.arguments = machine, place, group, arguments
        self.local, self.used = bytearray(1 << 14), 0

    def run(self, function, parameters):
        registers, handed = {}, dict(parameters)
        base = {}
        for name, size in function.local.items():
            self.used = (self.used + 15) & ~15
            base[name] = LOCAL + self.used
            self.used += size
        at = 0
        while at < len(function.statements):
            predicate, name, operands = function.statements[at]
            at += 1
            if predicate and bool(registers.get(predicate.lstrip("!"), 0)) == (predicate[0] == "!"):
                if name.startswith("bra"):
                    self.machine.count(function, name)
                continue
            self.machine.count(function, name)
            parts = name.split(".")
            if parts[0] == "bra":
                at = function.labels[operands[0]]
            elif parts[0] == "brx":
                at = function.labels[function.targets[operands[1]][registers[operands[0]] & 0xFFFFFFFF]]
            elif parts[0] in ("ret", "exit"):
                break
            elif parts[0] in ("bar", "barrier"):
                yield
            elif parts[0] == "call":
                yield from self.call(operands, handed)
            elif parts[0] in WARP:
                given = [self.value(text, registers, base, "b32") for text in operands[1:]]
                registers[operands[0]] = yield (function.name, at, name, *reversed(given))
            else:
                self.execute(parts, operands, registers, handed, base)
        return handed

    def call(self, operands, handed):
        results, (name, *given) = ([], operands) if operands[0][0] != "(" else (cut(operands[0][1:-1]), operands[1:])
        function = self.machine.program.functions[name]
        given = cut(given[0][1:-1]) if given else []
        told = yield from self.run(function, dict(zip(function.parameters, (handed[name] for name in given))))
        for name, own in zip(results, function.results):
            handed[name] = told[own]

    # ---- operands

    def special(self, name):
        base, _, axis = name[1:].partition(".")
        index = "xyz".find(axis) if axis else 0
        sizes = {"tid": self.place, "ntid": self.machine.block, "ctaid": self.group, "nctaid": self.machine.grid}
        if base in sizes:
            return sizes[base][index]
        if base.startswith("envreg"):
            return 0
        if base == "lanemask_lt":
            return (1 << self.machine.number(self.place) % 32) - 1
        raise NotImplementedError(name)

    def value(self, text, registers, base, kind):
        if text[0] == "!":
            return int(not registers[text[1:]])
        if text in registers:
            return registers[text]
        if text[0] == "%":
            return self.special(text)
        if text[:2] in ("0f", "0F"):
            return struct.unpack(">f", bytes.fromhex(text[2:]))[0]
        if text[:2] in ("0d", "0D"):
            return struct.unpack(">d", bytes.fromhex(text[2:]))[0]
        if re.fullmatch(r"-?(0x)?[0-9a-fA-F]+U?", text):
            return int(text.rstrip("U"), 0)
        if text in base:
            return base[text]
        return self.machine.address(text, self.group)

    def place_of(self, text, registers, base):
        inside = text[1:-1].strip()
        name, _, offset = inside.partition("+")
        return self.value(name.strip(), registers, base, "u64") + int(offset or 0)

    # ---- instructions

    def execute(self, parts, operands, registers, handed, base):
        kind = next((part for part in reversed(parts) if re.fullmatch(r"[busf](8|16|32|64)|pred", part)), "b32")
        if parts[0] in ("ld", "st") and "param" in parts:
            self.hand(parts, operands, registers, handed, base, kind)
            return
        if parts[0] in ("ld", "st", "red", "atom"):
            self.access(parts, operands, registers, base, kind)
            return
        values = [self.value(text, registers, base, kind) for text in operands[1:]]
        result = arithmetic(parts, kind, values)
        if parts[0] == "setp" and "|" in operands[0]:
            first, second = operands[0].split("|")
            registers[first], registers[second] = result, int(not result)
        else:
            registers[operands[0]] = result

    def hand(self, parts, operands, registers, handed, base, kind):
        memory = operands[1] if parts[0] == "ld" else operands[0]
        name, _, offset = memory[1:-1].partition("+")
        assert int(offset or 0) == 0, memory
        if parts[0] == "st":
            handed[name] = self.value(operands[1], registers, base, kind)
        else:
            registers[operands[0]] = handed[name]

    def access(self, parts, operands, registers, base, kind):
        size = WIDTHS[re.search(r"\d+$", kind)[0]]
        vector = next((int(part[1]) for part in parts if re.fullmatch(r"v[24]", part)), 1)
        if parts[0] in ("red", "atom"):
            memory, values = (operands[0], operands[1:]) if parts[0] == "red" else (operands[1], operands[2:])
            at = self.place_of(memory, registers, base)
            before = self.machine.load(at, kind, size, self)
            self.machine.additions += 1
            value = self.value(values[0], registers, base, kind)
            after = {"add": before + value, "inc": 0 if before >= value else before + 1}[next(p for p in parts if p in ("add", "inc"))]
            self.machine.store(at, kind, size, after, self)
            if parts[0] == "atom":
                registers[operands[0]] = before
            return
        memory, names = (operands[1], operands[0]) if parts[0] == "ld" else (operands[0], operands[1])
        at = self.place_of(memory, registers, base)
        for i, name in enumerate(cut(names.strip("{}"))):
            if parts[0] == "ld":
                registers[name] = self.machine.load(at + i * size, kind, size, self)
            else:
                self.machine.store(at + i * size, kind, size, self.value(name, registers, base, kind), self)
        assert vector == len(cut(names.strip("{}")))


def single(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def wrap(value, kind):
    if kind[0] == "f":
        return single(value) if kind == "f32" else float(value)
    if kind == "pred":
        return int(bool(value))
    bits = int(kind[1:])
    value = int(value) & ((1 << bits) - 1)
    return value - (1 << bits) if kind[0] == "s" and value >> (bits - 1) else value


def divided(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def together(name, mask, values):
    """What each lane of a mask gets; `values`: of each lane, what it brings."""
    if name == "activemask":
        return dict.fromkeys(values, mask)
    if name == "redux.sync.add.s32":
        return dict.fromkeys(values, wrap(sum(value for value, in values.values()), "s32"))
    assert name == "match.any.sync.b64", name
    return {lane: sum(1 << other for other in values if values[other] == value) for lane, value in values.items()}


def arithmetic(parts, kind, values):
    name = parts[0]
    if name in ("mov", "cvta"):
        return values[0]
    if name == "cvt":
        kinds = [part for part in parts if re.fullmatch(r"[usf](8|16|32|64)", part)]
        value = wrap(values[0], kinds[1])
        return wrap(int(value) if kinds[0][0] != "f" else value, kinds[0])
    if name == "selp":
        return values[0] if values[2] else values[1]
    if name == "setp":
        a, b = (wrap(value, "u" + kind[1:] if kind[0] == "b" else kind) for value in values[:2])
        holds = {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b, "lo": a < b, "ls": a <= b,
                 "hi": a > b, "hs": a >= b}[parts[1]]
        return int(holds and (parts[2] != "and" or bool(values[2])))
    if name in ("shl", "shr"):
        bits = int(kind[1:])
        amount = min(values[1] & 0xFFFFFFFF, bits)
        value = wrap(values[0], "u" + kind[1:] if kind[0] == "b" else kind)
        return wrap(value << amount if name == "shl" else value >> amount, kind)
    wide = "wide" in parts
    values = [wrap(value, kind) for value in values[:2]] + [v if wide else wrap(v, kind) for v in values[2:]]
    result = {
        "add": lambda: values[0] + values[1], "sub": lambda: values[0] - values[1], "mul": lambda: values[0] * values[1],
        "mad": lambda: values[0] * values[1] + values[2], "fma": lambda: values[0] * values[1] + values[2],
        "and": lambda: values[0] & values[1], "or": lambda: values[0] | values[1], "xor": lambda: values[0] ^ values[1],
        "not": lambda: not values[0] if kind == "pred" else ~values[0], "neg": lambda: -values[0], "abs": lambda: abs(values[0]),
        "min": lambda: min(values[:2]), "max": lambda: max(values[:2]),
        "div": lambda: values[0] / values[1] if kind[0] == "f" else divided(values[0], values[1]),
        "rem": lambda: values[0] - values[1] * divided(values[0], values[1]),
        "sqrt": lambda: values[0] ** 0.5, "popc": lambda: bin(values[0] & (1 << int(kind[1:])) - 1).count("1"),
    }[name]()
    if "hi" in parts:
        result >>= int(kind[1:])
    return wrap(result, kind[0] + str(2 * int(kind[1:])) if wide else kind)


class Machine:
    """Memory of 1 MiB, and what was executed: by function and name of instructions. Of the threads of a warp that come to
    one instruction so many parts are found active by themselves."""

    def __init__(self, text, parts=1):
        self.parts, self.additions = parts, 0
        self.program = Program(text)
        self.memory, self.executed, self.addresses = bytearray(1 << 20), {}, {}
        self.end = 1 << 16  # of buffers: variables lie behind
        for name, size in self.program.globals.items():
            self.addresses[name] = self.end
            self.end += size

    def count(self, function, name):
        key = function.name, name
        self.executed[key] = self.executed.get(key, 0) + 1

    def address(self, name, group):
        if name in self.addresses:
            return self.addresses[name]
        at = SHARED
        for function in self.program.functions.values():
            for shared, size in function.shared.items():
                if shared == name:
                    return at
                at += size + 16
        raise KeyError(name)

    def where(self, at, thread):
        if at >= LOCAL:
            return thread.local, at - LOCAL
        return (self.shared, at - SHARED) if at >= SHARED else (self.memory, at)

    def load(self, at, kind, size, thread):
        memory, at = self.where(at, thread)
        data = bytes(memory[at:at + size])
        assert len(data) == size
        if kind[0] == "f":
            return struct.unpack("<f" if size == 4 else "<d", data)[0]
        return int.from_bytes(data, "little", signed=kind[0] == "s")

    def store(self, at, kind, size, value, thread):
        memory, at = self.where(at, thread)
        if kind[0] == "f" or isinstance(value, float):
            data = struct.pack("<f" if size == 4 else "<d", value)
        else:
            data = (int(value) & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        memory[at:at + size] = data

    def launch(self, name, grid, block, arguments):
        self.grid, self.block = grid, block
        function = self.program.functions[name]
        for z, y, x in ((z, y, x) for z in range(grid[2]) for y in range(grid[1]) for x in range(grid[0])):
            self.shared = bytearray(1 << 16)
            going = []
            for c, b, a in ((c, b, a) for c in range(block[2]) for b in range(block[1]) for a in range(block[0])):
                thread = Thread(self, (a, b, c), (x, y, z), arguments)
                going.append(thread.run(function, dict(zip(function.parameters, arguments))))
            self.run(going)

    def number(self, place):
        return (place[2] * self.block[1] + place[1]) * self.block[0] + place[0]

    def run(self, going):
        """The threads of a group, by their numbers, until all have ended."""
        waits, told = {}, dict.fromkeys(range(len(going)))
        while told:
            for number, answer in told.items():
                try:
                    waits[number] = going[number].send(answer)
                except StopIteration:
                    pass
            told = self.answers(waits)
            if not told:
                assert not any(waits.values()), "threads wait for others of their warp that do not come"
                told = dict.fromkeys(waits)
            for number in told:
                del waits[number]

    def answers(self, waits):
        alike, told = {}, {}
        for number, asked in waits.items():
            if asked:
                part = number % self.parts if asked[2].startswith("activemask") else None
                alike.setdefault((number // 32, part, asked[:4]), []).append(number)
        for (warp, _, (_, _, name, *mask)), numbers in alike.items():
            lanes = sum(1 << number % 32 for number in numbers)
            if mask and mask[0] != lanes:
                assert mask[0] & lanes == lanes
                continue
            got = together(name.removesuffix(".b32"), lanes, {number % 32: waits[number][4:] for number in numbers})
            told.update((warp * 32 + lane, answer) for lane, answer in got.items())
        return told
