# SPDX-License-Identifier: Apache-2.0
"""bandwidth and overlap over ze-cpu against scripts with random figures: rates, duplex factors, the number of
engines, the bound, and the best schedule, each within 2 %."""
import json
import random
import subprocess

import pytest

CYCLES = 4
TICK_NS = 80
WHOLE = "to-device,to-host,local"
# Which engines, how many stages they let run at once, what is overlapped (more would be cut down to what the
# budget holds) and the budget in s.
ENGINES = {
    "one": (["compute runs kernel", f"copy runs {WHOLE}"], 2, 512 << 10, "0.8"),
    "two": ([f"compute runs kernel,{WHOLE}", f"copy runs {WHOLE}", f"copy runs {WHOLE}"], 3, 512 << 10, "0.8"),
    "parts": (["compute runs kernel,local", "copy runs to-device", "copy runs to-host"], 3, 2 << 20, "1.5"),
}


class Truth:
    """A script, and what must be found of it; GB/s are bytes a nanosecond."""

    def __init__(self, shape):
        draw = random.Random(f"recover {shape}")
        self.engines, self.stages, self.bytes, self.budget = ENGINES[shape]
        self.rate = {"to-device": round(draw.uniform(0.2, 1), 3), "to-host": round(draw.uniform(0.2, 1), 3)}
        self.share = {name: draw.randint(60, 100) for name in self.rate}
        self.fixed = draw.randint(5, 30)
        self.turns = round(draw.uniform(0.2, 0.6), 3)
        self.route = " route queue" if shape == "two" else ""

    def text(self, engines=None, route=None):
        up, down = self.rate["to-device"], self.rate["to-host"]
        lines = "\n".join(f"engine {each}" for each in engines or self.engines)
        return f"""tare-device 1
device name "Recover" units 24 memory 1 GiB largest 256 MiB
timer rate 12.5 MHz bits 36
stamps start,end
queue submission 2 us gap 1 us same-gap 1 us event-gap 1 us{self.route if route is None else route}
{lines}
copy pinned device fixed {self.fixed} us rate {up} GB/s
copy device pinned fixed {self.fixed} us rate {down} GB/s
copy pageable device fixed 20 us rate 0.2 GB/s
copy device pageable fixed 20 us rate 0.2 GB/s
copy device device fixed 20 us rate 4 GB/s
concurrent to-device speed {self.share["to-device"]} % while to-host
concurrent to-host speed {self.share["to-host"]} % while to-device
fill fixed 10 us rate 4 GB/s
kernel empty fixed 5 us
kernel overlap_register fixed 10 us repeat 5 repeat-rate {self.turns} Gitem/s action overlap-register arguments 6
"""

    def alone_ns(self, name, size):
        return 1000 * self.fixed + size / self.rate[name]

    def kernel_ns(self):
        return 10000 + self.bytes / 4 * CYCLES / self.turns

    def bound_ns(self):
        """The longest stage; both copies on one engine are one. With two, what is left of the longer one goes at
        its speed alone."""
        up, down = (self.alone_ns(name, self.bytes) for name in self.rate)
        if self.stages == 2:
            return max(up + down, self.kernel_ns())
        speed = [self.share[name] / 100 for name in self.rate]
        together = min(up / speed[0], down / speed[1])
        copies = together + max(up - together * speed[0], down - together * speed[1])
        return max(copies, self.kernel_ns())


@pytest.fixture(scope="module", autouse=True)
def kernels(tare_path):
    shown = subprocess.run([tare_path, "--ze-cpu", "latency", "--budget", "0.01", "--json", "-"],
                           capture_output=True, text=True, check=False)
    for words in ("libze_cpu.so is not in", "no Level Zero loader", "without Level Zero"):
        if words in shown.stderr:
            pytest.skip(words)
    for words in ("tare's own kernels do not build", "carries no"):
        if words in shown.stdout + shown.stderr:
            pytest.skip(words)


@pytest.fixture(params=list(ENGINES))
def truth(request, tmp_path):
    found = Truth(request.param)
    (tmp_path / "s.txt").write_text(found.text())
    # Of the simulated device any queue uses any engine: with the engines that stages are spread over it is the same.
    (tmp_path / "simulated.txt").write_text(found.text(ENGINES["one" if found.stages == 2 else "parts"][0], ""))
    return found


def cells_of(result):
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    return document["cells"], document["plots"]


def one(cells, quantity=None, **labels):
    found = [each for each in cells if quantity in (None, each["quantity"]) and
             all(each["labels"].get(name) == value for name, value in labels.items())]
    assert len(found) == 1, (labels, found)
    return found[0]


def test_bandwidth_finds_rates_and_the_duplex_factor(tare, truth):
    size = 512 << 10
    cells, _ = cells_of(tare("--ze-cpu=s.txt", "bandwidth", "--lines", "host-to-device,device-to-host,both", "--sizes",
                             "512K..512K", "--budget", "0.3", "--json", "-"))
    for name, line in (("to-device", "host-to-device"), ("to-host", "device-to-host")):
        alone = [each for each in cells if each["labels"].get("line") == line and each["source"] == "device"][0]
        assert alone["median"] / 1000 == pytest.approx(truth.alone_ns(name, size), abs=TICK_NS), line
        both = [each for each in cells if each["labels"].get("line") == f"both-{name}"][0]
        if truth.stages == 2:
            assert "did not run at once" in both["absent"]
            continue
        speed = truth.share[name] / 100
        wanted = size / (1000 * truth.fixed + size / (truth.rate[name] * speed))
        assert both["rate"]["median"] == pytest.approx(wanted, rel=0.02), line


def test_overlap_finds_engines_bound_and_the_best_schedule(tare, truth):
    options = ["--bytes", str(truth.bytes), "--cycles", f"{CYCLES}..{CYCLES}:1", "--chunks", "1,8", "--queues", "2",
               "--break", "none", "--budget"]
    known, _ = cells_of(tare("overlap", "-d", "simulated:simulated.txt", *options, truth.budget, "--json", "-"))
    cells, plots = cells_of(tare("--ze-cpu=s.txt", "overlap", *options, truth.budget, "--json", "-"))
    best, known_ns = one(cells, best=1), one(known, best=1)["median"]
    # By the device's clock, however busy this machine is; the drawing is another run, by the stamps of each operation.
    drawn = [point for series in plots[0]["series"] for point in series["points"]]
    assert plots[0]["id"] == "timeline" and drawn and best["source"] == "device"
    stamped = max(point[3] for point in drawn) - min(point[2] for point in drawn)
    assert best["median"] == pytest.approx(stamped, rel=0.02)
    assert one(cells, group="engines", what="revealed")["median"] == truth.stages
    assert one(cells, group="bound", what="bound")["median"] == pytest.approx(truth.bound_ns(), rel=0.02)
    for name in truth.rate:
        time = one(cells, group="sequential", stage=name)["median"] / 1000
        assert time == pytest.approx(truth.alone_ns(name, truth.bytes), abs=TICK_NS), name
        modes = {each["labels"]["mode"]: each["median"] for each in cells
                 if each["labels"].get("group") == "mode" and each["labels"]["stage"] == name and not each["absent"]}
        if truth.stages == 3:
            assert modes[name] / modes["to-device+to-host"] == pytest.approx(truth.share[name] / 100, rel=0.02), name
    assert 0.98 * truth.bound_ns() <= best["median"] <= 1.02 * known_ns


def test_a_kernel_whose_time_does_not_grow_is_one_sentence(tare, test_data):
    result = tare(f"--ze-cpu={test_data}/ze-discrete.tare-device", "overlap", "--bytes", "4M", "--budget", "2")
    assert result.returncode == 1 and "the device's time does not grow with the work" in result.stderr, result.stderr
