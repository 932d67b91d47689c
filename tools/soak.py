#!/usr/bin/env python3
"""soak.py — the campaign. First what the runtime is held to: a million parked tasks cancelled within a second, ten idle seconds in
five milliseconds of CPU, a shutdown in five milliseconds. Then the short tests of threads, a thousand times each on 1, 2 and 8
workers, and on one worker of either flavour. Then every test program again and again, with a hundred thousand cases per property, a
million programs for the kernel beside its reference model (LAB-10), a hundred thousand whole programs in the lab (LAB-6), ten
thousand on each number of workers, a hundred thousand for the explorer beside its count (LAB-5), and ten million operations on the
timer wheel beside a sorted list (TMR-3).

Usage: tools/soak.py --build DIR [--repeats N] [MINUTES]      (default: 10 minutes; DIR is an optimised build)

The thread tests come first and may take all of the time: when it is over they are cut between two lots of repeats, and the
summary says how far they came. They are those of suites named Workers/… and Flavours/…, and those of tests/ON_WORKERS, which
are tests of the lab that also hold on the production runtime. A round runs each program DIR/tests/**/calm_*_tests with a seed
of its own, which is printed. The first round is always completed; later a program that still runs when the time is over is
cut. At the end come the probes that nothing hit.

Exit: 0 when nothing broke; 1 with the counterexample, its seed and the command that repeats it; 2 with one line: bad usage.
"""
import concurrent.futures
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
REPEATS_DEFAULT = 1000
REPEATS_LOT = 50
# Thread tests wait as much as they work: so many of their programs run at a time, on whatever cores there are.
AT_A_TIME = 2 * (os.cpu_count() or 1)
CASES = 100_000
SEQUENCES = 1_000_000
PROGRAMS = 100_000
PROGRAMS_ON_THREADS = 10_000
EXPLORED = 100_000
TIMER_OPERATIONS = 10_000_000
FIRST_RUN_SECONDS_MAX = 3600
WORKERS = (1, 2, 8)
# Tests on threads that take long: they are run by the rounds, and the limits by themselves.
SHORT_FILTER = ("Workers/*:Flavours/*-*LimitsOn*:*ProgramsOn*:*RuntimeOn*:*InspectionOn*:*StuckPollOn*:"
                "*keeps_are_kept*:*a_governor_does_not_keep_others*")
LIMITS = {"CALM_PARKED_TASKS": "1000000", "CALM_IDLE_MS": "10000", "CALM_LIMITS": "strict"}
ON_WORKERS = Path(__file__).resolve().parent.parent / "tests" / "ON_WORKERS"
FAILED = re.compile(r"^\[  FAILED  \] ([\w/]+\.[\w/]+)", re.M)
RAN = re.compile(r"^\[==========\] (\d+) tests? from", re.M)
TOLD_LINES_MAX = 40


def read_number(text, name, most):
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < most:
        raise Unusable(f"soak.py: {name} is a number above 0, not '{text}'")
    return number


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
            "CALM_EXPLORE_SEED": str(seed), "CALM_EXPLORE_PROGRAMS": str(EXPLORED), "CALM_THREADS_SEED": str(seed),
            "CALM_THREADS_COUNT": str(PROGRAMS_ON_THREADS)}


def run(words, settings, seconds, log):
    """Exit code and output, or no code when the time was over first."""
    environment = {**os.environ, **settings, "CALM_PROBE_LOG": str(log)}
    try:
        ran = subprocess.run([*words, "--gtest_brief=1"], env=environment, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, errors="replace", check=False, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None, ""
    return ran.returncode, ran.stdout


def report(words, settings, code, output):
    """What broke, what the program said about it, and the command that repeats it."""
    program, options = Path(words[0]), [str(word) for word in words[1:]]
    failed = list(dict.fromkeys(FAILED.findall(output)))
    print(f"calm: {program.name} " + (f"failed: {' '.join(failed)}" if failed else f"stopped with {code}"))
    lines = output.strip().splitlines()
    if len(lines) > TOLD_LINES_MAX:
        lines = lines[:TOLD_LINES_MAX] + [f"({len(lines) - TOLD_LINES_MAX} lines more)"]
    print("\n".join(f"  | {line}" for line in lines))
    if failed:
        options = [word for word in options if not word.startswith("--gtest_filter=")]
        options.append(f"--gtest_filter={':'.join(failed)}")
    text = " ".join(f"{name}={shlex.quote(value)}" for name, value in settings.items())
    print(f"  next: {text} {shlex.join([str(program), *options])}")


def hold_limits(programs, log):
    """True when the runtime keeps within its limits; what was measured is printed."""
    for program in (program for program in programs if program.name == "calm_runtime_tests"):
        words = [program, "--gtest_filter=*LimitsOn*"]
        code, output = run(words, LIMITS, FIRST_RUN_SECONDS_MAX, log)
        for line in output.splitlines():
            if line.startswith("  on "):
                print(f"limits{line[1:]}", flush=True)
        if code != 0:
            report(words, LIMITS, code, output)
            return False
    return True


def thread_tests(programs):
    """What is repeated: words of a command, and the number of workers where the environment says it."""
    listed = {}
    for line in ON_WORKERS.read_text().splitlines():
        if line and not line.startswith("#"):
            program, test = line.split()
            listed.setdefault(program, []).append(test)
    for program in programs:
        if program.name == "calm_runtime_tests":
            yield [program, f"--gtest_filter={SHORT_FILTER}"], {}
        if program.name in listed:
            for workers in WORKERS:
                yield [program, f"--gtest_filter={':'.join(listed[program.name])}"], {"CALM_TEST_WORKERS": str(workers)}


def parts_of(jobs, lot, seed):
    """The commands of a lot: every job in as many parts as may run at a time, so that none is the last for long."""
    parts = min(AT_A_TIME, lot)
    for part in range(parts):
        repeats = lot // parts + (part < lot % parts)
        for words, workers in jobs:
            yield part, [*words, f"--gtest_repeat={repeats}"], {**workers, "CALM_THREADS_SEED": str(seed + part)}


def repeat_thread_tests(programs, repeats, end, log):
    """How many repeats were done, of how many tests; None when something broke."""
    jobs, done, tests = list(thread_tests(programs)), 0, 0
    while jobs and done < repeats and (done == 0 or time.monotonic() < end):
        lot, seed, start, tests = min(REPEATS_LOT, repeats - done), random.getrandbits(62), time.monotonic(), 0
        with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
            runs = [(part, words, settings, pool.submit(run, words, settings, FIRST_RUN_SECONDS_MAX, log))
                    for part, words, settings in parts_of(jobs, lot, seed)]
            for part, words, settings, ran in runs:
                code, output = ran.result()
                if part == 0 and RAN.search(output):
                    tests += int(RAN.search(output)[1])
                if code != 0:
                    print(f"threads  seed {settings['CALM_THREADS_SEED']:<19}  FAILED")
                    report(words, settings, code, output)
                    pool.shutdown(cancel_futures=True)
                    return None
        done += lot
        print(f"threads  {done} of {repeats} repeats of {tests} tests on 1, 2 and 8 workers  seed {seed:<19}  "
              f"{time.monotonic() - start:7.1f} s  ok", flush=True)
    return done, tests


def campaign(programs, end, log):
    """True when the time ran out before anything broke."""
    width, rounds = max(len(program.name) for program in programs), 0
    while rounds == 0 or time.monotonic() < end:
        rounds += 1
        for program in programs:
            start, seed = time.monotonic(), random.getrandbits(63)
            if rounds > 1 and start >= end:
                break
            code, output = run([program], parameters(seed), end - start if rounds > 1 else FIRST_RUN_SECONDS_MAX, log)
            if code is None and rounds == 1:
                code = f"no end after {FIRST_RUN_SECONDS_MAX} s"
            result = {None: "cut: the time is over", 0: "ok"}.get(code, "FAILED")
            seconds = time.monotonic() - start
            print(f"round {rounds}  {program.name:<{width}}  seed {seed:<19}  {seconds:7.1f} s  {result}", flush=True)
            if code:
                report([program], parameters(seed), code, output)
                return False
    return True


def main():
    parser = OneLineParser("soak.py", __doc__)
    parser.add_argument("--build", type=Path, required=True, metavar="DIR")
    parser.add_argument("--repeats", default=str(REPEATS_DEFAULT), metavar="N")
    parser.add_argument("minutes", nargs="?", default=str(MINUTES_DEFAULT), metavar="MINUTES")
    args = parser.parse_args()
    minutes, repeats = read_number(args.minutes, "MINUTES", 100_000), int(read_number(args.repeats, "N", 1_000_000))
    programs = find_programs(args.build)
    print(f"soak: {len(programs)} test programs, {repeats} repeats of thread tests, {CASES} cases per property, {SEQUENCES} "
          f"programs beside the reference model, {PROGRAMS} in the lab, {PROGRAMS_ON_THREADS} on threads, {EXPLORED} explored, "
          f"{TIMER_OPERATIONS} timers, {minutes:g} minutes", flush=True)
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="calm_soak_") as folder:
        log = Path(folder, "probes.log")
        held = hold_limits(programs, log)
        repeated = repeat_thread_tests(programs, repeats, start + 60 * minutes, log) if held else None
        held = repeated is not None and campaign(programs, start + 60 * minutes, log)
        print(*probes.summary(log), sep="\n")
    if repeated and repeated[1]:
        print(f"threads: {repeated[0]} of {repeats} repeats of {repeated[1]} tests on 1, 2 and 8 workers")
    print("soak: nothing broke" if held else "soak: something broke, see above")
    return 0 if held else 1


if __name__ == "__main__":
    exit_with(main)
