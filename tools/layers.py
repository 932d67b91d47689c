#!/usr/bin/env python3
"""layers.py — the order checker: the tree keeps the order that calm/LAYERS describes.

Usage: tools/layers.py [--root DIR] [--compiler CXX] [CHECK...]      (default: every check)

  includes  a room, a surface header and a program include only what calm/LAYERS lets them include
  acyclic   neither the rooms in calm/LAYERS nor the files themselves include each other in a circle
  pure      rooms under `pure` include no header under `impure`
  names     no file or folder has a name that says nothing (util, helper, common, ...)
  alone     every header under calm/ compiles by itself and has #pragma once; of headers that include each other, one after
            the other in a single compilation, where nothing stands before a header but what it includes itself
  assume    nothing under calm/ turns an assertion into an optimiser assumption or uses a bare fence

Exit: 0 in order, one line per check; 1 with every finding; 2 with one line: bad usage or malformed calm/LAYERS.
"""
import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

from console import OneLineParser, Unusable, exit_with, finding

SUFFIXES = {".hpp", ".cpp", ".h"}
EMPTY_NAMES = ("util", "utils", "helper", "helpers", "common", "misc", "manager")
# Numbers come first, so that the separator in 1'000 does not open a character.
TOKEN = re.compile(r"""(?P<number>\b\d(?:'?[\w.])*)|(?P<comment>//(?:\\\n|[^\n])*|/\*.*?(?:\*/|\Z))
    |(?P<raw>\b(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)")
    |(?P<literal>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')""", re.S | re.X)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"(?P<quoted>[^"\n]+)"|<(?P<angled>[^>\n]+)>)', re.M)
CONDITION = re.compile(r"^[ \t]*#[ \t]*(if|endif)", re.M)
PRAGMA_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once\b", re.M)
FORBIDDEN = [
    (re.compile(r"__builtin_assume\b|__builtin_unreachable|\[\[\s*(?:\w+\s*::\s*)?assume\b"
                r"|\bstd\s*::\s*unreachable\b|\b__assume\b"),
     "an assertion never becomes an optimiser assumption", "use CALM_INVARIANT or CALM_REQUIRE"),
    (re.compile(r"atomic_thread_fence"), "ThreadSanitizer does not model a bare fence",
     "put the ordering on the atomic operation itself")]


def count(number, noun):
    return f"{number} {noun}{'' if number == 1 else 's'}"


class Layers:
    """calm/LAYERS: rooms[room or apps/NAME] are the rooms it may include (`*`: all), lines[...] where it says so."""

    def __init__(self, path):
        self.rooms, self.lines, self.surface, self.pure, self.impure = {}, {}, [], [], []
        if not path.is_file():
            raise Unusable(f"layers.py: {path} does not exist")
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if line := line.partition("#")[0].strip():
                self.read_line(number, line)
        self.verify()

    def read_line(self, number, line):
        name, _, rest = line.partition(":")
        name, words = name.strip(), rest.split()
        if not words:
            raise Unusable(f"calm/LAYERS:{number}: expected `name: words`, found `{line}`")
        if name in ("surface", "pure", "impure"):
            getattr(self, name).extend(words)
            self.lines.setdefault(name, number)
        elif not re.fullmatch(r"(apps/)?[a-z][a-z0-9_]*", name):
            raise Unusable(f"calm/LAYERS:{number}: `{name}` is not a room, apps/NAME, pure, impure or surface")
        elif name in self.rooms:
            raise Unusable(f"calm/LAYERS:{number}: {name} is listed twice, first on line {self.lines[name]}")
        else:
            self.lines[name], self.rooms[name] = number, ([] if words == ["-"] else words)

    def verify(self):
        for name, words in {**self.rooms, "pure": self.pure}.items():
            for room in words:
                if room not in self.rooms and not (words == ["*"] and name.startswith("apps/")):
                    raise Unusable(f"calm/LAYERS:{self.lines[name]}: {name} names `{room}`, which is not a room")

    def rule(self, owner):
        kind = "" if owner.startswith("apps/") else "room "
        return f"calm/LAYERS: {kind}{owner} may include {' '.join(self.rooms.get(owner, [])) or '-'}"


def blanked(text, *kinds):
    """The text with the given kinds of tokens turned into spaces; every line keeps its number."""
    return TOKEN.sub(lambda token: re.sub(r"[^\n]", " ", token[0]) if token.lastgroup in kinds else token[0], text)


def line_of(text, hit):
    return text.count("\n", 0, hit.start()) + 1


def is_conditional(before):
    """True after a text that has opened more #if than it has closed."""
    kinds = CONDITION.findall(before)
    return kinds.count("if") > kinds.count("endif")


class Include(NamedTuple):
    line: int
    path: str
    quoted: bool
    conditional: bool  # inside of #if


class Source:
    """One C++ file: its name from the root, the room or the program (apps/NAME) that owns it, and what it includes."""

    def __init__(self, root, path):
        self.name, self.text = path.relative_to(root).as_posix(), path.read_text(errors="replace")
        top, *folders = self.name.split("/")[:-1]
        self.room = folders[0] if top == "calm" and folders else None
        self.app = f"apps/{folders[0]}" if top == "apps" and folders else None
        directives = blanked(self.text, "comment", "raw")
        self.once = bool(PRAGMA_ONCE.search(directives))
        self.includes = [Include(line_of(directives, hit), hit["quoted"] or hit["angled"], bool(hit["quoted"]),
                                 is_conditional(directives[:hit.start()])) for hit in INCLUDE.finditer(directives)]


class Project:
    def __init__(self, root, compiler):
        self.root, self.compiler, self.layers = root, compiler, Layers(root / "calm/LAYERS")
        self.sources = [Source(root, path) for top in ("calm", "apps") for path in sorted((root / top).rglob("*"))
                        if path.suffix in SUFFIXES and path.is_file()]
        self.library = [source for source in self.sources if source.name.startswith("calm/")]

    def folders(self, top):
        return sorted(f"{top}/{path.name}" for path in (self.root / top).glob("[!._]*") if path.is_dir())

    def resolve(self, source, include):
        """The project file behind an include, named from the root, or None: a standard or foreign header."""
        beside = os.path.normpath(os.path.join(os.path.dirname(source.name), include.path))
        names = [beside, os.path.normpath(include.path)] if include.quoted else [os.path.normpath(include.path)]
        return next((name for name in names if (self.root / name).is_file()), None)


def extent(sources):
    return f"{count(len(sources), 'file')} in {count(len({s.room for s in sources if s.room}), 'room')}"


def misplaced(project):
    layers = project.layers
    for path in project.folders("calm") + project.folders("apps"):
        name = path.removeprefix("calm/")
        if name not in layers.rooms:
            yield finding(f"{path} is a folder that calm/LAYERS does not know", "calm/LAYERS: every folder has a line",
                          f"add a line `{name}: ...` to calm/LAYERS with an ADR in docs/adr, or move its files")
    for source in project.library:
        if not source.room and source.name.removeprefix("calm/") not in layers.surface:
            yield finding(f"{source.name} is not a surface header", f"calm/LAYERS: surface: {' '.join(layers.surface)}",
                          "move it into a room, or list it under `surface` in calm/LAYERS")


def foreign_or_own(project, source, include):
    """True for an include outside calm/ that is in order: not the project's, or for a program its own file or an example."""
    target = project.resolve(source, include)
    if source.app:
        return target is None or target.startswith((f"{source.app}/", "examples/"))
    return target is None and not include.quoted


def include_fault(project, source, include):
    """None, or (what to say after the path, rule, next) for an include that breaks the order."""
    parts, owner = include.path.split("/"), source.room or source.app
    if parts[0] != "calm" or {".", ".."} & set(parts):
        return None if foreign_or_own(project, source, include) else (
            "", 'calm\'s headers are included as "calm/room/file.hpp"; a program may also include its own files and examples',
            "write the path from the root of the tree, and <...> for a header that is not calm's")
    if not (project.root / include.path).is_file():
        return ", which does not exist", "calm/LAYERS: an included header exists", "correct the path, or add the header"
    if len(parts) == 2:
        return ("", "calm/LAYERS: no room includes a surface header", "include the room's header that the code uses") \
            if source.room else None
    allowed = project.layers.rooms.get(owner, [])
    if owner is None or parts[1] == source.room or parts[1] in allowed or allowed == ["*"]:
        return None
    return ("", project.layers.rule(owner), f"move the code down to a room that {owner} may include, "
            "or change calm/LAYERS with an ADR in docs/adr")


def check_includes(project):
    findings = list(misplaced(project))
    for source in project.sources:
        for include in source.includes:
            if fault := include_fault(project, source, include):
                findings.append(finding(f"{source.name}:{include.line} includes {include.path}{fault[0]}", *fault[1:]))
    return findings, extent(project.sources)


def cycles(graph):
    """Every circle of the graph (node -> nodes it includes), each as a path that ends where it began."""
    graph = {node: sorted(targets) for node, targets in sorted(graph.items())}
    while True:
        try:
            return TopologicalSorter(graph).prepare()
        except CycleError as error:
            circle = error.args[1][:0:-1]
            first = circle.index(min(circle))
            path = circle[first:] + circle[:first + 1]
            graph[path[0]].remove(path[1])
            yield path


def check_acyclic(project):
    rooms, lines = project.layers.rooms, project.layers.lines
    findings = [finding(f"calm/LAYERS:{lines[path[0]]} is part of a cycle: {' -> '.join(path)}",
                        "calm/LAYERS: the graph of rooms is acyclic", "take one of these rooms out of another's line")
                for path in cycles({room: set(allowed) - {"*"} for room, allowed in rooms.items()})]
    graph = {source.name: {} for source in project.sources}
    for source in project.sources:
        for include in source.includes:
            graph[source.name].setdefault(project.resolve(source, include), include.line)
    findings += [finding(f"{path[0]}:{graph[path[0]][path[1]]} is part of a cycle: {' -> '.join(path)}",
                         "files do not include each other in a circle", "move what both need into a header of its own")
                 for path in cycles({name: graph.keys() & targets.keys() for name, targets in graph.items()})]
    return findings, f"{count(len(rooms), 'line')} of calm/LAYERS, {extent(project.sources)}"


def check_pure(project):
    sources = [source for source in project.sources if source.room in project.layers.pure]
    findings = [finding(f"{source.name}:{include.line} includes {include.path}",
                        f"calm/LAYERS: room {source.room} is pure and {include.path} is impure",
                        "take the value as a parameter, or move the code to a room that is not pure")
                for source in sources for include in source.includes if include.path in project.layers.impure]
    return findings, extent(sources)


def tree_files(root):
    """The files that are, or could be, committed; without git: all but build/ and hidden folders."""
    if (root / ".git").exists():
        listed = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                                capture_output=True, text=True, check=False)
        if listed.returncode == 0:
            return [Path(name) for name in listed.stdout.split("\0") if name and (root / name).exists()]
    files = []
    for folder, below, names in os.walk(root):
        below[:] = [name for name in below if name != "build" and name[0] not in "._"]
        files += [Path(folder, name).relative_to(root) for name in names]
    return files


def check_names(project):
    files = tree_files(project.root)
    paths = set(files) | {parent for path in files for parent in path.parents if parent.name}
    findings = [finding(f"{path} has `{word}` in its name", f"no file or folder is called {', '.join(EMPTY_NAMES)}",
                        "name it after what it holds")
                for path in sorted(paths) for word in re.split(r"[_.-]", path.name.lower()) if word in EMPTY_NAMES]
    return findings, count(len(paths), "name")


def compile_in_turn(project, headers):
    command = [project.compiler, "-std=c++20", "-fsyntax-only", "-I", project.root, "-x", "c++", "-"]
    text = "".join(f'#include "{header.name}"\n' * 2 for header in headers)
    return subprocess.run(command, input=text, cwd=project.root, capture_output=True, text=True, check=False)


def compile_row(project, row):
    """The findings of headers each of which includes the one before; a row that compiles shows that each of them does."""
    if compile_in_turn(project, row).returncode == 0:
        return []
    alone = [(header, compile_in_turn(project, [header])) for header in row]
    return [finding(f"{header.name} does not compile by itself" + "".join(
                        f"\n  {line}" for line in ran.stderr.replace("./calm/", "calm/").splitlines()[:5]),
                    "every header under calm/ compiles by itself", "include what the header uses")
            for header, ran in alone if ran.returncode]


def reached(project):
    """For every file of the library the files of it that it includes, whatever is defined, itself or through others."""
    files = {source.name: source for source in project.library}
    direct = {name: {project.resolve(source, include) for include in source.includes if not include.conditional} & files.keys()
              for name, source in files.items()}
    result = {}
    for name in direct:
        found, ahead = set(), [name]
        while ahead:
            new = direct[ahead.pop()] - found
            found |= new
            ahead += new
        result[name] = found
    return result


def rows(project, headers):
    """The headers in as few rows as can be, each header after one that it includes (a matching of a header and its next)."""
    known, includes = {header.name: header for header in headers}, reached(project)
    before = {}  # a header -> the one that comes before it in its row
    after = {}

    def place(name, tried):
        for other in sorted(includes[name] & known.keys()):
            if other != name and other not in tried:
                tried.add(other)
                if other not in after or place(after[other], tried):
                    before[name], after[other] = other, name
                    return True
        return False

    for name in known:
        place(name, set())
    for name in known:
        if name not in after:  # the last of its row
            row = [name]
            while row[-1] in before:
                row.append(before[row[-1]])
            yield [known[name] for name in reversed(row)]


def is_first_in_its_source(project, header):
    """The build compiles such a header by itself already: nothing stands before it."""
    own = header.name.removesuffix(".hpp") + ".cpp"
    return any(source.name == own and source.includes[:1] and source.includes[0].path == header.name
               for source in project.library)


def check_alone(project):
    if not shutil.which(project.compiler):
        raise Unusable(f"layers.py: there is no compiler {project.compiler}")
    headers = [source for source in project.library if not source.name.endswith(".cpp")]
    findings = [finding(f"{header.name} has no #pragma once", "every header under calm/ can be included twice",
                        "write #pragma once below the opening comment") for header in headers if not header.once]
    with ThreadPoolExecutor(2) as pool:
        compiled = pool.map(lambda row: compile_row(project, row), rows(project, [
            header for header in headers if header.once and not is_first_in_its_source(project, header)]))
        return findings + sorted(fault for faults in compiled for fault in faults), count(len(headers), "header")


def check_assume(project):
    findings = []
    for source in project.library:
        code = blanked(source.text, "comment", "raw", "literal")
        findings += [finding(f"{source.name}:{line_of(code, hit)} uses {hit[0]}", rule, next_step)
                     for pattern, rule, next_step in FORBIDDEN for hit in pattern.finditer(code)]
    return findings, count(len(project.library), "file")


CHECKS = {"includes": check_includes, "acyclic": check_acyclic, "pure": check_pure, "names": check_names,
          "alone": check_alone, "assume": check_assume}


def main():
    parser = OneLineParser("layers.py", __doc__)
    parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent)
    parser.add_argument("--compiler", default="clang++-19")
    parser.add_argument("checks", nargs="*", metavar="CHECK")
    args, failed = parser.parse_args(), False
    if unknown := [name for name in args.checks if name not in CHECKS]:
        raise Unusable(f"layers.py: no check is called {unknown[0]}; there are {' '.join(CHECKS)}")
    project = Project(args.root.resolve(), args.compiler)
    for name in args.checks or CHECKS:
        findings, seen = CHECKS[name](project)
        print(*findings, f"order: {name} failed ({len(findings)})" if findings else f"order: {name} ok ({seen})", sep="\n")
        failed |= bool(findings)
    return int(failed)


if __name__ == "__main__":
    exit_with(main)
