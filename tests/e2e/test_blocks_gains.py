# SPDX-License-Identifier: Apache-2.0
"""tare blocks --gains: kernels are changed where it can be done, and where no figure is known the reason is told.
What is promised is compared with what it brings in test_blocks_promises.py."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import validate  # noqa: E402
from recorded import SANITIZED, built, run  # noqa: E402, F401
from test_blocks import COUNTED, KERNELS, TOOLS, Blocks, kernel_of, once, words_of  # noqa: E402, F401
from test_blocks_findings import PAIRS  # noqa: E402

pytestmark = [built(), pytest.mark.skipif(SANITIZED, reason="drivers cannot load a sanitized layer"),
              pytest.mark.skipif(not TOOLS, reason="there is no clang with an llvm-spirv of its version")]

# No machine makes these changes: the most is what the kernel takes.
BOUND = {
    "divergent-branch": ("divergent", "50", "256", "64"),
    "uncoalesced-access": ("scattered", "40", "256", "64"),
    "frequent-barriers": ("waiting", "1", "256", "64"),
}


FILLED = """
kernel void filled(global const float *in, global float *out, int n) { int i = get_global_id(0); out[i] = in[i & 1023] + n; }
kernel void filled_mended(global const float *in, global float *out, int n)
{ int i = get_global_id(0); out[i] = in[i & 1023] + n; }
"""


def finding_of(document, kernel, finding):
    found = [one for one in kernel_of(document, kernel)["findings"] if one["id"] == finding]
    assert len(found) == 1, (kernel, finding)
    return found[0]


def test_what_no_machine_can_change_has_the_kernels_time_as_its_most(once):  # noqa: F811
    words = [word for row in BOUND.values() for word in row]
    done, document = once.blocks(PAIRS, "", *words, options=["--sample", "--gains", "--rounds", "1"], COLUMNS="80")
    for finding, (kernel, *_) in BOUND.items():
        one = finding_of(document, kernel, finding)
        assert one["low_ns"] is one["best_ns"] is None and one["high_ns"] == one["kernel_ns"] > 0
        assert one["gain_why"].endswith("is the program's to change")
    assert " ".join(done.out.decode().split()).count("It brings at most") == 3
    assert b"have no finding" not in done.errors
    assert all(line == line[:80] for line in done.out.decode().partition("What to change")[2].splitlines()[:9])


def test_nothing_is_promised_that_was_not_asked_for(once):  # noqa: F811
    done, document = once.blocks(PAIRS, "", "divided", "7", "256", "64")
    one = finding_of(document, "divided", "integer-division")
    assert [one[name] for name in ("low_ns", "best_ns", "high_ns", "kernel_ns", "gain_why")] == [None] * 5
    assert b"measured by --gains" in done.out


def test_kernels_without_findings_are_not_run_again_and_that_is_said(once):  # noqa: F811
    done, document = once.blocks(KERNELS, "", *words_of(["vectors"]), options=["--gains", "--rounds", "1"])
    assert kernel_of(document, "vectors")["findings"] == []
    assert b"--gains: these kernels have no finding, so that there is nothing to measure" in done.errors


DIVISIONS = """
kernel void parts(global const int *in, global int *out, int n)
{
    int i = get_global_id(0), sum = 0;
    for (int k = 0; k < 100; k++)
        sum += (i + k) / n + (i * k) %n;
    out[i] = sum;
}
kernel void loaded(global const int *in, global int *out, int n)
{
    int i = get_global_id(0), sum = 0;
    for (int k = 0; k < 100; k++)
        sum += (i + k) / out[i];
    out[i] = sum;
}
#define PART / n
kernel void hidden(global const int *in, global int *out, int n)
{
    int i = get_global_id(0), sum = 0;
    for (int k = 0; k < 100; k++)
        sum += (i + k) PART;
    out[i] = sum;
}
int quotient(int i, int n)
{
    return i / n;
}
kernel void called(global const int *in, global int *out, int n)
{
    int i = get_global_id(0), sum = 0;
    for (int k = 0; k < 100; k++)
        sum += quotient(i + k, n);
    out[i] = sum;
}
kernel void called_with_other(global const int *in, global int *out, int m)
{
    int i = get_global_id(0), sum = 0;
    for (int k = 0; k < 100; k++)
        sum += quotient(i + k, m + 2);
    out[i] = sum;
}
kernel void half_seen(global const int *in, global int *out, int n)
{
    int i = get_global_id(0), sum = 0;
    for (int k = 0; k < 100; k++) {
        sum += (i + k) / n;
        sum += (i + k * k) / (in[k] + 1);
    }
    out[i] = sum;
}
"""
# A constant in the whole kernel would make the inner loop one of seven rounds.
LOOPED = """
#define QUOTIENT(a, b) ((a) / (b))
kernel void looped(global const int *in, global int *out, int n)
{
    int i = get_global_id(0), sum = 0;
    for (int y = 0; y < 32; y++) {
        int part = i;
        for (int k = 0; k < n; k++)
            part += (y + k) * (y + k) ^ k;
        sum += QUOTIENT(part, n);
    }
    out[i] = sum;
}
"""
# What the text says elsewhere than where the division stands.
HOSTILE = """
// kernel void commented(int m) { x / n; }
kernel void commented(global const int *in, global int *out, int n)
{
    int i = get_global_id(0), sum = 0;
    for (int k = 0; k < 100; k++) { /* / n */ sum += '/' + (i + k) / /* of n; */ n; sum ^= i % n; } // sum / n
    out[i] = sum;
}
kernel void shadowed(global const int *in, global int *out, int n)
{
    int i = get_global_id(0), sum = 0;
    for (int k = 0; k < 100; k++) {
        sum += (i + k) / n;
        { int n = in[k & 7] + 2; sum += (i * k) / n; }
    }
    out[i] = sum;
}
kernel void assigned(global const int *in, global int *out, int n)
{
    int i = get_global_id(0), sum = 0;
    for (int k = 0; k < 100; k++) {
        sum += (i + k) / n;
        n += k & 0;
    }
    out[i] = sum;
}
kernel void masked(global const int *in, global int *out, int n)
{
    int i = get_global_id(0), sum = 0;
#define n n + 3
    for (int k = 0; k < 100; k++)
        sum += (i + k) / n;
#undef n
    out[i] = sum;
}
#if 0
kernel void twice(global const int *in, global int *out, int n)
{
    int sum = in[0] / n;
}
#else
kernel void twice(global const int *in, global int *n, int m)
{
    int i = get_global_id(0), sum = 0;
    for (int k = 0; k < 100; k++)
        sum += (i + k) / m;
    n[i] = sum;
}
#endif
"""
FLOATS = """
#define TENTH 0.1
kernel void literal(global const float *in, global float *out, int n)
{
    float x = in[get_global_id(0)];
    for (int k = 0; k < n; k++)
        x = x * 1.5 + .25 - 1e-3; // 2.5
    out[get_global_id(0)] = x;
}
kernel void both(global const float *in, global float *out, int n)
{
    float x = in[get_global_id(0)];
    for (int k = 0; k < n; k++)
        x = x * 1.5 + TENTH;
    out[get_global_id(0)] = x;
}
kernel void wide(global const float *in, global float *out, int n)
{
    double sum = 0;
    for (int k = 0; k < n; k++)
        sum = fmax(sum, in[k] * 1.1);
    out[get_global_id(0)] = sum;
}
kernel void named(global const float *in, global float *out, int n)
{
    float x = in[get_global_id(0)];
    for (int k = 0; k < n; k++)
        x = x * TENTH;
    out[get_global_id(0)] = x;
}
"""


def gained(blocks, source, *words, rounds=1, options=()):
    path = blocks.folder / "source.cl"
    path.write_text(source, encoding="utf-8")
    done, document = blocks.blocks(path, "", *words, options=["--gains", "--rounds", str(rounds), *options])
    assert done.status == 0, done.errors.decode()
    return done, document


WHOLE, NONE = "fewer than 6 rounds", "no argument"


def test_divisors_are_found_in_the_source_or_it_is_said(once):  # noqa: F811
    """A macro's division, and a function's, which is of more than one kernel with other divisors, have no place."""
    done, document = gained(once, DIVISIONS + LOOPED, *(word for name in ("parts", "hidden", "looped", "half_seen", "called", "called_with_other")
                                               for word in (name, "7", "256", "64")), rounds=6)
    parts = finding_of(document, "parts", "integer-division")
    assert parts["gain_why"] is None and parts["best_ns"] is not None and parts["differs"] is False
    assert finding_of(document, "hidden", "integer-division")["gain_why"] is None, "all of the kernel takes the value"
    looped = finding_of(document, "looped", "integer-division")
    assert looped["best_ns"] is looped["low_ns"] is None and "for something else, too" in looped["gain_why"]
    half = finding_of(document, "half_seen", "integer-division")
    assert half["best_ns"] is None and "50 % of these only" in half["gain_why"] and half["low_ns"] is not None
    for kernel in ("called", "called_with_other"):
        # The line is both kernels', and one of them divides by what is computed.
        other = finding_of(document, kernel, "integer-division")
        assert other["best_ns"] is None and NONE in other["gain_why"] and other["high_ns"] > 0
    assert b"results differ" not in done.out, "a constant divisor divides as the argument did"


def test_what_a_name_means_elsewhere_is_not_changed(once):  # noqa: F811
    """Remarks, other variables of the name, macros, and kernels that stand there twice."""
    reasons = {"commented": WHOLE, "shadowed": NONE, "assigned": NONE, "masked": NONE, "twice": NONE}
    done, document = gained(once, HOSTILE, *(word for name in reasons for word in (name, "7", "256", "64")))
    found = {name: finding_of(document, name, "integer-division") for name in reasons}
    assert {name: why for name, why in reasons.items() if why not in found[name]["gain_why"]} == {}, found
    assert found["commented"]["differs"] is False and b"results differ" not in done.out


def test_an_argument_that_differs_between_launches_is_no_constant(once):  # noqa: F811
    _, document = gained(once, DIVISIONS, "parts", "7", "256", "64", "parts", "9", "256", "64")
    one = finding_of(document, "parts", "integer-division")
    assert one["best_ns"] is None and "no argument that is the same in each launch" in one["gain_why"]


def test_constants_become_floats_where_the_source_has_them(once):  # noqa: F811
    names = ("literal", "named", "both", "wide")
    _, document = gained(once, FLOATS, *(word for name in names for word in (name, "9", "256", "64")), rounds=6)
    assert finding_of(document, "literal", "double-constant")["gain_why"] is None
    for kernel in names[1:]:
        one = finding_of(document, kernel, "double-constant")
        assert one["best_ns"] is None and "cannot make the change" in one["gain_why"], kernel


def test_a_constant_of_other_doubles_is_left(once):  # noqa: F811
    """On a line that computes what need not be doubles stands one that is: the text is left, and the option keeps it."""
    source = ("typedef double real;\nkernel void beside(global const float *in, global float *out, int n)\n{\n"
              "    float x = in[get_global_id(0)];\n    real sum = 0;\n    for (int k = 0; k < n; k++) {\n"
              "        x = x * 1.5 + .25; real tenth = 0.1;\n        sum = sum * tenth + k;\n    }\n"
              "    out[get_global_id(0)] = x + sum;\n}\n")
    done, document = gained(once, source, "beside", "9", "256", "64")
    assert WHOLE in finding_of(document, "beside", "double-constant")["gain_why"]
    assert b"results differ" not in done.out


def test_lines_that_a_directive_moves_are_not_edited(once):  # noqa: F811
    _, document = gained(once, FLOATS.replace("kernel void named", "#line 40\nkernel void named"), "literal", "9", "256",
                         "64")
    assert "cannot make the change" in finding_of(document, "literal", "double-constant")["gain_why"]


def test_groups_are_changed_only_where_a_kernel_does_not_see_them(once):  # noqa: F811
    source = ("kernel void seen(global const float *in, global float *out, int n)\n"
              "{ out[get_global_id(0)] = in[get_local_id(0)] + get_group_id(0); }\n")
    _, document = gained(once, source, "seen", "1", "256", "1")
    findings = kernel_of(document, "seen")["findings"]
    if not findings:
        pytest.skip("the driver tells no width")
    assert findings[0]["best_ns"] is None and "sees how its work-items are grouped" in findings[0]["gain_why"]


def test_few_rounds_promise_no_more_than_the_kernels_time(once):  # noqa: F811
    _, document = gained(once, DIVISIONS, "parts", "7", "256", "64", rounds=1)
    one = finding_of(document, "parts", "integer-division")
    assert one["best_ns"] is None and one["high_ns"] == one["kernel_ns"] > 0 and "fewer than 6 rounds" in one["gain_why"]


def test_runs_that_fail_leave_the_report(once):  # noqa: F811
    """The program takes away what it was to leave, as a full disk would. What it was linked with is kept till then."""
    script = once.folder / "breaks"
    changed = once.folder / "changed"
    script.write_text(f'#!/bin/sh\n"$@"\n[ "$TARE_BLOCKS_STAGE" = change ] && cat "$TARE_BLOCKS"/*.module > {changed} && '
                      'rm -r "$TARE_BLOCKS"\nexit 0\n', encoding="utf-8")
    script.chmod(0o755)
    source, path = once.folder / "source.cl", once.folder / "broken.json"
    source.write_text(DIVISIONS, encoding="utf-8")
    # Not every driver takes it there.
    takes = once.native(source, "", "parts", "7", "256", "64", COUNTED_LINKED="-cl-mad-enable").status == 0
    linking = "-cl-mad-enable" if takes else ""
    done = run([once.tare, "blocks", "--gains", "--rounds", "1", "--json", path, "--", script, COUNTED, source, "", "parts",
                "7", "256", "64"], {**once.environment, "COUNTED_LINKED": linking}, cwd=once.folder)
    one = finding_of(validate.load(path), "parts", "integer-division")
    assert done.status == 0 and one["kernel_ns"] is None and one["gain_why"].startswith("its runs failed: "), done.errors
    assert b"What it brings in time: n/a, because its runs failed" in done.out
    assert b"kernel void parts" in changed.read_bytes() and linking.encode() in changed.read_bytes()
