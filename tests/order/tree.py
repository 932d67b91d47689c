"""tree.py — a small tree of files in a temporary folder, and one of the order tools run on it.

Used by layers_test.py and laws_test.py: a test writes a tree that is in order, breaks one thing and reads the answer.
"""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"


class TreeTest(unittest.TestCase):
    """Each test has an empty folder of its own at self.root."""

    tool = ""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="calm_order_")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        # A commit hook sets GIT_DIR and its kin; the temporary repositories must not see them.
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def git(self, *words):
        subprocess.run(["git", "-C", self.root, *words], env=self.environment, check=True, capture_output=True)

    def start_history(self):
        self.git("init", "--quiet")
        self.git("config", "user.name", "order test")
        self.git("config", "user.email", "order@test.invalid")
        self.git("config", "commit.gpgsign", "false")

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "state")

    def run_tool(self, *words):
        return subprocess.run([sys.executable, TOOLS / self.tool, "--root", self.root, *words], env=self.environment,
                              cwd=self.root, capture_output=True, text=True, check=False)

    def accepts(self, *words):
        """Runs the tool, demands success and gives its output."""
        ran = self.run_tool(*words)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        return ran.stdout

    def finds(self, *parts, args=()):
        """Demands that the tool fails with findings of the house shape that contain every part."""
        ran = self.run_tool(*args)
        self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
        for part in ("calm: ", "\n  rule: ", "\n  next: ", *parts):
            self.assertIn(part, ran.stdout)
        return ran.stdout

    def refuses(self, *parts, args=()):
        """Demands exit code 2 and one line that contains every part."""
        ran = self.run_tool(*args)
        self.assertEqual(ran.returncode, 2, ran.stdout + ran.stderr)
        self.assertEqual(ran.stderr.count("\n"), 1, ran.stderr)
        for part in parts:
            self.assertIn(part, ran.stderr)
