#!/usr/bin/env python3
"""lock_cost_test.py — without lock metrics and slow checks a guard is its locks and nothing more.

Usage: tests/tools/lock_cost_test.py [LockCostTest.test_...]; every test is a ctest test of its own, tools.lock_cost....
Environment: CALM_TEST_COMPILER, the compiler (default: clang++-19).

Compiles lock_cost.cpp against the headers and counts instructions with callgrind, which counts the same every time.
"""
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FLAGS = ["-std=c++20", "-O2", "-g0", "-DNDEBUG", "-DCALM_NO_PROBES=1", f"-I{ROOT}", "-pthread"]
CHECKS = ["calm/check/report.cpp", "calm/check/value.cpp"]
FUNCTIONS = ("one_region", "one_home", "one_everything")
USES = 1000


def run(*command):
    ran = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if ran.returncode:
        raise AssertionError(f"{' '.join(str(word) for word in command)}\n{ran.stdout}{ran.stderr}")
    return ran.stdout


class LockCostTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="calm_lock_cost_")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def instructions(self, name, *defines, sources=()):
        """Per use of each guard: what its function executes, with what it calls."""
        compiler = os.environ.get("CALM_TEST_COMPILER", "clang++-19")
        program, counts = self.folder / name, {}
        files = [ROOT / file for file in ("tests/tools/lock_cost.cpp", *CHECKS, *sources)]
        run(compiler, *FLAGS, *defines, *files, "-o", program)
        for function in FUNCTIONS:
            out = self.folder / f"{name}.{function}"
            run("valgrind", "--tool=callgrind", f"--toggle-collect={function}", f"--callgrind-out-file={out}", program)
            total = int(re.search(r"^totals: (\d+)$", out.read_text(), re.M)[1])
            self.assertEqual(total % USES, 0, f"{function}: {total} instructions are not the same for each of {USES} uses")
            counts[function] = total // USES
        return counts

    def test_SHD_4_without_metrics_a_guard_costs_its_locks_and_nothing_more(self):
        floor = self.instructions("floor", "-DFLOOR")
        for function, count in self.instructions("guards").items():
            # The same steps; a compiler may keep one value more or less in a register.
            self.assertLessEqual(count, floor[function] * 1.1, function)
        self.assertGreater(min(floor.values()), 4, "the locks themselves were counted")

    def test_a_guard_of_one_worker_costs_nothing(self):
        counts = self.instructions("local", "-DLOCAL")
        self.assertEqual(set(counts.values()), {2}, "add one to the work, and return")

    def test_metrics_show_in_the_count(self):
        counts = self.instructions("metered", "-DCALM_LOCK_METRICS=1", sources=["calm/kernel/lock_metrics.cpp"])
        for function, count in counts.items():
            self.assertGreater(count, 50, function)


if __name__ == "__main__":
    unittest.main()
