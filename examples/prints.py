#!/usr/bin/env python3
"""prints.py — an example prints what the end of its source says it prints.

Usage: examples/prints.py PROGRAM SOURCE

The output stands in SOURCE as comments below a line `// prints:`, each line indented by two more spaces.
Exit: 0 when it is so and the program ends well; 1 with the difference; 2 with one line: bad usage.
"""
import difflib
import subprocess
import sys
from pathlib import Path

HEAD, LINE = "// prints:", "//   "


def promised(source):
    lines = iter(source.splitlines())
    for line in lines:
        if line == HEAD:
            break
    wanted = []
    for line in lines:
        if line.rstrip() != "//" and not line.startswith(LINE):
            break
        wanted.append(line[len(LINE):])
    return wanted


def main():
    if len(sys.argv) != 3:
        print("prints.py: wants PROGRAM SOURCE", file=sys.stderr)
        return 2
    program, source = Path(sys.argv[1]), Path(sys.argv[2])
    wanted = promised(source.read_text())
    ran = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=False)
    got = ran.stdout.splitlines()
    if ran.returncode == 0 and wanted and got == wanted:
        return 0
    difference = list(difflib.unified_diff(wanted, got, "what the source says", "what it printed", lineterm=""))
    print(f"calm: {source.name} does not print what it says (exit code {ran.returncode})", "  rule: examples are true",
          f"  next: correct the program, or the lines below `{HEAD}`", *difference, sep="\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
