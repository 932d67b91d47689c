#!/usr/bin/env python3
"""fuzz.py — runs the fuzz targets of a build, one after the other, and keeps what they learn.

Usage: tools/fuzz.py --build DIR [SECONDS] [TARGET...]      (default: 60 seconds for each target)
       [--root DIR]

A target is a program DIR/tests/fuzz/fuzz_<name>; TARGET is its name with or without fuzz_. First it runs the inputs
that once broke it, tests/fuzz/regressions/<target>/*, then it looks for new ones from build/fuzz-corpus/<target> on.

Exit: 0 with one line per target; 1 with the input that broke a target and the command that repeats it; 2 bad usage.
"""
import os
import re
import shlex
import subprocess
from pathlib import Path

from console import OneLineParser, Unusable, exit_with

SECONDS_DEFAULT = 60
INPUT_BYTES_MAX = 1024
INPUT_SECONDS_MAX = 10
HEX_BYTES_MAX = 256
EXCERPT_LINES = 8
EXCERPT_START = re.compile(r"^(calm: |.*runtime error: |==\d+==\s?ERROR)", re.M)


def find_targets(build):
    """Programs by name."""
    found = {path.name: path for path in sorted((build / "tests/fuzz").glob("fuzz_*"))
             if path.is_file() and path.stat().st_mode & 0o111}
    if not found:
        raise Unusable(f"fuzz.py: no fuzz target in {build}/tests/fuzz; ./dev fuzz builds them")
    return found


def read_words(words, targets):
    """SECONDS and the targets that the words name."""
    seconds = SECONDS_DEFAULT
    if words and (words[0][:1].isdigit() or words[0][:1] == "-"):
        if not words[0].isdigit() or int(words[0]) == 0:
            raise Unusable(f"fuzz.py: SECONDS is a whole number from 1 on, not '{words[0]}'")
        seconds, words = int(words[0]), words[1:]
    names = []
    for word in words:
        name = word if word.startswith("fuzz_") else f"fuzz_{word}"
        if name not in targets:
            raise Unusable(f"fuzz.py: no target '{word}'; there are {' '.join(targets)}")
        names.append(name)
    return seconds, names or list(targets)


def hex_dump(data):
    lines = []
    for start in range(0, min(len(data), HEX_BYTES_MAX), 16):
        row = data[start:start + 16]
        letters = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
        lines.append(f"  {start:04x}  {row.hex(' '):<47}  {letters}")
    if len(data) > HEX_BYTES_MAX:
        lines.append(f"  and {len(data) - HEX_BYTES_MAX} bytes more")
    return "\n".join(lines) or "  (no bytes)"


def excerpt(output):
    """The lines that say what broke."""
    start = EXCERPT_START.search(output)
    lines = output[start.start():].splitlines() if start else output.strip().splitlines()[-EXCERPT_LINES:]
    end = next((place for place, line in enumerate(lines) if place and line.startswith("==")), EXCERPT_LINES)
    return "\n".join(f"  | {line}" for line in lines[:min(end, EXCERPT_LINES)])


def count(number, noun):
    return f"{number} {noun}{'' if number == 1 else 's'}"


def report(name, program, path, output):
    """Says what broke, on which bytes, and how to see it again."""
    known, path = "regressions" in path.parts, Path(os.path.relpath(path))
    data = path.read_bytes()
    print(f"calm: {name} broke on {path} ({count(len(data), 'byte')})\n{excerpt(output)}\n{hex_dump(data)}")
    print(f"  next: {shlex.join([str(program), str(path)])}")
    if not known:
        print(f"  next: once it is repaired, keep the input in tests/fuzz/regressions/{name}/")


def call(program, *words, seconds):
    """Exit code and output of a target; None when it had to be stopped."""
    try:
        ran = subprocess.run([program, *words], capture_output=True, text=True, errors="replace", check=False,
                             timeout=seconds)
        return ran.returncode, ran.stdout + ran.stderr
    except subprocess.TimeoutExpired as late:
        return None, (late.stderr or b"").decode(errors="replace")


class Fuzzer:
    def __init__(self, root, build, seconds):
        self.root, self.seconds = root, seconds
        self.targets = find_targets(build)

    def run_regressions(self, name):
        """How many known inputs hold, or None after the report of one that does not."""
        paths = sorted(path for path in (self.root / "tests/fuzz/regressions" / name).glob("*") if path.is_file())
        for path in paths:
            code, output = call(self.targets[name], str(path), seconds=60)
            if code != 0:
                report(name, self.targets[name], path, output)
                return None
        return len(paths)

    def search(self, name):
        """Looks for new inputs; false after the report of one that broke the target."""
        corpus, crashes = self.root / "build/fuzz-corpus" / name, self.root / "build/fuzz-crashes" / name
        for folder in (corpus, crashes):
            folder.mkdir(parents=True, exist_ok=True)
        before = set(crashes.iterdir())
        code, output = call(self.targets[name], f"-max_total_time={self.seconds}", f"-max_len={INPUT_BYTES_MAX}",
                            f"-timeout={INPUT_SECONDS_MAX}", f"-artifact_prefix={crashes}/", "-print_final_stats=1",
                            str(corpus), seconds=self.seconds + 120)
        if code == 0:
            print(f"{name:<{max(map(len, self.targets))}}  {statistics(output)}", flush=True)
            return True
        for path in sorted(set(crashes.iterdir()) - before):
            report(name, self.targets[name], path, output)
            break
        else:
            print(f"calm: {name} stopped with {code} and left no input\n{excerpt(output)}")
            print(f"  next: {self.targets[name]}")
        return False

    def run(self, name):
        known = self.run_regressions(name)
        if known:
            print(f"{name}: {count(known, 'known input')} repeated", flush=True)
        return known is not None and self.search(name)


def statistics(output):
    numbers = dict(re.findall(r"^stat::(\w+):\s*(\d+)", output, re.M))
    coverage = re.findall(r"\bcov: (\d+)", output)
    runs, units = (int(numbers.get(key, 0)) for key in ("number_of_executed_units", "new_units_added"))
    return f"{runs:>11,} executions  {units:>6,} new units  coverage {coverage[-1] if coverage else 'unknown':>5}"


def main():
    parser = OneLineParser("fuzz.py", __doc__)
    parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent)
    parser.add_argument("--build", type=Path, required=True, metavar="DIR")
    parser.add_argument("words", nargs="*", metavar="SECONDS TARGET")
    args = parser.parse_args()
    seconds, names = read_words(args.words, find_targets(args.build))
    fuzzer = Fuzzer(args.root, args.build, seconds)
    print(f"fuzz: {count(len(names), 'target')}, {seconds} s each", flush=True)
    broken = [name for name in names if not fuzzer.run(name)]
    if broken:
        print(f"fuzz: {len(broken)} of {count(len(names), 'target')} broke: {' '.join(broken)}")
    else:
        print(f"fuzz: {count(len(names), 'target')}, nothing broke")
    return int(bool(broken))


if __name__ == "__main__":
    exit_with(main)
