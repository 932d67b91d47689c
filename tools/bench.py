#!/usr/bin/env python3
"""bench.py — every workload under bench/, all contenders in one run, ratios against calm.

Usage: tools/bench.py --build DIR [--only NAME] [--contenders NAMES] [--quick] [--json FILE] [--plots DIR]
       [--smoke] [--list] [--packages] [--root DIR]                               DIR after --build is an optimised build

  --only NAME         one workload, or one part of one (may be repeated); header_cost needs no build
  --contenders NAMES  of every workload these contenders only, for example calm,floor
  --quick             3 runs of each contender instead of 7
  --json FILE         the rows as JSON: workload, contender, workers, median_ns, min_ns, max_ns, runs; those of peer workloads
                      with their ratios to calm with as many workers and to the floor
  --plots DIR         a picture of each peer workload as SVG, and one of all ratios to calm
  --smoke             the peer workloads once, at a small size: do they give their answers?
  --list              the workloads and their contenders
  --packages          the package sets of tools/install.sh that these contenders need

A workload is a folder bench/<workload> with one file per contender, built as DIR/bench/bench_<workload>_<contender>,
which prints one line: {"answer": ..., "ns": total, "operations": N}. Contenders take turns, and all must give the same
answer. header_cost is what including calm's headers costs (see bench/header_cost); it has a limit,
and so has what a parked task takes of memory.

A workload may have parts, shown as <workload>.<part>: bench/<workload>/PARTS has a line `name  what one operation is` for
each. Its programs get the part as their argument; one that ends with code 77 does not do that part and is left out. A line
`floors: NAME...` names contenders that do the least there is to do: every row shows its ratio to each of them. A program
may add "note": a text shown below the table of the first run.

A folder with a workload.ini is a peer workload: the same work for calm and for other runtimes, with 1 and 2 workers. A
contender whose packages are not there is shown as missing. bench/README.md says what is compared and how.

Exit: 0 with tables and a summary; 1 a wrong answer, a contender that broke, a limit exceeded; 2 bad usage or no build.
"""
import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench/header_cost"))
import header_cost  # noqa: E402

import bench_plot  # noqa: E402
import peers  # noqa: E402
from console import Broken, OneLineParser, Unusable, exit_with  # noqa: E402

RUNS, QUICK_RUNS = 7, 3
RUN_SECONDS_MAX = 120
HEADER_COST = "header_cost"
OURS = "calm"
NOT_DONE = 77  # exit code of a contender that does not do the part


class Workload(NamedTuple):
    folder: str  # under bench/
    part: str  # or ""
    about: str  # what one operation is, or ""
    contenders: list  # calm comes first
    floors: list


class Sample(NamedTuple):
    answer: object
    ns: float  # per operation
    workers: int
    note: str = ""


class Row(NamedTuple):
    workload: str
    contender: str
    workers: int
    median_ns: float
    min_ns: float
    max_ns: float
    runs: int


def read_parts(path):
    """What each part is, by name, and the floors; one part without a name where there is no such file."""
    if not path.is_file():
        return {"": ""}, []
    parts, floors = {}, []
    for line in path.read_text().splitlines():
        name, _, rest = line.partition(" ")
        if name == "floors:":
            floors = rest.split()
        elif name and not name.startswith("#"):
            parts[name] = rest.strip()
    return parts, floors


def find_workloads(root):
    """Workloads and parts of workloads by name."""
    found = {HEADER_COST: Workload(HEADER_COST, "", "", [header_cost.OURS, *header_cost.OTHERS], [])}
    found.update(peers.find(root))
    for folder in sorted((root / "bench").glob("*/")):
        if folder.name == peers.HARNESS or (folder / peers.DESCRIPTION).is_file():
            continue
        contenders = sorted((path.stem for path in folder.glob("*.cpp")), key=lambda name: (name != OURS, name))
        parts, floors = read_parts(folder / "PARTS")
        for name in floors:
            if name not in contenders:
                raise Unusable(f"bench.py: {folder / 'PARTS'}: the floor '{name}' is no contender")
        for part, about in parts.items() if contenders else ():
            name = f"{folder.name}.{part}" if part else folder.name
            found[name] = Workload(folder.name, part, about, contenders, floors)
    return dict(sorted(found.items(), key=lambda item: item[1].folder))  # parts stay as PARTS has them


def choose(workloads, only):
    folders = dict.fromkeys(workload.folder for workload in workloads.values())
    for name in only or ():
        if name not in workloads and name not in folders:
            raise Unusable(f"bench.py: no workload '{name}'; there are {' '.join(folders)} and the parts that --list shows")
    return [name for name in workloads if not only or name in only or workloads[name].folder in only]


def keep_contenders(workloads, names):
    """The workloads with these contenders only, without those that none of them does."""
    if not names:
        return workloads
    names = [name for word in names for name in word.split(",")]
    for name in names:
        if not any(name in workload.contenders for workload in workloads.values()):
            raise Unusable(f"bench.py: no contender '{name}'; --list shows those of each workload")
    kept = {key: workload._replace(contenders=[name for name in workload.contenders if name in names])
            for key, workload in workloads.items()}
    return {key: workload for key, workload in kept.items() if workload.contenders}


def program(build, folder, contender):
    if build is None:
        raise Unusable(f"bench.py: {folder} needs --build DIR")
    path = build / "bench" / f"bench_{folder}_{contender}"
    if not path.is_file():
        raise Unusable(f"bench.py: {path} is not built; ./dev bench builds it")
    return path


def run_once(path, part):
    """One sample, or None when this contender does not do the part."""
    command = [path, part] if part else [path]
    again = " ".join(str(word) for word in command)
    try:
        ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=RUN_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        raise Broken(f"{path.name} ran longer than {RUN_SECONDS_MAX} s", "a benchmark ends", again) from None
    if part and ran.returncode == NOT_DONE:
        return None
    if ran.returncode:
        last = (ran.stderr.strip() or "no message").splitlines()[-1]
        raise Broken(f"{path.name} stopped with {ran.returncode}: {last}", "a benchmark ends well", again)
    try:
        line = json.loads(ran.stdout)
        ns = line["ns"] / line["operations"]
        return Sample(line["answer"], ns, line.get("workers", 1), line.get("note", ""))
    except (ValueError, KeyError, TypeError, ZeroDivisionError):
        raise Broken(f"{path.name} printed {ran.stdout[:200]!r}",
                     'a benchmark prints one line {"answer": ..., "ns": ..., "operations": ...}', again) from None


def check_answers(name, folder, samples):
    """Every contender, every time, gives the answer that calm gave first."""
    expected, right = next((found[0].answer, contender) for contender, found in samples.items())
    for contender, found in samples.items():
        for sample in found:
            if sample.answer != expected:
                raise Broken(f"{name}: {contender} answers {sample.answer}, {right} answers {expected}",
                             "all contenders of a workload give the same answer",
                             f"compare bench/{folder}/{contender}.cpp with bench/{folder}/{right}.cpp")


def sample_programs(build, name, workload, runs):
    paths = {contender: program(build, workload.folder, contender) for contender in workload.contenders}
    samples = {}
    for _ in range(runs):
        for contender, path in list(paths.items()):
            sample = run_once(path, workload.part)
            if sample is None:
                del paths[contender]
                continue
            samples.setdefault(contender, []).append(sample)
            check_answers(name, workload.folder, samples)
    if not samples:
        raise Broken(f"{name}: no contender does this part", "a part has a contender at least",
                     f"take it out of bench/{workload.folder}/PARTS")
    return samples


def sample_headers(root, runs):
    try:
        costs = header_cost.sample(root, runs)
    except header_cost.CannotCompile as error:
        raise Unusable(f"bench.py: {error}") from None
    return {header: [Sample(None, ns, 1) for ns in cost] for header, cost in costs.items()}


def make_rows(workload, samples):
    for contender, found in samples.items():
        times = [sample.ns for sample in found]
        yield Row(workload, contender, found[0].workers, statistics.median(times), min(times), max(times), len(times))


def show(name, workload, rows, notes):
    divisor, unit, digits = 1, "ns per operation", 1
    if name == HEADER_COST:
        divisor, unit, digits = 1_000_000, f"ms over an empty file, {' '.join(header_cost.COMPILER)}", 0
    bases = [rows[0], *(row for row in rows[1:] if row.contender in workload.floors)]
    width = max(len("contender"), *(len(row.contender) for row in rows))
    heads = " ".join(f"{'to ' + base.contender.split('/')[0]:>9}" for base in bases)
    print(f"\n{name}, {unit}, {rows[0].runs} runs each")
    if workload.about:
        print(f"  {workload.about}")
    print(f"  {'contender':<{width}} {'median':>9} {'min':>9} {'max':>9} {heads}")
    for row in rows:
        numbers = " ".join(f"{ns / divisor:>9.{digits}f}" for ns in (row.median_ns, row.min_ns, row.max_ns))
        ratios = " ".join(f"{ratio(row, base):>9.2f}" for base in bases)
        print(f"  {row.contender:<{width}} {numbers} {ratios}", flush=True)
    for contender, note in notes.items():
        print(f"  {contender}: {note}", flush=True)


def ratio(row, base):
    return row.median_ns / base.median_ns if base.median_ns else 0.0


def summary(name, workload, rows):
    ours, *others = rows
    if name == HEADER_COST:
        return f"{ours.contender} {ours.min_ns / 1e6:.0f} ms, limit {limit_now(rows) / 1e6:.0f} ms"
    floors = [row for row in others if row.contender in workload.floors]
    if floors:
        return "; ".join(f"{row.contender} {row.median_ns:.1f} ns, "
                         + ", ".join(f"{ratio(row, floor):.2f} {floor.contender}" for floor in floors)
                         for row in rows if row not in floors)
    compared = ", ".join(f"{row.contender} {ratio(row, ours):.2f}" for row in others)
    return f"{ours.contender} {ours.median_ns:.1f} ns; times that: {compared or 'no other contender'}"


def limit_now(rows):
    return header_cost.limit_ns({row.contender: row.min_ns for row in rows})


def check_limits(workloads, tables):
    for name, rows in tables.items():
        if isinstance(workloads[name], peers.Peers):
            peers.check_limit(workloads[name], rows)
    for rows in (tables[name] for name in tables if name == HEADER_COST):
        ours = rows[0]
        if ours.min_ns > limit_now(rows):  # the least it took: a noisy machine only adds
            raise Broken(f"#include <{ours.contender}> costs {ours.min_ns / 1e6:.0f} ms (to {ours.max_ns / 1e6:.0f})",
                         f"the header costs at most {limit_now(rows) / 1e6:.0f} ms over an empty file",
                         f"see which include it is: echo '#include <{ours.contender}>' >unit.cpp; "
                         f"{' '.join(header_cost.COMPILER)} -I . -ftime-trace unit.cpp")


def write_json(path, tables):
    rows = [row for table in tables.values()
            for row in (peers.for_json(table) if isinstance(table[0], peers.Row) else (line._asdict() for line in table))]
    try:
        path.write_text(json.dumps(rows, indent=1) + "\n")
    except OSError as error:
        raise Unusable(f"bench.py: cannot write {path}: {error.strerror}") from None


def measure(args, name, workload):
    """Shows the table. Gives: the rows, and what they come to in short."""
    runs = QUICK_RUNS if args.quick else RUNS
    if isinstance(workload, peers.Peers):
        samples = peers.sample(args.build, workload, runs)
        peers.show(workload, samples)
        return samples.rows, peers.summary(workload, samples)
    samples = (sample_headers(args.root, runs) if name == HEADER_COST
               else sample_programs(args.build, name, workload, runs))
    rows = list(make_rows(name, samples))
    show(name, workload, rows, {contender: found[0].note for contender, found in samples.items() if found[0].note})
    return rows, summary(name, workload, rows)


def smoke(args, chosen):
    """Does every peer workload give its answer?"""
    chosen = [workload for workload in chosen.values() if isinstance(workload, peers.Peers)]
    rows = [row for workload in chosen for row in peers.sample(args.build, workload, 1, small=True).rows]
    names = ", ".join(dict.fromkeys(row.contender for row in rows))
    print(f"smoke: {len(chosen)} workloads, {len(rows)} right answers of {names}")


def plot(args, workloads, tables):
    drawn = {name: rows for name, rows in tables.items() if isinstance(workloads[name], peers.Peers)}
    if not args.plots or not drawn:
        return
    try:
        count = bench_plot.write(args.plots, workloads, drawn)
    except OSError as error:
        raise Unusable(f"bench.py: cannot write to {args.plots}: {error.strerror}") from None
    print(f"\n{count} pictures in {args.plots}")


def read_arguments():
    parser = OneLineParser("bench.py", __doc__)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1])
    parser.add_argument("--build", type=Path, metavar="DIR")
    parser.add_argument("--only", action="append", metavar="NAME")
    parser.add_argument("--contenders", action="append", metavar="NAMES")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--plots", type=Path, metavar="DIR")
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--packages", action="store_true")
    return parser.parse_args()


def main():
    args = read_arguments()
    workloads = keep_contenders(find_workloads(args.root), args.contenders)
    chosen = {name: workloads[name] for name in choose(workloads, args.only)}
    if args.packages:
        print(*peers.packages([workload for workload in chosen.values() if isinstance(workload, peers.Peers)]))
        return
    if args.list:
        for name, workload in chosen.items():
            print(f"{name}: {' '.join(workload.contenders)}")
        return
    if args.smoke:
        smoke(args, chosen)
        return
    if args.json:
        write_json(args.json, {})  # before minutes are spent
    tables, in_short = {}, {}
    load = peers.load_note()
    for name, workload in chosen.items():
        tables[name], in_short[name] = measure(args, name, workload)
    print("\nIn short:")
    for name, words in in_short.items():
        print(f"{name}: {words}")
    print(load, end="")
    if args.json:
        write_json(args.json, tables)
    plot(args, workloads, tables)
    check_limits(workloads, tables)


if __name__ == "__main__":
    exit_with(main)
