// What the page shows, as story.hpp found it, and who belongs to whom.
const data = JSON.parse(document.getElementById("data").textContent);
const kinds = data.kinds;
const rows = data.rows.map((row, at) => ({...row, at, events: [], spans: {poll: [], wait: [], state: [], cancel: [], obligation: []},
                                          below: 0}));
const events = data.events.map(([sequence, kind, time, row, cause, says, worker], at) =>
  ({at, sequence, kind: kinds[kind], time: Number(time), row, cause, says, worker, effects: []}));

for (const event of events) {
  rows[event.row].events.push(event);
  if (event.cause >= 0) events[event.cause].effects.push(event.at);
}
for (const [type, row, from, to, after, through, open, state] of data.spans) {
  rows[row].spans[type].push({type, row, from, to, after, through, open, state});
}
// How many rows stand below each, directly or not: a folded row hides that many.
for (let at = rows.length - 1; at > 0; --at) {
  if (rows[at].parent >= 0) rows[rows[at].parent].below += rows[at].below + 1;
}
const by_sequence = new Map(events.map(event => [String(event.sequence), event]));

// The first place of a sorted list where `after` holds.
function first_where(list, after) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (after(list[middle])) high = middle; else low = middle + 1;
  }
  return low;
}

function time_text(ns) {
  if (ns === 0) return "0";
  const [unit, size] = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]].find(([, size]) => ns >= size);
  return String(Number((ns / size).toPrecision(9))) + " " + unit;
}
