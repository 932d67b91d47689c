#!/usr/bin/env python3
"""hardening_test.py — a build with CALM_HARDEN really hardens the calm tool, as its ELF file shows.

Usage: tests/e2e/hardening_test.py [HardeningTest.test_...]; every test is a ctest test of its own, e2e....
Environment: CALM_TEST_TOOL, the tool.
"""
import os
import re
import subprocess
import unittest

# glibc has a checked twin of these, which the compiler takes where it knows the size of the buffer.
CANDIDATES = {"memcpy", "memmove", "memset", "strcpy", "strcat", "snprintf", "vsnprintf", "fprintf", "printf", "read"}


class HardeningTest(unittest.TestCase):
    def readelf(self, *options):
        command = ["readelf", "--wide", *options, os.environ["CALM_TEST_TOOL"]]
        english = {**os.environ, "LC_ALL": "C"}
        return subprocess.run(command, env=english, capture_output=True, text=True, check=True).stdout

    def imports(self):
        return set(re.findall(r"\bUND (\w+)", self.readelf("--dyn-syms")))

    def test_release_binary_is_hardened(self):
        with self.subTest("position independent"):
            self.assertRegex(self.readelf("--file-header"), r"Type:\s+DYN")
            self.assertRegex(self.readelf("--dynamic"), r"\(FLAGS_1\).*\bPIE\b")
        with self.subTest("full RELRO"):
            self.assertIn("GNU_RELRO", self.readelf("--program-headers"))
            self.assertRegex(self.readelf("--dynamic"), r"\(FLAGS\).*\bBIND_NOW\b|\(FLAGS_1\).*\bNOW\b")
        with self.subTest("no executable stack"):
            self.assertRegex(self.readelf("--program-headers"), r"GNU_STACK.* RW +0x")
        with self.subTest("stack protector"):
            self.assertTrue("__stack_chk_fail" in self.imports(), "__stack_chk_fail is not called")
        with self.subTest("FORTIFY"):
            checked = {name for name in self.imports() if name.endswith("_chk")}
            candidates = self.imports() & CANDIDATES
            self.assertTrue(checked or not candidates, f"none of {sorted(candidates)} is checked")


if __name__ == "__main__":
    unittest.main()
