#!/usr/bin/env python3
"""explore_parts_test.py — a long `calm explore`: how far it is, Ctrl-C, and going on later.

Usage: tests/e2e/explore_parts_test.py [ExplorePartsTest.test_...]; every test is a ctest test of its own, e2e.explore_...
Environment: CALM_TEST_TOOL, the tool.
"""
import json
import os
import re
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path


class ExplorePartsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="calm_explore_")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def start(self, *words):
        return subprocess.Popen([os.environ["CALM_TEST_TOOL"], "explore", *words], cwd=self.root, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def explore(self, *words, code=0):
        ran = self.start(*words)
        out, err = ran.communicate(timeout=200)
        self.assertEqual(ran.returncode, code, err)
        return out, err

    def test_LAB_5_explore_goes_on_where_it_was_stopped(self):
        _, err = self.explore("lastzero", "--n", "8", "--max-executions", "300", "--save", "left", "--json")
        self.assertEqual(err, "calm: what is left is in left; next: the same with --resume left\n")
        out, _ = self.explore("lastzero", "--n", "8", "--resume", "left", "--max-executions", "500", "--save", "left", "--json")
        self.assertEqual((json.loads(out)["executions"], json.loads(out)["exhausted"]), (500, False))
        out, err = self.explore("lastzero", "--n", "8", "--resume", "left", "--json")
        said = json.loads(out)
        self.assertEqual((said["executions"], said["fingerprints"], said["exhausted"], err), (704, 704, True, ""))

    def test_explore_refuses_a_file_that_does_not_belong_there(self):
        self.explore("lastzero", "--n", "8", "--max-executions", "10", "--save", "left")
        _, err = self.explore("lastzero", "--n", "9", "--resume", "left", code=2)
        self.assertEqual(err, 'calm: left is of "lastzero --n 8 --m 0", and this is "lastzero --n 9 --m 0"\n')
        text = (self.root / "left").read_text()
        (self.root / "bad").write_text(text.replace("report 10 ", "report 11 "))
        _, err = self.explore("lastzero", "--n", "8", "--resume", "bad", code=2)
        self.assertRegex(err, r"\Acalm: bad: line \d+: the digest is another: the text was changed\n\Z")
        _, err = self.explore("lastzero", "--n", "8", "--resume", "gone", code=2)
        self.assertIn("gone cannot be read", err)
        _, err = self.explore("lastzero", "--n", "8", "--save", "left", "--strategy", "random", code=2)
        self.assertIn("--save and --resume are for the strategy optimal", err)

    def test_explore_tells_how_far_it_is_and_shows_what_it_has_on_ctrl_c(self):
        ran = self.start("indexer", "--n", "22", "--progress", "--save", "left")
        lines = [ran.stderr.readline(), ran.stderr.readline()]
        ran.send_signal(signal.SIGINT)
        out, err = ran.communicate(timeout=200)
        for line in lines:
            self.assertRegex(line, r"\A\d+ of 8589934592 executions, \d+/s, about [0-9.]+ (s|min|h) left\n\Z")
        self.assertEqual(ran.returncode, 0, err)
        count = int(re.match(r"indexer: (\d+) executions, and there may be more\n", out)[1])
        self.assertIn("calm: what is left is in left", err)
        out, _ = self.explore("indexer", "--n", "22", "--resume", "left", "--max-executions", str(count + 5), "--json")
        self.assertEqual(json.loads(out)["executions"], count + 5)


if __name__ == "__main__":
    unittest.main()
