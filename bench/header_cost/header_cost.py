"""header_cost.py — what it costs to include a header: processor time of the reference compiler over an empty file.

Used by tools/bench.py. Every round compiles the empty file and then each header, so that a slow moment of the machine
meets all of them; the cost of a header is its time less that of the empty file in the same round. Processor time, not
time on the clock: what else the machine does must not decide whether the limit is kept.
"""
import os
import subprocess
import tempfile
from pathlib import Path

OURS = "calm/model/outcome.hpp"
OTHERS = ("calm/calm.hpp", "string", "variant", "memory", "functional")
LIMIT_NS = 400_000_000  # where the machine is quiet; there <string> costs as much as this:
STRING_NS = 280_000_000
COMPILER = ("clang++-19", "-std=c++20", "-O2", "-c")


def limit_ns(least):
    """The limit as this machine is now, given the least that each header took: in proportion to <string> where that is slow."""
    return round(LIMIT_NS * max(1.0, least.get("string", 0) / STRING_NS))


class CannotCompile(Exception):
    """The compiler is missing or refuses a header."""


def compile_ns(root, folder, header):
    """The processor time of one compilation; no header is an empty file."""
    source = Path(folder, "unit.cpp")
    source.write_text(f"#include <{header}>\n" if header else "")
    words = [*COMPILER, "-I", str(root), str(source), "-o", str(Path(folder, "unit.o"))]
    try:
        compiler = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    except OSError as error:
        raise CannotCompile(f"cannot run {COMPILER[0]}: {error.strerror}") from None
    said = compiler.stderr.read()
    _, status, used = os.wait4(compiler.pid, 0)
    compiler.stderr.close()
    compiler.returncode = os.waitstatus_to_exitcode(status)
    if compiler.returncode:
        first = (said.strip() or "no message").splitlines()[0]
        raise CannotCompile(f"{COMPILER[0]} does not compile <{header}>: {first}")
    return round((used.ru_utime + used.ru_stime) * 1e9)


def sample(root, rounds):
    """The cost of each header in nanoseconds, once per round."""
    costs = {header: [] for header in (OURS, *OTHERS)}
    with tempfile.TemporaryDirectory(prefix="calm_header_cost_") as folder:
        for header in ("", OURS):
            compile_ns(root, folder, header)  # warms the disk cache
        for _ in range(rounds):
            empty = compile_ns(root, folder, "")
            for header, cost in costs.items():
                cost.append(max(0, compile_ns(root, folder, header) - empty))
    return costs
