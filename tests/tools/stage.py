"""stage.py — an empty project in a temporary folder, scripts that play the programs a tool calls, and the tool itself.

Used by the tests beside it: a test sets the stage, runs the tool and reads its answer.
"""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"


class StageTest(unittest.TestCase):
    """Each test has a folder of its own at self.root; programs in self.root/bin come before those of the machine."""

    tool = ""
    has_root = True  # the tool has an option --root

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="calm_tools_")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        self.environment["PATH"] = f"{self.root}/bin:{os.environ['PATH']}"

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def program(self, name, *lines):
        """A Python script that plays a program."""
        path = self.write(name, "\n".join([f"#!{sys.executable}", "import os, sys, time", *lines]) + "\n")
        path.chmod(0o755)
        return path

    def run_tool(self, *words):
        root = ["--root", self.root] if self.has_root else []
        return subprocess.run([sys.executable, TOOLS / self.tool, *root, *words], env=self.environment, cwd=self.root,
                              capture_output=True, text=True, check=False)

    def says(self, code, *parts, args=()):
        """Runs the tool, demands the exit code and every part in what it prints, and gives all of that."""
        ran = self.run_tool(*args)
        said = ran.stdout + ran.stderr
        self.assertEqual(ran.returncode, code, said)
        for part in parts:
            self.assertIn(part, said)
        return said

    def refuses(self, *parts, args=()):
        """Demands exit code 2 and one line that contains every part."""
        self.assertEqual(self.says(2, *parts, args=args).count("\n"), 1)
