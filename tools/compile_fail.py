#!/usr/bin/env python3
"""compile_fail.py — a file that must not compile does not, and says what a user should read.

Usage: tools/compile_fail.py [--compiler CXX] [--root DIR] [--headers DIR] FILE      (default: clang++-19, the project)
       tools/compile_fail.py [--compiler CXX] [--root DIR] --headers DIR --prepare FILE...

FILE keeps the mistake inside `#ifdef MUST_NOT_COMPILE`. Without the macro it compiles, so nothing but the mistake is wrong
with it; with the macro it does not, and for every expectation some line of the compiler's output matches:

  // expect: REGEX            both compilers
  // expect(clang): REGEX     clang only
  // expect(gcc): REGEX       g++ only

With --prepare the headers of calm that FILEs include are compiled once, into DIR; with --headers DIR alone they are taken from
there, which is quicker than reading them for every FILE, and says the same.

Exit: 0 in order; 1 with the finding and the compiler's output; 2 with one line: bad usage or an unusable FILE.
"""
import os
import re
import subprocess
from pathlib import Path

from console import OneLineParser, Unusable, exit_with

RULE = "what must not compile has a test that it does not, with the message a user would see"
FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-fdiagnostics-color=never"]
FLAGS_OF = {"clang": ["-Wconsumed"], "gcc": []}
HEADERS = "headers.hpp"
COMPILED = {"clang": ".pch", "gcc": ".gch"}  # where each looks for the compiled form of a header
INCLUDE = re.compile(r'^#include "(calm/[^"\n]+)"', re.M)
EXPECT = re.compile(r"^// expect(?:\((?P<compiler>[^)]*)\))?: (?P<regex>\S.*)$", re.M)


def finding(what, next_step, output):
    said = output.rstrip("\n") or "(nothing)"
    return f"calm: {what}\n  rule: {RULE}\n  next: {next_step}\nthe compiler said:\n{said}"


def run(command):
    # LC_ALL=C: g++ would otherwise write its quotes as the machine's language wants them.
    try:
        return subprocess.run(command, env={**os.environ, "LC_ALL": "C"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)
    except OSError as error:
        raise Unusable(f"compile_fail.py: cannot run {command[0]}: {error.strerror}") from None


def family(compiler):
    return "clang" if "clang" in run([compiler, "--version"]).stdout else "gcc"


def expectations(name, text, compiler):
    """The expressions that this compiler's output has to match."""
    wanted = []
    for hit in EXPECT.finditer(text):
        if hit["compiler"] not in (None, "clang", "gcc"):
            raise Unusable(f"compile_fail.py: {name} expects something of {hit['compiler']}; it can be clang or gcc")
        try:
            expression = re.compile(hit["regex"])
        except re.error as error:
            raise Unusable(f"compile_fail.py: {name}: `{hit['regex']}` is no regular expression: {error}") from None
        if hit["compiler"] in (None, compiler):
            wanted.append(expression)
    if not wanted:
        raise Unusable(f"compile_fail.py: {name} expects nothing of {compiler}; add a line `// expect({compiler}): REGEX`")
    return wanted


def prepare(compiler, root, folder, paths):
    """Gives the finding, or nothing when the headers of these files are compiled."""
    included = sorted({hit for path in paths for hit in INCLUDE.findall(read(root, path)[1])})
    folder.mkdir(parents=True, exist_ok=True)
    header = folder / HEADERS
    header.write_text("".join(f'#include "{name}"\n' for name in included))
    kind = family(compiler)
    flags = [flag for flag in FLAGS if flag != "-fsyntax-only"]
    ran = run([compiler, *flags, *FLAGS_OF[kind], f"-I{root}", "-x", "c++-header", header, "-o", f"{header}{COMPILED[kind]}"])
    return finding("the headers do not compile", "repair them", ran.stdout) if ran.returncode else None


def read(root, path):
    """The name of a file as people know it, and its text."""
    name = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()
    try:
        return name, path.read_text()
    except OSError as error:
        raise Unusable(f"compile_fail.py: cannot read {name}: {error.strerror}") from None


def check(compiler, root, headers, path):
    """Gives the finding, or nothing when the file is in order."""
    name, text = read(root, path)
    kind = family(compiler)
    wanted = expectations(name, text, kind)
    prepared = ["-include", headers / HEADERS] if headers else []
    compile_it = [compiler, *FLAGS, *FLAGS_OF[kind], f"-I{root}", *prepared, path]
    control = run(compile_it)
    if control.returncode:
        return finding(f"{name} does not compile even without its mistake", "repair what stands outside of "
                       "#ifdef MUST_NOT_COMPILE", control.stdout)
    mistake = run([*compile_it, "-DMUST_NOT_COMPILE"])
    if mistake.returncode == 0:
        return finding(f"{name} compiles with its mistake", "restore the declaration that refused it", mistake.stdout)
    lines = mistake.stdout.splitlines()
    missing = [expression.pattern for expression in wanted if not any(map(expression.search, lines))]
    if missing:
        return finding(f"{name} does not compile, but no line of the output matches `{missing[0]}`",
                       "make the compiler's message say it, or correct the expectation", mistake.stdout)
    return None


def main():
    parser = OneLineParser("compile_fail.py", __doc__)
    parser.add_argument("--compiler", default="clang++-19", metavar="CXX")
    parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent, metavar="DIR")
    parser.add_argument("--headers", type=Path, metavar="DIR")
    parser.add_argument("--prepare", action="store_true")
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    args = parser.parse_args()
    root, headers, files = args.root.resolve(), args.headers and args.headers.resolve(), [path.resolve() for path in args.files]
    if args.prepare and headers is None:
        raise Unusable("compile_fail.py: --prepare needs --headers DIR")
    if not args.prepare and len(files) != 1:
        raise Unusable("compile_fail.py: one FILE at a time")
    if args.prepare:
        found = prepare(args.compiler, root, headers, files)
    else:
        found = check(args.compiler, root, headers, files[0])
    if found:
        print(found)
    return int(bool(found))


if __name__ == "__main__":
    exit_with(main)
