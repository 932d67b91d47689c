#!/usr/bin/env python3
"""lint.py — every C++ file is formatted, and clang-tidy has nothing to say. Changes nothing.

Usage: tools/lint.py --build DIR [--changed] [--joined] [--tidy FOLDER]... [FILES...]
       [--root DIR]                                          DIR holds the compile_commands.json of a build

  FILES      only these files; sources that include one of them are tidied with it
  --changed  only what differs from the last commit, in the same sense
  --joined   DIR is a build with CALM_UNITY: clang-tidy sees the sources as they are joined there, several times quicker; an
             include that is missing in one of them may go unseen
  --tidy     only sources below these folders go to clang-tidy, which is slow; all others are still looked at for their format

Precompiled headers are left out of the commands, so a file must include what it uses. A source without a command of its
own (a benchmark, a fuzz target) borrows that of the library; what is wrong on purpose (tests/compile_fail,
tests/compiler) and what is written for a library that only ./dev bench installs (asio.cpp, tbb.cpp) is formatted only. Answers are kept in build/lint-cache, by the content of the file, of all it includes from the project, of its
command and of the settings: a second run is quick.

Exit: 0 and `lint: N files formatted, M files tidy`; 1 with every finding; 2 with one line: bad usage or no tools.
"""
import hashlib
import json
import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from console import OneLineParser, Unusable, exit_with

FORMAT, TIDY = "clang-format-19", "clang-tidy-19"
AT_ONCE = 2
UNTIDY_ROOTS = ("tests/compile_fail/", "tests/compiler/")
UNTIDY_NAMES = ("asio.cpp", "tbb.cpp")  # contenders of bench/, for libraries that only ./dev bench installs
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.M)
FORMAT_LINE = re.compile(r"^(.+?):(\d+):\d+: (?:error|warning): code should be clang-formatted", re.M)
TIDY_LINE = re.compile(r"^(\S[^\n]*?:\d+:\d+): (?:error|warning): ", re.M)
ERROR_MARK = ",-warnings-as-errors]"
JOINED = re.compile(r"/Unity/unity_\d+_cxx\.cxx$")
# A joined source includes sources, whose findings count like those of headers.
TIDY_JOINED = ("--checks=-bugprone-suspicious-include", r"--header-filter=/(calm|apps|tests|bench|examples)/[^:]*\.[ch]pp$")


class Finding(NamedTuple):
    place: str  # file:line:column, from the root
    text: str   # all that clang-tidy says about it


def run(root, *words):
    try:
        return subprocess.run(words, cwd=root, capture_output=True, text=True, errors="replace", check=False)
    except OSError:
        raise Unusable(f"lint.py: cannot run {words[0]}; install it, or let ./dev lint do that") from None


def git_names(root, *words):
    ran = run(root, "git", *words)
    if ran.returncode:
        raise Unusable(f"lint.py: {root} is no git checkout: {' '.join(ran.stderr.split())}")
    return [name for name in ran.stdout.split("\0") if name and (root / name).is_file()]


def project_files(root):
    """Every C++ file that git knows or would accept, named from the root."""
    return sorted(set(git_names(root, "ls-files", "-z", "-co", "--exclude-standard", "--", "*.hpp", "*.cpp")))


def changed_files(root, files):
    if run(root, "git", "rev-parse", "--verify", "--quiet", "HEAD").returncode:
        return files  # nothing is committed yet
    different = git_names(root, "diff", "-z", "--name-only", "HEAD")
    different += git_names(root, "ls-files", "-z", "-o", "--exclude-standard")
    return [name for name in files if name in different]


def named_files(root, files, names):
    chosen = []
    for name in names:
        path = Path(name).resolve()
        known = path.relative_to(root).as_posix() if path.is_relative_to(root) else name
        if known not in files:
            raise Unusable(f"lint.py: {name} is no C++ file of the project")
        chosen.append(known)
    return chosen


def includes(root, name, seen=None):
    """The project files that a file consists of, itself included."""
    seen = {name} if seen is None else seen
    for included in INCLUDE.findall((root / name).read_text(errors="replace")):
        for path in ((root / name).parent / included, root / included):
            path = path.resolve()
            if path.is_file() and path.is_relative_to(root):
                found = path.relative_to(root).as_posix()
                if found not in seen:
                    seen.add(found)
                    includes(root, found, seen)
                break
    return seen


def without_pch(words):
    """A compile command without precompiled headers, launcher and colours."""
    text = "\0".join(words[1:] if words[0].endswith("ccache") else words)
    text = re.sub(r"\0-Xclang\0-include(?:-pch)?\0-Xclang\0[^\0]*cmake_pch[^\0]*", "", text)
    text = re.sub(r"\0-include\0[^\0]*cmake_pch[^\0]*", "", text)
    return [word for word in text.split("\0") if word not in ("-Winvalid-pch", "-fcolor-diagnostics")]


def joined_sources(root, build, sources):
    """For each source the joined one that has it, or itself."""
    found = {name: name for name in sources}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = Path(entry["file"])
        if not JOINED.search(path.as_posix()) or not path.resolve().is_relative_to(root):
            continue
        for name in INCLUDE.findall(path.read_text()):
            part = Path(name)
            name = part.relative_to(root).as_posix() if part.is_relative_to(root) else name
            if name in found and nearest_settings(root, name) == root / ".clang-tidy":
                found[name] = path.resolve().relative_to(root).as_posix()
    return found


def nearest_settings(root, name):
    folders = [folder for folder in (root / name).parents if folder.is_relative_to(root)]
    return next((folder / ".clang-tidy" for folder in folders if (folder / ".clang-tidy").is_file()), None)


def compile_commands(root, build, sources):
    """For each source the command that compiles it, as an entry of a compilation database."""
    path = build / "compile_commands.json"
    if not path.is_file():
        raise Unusable(f"lint.py: {path} does not exist; configure that build first")
    known = {}
    for entry in json.loads(path.read_text()):
        words = without_pch(entry.get("arguments") or shlex.split(entry["command"]))
        known.setdefault(Path(entry["file"]).resolve(), {**entry, "arguments": words, "command": None})
    if not known:
        raise Unusable(f"lint.py: {path} has no commands")
    commands = {name: known.get(root / name) for name in sources}
    lender = min(known, key=lambda path: (not path.is_relative_to(root / "calm"), path))
    for name, entry in commands.items():
        entry = entry or {**known[lender], "arguments": [str(root / name) if word == str(lender) else word
                                                        for word in known[lender]["arguments"]]}
        commands[name] = {"directory": entry["directory"], "file": str(root / name), "arguments": entry["arguments"]}
    return commands


class Cache:
    def __init__(self, root):
        self.root, self.folder = root, root / "build/lint-cache"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.settings = run(root, TIDY, "--version").stdout + Path(__file__).read_text()

    def key(self, name, command):
        settings = [folder / ".clang-tidy" for folder in (self.root / name).parents if folder.is_relative_to(self.root)]
        parts = [self.settings, json.dumps(command)] + [path.read_text() for path in settings if path.is_file()]
        for part in sorted(includes(self.root, name)):
            parts += [part, (self.root / part).read_text(errors="replace")]
        return hashlib.sha256("\1".join(parts).encode()).hexdigest()

    def load(self, key):
        path = self.folder / key
        return [Finding(*pair) for pair in json.loads(path.read_text())] if path.is_file() else None

    def store(self, key, findings):
        part = self.folder / f"{key}.part"
        part.write_text(json.dumps(findings))
        part.replace(self.folder / key)


def read_tidy(root, output):
    """The findings in an output, each with its notes."""
    output = output.replace(f"{root}/", "").replace(ERROR_MARK, "]")
    starts = [hit.start() for hit in TIDY_LINE.finditer(output)]
    blocks = [output[start:end].rstrip() for start, end in zip(starts, starts[1:] + [None])]
    return [Finding(TIDY_LINE.match(block)[1], block) for block in blocks]


def tidy(root, folder, name):
    """The findings in one file, and whether the answer may be kept."""
    joined = (f"--config-file={root / '.clang-tidy'}", *TIDY_JOINED) if JOINED.search(name) else ()
    ran = run(root, TIDY, "-p", folder, "--quiet", *joined, str(root / name))
    findings = read_tidy(root, ran.stdout)
    if ran.returncode and not findings:
        last = (ran.stderr.strip() or "no message").splitlines()[-1]
        return [Finding(f"{name}:1:1", f"{name}:1:1: clang-tidy stopped with {ran.returncode}: {last}")], False
    return findings, True


def check_tidy(root, build, sources):
    """The findings of clang-tidy by source; asks only about what has changed since it was asked last."""
    cache, commands = Cache(root), compile_commands(root, build, sources)
    keys = {name: cache.key(name, commands[name]) for name in sources}
    answers = {name: cache.load(keys[name]) for name in sources}
    due = [name for name in sources if answers[name] is None]
    if len(due) < len(sources):
        print(f"lint: {len(sources) - len(due)} of {len(sources)} sources are as they were", flush=True)
    (cache.folder / "compile_commands.json").write_text(json.dumps(list(commands.values())))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for number, (name, (found, keep)) in enumerate(
                zip(due, pool.map(lambda name: tidy(root, cache.folder, name), due)), 1):
            print(f"[{number}/{len(due)}] {name}", flush=True)
            answers[name] = found
            if keep:
                cache.store(keys[name], found)
    return answers


def check_format(root, files):
    """The first unformatted line and their number, by file."""
    if not files:
        return {}
    ran = run(root, FORMAT, "--dry-run", "-Werror", "--ferror-limit=0", *files)
    places = {}
    for name, line in FORMAT_LINE.findall(ran.stderr):
        places.setdefault(name, []).append(int(line))
    if ran.returncode and not places:
        raise Unusable(f"lint.py: {FORMAT} stopped: {' '.join(ran.stderr.split())}")
    return places


def count(number, noun):
    return f"{number} {noun}{'' if number == 1 else 's'}"


def show(places, answers):
    """Prints every finding once, however many sources include its header."""
    for name, lines in sorted(places.items()):
        more = len(set(lines)) - 1
        print(f"{name}:{lines[0]}: not formatted" + (f", nor {count(more, 'other line')}" if more else ""))
    unique = {(finding.place, finding.text.splitlines()[0]): finding for found in answers.values() for finding in found}
    for _, finding in sorted(unique.items()):
        print(f"\n{finding.text}")
    return len(unique)


def main():
    parser = OneLineParser("lint.py", __doc__)
    parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent)
    parser.add_argument("--build", type=Path, required=True, metavar="DIR")
    parser.add_argument("--changed", action="store_true")
    parser.add_argument("--joined", action="store_true")
    parser.add_argument("--tidy", action="append", default=[], metavar="FOLDER")
    parser.add_argument("files", nargs="*", metavar="FILES")
    args = parser.parse_args()
    root = args.root.resolve()
    files = project_files(root)
    chosen = named_files(root, files, args.files) if args.files else files
    chosen = changed_files(root, chosen) if args.changed else chosen
    sources = [name for name in files if name.endswith(".cpp") and not name.startswith(UNTIDY_ROOTS)
               and Path(name).name not in UNTIDY_NAMES]
    sources = [name for name in sources if len(chosen) == len(files) or includes(root, name) & set(chosen)]
    if args.tidy:
        sources = [name for name in sources if name.startswith(tuple(f"{folder.rstrip('/')}/" for folder in args.tidy))]

    places = check_format(root, chosen)
    units = sources
    if args.joined:
        units = sorted(set(joined_sources(root, args.build.resolve(), sources).values()))
    answers = check_tidy(root, args.build.resolve(), units) if units else {}
    found = show(places, answers)
    if not places and not found:
        print(f"lint: {len(chosen)} files formatted, {len(sources)} files tidy")
        return 0
    print(f"\nlint: {len(places)} of {len(chosen)} files not formatted, {count(found, 'finding')} of clang-tidy")
    if places:
        print("  next: ./dev fmt")
    if found:
        print("  next: repair the code; where it must stay, end its line with // NOLINT(check-name): reason")
    return 1


if __name__ == "__main__":
    exit_with(main)
