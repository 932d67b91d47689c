#!/usr/bin/env python3
"""contention_test.py — tools/contention.py on the programs of this build, and on stand-ins that break a law.

Usage: tests/e2e/contention_test.py [ContentionTest.test_...]; every test is a ctest test of its own, e2e.contention_...
Environment: CALM_TEST_BUILD, the build directory.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools/contention.py"
WORKLOADS = ("polling", "spawn", "commit", "cancel", "snapshot")
RUN = {"rounds": 1, "ns": 1, "locks": [], "records": [], "cancels": [], "promises": []}


def record(shard, action, caller="cancel"):
    return {"at_ns": 1, "shard": shard, "action": action, "worker": 0, "wait_ns": 0, "held_ns": 1, "caller": caller}


class ContentionTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="calm_contention_")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.out = self.root / "out"

    def run_tool(self, *words, build=None):
        return subprocess.run([sys.executable, TOOL, "--build", build or os.environ["CALM_TEST_BUILD"], "--out", self.out, *words],
                              cwd=self.root, check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True)

    def stand_in(self, **members):
        """A build whose programs print this for every run."""
        folder = self.root / "apps/contention"
        folder.mkdir(parents=True)
        for name in ("contention", "contention_metered"):
            (folder / name).write_text(f"#!/bin/sh\ncat <<'END'\n{json.dumps({**RUN, **members})}\nEND\n")
            (folder / name).chmod(0o755)
        return self.root

    def read(self, name):
        return json.loads((self.out / name).read_text())

    def test_contention_writes_ratios_locks_waterfall_cancels_and_promises(self):
        ran = self.run_tool("--quick", "--seconds", "0.01", "--workers", "2")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""), ran.stdout)
        for workload in WORKLOADS:
            self.assertRegex(ran.stdout, rf"(?m)^  {workload} +\d+ +\d+ +\d+\.\d\d  \d+\.\d\d … \d+\.\d\d$")
        self.check_ratios()
        self.check_locks()
        self.check_cancels()
        self.check_promises()
        self.check_pictures()

    def check_ratios(self):
        rows = self.read("ratios.json")
        self.assertEqual([(row["workload"], row["workers"], row["runs"]) for row in rows], [(name, 2, 3) for name in WORKLOADS])
        for row in rows:
            self.assertTrue(0 < row["ratio_min"] <= row["ratio"] <= row["ratio_max"], row)

    def check_locks(self):
        locks, records = self.read("locks.json"), self.read("records.json")
        self.assertEqual(set(locks), {f"{name} {build}" for name in WORKLOADS for build in ("sharded", "one_mutex")})
        self.assertEqual({row["shard"] for row in locks["cancel one_mutex"]}, {"M"})
        by_caller = {}
        for row in locks["cancel sharded"]:
            by_caller.setdefault(row["caller"], []).append(row["shard"])
            self.assertEqual(sum(row["wait"]), sum(row["held"]), row)
        self.assertEqual(by_caller["cancel"], ["B", "A0", "A1", "C"])
        self.assertEqual(by_caller["acknowledge"], ["A0", "A1"])
        self.assertNotIn("begin poll", {row["caller"] for row in locks["polling sharded"]}, "a poll takes no shard (SHD-2)")
        taken = [row["shard"] for row in records["cancel sharded"] if row["worker"] == 1 and row["caller"] == "cancel"]
        self.assertEqual(taken[:8], ["B", "A0", "A1", "C", "C", "A1", "A0", "B"])

    def check_cancels(self):
        rows = self.read("cancel_graph.json")
        kinds = {row["kind"] for row in rows}
        self.assertEqual(kinds, {"User", "ParentCancelled"})
        self.assertEqual(len(rows) % 10, 0, "a cancel reaches two regions and eight tasks")
        for row in rows:
            self.assertLessEqual(row["requested_ns"], row["ended_ns"], row)
            self.assertEqual(row["acknowledged_ns"] is None, row["who"].startswith("r"), row)

    def check_promises(self):
        rows = self.read("obligations.json")
        self.assertEqual(len(rows), 400, "one in each round")
        self.assertEqual({row["state"] for row in rows}, {"Committed"})
        self.assertEqual({row["worker"] for row in rows}, {0, 1})

    def check_pictures(self):
        page = (self.out / "index.html").read_text()
        self.assertNotRegex(page.replace("http://www.w3.org/2000/svg", ""), r"https?://|<script|src=|href=", "it loads nothing")
        for name in ("ratios", "histograms", "waterfall", "cancel_graph", "obligations"):
            picture = (self.out / f"{name}.svg").read_text()
            ElementTree.fromstring(picture)
            self.assertIn(picture, page)
        waterfall = (self.out / "waterfall.svg").read_text()
        self.assertRegex(re.sub(r"<[^>]*>", " ", waterfall), r"cancel\s+B\s.*?A0\s.*?A1\s.*?C\s|complete task\s+B\s")
        self.assertIn("polling", (self.out / "summary.txt").read_text())

    def test_contention_refuses_locks_that_are_out_of_order(self):
        shards = ("C", "B")
        build = self.stand_in(records=[record(shard, action) for action in ("lock", "unlock") for shard in shards])
        ran = self.run_tool("--quick", build=build)
        self.assertEqual(ran.returncode, 1, ran.stdout)
        self.assertIn("calm: polling on sharded: cancel of worker 0 locked C → B\n  rule: SHD-1 ", ran.stderr)

    def test_contention_refuses_a_promise_without_an_end(self):
        promise = {"who": "o7", "holder": "t3", "kind": "ack", "state": "reserved", "worker": 0, "reserved_ns": 1,
                   "resolved_ns": None}
        ran = self.run_tool("--quick", build=self.stand_in(promises=[promise]))
        self.assertEqual(ran.returncode, 1, ran.stdout)
        self.assertIn("the promise o7 of t3 was never resolved\n  rule: OBL-1 ", ran.stderr)

    def test_contention_refuses_bad_usage(self):
        for words, says in ((("--workers", "0"), "--workers is a number from 1 to 64"),
                            (("--seconds", "0"), "--seconds is a number above 0"),
                            (("--seconds", "nan"), "--seconds is a number above 0")):
            ran = self.run_tool(*words)
            self.assertEqual((ran.returncode, ran.stdout), (2, ""), ran.stderr)
            self.assertIn(says, ran.stderr)
        ran = self.run_tool(build=self.root)
        self.assertEqual(ran.returncode, 2, ran.stderr)
        self.assertIn("is not built; ./dev contention builds it", ran.stderr)


if __name__ == "__main__":
    unittest.main()
