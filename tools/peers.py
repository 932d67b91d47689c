"""peers.py — the peer workloads for bench.py: the same work for calm, a floor and other runtimes, with 1 and 2 workers.

bench/<workload>/workload.ini describes a workload, the other files in the folder are the contenders, and
DIR/bench/bench_peers_<contender> is one program for all workloads of a contender. bench/README.md has the whole contract.
"""
import configparser
import json
import os
import statistics
import subprocess
from typing import NamedTuple

from console import Broken, Unusable

DESCRIPTION = "workload.ini"
HARNESS = "peers"  # bench/peers: what the contenders of a language share
SOURCES = {"calm": "calm.cpp", "calm_multi": "calm.cpp", "floor": "floor.cpp", "tokio": "tokio.rs", "tokio_multi": "tokio.rs",
           "go": "go.go", "asio": "asio.cpp", "tbb": "tbb.cpp"}
OURS, FLOOR = "calm", "floor"
OURS_MULTI = "calm_multi"  # the flavour for several workers, on one
SECOND_NAMES = {OURS_MULTI: OURS, "tokio_multi": "tokio"}  # of a program that sees by its name what is meant
NOT_DONE = 77  # exit code of a contender that does not do a workload, or not with so many workers
RUN_SECONDS_MAX = 300


class Peers(NamedTuple):
    name: str
    folder: str  # under bench/
    about: str  # what one operation is
    contenders: list  # in the order of SOURCES
    workers: list
    size: int
    answer: int
    operations: int
    small: tuple  # size and answer of a smoke run
    rounds: int  # in one process; the last one counts
    unit: str
    limit: float  # what calm may take at most; None where there is no such figure


class Row(NamedTuple):
    workload: str
    contender: str
    workers: int
    median_ns: float
    min_ns: float
    max_ns: float
    runs: int
    cold_ns: float  # median of the first rounds; None where only one round is made
    cpu_ns: float  # median of the processor time of all threads
    unit: str


class Samples(NamedTuple):
    rows: list
    missing: list  # contenders without a program
    not_done: list  # (contender, workers)


def find(root):
    """Peer workloads by name."""
    found = {}
    for path in sorted((root / "bench").glob(f"*/{DESCRIPTION}")):
        read = configparser.ConfigParser()
        try:
            read.read_string(path.read_text(), str(path))
            for name in read.sections():
                found[name] = describe(path.parent, name, read[name])
        except (configparser.Error, KeyError, ValueError) as error:
            raise Unusable(f"bench.py: {path}: {str(error).splitlines()[0]}") from None
    return found


def describe(folder, name, lines):
    size, answer = (int(word) for word in lines["small"].split())
    return Peers(name, folder.name, lines["about"],
                 [contender for contender, source in SOURCES.items() if (folder / source).is_file()],
                 [int(word) for word in lines.get("workers", "1 2").split()], int(lines["size"]), int(lines["answer"]),
                 int(lines["operations"]), (size, answer), int(lines.get("rounds", "2")), lines.get("unit", "ns"),
                 float(lines["limit"]) if "limit" in lines else None)


def packages(chosen):
    """The package sets of tools/install.sh that these workloads want."""
    wanted = {SECOND_NAMES.get(contender, contender) for peers in chosen for contender in peers.contenders}
    return [f"peer_{contender}" for contender in SOURCES if contender in wanted - {OURS, FLOOR}]


def run_once(path, peers, workers, size, answer):
    """What the program printed, or None when it does not do this."""
    command = [str(word) for word in (path, peers.name, workers, size, answer, peers.rounds)]
    again = " ".join(command)
    try:
        ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=RUN_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        raise Broken(f"{peers.name}: {path.name} ran longer than {RUN_SECONDS_MAX} s", "a benchmark ends", again) from None
    if ran.returncode == NOT_DONE:
        return None
    if ran.returncode:
        last = (ran.stderr.strip() or "no message").splitlines()[-1]
        raise Broken(f"{path.name} stopped with {ran.returncode}: {last}", "a benchmark ends well, with the right answer",
                     again)
    try:
        line = json.loads(ran.stdout)
        if line["answer"] == answer and len(line["ns"]) == len(line["cpu_ns"]) == peers.rounds:
            return line
    except (ValueError, KeyError, TypeError):
        pass
    raise Broken(f"{peers.name}: {path.name} printed {ran.stdout[:200]!r}",
                 f'a contender prints one line {{"answer": {answer}, "ns": [...], "cpu_ns": [...]}}, {peers.rounds} of each',
                 again)


def programs(build, peers):
    """Programs by contender, and those contenders that have none."""
    if build is None:
        raise Unusable(f"bench.py: {peers.name} needs --build DIR")
    paths = {contender: build / "bench" / f"bench_peers_{contender}" for contender in peers.contenders}
    missing = [contender for contender, path in paths.items() if not path.is_file()]
    for contender in missing:
        if contender in (OURS, FLOOR):
            raise Unusable(f"bench.py: {paths[contender]} is not built; ./dev bench builds it")
        del paths[contender]
    return paths, missing


def sample(build, peers, runs, small=False):
    """Contenders take turns, with every number of workers, as often as `runs` says."""
    paths, missing = programs(build, peers)
    size, answer = peers.small if small else (peers.size, peers.answer)
    turns = [(contender, workers) for workers in peers.workers for contender in paths]
    lines, not_done = {}, []
    for _ in range(runs):
        for turn in turns:
            if turn in not_done:
                continue
            line = run_once(paths[turn[0]], peers, turn[1], size, answer)
            if line is None:
                not_done.append(turn)
            else:
                lines.setdefault(turn, []).append(line)
    if not lines:
        raise Broken(f"{peers.name}: no contender does this workload", "a workload has a contender at least",
                     f"see bench/{peers.folder}")
    return Samples([make_row(peers, turn, found) for turn, found in lines.items()], missing, not_done)


def make_row(peers, turn, lines):
    warm = [line["ns"][-1] / peers.operations for line in lines]
    cold = [line["ns"][0] / peers.operations for line in lines] if peers.rounds > 1 else None
    cpu = [line["cpu_ns"][-1] / peers.operations for line in lines]
    return Row(peers.name, *turn, statistics.median(warm), min(warm), max(warm), len(lines),
               statistics.median(cold) if cold else None, statistics.median(cpu), peers.unit)


def quotient(row, base):
    """None where there is nothing to divide by."""
    return row.median_ns / base.median_ns if base and base.median_ns else None


def ratio(row, base):
    value = quotient(row, base)
    return "-" if value is None else f"{value:.2f}"


def base_of(rows, contender, workers):
    return next((row for row in rows if row.contender == contender and row.workers == workers), None)


def for_json(rows):
    """The rows of a workload with their ratios to calm with as many workers and to the floor; what there is not is left out."""
    for row in rows:
        written = {**row._asdict(), "ratio": quotient(row, base_of(rows, OURS, row.workers)),
                   "to_floor": quotient(row, base_of(rows, FLOOR, 1))}
        yield {name: value for name, value in written.items() if value is not None}


def show(peers, samples):
    rows = samples.rows
    print(f"\n{peers.name}, {peers.unit} per operation, {rows[0].runs} runs each\n  {peers.about}")
    heads = ("median", "min", "max", "cold", "cpu", "to calm", "by cpu", "to floor", "2 to 1")
    print(f"  {'contender':<11} {'workers':>7} " + " ".join(f"{head:>9}" for head in heads))
    for row in rows:
        one, ours = base_of(rows, row.contender, 1), base_of(rows, OURS, row.workers)
        numbers = [f"{row.median_ns:.1f}", f"{row.min_ns:.1f}", f"{row.max_ns:.1f}",
                   "-" if row.cold_ns is None else f"{row.cold_ns:.1f}", f"{row.cpu_ns:.1f}",
                   ratio(row, ours), f"{row.cpu_ns / ours.cpu_ns:.2f}" if ours and ours.cpu_ns else "-",
                   ratio(row, base_of(rows, FLOOR, 1)), "" if row is one else ratio(row, one)]
        print(f"  {row.contender:<11} {row.workers:>7} " + " ".join(f"{number:>9}" for number in numbers), flush=True)
    for contender, workers in samples.not_done:
        print(f"  {contender}: does not do this with {workers} worker{'s' if workers > 1 else ''}")
    for contender in samples.missing:
        print(f"  {contender}: MISSING, bench_peers_{contender} is not built")


def summary(peers, samples):
    parts = []
    for workers in peers.workers:
        ours = base_of(samples.rows, OURS, workers)
        others = [row for row in samples.rows if row.workers == workers and row is not ours]
        if ours:
            compared = ", ".join(f"{row.contender} {ratio(row, ours)}" for row in others)
            parts.append(f"{workers} worker{'s' if workers > 1 else ''}: calm {ours.median_ns:.1f} {peers.unit}; times that: "
                         f"{compared or 'no other contender'}")
        elif others:
            parts.append(f"{workers} workers: calm has none")
    return "\n  ".join(parts)


def check_limit(peers, rows):
    """Where a workload has a limit, it is one that does not depend on the machine's mood."""
    for row in rows:
        if row.contender in (OURS, OURS_MULTI) and peers.limit is not None and row.median_ns > peers.limit:
            raise Broken(f"{peers.name}: {row.contender} takes {row.median_ns:.1f} {peers.unit}",
                         f"{peers.about} takes at most {peers.limit:g} {peers.unit}",
                         "see what grew: docs/guide/cost.md has the parts")


def load_note():
    """Says when other programs disturb the times."""
    load, processors = os.getloadavg()[0], os.cpu_count() or 1
    if load < 0.5:
        return ""
    return f"The load was {load:.1f} on {processors} processors at the start: compare ratios, not times.\n"
