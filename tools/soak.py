#!/usr/bin/env python3
"""soak.py — the campaign: every test program again and again, with a hundred thousand cases per property, a million
programs for the kernel beside its reference model (LAB-10), a hundred thousand whole programs in the lab (LAB-6), as many
for the explorer beside its count (LAB-5), and ten million operations on the timer wheel beside a sorted list (TMR-3).

Usage: tools/soak.py --build DIR [MINUTES]      (default: 10 minutes; DIR is an optimised build)

A round runs each program DIR/tests/**/calm_*_tests with a seed of its own, which is printed. The first round is always
completed; later a program that still runs when the time is over is cut. At the end come the probes that nothing hit.

Exit: 0 when nothing broke; 1 with the counterexample and the command that repeats it; 2 with one line: bad usage.
"""
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
import probes  # noqa: E402

from console import OneLineParser, Unusable, exit_with

MINUTES_DEFAULT = 10
CASES = 100_000
SEQUENCES = 1_000_000
PROGRAMS = 100_000
EXPLORED = 100_000
TIMER_OPERATIONS = 10_000_000
FIRST_RUN_SECONDS_MAX = 3600
FAILED = re.compile(r"^\[  FAILED  \] ([\w/]+\.[\w/]+)", re.M)
TOLD_LINES_MAX = 40


def read_minutes(text):
    try:
        minutes = float(text)
    except ValueError:
        minutes = 0.0
    if not 0 < minutes < 100_000:
        raise Unusable(f"soak.py: MINUTES is a number above 0, not '{text}'")
    return minutes


def find_programs(build):
    """The test programs of the build; one that the build no longer makes may still lie there and is left out."""
    rules = build / "build.ninja"
    made = set(re.findall(r"^build (\S+)", rules.read_text(), re.M)) if rules.is_file() else None
    found = sorted(path for path in (build / "tests").rglob("calm_*_tests")
                   if path.is_file() and path.stat().st_mode & 0o111
                   and (made is None or path.relative_to(build).as_posix() in made))
    if not found:
        raise Unusable(f"soak.py: no test program in {build}/tests; ./dev soak builds them")
    return found


def parameters(seed):
    """What makes a test program look further than usual, from this seed on."""
    return {"RC_PARAMS": f"seed={seed} max_success={CASES}", "CALM_REFERENCE_SEED": str(seed),
            "CALM_REFERENCE_SEQUENCES": str(SEQUENCES), "CALM_PROGRAM_SEED": str(seed),
            "CALM_PROGRAM_COUNT": str(PROGRAMS), "CALM_TIMER_SEED": str(seed), "CALM_TIMER_OPERATIONS": str(TIMER_OPERATIONS),
            "CALM_EXPLORE_SEED": str(seed), "CALM_EXPLORE_PROGRAMS": str(EXPLORED)}


def run(program, seed, seconds, log):
    """Exit code and output, or no code when the time was over first."""
    environment = {**os.environ, **parameters(seed), "CALM_PROBE_LOG": str(log)}
    try:
        ran = subprocess.run([program, "--gtest_brief=1"], env=environment, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, errors="replace", check=False, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None, ""
    return ran.returncode, ran.stdout


def report(program, seed, code, output):
    """What broke, what the program said about it, and the command that repeats it."""
    failed = list(dict.fromkeys(FAILED.findall(output)))
    print(f"calm: {program.name} " + (f"failed: {' '.join(failed)}" if failed else f"stopped with {code}"))
    lines = output.strip().splitlines()
    if len(lines) > TOLD_LINES_MAX:
        lines = lines[:TOLD_LINES_MAX] + [f"({len(lines) - TOLD_LINES_MAX} lines more)"]
    print("\n".join(f"  | {line}" for line in lines))
    words = [str(program)] + ([f"--gtest_filter={':'.join(failed)}"] if failed else [])
    settings = " ".join(f"{name}={shlex.quote(value)}" for name, value in parameters(seed).items())
    print(f"  next: {settings} {shlex.join(words)}")


def campaign(programs, minutes, log):
    """True when the time ran out before anything broke."""
    end, width, rounds = time.monotonic() + 60 * minutes, max(len(program.name) for program in programs), 0
    while rounds == 0 or time.monotonic() < end:
        rounds += 1
        for program in programs:
            start, seed = time.monotonic(), random.getrandbits(63)
            if rounds > 1 and start >= end:
                break
            code, output = run(program, seed, end - start if rounds > 1 else FIRST_RUN_SECONDS_MAX, log)
            if code is None and rounds == 1:
                code = f"no end after {FIRST_RUN_SECONDS_MAX} s"
            result = {None: "cut: the time is over", 0: "ok"}.get(code, "FAILED")
            seconds = time.monotonic() - start
            print(f"round {rounds}  {program.name:<{width}}  seed {seed:<19}  {seconds:7.1f} s  {result}", flush=True)
            if code:
                report(program, seed, code, output)
                return False
    return True


def main():
    parser = OneLineParser("soak.py", __doc__)
    parser.add_argument("--build", type=Path, required=True, metavar="DIR")
    parser.add_argument("minutes", nargs="?", default=str(MINUTES_DEFAULT), metavar="MINUTES")
    args = parser.parse_args()
    minutes, programs = read_minutes(args.minutes), find_programs(args.build)
    print(f"soak: {len(programs)} test programs, {CASES} cases per property, {SEQUENCES} programs beside the reference model, "
          f"{PROGRAMS} in the lab, {EXPLORED} explored, {TIMER_OPERATIONS} timers, {minutes:g} minutes", flush=True)
    with tempfile.TemporaryDirectory(prefix="calm_soak_") as folder:
        log = Path(folder, "probes.log")
        held = campaign(programs, minutes, log)
        print(*probes.summary(log), sep="\n")
    print("soak: nothing broke" if held else "soak: something broke, see above")
    return 0 if held else 1


if __name__ == "__main__":
    exit_with(main)
