#!/usr/bin/env python3
"""docs.py — the documents tell the truth: code is cut from compiled files, output is real, links lead somewhere.

Usage: tools/docs.py [--write] [--build DIR] [--root DIR]      (default: build/dev, the project)

Looks at README.md, ARCHITECTURE.md, CONTRIBUTING.md and docs/**/*.md. A fenced block shows what the marker on the line
before it names:

  <!-- code: examples/outcome_chain.cpp#steps -->    the lines between `// [steps]` and `// [/steps]` of that file, or
                                                     between `# [steps]` and `# [/steps]` where # begins a comment
  <!-- output: calm tour | head -20 -->              what the calm tool of DIR prints

A block of C++ needs such a marker. Relative links, their #headings and paths in `backticks` must exist.
With --write, blocks that are out of date are renewed in place and doxygen builds the API pages in build/docs.

Exit: 0 in order; 1 with every finding; 2 with one line: bad usage, no calm tool or no doxygen.
"""
import re
import shlex
import subprocess
import textwrap
from pathlib import Path
from typing import NamedTuple

from console import OneLineParser, Unusable, exit_with, finding

MARKER = re.compile(r"^ *<!-- (?P<kind>code|output): (?P<what>.*?) -->$")
FENCE = re.compile(r"^(?P<indent> *)(?P<marks>`{3,}|~{3,})(?P<language>[\w+-]*).*$")
COMMAND = re.compile(r"calm(?P<words> [^|]*?)?(?: \| head -(?P<lines>\d+))?")
LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\((?P<target>[^)\s]+)(?: \"[^\"]*\")?\)|!\[[^\]\n]*\]\((?P<image>[^)\s]+)\)")
SPAN = re.compile(r"`([^`\n]+)`")
MENTION = re.compile(r"(?P<path>\.?\w[\w.-]*(?:/[\w.-]+)*/?)(?::\d+)?")
BROKEN_REFERENCE = re.compile(r"unable to resolve|could not be resolved|unknown command|multiply defined|does not exist")
NEXT = "./dev docs"


class Stale(Exception):
    """A marker that nothing can be shown for."""


class Block(NamedTuple):
    """A fenced block as lines[first:end] of its document, without the fences; first is None for a marker without one."""
    kind: str
    what: str
    line: int
    language: str = ""
    indent: str = ""
    first: int | None = None
    end: int | None = None


def documents(root):
    top = [root / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")]
    return [path for path in top if path.is_file()] + sorted((root / "docs").rglob("*.md"))


def blocks(lines):
    """Every fenced block of a document, and every marker that stands before none."""
    found, marker, at = [], None, 0
    while at < len(lines):
        if hit := MARKER.match(lines[at]):
            found += [marker] if marker else []
            marker = Block(hit["kind"], hit["what"], at + 1)
        elif fence := FENCE.match(lines[at]):
            end = closing_fence(lines, at + 1, fence["marks"])
            found.append((marker or Block("", "", at + 1))._replace(language=fence["language"], indent=fence["indent"],
                                                                   first=at + 1, end=end))
            marker, at = None, end
        elif lines[at].strip() and marker:
            found.append(marker)
            marker = None
        at += 1
    return found + ([marker] if marker else [])


def closing_fence(lines, at, marks):
    while at < len(lines) and not re.fullmatch(rf" *{re.escape(marks)}[`~]* *", lines[at]):
        at += 1
    return at


def section(root, what):
    """The lines between the marks of a section, without the indentation they share."""
    name, _, mark = what.partition("#")
    path = root / name
    if not mark:
        raise Stale(f"names no section of {name}; write {name}#SECTION")
    if not path.is_file():
        raise Stale(f"names {name}, which does not exist")
    lines = path.read_text().splitlines()
    opens, closes = ([at for at, line in enumerate(lines) if line.strip() in (f"// [{text}]", f"# [{text}]")]
                     for text in (mark, f"/{mark}"))
    if len(opens) != 1 or len(closes) != 1 or closes[0] < opens[0]:
        raise Stale(f"names {what}, but {name} does not have one `// [{mark}]` and after it one `// [/{mark}]`")
    return textwrap.dedent("\n".join(lines[opens[0] + 1:closes[0]])).splitlines()


def output(tool, what):
    """What a call of the calm tool prints, errors included, as a terminal would show it."""
    call = COMMAND.fullmatch(what)
    if not call:
        raise Stale(f"runs `{what}`; only `calm ...` and `calm ... | head -N` are run")
    if not tool.is_file():
        raise Unusable(f"docs.py: there is no calm tool at {tool}; build it first")
    ran = subprocess.run([tool, *shlex.split(call["words"] or "")], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, check=False)
    if ran.returncode < 0:
        raise Stale(f"runs `{what}`, which ended with signal {-ran.returncode}")
    lines = ran.stdout.splitlines()
    return lines[:int(call["lines"])] if call["lines"] else lines


class Document:
    def __init__(self, root, path, tool):
        self.root, self.path, self.tool = root, path, tool
        self.name = path.relative_to(root).as_posix()
        self.lines = path.read_text().splitlines()
        self.blocks = blocks(self.lines)
        self.fresh = {}  # block -> the lines it must show

    def block_findings(self):
        for block in self.blocks:
            at = f"{self.name}:{block.line}"
            if not block.kind:
                if block.language in ("cpp", "c++", "cc", "cxx"):
                    yield finding(f"{at} shows C++ that no test compiles", "code in documents is cut from compiled files",
                                  "put it into examples/ and name its section: <!-- code: examples/NAME.cpp#SECTION -->")
                continue
            try:
                if block.first is None:
                    raise Stale("stands before no fenced block")
                shown = section(self.root, block.what) if block.kind == "code" else output(self.tool, block.what)
                self.fresh[block] = [block.indent + line if line else line for line in shown]
            except Stale as reason:
                yield finding(f"{at} has a marker that {reason}", "a marker names what its block shows",
                              f"correct the marker, then {NEXT}")

    def stale_findings(self):
        for block, shown in self.fresh.items():
            if self.lines[block.first:block.end] != shown:
                kind = "code that is no longer that of" if block.kind == "code" else "what is no longer the output of"
                yield finding(f"{self.name}:{block.line} shows {kind} {block.what}", "documents show what is", NEXT)

    def renew(self):
        """Writes what the blocks must show. Gives: how many were out of date."""
        renewed = 0
        for block, shown in sorted(self.fresh.items(), key=lambda item: -item[0].first):  # later ones first: lines move
            if self.lines[block.first:block.end] != shown:
                self.lines[block.first:block.end] = shown
                renewed += 1
        if renewed:
            self.path.write_text("\n".join(self.lines) + "\n")
        return renewed

    def prose(self):
        """The lines outside of fenced blocks, as (number, text)."""
        hidden = {at for block in self.blocks if block.first is not None for at in range(block.first, block.end)}
        return [(at + 1, line) for at, line in enumerate(self.lines) if at not in hidden]

    def link_findings(self):
        for number, line in self.prose():
            for hit in LINK.finditer(SPAN.sub("", line)):
                if problem := self.broken(hit["target"] or hit["image"]):
                    yield finding(f"{self.name}:{number} links to {problem}", "links in documents lead somewhere",
                                  "correct the link, or add what it names")
            for span in SPAN.findall(line):
                if missing := self.missing_path(span):
                    yield finding(f"{self.name}:{number} speaks of {missing}, which does not exist",
                                  "paths in documents exist", "correct the path")

    def broken(self, target):
        if re.match(r"[a-z][a-z+.-]*:", target):
            return None  # another site: no network is asked
        name, _, heading = target.partition("#")
        path = self.path.parent / name if name else self.path
        if not path.exists():
            return f"{target}, which does not exist"
        if heading and path.suffix == ".md" and heading not in headings(path):
            return f"{target}, but {path.name} has no such heading"
        return None

    def missing_path(self, span):
        """A span that reads as a path from the root or from this document, and is none. build/ is made, not kept."""
        hit = MENTION.fullmatch(span)
        if not hit or hit["path"].startswith("build/"):
            return None
        path, top = hit["path"], hit["path"].split("/")[0]
        is_path = ("/" in path and (self.root / top).is_dir()) or re.fullmatch(r"[A-Z]\w*\.(md|txt|json)", path)
        exists = (self.root / path).exists() or (self.path.parent / path).exists()
        return path if is_path and not exists else None


def headings(path):
    """The anchors of a document, as GitHub makes them."""
    text = re.sub(r"^(`{3,}).*?^\1", "", path.read_text(), flags=re.M | re.S)
    titles = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def build_pages(root):
    pages = root / "build" / "docs" / "html" / "index.html"
    pages.parent.parent.mkdir(parents=True, exist_ok=True)
    try:
        ran = subprocess.run(["doxygen", "docs/Doxyfile"], cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                             text=True, check=False)
    except OSError as error:
        raise Unusable(f"docs.py: cannot run doxygen: {error.strerror}") from None
    if ran.returncode or not pages.is_file():
        return [finding(f"doxygen failed\n{textwrap.indent(ran.stderr.rstrip(), '    ')}", "the API pages build",
                        "doxygen docs/Doxyfile")]
    broken = [line.replace(f"{root}/", "") for line in ran.stderr.splitlines() if BROKEN_REFERENCE.search(line)]
    if broken:
        return [finding(line, "references in documents and doc comments lead somewhere", "correct it") for line in broken]
    print(f"docs: API pages are in {pages.relative_to(root)}")
    return []


def main():
    parser = OneLineParser("docs.py", __doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--build", type=Path, metavar="DIR")
    parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent, metavar="DIR")
    args = parser.parse_args()
    root = args.root.resolve()
    tool = (args.build or root / "build" / "dev").resolve() / "apps" / "calm" / "calm"
    texts = [Document(root, path, tool) for path in documents(root)]
    findings = [found for text in texts for found in text.block_findings()]
    if args.write:
        for text in texts:
            if renewed := text.renew():
                print(f"docs: renewed {renewed} in {text.name}")
                text.blocks = blocks(text.lines)
    else:
        findings += [found for text in texts for found in text.stale_findings()]
    findings += [found for text in texts for found in text.link_findings()]
    if args.write and not findings:
        findings += build_pages(root)
    shown = sum(len(text.fresh) for text in texts)
    print(*findings or [f"docs: ok ({len(texts)} documents, {shown} blocks are what they show)"], sep="\n")
    return int(bool(findings))


if __name__ == "__main__":
    exit_with(main)
