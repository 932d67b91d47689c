#!/usr/bin/env python3
"""dev_test.py — ./dev and tools/install.sh on machines that lack something, played with stand-ins for apt-get and its kin.

Usage: tests/e2e/dev_test.py [DevTest.test_...]; every test is a ctest test of its own, e2e.dev_...
Works on a copy in a temporary folder: nothing is installed, and build/ of the checkout is not touched.
"""
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The part of a bare Debian that is real here; whatever installs or builds is played, or is not there.
REAL = """awk basename bash cat cp cut date dirname env grep head ls mkdir mktemp mv nproc rm sed sh sleep sort tail tee touch
tr uname uniq wc xargs""".split()
INSTALLED, MISSING = "echo installed", "exit 1"
OFFLINE = "echo 'E: Could not resolve deb.debian.org' >&2; exit 100"


class DevTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="calm_dev_")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        self.bin = self.root / "bin"
        self.bin.mkdir()
        (self.root / "tools").mkdir()
        shutil.copy(ROOT / "dev", self.root)
        shutil.copy(ROOT / "tools/install.sh", self.root / "tools")
        for name in REAL:
            (self.bin / name).symlink_to(shutil.which(name))
        self.stand_in("dpkg-query", INSTALLED)
        self.stand_in("id", "echo 0")
        self.stand_in("apt-get", "exit 0")

    def stand_in(self, name, action):
        """Puts a program into the PATH that notes its arguments in calls and then does this."""
        path = self.bin / name
        path.write_text(f"#!/bin/sh\necho \"{name} $*\" >>'{self.root}/calls'\n{action}\n")
        path.chmod(0o755)

    def missing_package(self, package):
        self.stand_in("dpkg-query", f'case "$*" in *" {package}") {MISSING} ;; *) {INSTALLED} ;; esac')

    def calls(self, program):
        notes = self.root / "calls"
        return [line for line in notes.read_text().splitlines() if line.startswith(program)] if notes.exists() else []

    def run_bash(self, *words, **environment):
        keep = {name: os.environ[name] for name in ("LANG", "TMPDIR") if name in os.environ}
        return subprocess.run(["bash", *words], cwd=self.root, env={**keep, "PATH": str(self.bin), **environment},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)

    def need(self, *sets):
        return self.run_bash("-c", "set -euo pipefail; source tools/install.sh; need \"$@\"; echo done", "dev", *sets)

    def refused(self, ran, *parts, stdout=""):
        """Demands exit code 1 and one line on stderr with all parts."""
        self.assertEqual((ran.returncode, ran.stdout), (1, stdout), ran.stderr)
        self.assertRegex(ran.stderr, r"\Adev: [^\n]+\n\Z")
        for part in parts:
            self.assertIn(part, ran.stderr)

    # commands

    def test_dev_names_an_unknown_command(self):
        self.refused(self.run_bash("dev", "nonsense"), "nonsense", "./dev help")

    def test_dev_without_a_command_helps(self):
        self.assertEqual(self.run_bash("dev").stdout, self.run_bash("dev", "help").stdout)

    def test_dev_help_lists_every_command_and_no_other(self):
        branches = (self.root / "dev").read_text().split('case "$command" in')[1]
        known = set(re.findall(r"^  ([a-z]+)\)", branches, re.M))
        listed = set(re.findall(r"^  ([a-z]+) ", self.run_bash("dev", "help").stdout, re.M))
        self.assertGreater(len(known), 8)
        self.assertEqual(known, listed)

    def test_dev_works_from_any_folder(self):
        ran = self.run_bash("-c", "cd / && bash \"$0\" help", str(self.root / "dev"))
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))

    def test_dev_names_an_unknown_compiler(self):
        for command in ("run", "test", "calm"):
            with self.subTest(command):
                self.refused(self.run_bash("dev", command, CALM_COMPILER="msvc"), "CALM_COMPILER=msvc", "clang or gcc")
        self.assertFalse((self.root / "build").exists())

    def test_dev_asks_for_a_missing_argument(self):
        self.refused(self.run_bash("dev", "test", "--preset"), "--preset needs a name")
        self.refused(self.run_bash("dev", "test", "--preset", "nonsense"), "--preset needs a name")

    def test_dev_refuses_arguments_where_there_are_none(self):
        for command in ("run", "coverage", "fmt", "docs", "clean"):
            with self.subTest(command):
                self.refused(self.run_bash("dev", command, "extra"), command, "takes no arguments", "extra")

    # packages

    def test_dev_asks_nothing_of_apt_when_everything_is_there(self):
        sets = re.findall(r"^    ([a-z]+)\)", (self.root / "tools/install.sh").read_text(), re.M)
        self.assertIn("build", sets)
        ran = self.need(*sets)
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "done\n", ""))
        self.assertEqual(self.calls("apt-get"), [])

    def test_dev_installs_what_is_missing_and_no_more(self):
        self.missing_package("ninja-build")
        ran = self.need("build")
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "==> installing ninja-build\ndone\n", ""))
        self.assertEqual(self.calls("apt-get"),
                         ["apt-get update -q", "apt-get install -y --no-install-recommends ninja-build"])

    def test_dev_names_a_package_of_two_sets_once(self):
        self.missing_package("python3")
        self.assertIn("==> installing python3\n", self.need("build", "build").stdout)

    def test_dev_without_root_and_sudo_says_what_root_must_run(self):
        self.missing_package("cmake")
        self.stand_in("id", "echo 1000")
        self.refused(self.need("build"), "apt-get install -y --no-install-recommends cmake\n")
        self.assertEqual(self.calls("apt-get"), [])

    def test_dev_without_a_terminal_does_not_wait_for_a_password(self):
        self.missing_package("cmake")
        self.stand_in("id", "echo 1000")
        self.stand_in("sudo", "echo 'sudo: a password is required' >&2; exit 1")
        self.refused(self.need("build"), "apt-get install -y --no-install-recommends cmake\n")
        self.assertEqual(self.calls("sudo"), ["sudo -n true"])

    def test_dev_uses_sudo_where_it_needs_no_password(self):
        self.missing_package("cmake")
        self.stand_in("id", "echo 1000")
        self.stand_in("sudo", '[ "$1" = -n ] && exit 0; exec "$@"')
        self.assertEqual(self.need("build").returncode, 0)
        self.assertEqual(self.calls("sudo")[1], "sudo apt-get update -q")
        self.assertRegex(self.calls("sudo")[2], "^sudo .*apt-get install -y --no-install-recommends cmake$")

    def test_dev_without_network_says_which_packages_it_could_not_get(self):
        self.missing_package("doxygen")
        self.stand_in("apt-get", OFFLINE)
        self.refused(self.need("docs"), "could not install doxygen", "E: Could not resolve deb.debian.org",
                     "build/install.log", stdout="==> installing doxygen\n")

    def test_dev_without_apt_get_says_what_it_needs(self):
        self.missing_package("cmake")
        (self.bin / "apt-get").unlink()
        self.refused(self.need("build"), "apt-get", "cmake")

    def test_dev_refuses_an_unknown_set_of_packages(self):
        self.refused(self.need("kitchen"), "'kitchen'")


if __name__ == "__main__":
    unittest.main()
