#!/usr/bin/env python3
"""contention.py — what the kernel's shards save over one mutex for everything, and who waited for which lock (SHD-4).

Usage: tools/contention.py --build DIR [--workers N]… [--seconds S] [--quick] [--out DIR]      DIR is an optimised build

  --workers N  how many threads; may be repeated (default: 1 and 2)
  --seconds S  how long a timed run is (default: 0.5)
  --quick      3 runs of 0.1 s of each instead of 7
  --out DIR    where the files go (default: contention in the build directory)

Workers poll parked tasks; after 64 polls each does the operation of the workload once: nothing, a spawn, the commit of a
promise, a cancel of a region with 8 tasks, a snapshot. The same is done by the kernel as it is, `sharded`, and by the same
kernel over words that are plain values with one lock around every operation, `one_mutex`. Timed runs take turns and measure
no locks. A ratio is how many times as many rounds the shards do in the same time; it is taken from each pair of neighbours.

A run of each with lock metrics then gives the files: locks.json and histograms.svg, how long each lock was waited for and held
by whom; records.json and waterfall.svg, lock operations one by one; cancel_graph.json and .svg, whom a cancel reached;
obligations.json and .svg, what became of promises; ratios.json and .svg; summary.txt; index.html shows all of them.

Exit: 0 with the ratios; 1 a wrong answer, locks out of order (SHD-1) or a promise without an end; 2 bad usage or no build.
"""
import json
import statistics
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import contention_page  # noqa: E402

from console import Broken, OneLineParser, Unusable, exit_with

WORKLOADS = {"polling": "nothing else", "spawn": "a spawn", "commit": "the commit of a promise",
             "cancel": "a cancel of a region with 8 tasks", "snapshot": "a snapshot"}
SHARDED, ONE_MUTEX = BUILDS = ("sharded", "one_mutex")
RUNS, QUICK_RUNS = 7, 3
SECONDS, QUICK_SECONDS = 0.5, 0.1
RECORDED_ROUNDS = 200
RUN_SECONDS_MAX = 120


def find_programs(build):
    found = [build / "apps/contention" / name for name in ("contention", "contention_metered")]
    for path in found:
        if not path.is_file():
            raise Unusable(f"contention.py: {path} is not built; ./dev contention builds it")
    return found


def run_once(program, build, workload, workers, unit, amount):
    command = [str(word) for word in (program, build, workload, workers, unit, amount)]
    again = " ".join(command)
    try:
        ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=RUN_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        raise Broken(f"{workload} on {build} ran longer than {RUN_SECONDS_MAX} s", "a run ends", again) from None
    if ran.returncode:
        last = (ran.stderr.strip() or "no message").splitlines()[-1]
        raise Broken(f"{program.name} stopped with {ran.returncode}: {last}", "a run ends in quiet, all rounds done", again)
    try:
        return json.loads(ran.stdout)
    except ValueError:
        raise Broken(f"{program.name} printed {ran.stdout[:200]!r}", "a run prints one JSON object", again) from None


def time_builds(program, workers, runs, seconds):
    """A row for each workload: ns per round of both builds and the ratios of neighbours."""
    for workload in WORKLOADS:
        ns = {build: [] for build in BUILDS}
        for _ in range(runs):
            for build in BUILDS:
                run = run_once(program, build, workload, workers, "seconds", seconds)
                ns[build].append(run["ns"] / run["rounds"])
        ratios = [mutex / sharded for sharded, mutex in zip(ns[SHARDED], ns[ONE_MUTEX])]
        yield {"workload": workload, "workers": workers, "runs": runs, "seconds": seconds,
               **{f"{build}_ns": statistics.median(ns[build]) for build in BUILDS},
               "ratio": statistics.median(ratios), "ratio_min": min(ratios), "ratio_max": max(ratios)}


def acquisitions(records):
    """What each worker took from having no lock until it had none again: a list of (lock, its unlock), in order."""
    found = []
    for worker in sorted({record["worker"] for record in records}):
        held, taken = {}, []
        for record in (record for record in records if record["worker"] == worker):
            if record["action"] == "lock":
                held[record["shard"]] = len(taken)
                taken.append([record, None])
            elif record["shard"] in held:
                taken[held.pop(record["shard"])][1] = record
            if not held and taken:
                found.append(taken)
                taken = []
    return sorted(found, key=lambda taken: taken[0][0]["at_ns"])


def place(shard):
    """B before the As by number before C; the one mutex is alone."""
    return {"B": (0, 0), "C": (2, 0), "M": (0, 0)}.get(shard) or (1, int(shard[1:]))


def check_order(name, taken_together):
    for taken in taken_together:
        shards = [lock["shard"] for lock, _ in taken]
        if shards != sorted(set(shards), key=place):
            raise Broken(f"{name}: {taken[0][0]['caller']} of worker {taken[0][0]['worker']} locked {' → '.join(shards)}",
                         "SHD-1 shards are locked in the order B, A by ascending worker, C, each once",
                         "calm/kernel/shards.hpp takes them; see records.json")


def check_promises(name, promises):
    for promise in promises:
        if promise["resolved_ns"] is None:
            raise Broken(f"{name}: the promise {promise['who']} of {promise['holder']} was never resolved",
                         "OBL-1 a promise ends once", "see obligations.json")


def record_builds(program, workers):
    """The runs with lock metrics, by (workload, build), as they must be."""
    runs = {}
    for workload in WORKLOADS:
        for build in BUILDS:
            run = run_once(program, build, workload, workers, "rounds", RECORDED_ROUNDS)
            name = f"{workload} on {build}"
            run["acquisitions"] = acquisitions(run["records"])
            check_order(name, run["acquisitions"])
            check_promises(name, run["promises"])
            runs[workload, build] = run
    return runs


def below(counts, percent):
    """The end of the bucket (of kernel::LockHistogram, a power of two) that this part of all durations is below; 0 without any."""
    wanted, total = percent * sum(counts), 0
    for bucket, count in enumerate(counts):
        total += count
        if count and 100 * total >= wanted:
            return 2 ** bucket
    return 0


def ratio_lines(rows):
    for workers in dict.fromkeys(row["workers"] for row in rows):
        some = [row for row in rows if row["workers"] == workers]
        yield ""
        yield (f"{workers} worker{'s' * (workers > 1)}, ns per round of 64 polls and one operation, median of {some[0]['runs']} "
               f"runs of {some[0]['seconds']:g} s, taken in turns")
        yield f"  {'operation':<10} {'sharded':>10} {'one mutex':>10} {'ratio':>7}  from … to"
        for row in some:
            yield (f"  {row['workload']:<10} {row['sharded_ns']:>10.0f} {row['one_mutex_ns']:>10.0f} {row['ratio']:>7.2f}  "
                   f"{row['ratio_min']:.2f} … {row['ratio_max']:.2f}")


def lock_lines(runs, workers):
    yield ""
    yield f"Locks with {workers} workers, {RECORDED_ROUNDS} rounds each: how often, and what half and 99 of 100 are below, in ns"
    yield f"  {'operation':<10} {'build':<10} {'lock':<5} {'caller':<19} {'count':>7} {'wait':>6} {'':>8} {'held':>6} {'':>8}"
    for (workload, build), run in runs.items():
        for row in run["locks"]:
            times = " ".join(f"{below(row[what], 50):>6} {below(row[what], 99):>8}" for what in ("wait", "held"))
            yield f"  {workload:<10} {build:<10} {row['shard']:<5} {row['caller']:<19} {sum(row['wait']):>7} {times}"


def write(folder, name, content):
    text = content if isinstance(content, str) else json.dumps(content).replace("}, {", "},\n{") + "\n"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    except OSError as error:
        raise Unusable(f"contention.py: cannot write {folder / name}: {error.strerror}") from None


def write_all(folder, rows, runs, workers, summary):
    recorded = {f"{workload} {build}": run for (workload, build), run in runs.items()}
    cancel, commit = runs["cancel", SHARDED], runs["commit", SHARDED]
    write(folder, "ratios.json", rows)
    write(folder, "locks.json", {name: run["locks"] for name, run in recorded.items()})
    write(folder, "records.json", {name: run["records"] for name, run in recorded.items()})
    write(folder, "cancel_graph.json", cancel["cancels"])
    write(folder, "obligations.json", commit["promises"])
    pictures = {"ratios": contention_page.ratios(rows), "histograms": contention_page.histograms(recorded),
                "waterfall": contention_page.waterfall(cancel["acquisitions"]),
                "cancel_graph": contention_page.cancel_graph(cancel["cancels"]),
                "obligations": contention_page.obligations(commit["promises"])}
    for name, picture in pictures.items():
        write(folder, f"{name}.svg", picture)
    write(folder, "index.html", contention_page.page(pictures, summary, workers))
    write(folder, "summary.txt", summary)


def read_arguments():
    parser = OneLineParser("contention.py", __doc__)
    parser.add_argument("--build", type=Path, required=True, metavar="DIR")
    parser.add_argument("--workers", type=int, action="append", metavar="N")
    parser.add_argument("--seconds", type=float, metavar="S")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=Path, metavar="DIR")
    args = parser.parse_args()
    args.workers = sorted(set(args.workers or (1, 2)))
    args.seconds = args.seconds if args.seconds is not None else QUICK_SECONDS if args.quick else SECONDS
    if not 1 <= args.workers[0] <= args.workers[-1] <= 64:
        raise Unusable("contention.py: --workers is a number from 1 to 64")
    if not 0 < args.seconds <= RUN_SECONDS_MAX / 2:
        raise Unusable(f"contention.py: --seconds is a number above 0 and at most {RUN_SECONDS_MAX // 2}")
    args.out = args.out or args.build / "contention"
    return args


def main():
    args = read_arguments()
    timed, metered = find_programs(args.build)
    write(args.out, "summary.txt", "")  # before minutes are spent
    runs = record_builds(metered, args.workers[-1])
    rows = []
    for workers in args.workers:
        some = list(time_builds(timed, workers, QUICK_RUNS if args.quick else RUNS, args.seconds))
        rows += some
        print(*ratio_lines(some), sep="\n", flush=True)
    summary = "\n".join([*ratio_lines(rows), *lock_lines(runs, args.workers[-1])]).lstrip() + "\n"
    write_all(args.out, rows, runs, args.workers[-1], summary)
    print(f"\ncontention: {args.out / 'index.html'} shows locks, waterfall, cancels and promises")


if __name__ == "__main__":
    exit_with(main)
