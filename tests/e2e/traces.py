"""traces.py — what the tests of `calm trace` share: trace files to work on, and the tool."""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path


class TraceTest(unittest.TestCase):
    """Each test has a folder of its own at self.root with the files of write_traces.cpp."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="calm_trace_")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        subprocess.run([os.environ["CALM_TEST_TRACES"], self.root], check=True)

    def run_calm(self, *words):
        return subprocess.run([os.environ["CALM_TEST_TOOL"], "trace", *words], cwd=self.root, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True)

    def prints(self, *words):
        """What a call that must succeed prints."""
        ran = self.run_calm(*words)
        self.assertEqual((ran.returncode, ran.stderr), (0, b""))
        return ran.stdout.decode()

    def refuses(self, *words, says):
        """Demands exit code 2, exactly one line on stderr and nothing on stdout."""
        ran = self.run_calm(*words)
        self.assertEqual((ran.returncode, ran.stdout), (2, b""), ran.stderr)
        self.assertRegex(ran.stderr.decode(), r"\Acalm: [^\n]+\n\Z")
        for part in [says] if isinstance(says, str) else says:
            self.assertIn(part, ran.stderr.decode())
