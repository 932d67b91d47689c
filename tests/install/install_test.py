#!/usr/bin/env python3
"""install_test.py — an installed calm works for a program that knows nothing of this tree, also after it was moved.

Usage: tests/install/install_test.py [InstallTest.test_...]; every test is a ctest test of its own, install....
Environment, all set by tests/install/CMakeLists.txt:
  CALM_TEST_BUILD     the build to install from
  CALM_TEST_CMAKE     cmake
  CALM_TEST_COMPILER  the compiler of that build
  CALM_TEST_FLAGS     what the compiler needs to link with that build: sanitizers, coverage
  CALM_TEST_SAME      switches of CMake, each after a |, that compile the library as that build does; empty where they cannot
  CALM_TEST_VERSION   the version that the build believes it has
"""
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CONSUMER = Path(__file__).resolve().parent / "consumer"
BUILD = os.environ.get("CALM_TEST_BUILD", "build/dev")
CMAKE = os.environ.get("CALM_TEST_CMAKE", "cmake")
COMPILER = os.environ.get("CALM_TEST_COMPILER", "clang++-19")
FLAGS = os.environ.get("CALM_TEST_FLAGS", "")
SAME = os.environ.get("CALM_TEST_SAME", "").split("|")[1:]
TEXTS = {".cmake", ".pc", ".hpp"}


def header_version():
    text = (ROOT / "calm/version.hpp").read_text()
    return ".".join(re.findall(r"^#define CALM_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", text, re.M))


class InstallTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="calm_install_")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()

    def attempt(self, *words, **environment):
        return subprocess.run(words, cwd=self.root, env={**os.environ, **environment}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)

    def run_it(self, *words, **environment):
        """Demands success and gives what was printed."""
        ran = self.attempt(*words, **environment)
        self.assertEqual(ran.returncode, 0, f"{shlex.join(map(str, words))}\n{ran.stdout}")
        return ran.stdout

    def install(self):
        prefix = self.root / "prefix"
        self.run_it(CMAKE, "--install", BUILD, "--prefix", prefix)
        return prefix

    def moved(self, prefix):
        """The same package in another place, and nothing left where it was."""
        return Path(shutil.move(prefix, self.root / "moved" / "to here"))

    def configuring(self, name, *options):
        return [CMAKE, "-G", "Ninja", "-S", CONSUMER, "-B", self.root / name, f"-DCMAKE_CXX_COMPILER={COMPILER}",
                "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *options]

    def build(self, name, *options):
        self.run_it(*self.configuring(name, *options))
        self.run_it(CMAKE, "--build", self.root / name)
        return self.root / name / "consumer"

    def works(self, program):
        said = self.run_it(program)
        self.assertEqual(said.splitlines(), [
            f"calm {header_version()}", "Ok(21)", "Err(invalid_argument: 21 is odd)",
            "{deadline 2s, polls 9, cost infinite, priority 7}", 'Shutdown at 1s: "bye"'])

    def test_consumer_builds_with_find_package(self):
        prefix = self.install()
        options = [f"-DCMAKE_CXX_FLAGS={FLAGS}", f"-DCALM_WANTED={header_version()}"]
        self.works(self.build("here", f"-DCMAKE_PREFIX_PATH={prefix}", *options))
        self.works(self.build("there", f"-DCMAKE_PREFIX_PATH={self.moved(prefix)}", *options))

    def test_consumer_builds_with_pkg_config(self):
        self.compile_with_pkg_config("here", self.install())

    def test_consumer_builds_with_pkg_config_after_a_move(self):
        self.compile_with_pkg_config("there", Path(shutil.move(self.install(), self.root / "moved")))

    def compile_with_pkg_config(self, name, prefix):
        path = str(next(prefix.rglob("calm.pc")).parent)
        options = shlex.split(self.run_it("pkg-config", "--cflags", "--libs", "calm", PKG_CONFIG_PATH=path))
        program = self.root / name
        self.run_it(COMPILER, "-std=c++20", *FLAGS.split(), CONSUMER / "main.cpp", *options, "-o", program)
        self.works(program)

    def test_subproject_build(self):
        program = self.build("sub", f"-DCALM_SOURCE={ROOT}", *self.quick_to_compile())
        self.works(program)
        for command in json.loads((self.root / "sub/compile_commands.json").read_text()):
            if command["file"].endswith("consumer/main.cpp"):  # calm's warnings and hardening stay with calm
                self.assertNotRegex(command["command"], "-Wold-style-cast|-fstack-protector|FORTIFY")
        self.run_it(CMAKE, "--install", self.root / "sub", "--prefix", self.root / "installed")
        self.assertEqual([path.name for path in (self.root / "installed").rglob("*") if path.is_file()], ["consumer"])

    def quick_to_compile(self):
        """What the cache has from the build under test, when it tells no folders apart (./dev lets it not); or little work."""
        ccache = shutil.which("ccache")
        if ccache and SAME and os.environ.get("CCACHE_NOHASHDIR") and not os.environ.get("CCACHE_DISABLE"):
            return [f"-DCMAKE_CXX_COMPILER_LAUNCHER={ccache}", *SAME]
        return ["-DCMAKE_BUILD_TYPE=Debug", "-DCALM_UNITY=ON"]

    def test_another_minor_version_is_refused(self):
        major, minor, _ = map(int, header_version().split("."))
        wanted = [f"-DCMAKE_PREFIX_PATH={self.install()}", f"-DCALM_WANTED={major}.{minor + 1}"]
        ran = self.attempt(*self.configuring("newer", *wanted))
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn(f"version: {header_version()}", ran.stdout)

    def test_installed_files_name_no_place_of_this_machine(self):
        prefix = self.install()
        texts = [path for path in prefix.rglob("*") if path.suffix in TEXTS]
        self.assertGreater(len(texts), 20)
        for path in texts:
            for place in (str(ROOT), str(Path(BUILD).resolve()), str(prefix)):
                self.assertNotIn(place, path.read_text(), path)

    def test_every_header_and_nothing_else_is_installed(self):
        include = self.install() / "include"
        installed = {path.relative_to(include).as_posix() for path in include.rglob("*") if path.is_file()}
        self.assertEqual(installed, {path.relative_to(ROOT).as_posix() for path in (ROOT / "calm").rglob("*.hpp")})

    def test_the_script_for_gdb_is_installed(self):
        self.assertEqual((self.install() / "share/calm/gdb/calm.py").read_text(), (ROOT / "gdb/calm.py").read_text())

    def test_version_stands_in_one_place(self):
        prefix = self.install()
        self.assertEqual(os.environ["CALM_TEST_VERSION"], header_version())
        self.assertIn(f"Version: {header_version()}\n", next(prefix.rglob("calm.pc")).read_text())
        package = next(prefix.rglob("calm-config-version.cmake")).read_text()
        self.assertIn(f'set(PACKAGE_VERSION "{header_version()}")', package)
        if (prefix / "bin/calm").exists():
            self.assertEqual(self.run_it(prefix / "bin/calm", "--version"), f"calm {header_version()}\n")


if __name__ == "__main__":
    unittest.main()
