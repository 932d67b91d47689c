// The explanation of the selected event, and the legend.
const details = document.getElementById("details");

function element(name, text, options = {}) {
  const made = Object.assign(document.createElement(name), options);
  made.append(...[].concat(text));
  return made;
}

function event_link(event) {
  return element("a", `#${event.sequence} ${event.kind.name}`, {href: "#e" + event.sequence, title: event.says});
}

function row_text(row) {
  return row.parent >= 0 ? `${row.title}, in ${rows[row.parent].title}` : row.title;
}

function facts_of(event) {
  const row = rows[event.row];
  const facts = [[row.type === "runtime" ? "Where" : row.type === "task" ? "Task" : "Region", row_text(row)]];
  if (row.spawn) facts.push(["Spawned at", row.spawn]);
  if (row.await) facts.push(["Awaits at", row.await]);
  facts.push(["Time", time_text(event.time)], ["Worker", String(event.worker)]);
  if (event.cause >= 0) facts.push(["Cause", [event_link(events[event.cause]), element("div", events[event.cause].says)]]);
  if (event.cause === -2) facts.push(["Cause", "an event that the trace does not have"]);
  if (event.effects.length) {
    const shown = event.effects.slice(0, 8).map(at => element("div", event_link(events[at])));
    if (event.effects.length > shown.length) shown.push(`and ${event.effects.length - shown.length} more`);
    facts.push(["Leads to", shown]);
  }
  return facts;
}

function show_details() {
  const event = view.chosen;
  if (!event) {
    details.replaceChildren(element("h2", "Nothing is selected"),
      element("p", "Click an event or a box, or use the arrow keys, and this place explains it.", {className: "means"}));
    return;
  }
  const list = element("dl", facts_of(event).flatMap(([name, value]) => [element("dt", name), element("dd", value)]));
  details.replaceChildren(element("h2", `#${event.sequence} ${event.kind.name}`), element("p", event.says, {className: "says"}),
    element("p", event.kind.means, {className: "means"}), list,
    element("div", ["Laws ", ...event.kind.laws.split(" ").map(law => element("span", law, {className: "law"}))]));
}

const legend_texts = {
  "spawn": "spawn", "complete": "end", "cancel request": "cancel request", "cancel ack": "acknowledged",
  "cancel done": "cancel done", "forced": "forced end", "reserve": "reserve", "resolve": "resolve", "finalize": "finalizer starts",
  "timer": "timer", "choice": "choice", "access": "access", "mark": "mark of the program",
};
function swatch(paint) {
  const ratio = window.devicePixelRatio || 1, small = document.createElement("canvas"), to = small.getContext("2d");
  small.width = 22 * ratio; small.height = 14 * ratio;
  small.style.cssText = "position:static;width:22px;height:14px";
  to.scale(ratio, ratio);
  paint(to);
  return small;
}
function show_legend() {
  const bar = (colour, height) => to => { to.fillStyle = ink[colour]; to.fillRect(0, 7 - height / 2, 22, height); };
  const items = [["poll", bar("poll", 10)], ["waiting", bar("wait", 2)], ["under cancellation", bar("cancel-band", 14)],
                 ["promise held", bar("promise", 3)]];
  for (const [state, colour] of Object.entries(state_ink)) items.push([state, bar(colour, 12)]);
  for (const [kind, text] of Object.entries(legend_texts)) {
    const [shape, colour, r] = marks[kind];
    items.push([text, to => draw_mark(to, shape, ink[colour], 11, 7, r)]);
  }
  document.getElementById("legend").replaceChildren(...items.map(([text, paint]) => element("span", [swatch(paint), text])));
}
