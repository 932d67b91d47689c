"""calm.py — what a program on calm is doing, told by gdb: of a process that has stopped, or of its core.

Load it with `source .../calm.py`, for example from ~/.gdbinit. Then:

  calm tasks          every live task: id, name, state, region, where it awaits and what
  calm regions        the tree of regions with their states and how many live in each
  calm bt TASK        the coroutines of a task, innermost first, each with the place where it awaits; or `calm bt all`
  calm obligations    what was promised and is not resolved: kind, holder, region, since when, made where

TASK is an id such as t3, or the name that a task was spawned with. Nothing is called in the program, and nothing but its
symbol table is needed: it carries the offsets of all that is read here (calm/cx/live_kernel.cpp), and await points know
their places themselves.
"""
import os
import re
import struct

import gdb

REGION_STATES = {1: "Open", 2: "Closing", 4: "Draining", 8: "Finalizing", 16: "Closed"}
TASK_STATES = {1: "Created", 2: "Running", 4: "CancelRequested", 8: "Cancelling", 16: "Finalizing", 32: "Completed"}
WAKE_TEXTS = {0: "parked", 1: "queued", 2: "being polled", 3: "being polled and woken again"}
KINDS = ("send permit", "ack", "lease", "I/O operation", "semaphore permit", "lock guard", "pool checkout", "finalizer",
         "custom")
COUNTED_KINDS = ("send permit", "semaphore permit", "lock guard")
SERVICES = ("", "the reactor", "the lease keeper")
ID_LETTERS = {1: "r", 2: "t", 3: "o", 4: "w", 5: "m", 6: "c"}
LIMIT = 1 << 24  # a list with more links than this is taken for broken


# --- memory ---

def read(address, code):
    """The value that a struct code stands for, at an address."""
    try:
        data = gdb.selected_inferior().read_memory(address, struct.calcsize(code))
    except gdb.MemoryError:
        raise gdb.GdbError(f"calm: cannot read the memory at {address:#x}; a core may lack it, or it is overwritten") from None
    return struct.unpack("<" + code, bytes(data))[0]


def word(address):
    return read(address, "Q")


def text(address, size=None):
    """A string up to its end, or of a known size."""
    if not address:
        return ""
    if size is not None:
        return bytes(gdb.selected_inferior().read_memory(address, size)).decode(errors="replace") if size else ""
    out = b""
    while b"\0" not in out and len(out) < 4096:
        out += bytes([read(address + len(out), "B")])
    return out.split(b"\0")[0].decode(errors="replace")


def symbol(address):
    """The name of what lies at an address, without the distance to its beginning; empty when there is none."""
    said = gdb.execute(f"info symbol {address:#x}", to_string=True).strip()
    if not address or said.startswith("No symbol"):
        return ""
    return re.sub(r" \+ \d+$", "", said.partition(" in section ")[0])


class Offsets:
    """What the program says of its own memory, by name."""

    def __init__(self):
        if not gdb.selected_inferior().threads():
            raise gdb.GdbError("calm: there is no process and no core; run the program, attach to it, or load its core")
        try:
            self.anchor = int(gdb.parse_and_eval("(unsigned long)&calm_debug_anchor"))
        except gdb.error:
            raise gdb.GdbError("calm: there is no symbol calm_debug_anchor; the program is not linked with calm, or it was "
                               "stripped") from None
        self.rows, at = {}, word(self.anchor)
        while name := text(word(at)):
            self.rows[name] = word(at + 8)
            at += 16

    def __call__(self, name):
        if name not in self.rows:
            raise gdb.GdbError(f"calm: the program does not say where {name} is; take the calm.py of its own version of calm")
        return self.rows[name]


class Record:
    """A C++ object at an address."""

    type_name = ""

    def __init__(self, offsets, address):
        self.offsets, self.address = offsets, address

    def place(self, name):
        return self.address + self.offsets(f"{self.type_name}.{name}")

    def get(self, name, code="Q"):
        return read(self.place(name), code)

    def index(self):
        """Of a record in a slab: the chunk that it lies in begins with what the index is counted from."""
        chunk, slot = self.chunk_and_slot()
        return read(chunk + self.offsets("Slab.first_index"), "I") + slot

    def chunk_and_slot(self):
        chunk = self.address & ~(self.offsets("Slab.chunk_bytes") - 1)
        return chunk, (self.address - chunk) // self.offsets(f"{self.type_name}.bytes")

    def chain(self, first, name):
        """This type's records from the first one on, along a link."""
        found = []
        while first:
            if len(found) == LIMIT:
                raise gdb.GdbError(f"calm: the list of {self.type_name}s has no end; the memory is overwritten")
            found.append(type(self)(self.offsets, first))
            first = found[-1].get(name)
        return found


# --- names and places ---

def id_text(bits):
    """As calm::to_string shows it: r12, t4.3 from the second life of a slot on."""
    if not bits:
        return "none"
    if bits >> 63:
        return f"x{bits >> 32 & 0x7fffffff}" + (f"/{bits & 0xffffffff}" if bits & 0xffffffff else "")
    generation = bits >> 32 & 0xffffff
    return f"{ID_LETTERS.get(bits >> 56, '?')}{bits & 0xffffffff}" + (f".{generation}" if generation > 1 else "")


def time_text(ns):
    whole, rest = divmod(ns, 1_000_000_000)
    return f"{whole}" + (f".{rest:09}".rstrip("0") if rest else "") + "s"


def counted_noun(count, noun):
    return f"{count} {noun}{'' if count == 1 else 's'}"


def in_calm(path):
    """True for calm's own headers, whose places tell a user little."""
    return re.search(r"(?:^|/)calm/\w+/\w+\.hpp$", path) is not None


class Site:
    """A std::source_location of libstdc++: a pointer to file, function, line and column."""

    def __init__(self, address):
        known = word(address)
        self.line = read(known + 16, "I") if known else 0
        path = text(word(known)) if self.line else ""
        self.file = os.path.basename(path)
        self.function = text(word(known + 8)) if self.line else ""
        self.ours = in_calm(path)

    def __str__(self):
        return f"{self.file}:{self.line}" if self.line else ""


def without_groups(name, opening, closing):
    """The text without what stands in brackets of this kind."""
    out, depth = "", 0
    for at, letter in enumerate(name):
        depth += letter == opening
        if not depth:
            out += letter
        depth -= letter == closing and depth > 0 and name[at - 1] != "-"
    return out


LAMBDA = re.compile(r"\{lambda\([^{}]*\)#\d+\}|<lambda\([^<>]*\)>|\$_\d+|\(anonymous class\)|\(lambda at [^()]*\)")


def function_name(pretty):
    """`calm::Task<int> (anonymous namespace)::load(calm::Cx, int) [clone .resume]` as `load`."""
    name = re.sub(r" \[(?:clone|with|\w+ =) .*\]$", "", pretty)
    name = name.replace("(anonymous namespace)::", "").replace("{anonymous}::", "").replace("operator()", "operator call")
    name = LAMBDA.sub("{lambda}", name)
    # g++ gives the resume function one parameter, the frame, whose type names the function as it was written
    if hit := re.fullmatch(r"[^(]*\((.*)::_Z\S*\.Frame ?\*\)(?: const)?", name):
        name = hit[1]
    name = without_groups(without_groups(name, "<", ">"), "(", ")")
    name = re.sub(r"(?: const| noexcept)+$", "", name.strip())
    name = name.replace("{lambda}::operator call", "{lambda}").replace("operator call", "operator()")
    return name.rpartition(" ")[2] or pretty


# --- what there is ---

class Frame(Record):
    type_name = "Frame"

    def __init__(self, offsets, address, site):
        super().__init__(offsets, address)
        self.site = Site(site)

    def line(self, number, waits):
        site = self.site
        frame = self.address - 16  # a promise lies behind the two functions of its coroutine
        resume = word(frame) or word(frame + 8)  # one that has ended has no resume function, but a destroy function
        name = function_name(symbol(resume) or site.function)
        if site.line:
            return f"  #{number} {name}{waits}" if site.ours else f"  #{number} {site} in {name}{waits}"
        line = gdb.find_pc_line(resume)
        path = line.symtab.filename if line.symtab else ""
        where = f"{os.path.basename(path)}:{line.line} in " if path and not in_calm(path) else ""
        return f"  #{number} {where}{name}, not begun"


class Terms(Record):
    type_name = "TaskTerms"


class Task(Record):
    type_name = "TaskRecord"

    def __init__(self, offsets, address, region=None, finalizer=False):
        super().__init__(offsets, address)
        self.region, self.finalizer = region, finalizer
        self.bits = self.get("word")
        self.root = self.get("frame")
        self.name = self.id = ""
        if self.root:
            self.name = self.name_of_root()

    def terms(self):
        """What lies aside of the record: the chunk knows where."""
        chunk, slot = self.chunk_and_slot()
        first = read(chunk + self.offsets("TaskTerms.in_chunk"), "Q")
        return Terms(self.offsets, first + slot * self.offsets("TaskTerms.bytes"))

    def of_root(self, name):
        return self.root + self.offsets(f"TaskRoot.{name}")

    def name_of_root(self):
        """It lies in front of the root, where there is one: its size and where its characters are."""
        if not read(self.of_root("named"), "B") & self.offsets("TaskRoot.named_bit"):
            return ""
        at = self.root - self.offsets("TaskRoot.name_before")
        return text(word(at + 8), word(at))

    def wake(self):
        return self.bits & 7

    def state(self):
        if self.finalizer:
            return "finalizer, waits its turn"
        wake = "done" if self.wake() & 4 else WAKE_TEXTS[self.wake()]
        return f"{TASK_STATES.get(self.bits >> 3 & 0x3f, '?')}, {wake}"

    def frames(self):
        """Innermost first. The root knows where that one awaits, and each what awaits it in the next one."""
        has_some = self.root and read(self.of_root("stand"), "B") != self.offsets("TaskRoot.over")
        found, at, site = [], word(self.of_root("leaf")) if has_some else 0, self.of_root("last_await")
        while at:
            if len(found) == LIMIT:
                raise gdb.GdbError("calm: the frames of a task have no end; the memory is overwritten")
            found.append(Frame(self.offsets, at, site))
            above = found[-1].get("above")
            at = word(above + self.offsets("Above.frame")) if above != self.of_root("context") else 0
            site = above + self.offsets("Above.site")
        return found

    def site(self):
        """Where it awaits: the innermost place that is not calm's own."""
        sites = [frame.site for frame in self.frames()]
        return next((str(site) for site in sites if not site.ours), "")

    def waits_for(self):
        """What must happen before it goes on; empty unless it is parked."""
        wait = word(self.of_root("wait")) if self.root else 0
        if not wait or self.wake() != 0:
            return ""
        kind = re.search(r"(\w+)Wait\b", symbol(word(wait)))
        kind = kind[1] if kind else ""
        if kind == "Sleep":
            return f"until {time_text(word(wait + self.offsets('SleepWait.until')))}"
        resource = word(self.of_root("runs_or_waits"))
        # Who has it is no name for it, and neither is the worker of a poll.
        resource = id_text(resource if resource >> 62 != 1 and resource >> 56 else 0)
        endings = {"Join": f"{resource} to end", "Closed": f"{resource} to close",
                   "Linger": f"the tasks of {resource}", "Foreign": "a foreign awaitable"}
        return endings.get(kind) or (resource if resource != "none" else f"a {kind.lower()} wait" if kind else "")

    def title(self):
        name = f' "{self.name}"' if self.name else ""
        return f"{self.id}{name} of {self.region.id}: {self.state()}"

    def backtrace(self):
        waits = self.waits_for()
        waits = f", waits {'' if waits.startswith('until ') else 'for '}{waits}" if waits else ""
        lines = [frame.line(number, "" if number else waits) for number, frame in enumerate(self.frames())]
        if not lines:  # a callable that was not called yet has none either
            begins = self.bits >> 3 & 0x3f in (1, 4) and read(self.of_root("stand"), "B") != self.offsets("TaskRoot.over")
            lines = ["  #0 not begun" if begins else "  no frames: it has ended"]
        return [self.title(), *lines]

    def counted(self):
        for at, kind in enumerate(COUNTED_KINDS):
            made = read(self.place("tally") + 2 * (len(COUNTED_KINDS) - 1 - at), "H")
            away = read(self.terms().place("settled_away") + 2 * at, "H")
            if made - away & 0xffff:
                yield kind, made - away & 0xffff


class Obligation(Record):
    type_name = "ObligationRecord"

    def line(self, id_bits, region):
        service = SERVICES[self.get("service", "B")]
        task = id_text(self.get("task"))
        holder = service or task
        if service and task != "none":
            holder = f"{service} for {task}"
        resource = self.get("resource")
        about = f", about {id_text(resource)}" if resource else ""
        site = Site(self.place("site"))
        made = f", made at {site}" if site.line else ""
        return (f"{id_text(id_bits)} {KINDS[self.get('kind', 'B')]} of {'nobody' if holder == 'none' else holder} in "
                f"{region.id}{about}, since {time_text(self.get('since'))}{made}")


class Region(Record):
    type_name = "RegionRecord"

    def __init__(self, offsets, address):
        super().__init__(offsets, address)
        self.id = id_text(self.get("id"))

    def children(self):
        return self.chain(self.get("first_child"), "next")

    def tasks(self):
        """Its live tasks, then the clean-up tasks that run, then the finalizers that wait."""
        found = []
        for name, link, finalizer in (("tasks", "next", False), ("cleanup_tasks", "next", False),
                                      ("finalizers", "next_finalizer", True)):
            ring = 0 if finalizer else self.place(name)  # what its last one leads to
            at, first = self.get(name) if finalizer else read(ring + self.offsets(f"TaskRecord.{link}"), "Q"), len(found)
            while at != ring and len(found) - first < LIMIT:
                found.append(Task(self.offsets, at, self, finalizer))
                at = found[-1].get(link)
        return found

    def line(self):
        gate = self.get("gate")
        live = [counted_noun(gate >> 4 & 0x3fffffff, "task"), counted_noun(gate >> 34, "region")]
        owner = self.get("owner")
        finalizers = sum(task.finalizer for task in self.tasks())
        parts = [REGION_STATES.get(self.get("state", "B"), "?"), *(part for part in live if not part.startswith("0 ")),
                 *(["its body"] if gate & 4 else []), *([counted_noun(finalizers, "finalizer")] if finalizers else [])]
        return (f"{self.id} {', '.join(parts)}" + (f"; opened by {id_text(owner)}" if owner else "")
                + ("; cancelled" if self.get("cancelled", "B") else ""))


class Kernel(Record):
    type_name = "LiveKernel"

    def regions(self):
        """The tree, parents first, each with its depth."""
        found, line = [], [(Region(self.offsets, self.get("root")), 0)]
        while line:
            region, depth = line.pop()
            found.append((region, depth))
            line += [(child, depth + 1) for child in reversed(region.children())]
        return found

    def tasks(self):
        found = [task for region, _ in self.regions() for task in region.tasks()]
        for task in found:
            task.id = id_text(2 << 56 | (task.bits >> 40) << 32 | task.index())
        return found

    def obligations(self):
        """(bits of the id, record, region) by ascending id."""
        found = []
        regions = {region.address: region for region, _ in self.regions()}
        firsts = [region.get("unowned") for region in regions.values()]
        firsts += [self.obligation_at(task.terms().get("held", "I")) for task in self.tasks()]
        for first in firsts:
            for record in Obligation(self.offsets, 0).chain(first, "next"):
                region = regions.get(record.get("region")) or Region(self.offsets, record.get("region"))
                found.append((3 << 56 | record.get("generation", "I") << 32 | record.index(), record, region))
        return sorted(found, key=lambda row: row[0])

    def obligation_at(self, index):
        if not index:
            return 0
        chunk, slot = divmod(index, self.offsets("ObligationRecord.per_chunk"))
        return word(self.get("obligation_directory") + 8 * chunk) + slot * self.offsets("ObligationRecord.bytes")


def kernels():
    offsets = Offsets()
    found = Kernel(offsets, 0).chain(word(offsets.anchor + 8), "older")
    if not found:
        raise gdb.GdbError("calm: no program runs on calm at this moment")
    return found[::-1]


# --- the commands ---

def table(heads, rows):
    widths = [max(map(len, column)) for column in zip(heads, *rows)]
    for row in (heads, *rows):
        print("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths)).rstrip())


def for_each_kernel(show):
    found = kernels()
    for number, kernel in enumerate(found, 1):
        if len(found) > 1:
            print(f"kernel {number} of {len(found)}")
        show(kernel)


class Calm(gdb.Command):
    """What a program on calm is doing. `help calm` lists the commands."""

    def __init__(self):
        super().__init__("calm", gdb.COMMAND_STATUS, prefix=True)


class CalmTasks(gdb.Command):
    """Every live task: id, name, state, region, where it awaits and what it waits for."""

    def __init__(self):
        super().__init__("calm tasks", gdb.COMMAND_STATUS)

    def invoke(self, _argument, _from_tty):
        def show(kernel):
            rows = [(task.id, task.name, task.state(), task.region.id, task.site(), task.waits_for())
                    for task in kernel.tasks()]
            table(("task", "name", "state", "region", "at", "waits for"), rows)

        for_each_kernel(show)


class CalmRegions(gdb.Command):
    """The tree of regions: state, live tasks and child regions, waiting finalizers, and the task whose scope it is."""

    def __init__(self):
        super().__init__("calm regions", gdb.COMMAND_STATUS)

    def invoke(self, _argument, _from_tty):
        def show(kernel):
            for region, depth in kernel.regions():
                print("  " * depth + region.line())

        for_each_kernel(show)


class CalmBacktrace(gdb.Command):
    """The coroutines of a task, innermost first, with the place where each awaits: calm bt TASK, or calm bt all.
TASK is an id or a name as `calm tasks` shows them."""

    def __init__(self):
        super().__init__("calm bt", gdb.COMMAND_STATUS)

    def invoke(self, argument, _from_tty):
        wanted = argument.strip()
        if not wanted:
            raise gdb.GdbError("calm: which task? calm bt TASK, or calm bt all; `calm tasks` lists them")
        found = [task for kernel in kernels() for task in kernel.tasks() if wanted in ("all", task.id, task.name)]
        if not found:
            raise gdb.GdbError(f"calm: there is no live task {wanted}; `calm tasks` lists them")
        for task in found:
            print("\n".join(task.backtrace()))


class CalmObligations(gdb.Command):
    """What was promised and is not resolved; promises without a record are counted by task."""

    def __init__(self):
        super().__init__("calm obligations", gdb.COMMAND_STATUS)

    def invoke(self, _argument, _from_tty):
        def show(kernel):
            lines = [record.line(bits, region) for bits, record, region in kernel.obligations()]
            lines += [f"{task.id} holds {counted_noun(count, kind)}" for task in kernel.tasks()
                      for kind, count in task.counted()]
            print("\n".join(lines or ["nothing is promised"]))

        for_each_kernel(show)


for command in (Calm, CalmTasks, CalmRegions, CalmBacktrace, CalmObligations):
    command()
