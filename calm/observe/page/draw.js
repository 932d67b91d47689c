// The picture.
const canvas = document.getElementById("canvas"), labels = document.getElementById("labels");
const pen = canvas.getContext("2d");
let ink = {};
function read_colours() {
  const style = getComputedStyle(document.documentElement);
  ink = new Proxy({}, {get: (known, name) => known[name] ??= style.getPropertyValue("--" + name).trim()});
}

const state_ink = {Open: "open", Closing: "closing", Draining: "draining", Finalizing: "finalizing", Closed: "closed"};
// How an event is marked: shape, colour, half its size.
const marks = {
  "spawn": ["dot", "life", 4], "poll": ["none", "poll", 0], "complete": ["square", "life", 4],
  "cancel request": ["down", "cancel", 5], "cancel ack": ["ring", "cancel", 4], "cancel done": ["square", "cancel", 3.5],
  "reserve": ["diamond", "promise", 5], "resolve": ["hollow", "promise", 5], "finalize": ["dot", "finalizer", 4.5],
  "region move": ["bar", "soft", 5], "timer": ["up", "timer", 5], "channel": ["diamond", "timer", 4],
  "I/O": ["diamond", "timer", 4], "choice": ["bar", "choice", 4], "access": ["dot", "choice", 2], "forced": ["cross", "forced", 5],
  "mark": ["up", "finalizer", 4],
};

function draw_mark(to, shape, colour, x, y, r) {
  to.fillStyle = to.strokeStyle = colour;
  to.lineWidth = 1.8;
  to.beginPath();
  if (shape === "dot" || shape === "ring") to.arc(x, y, r, 0, 7);
  if (shape === "square") to.rect(x - r, y - r, 2 * r, 2 * r);
  if (shape === "down") { to.moveTo(x - r, y - r); to.lineTo(x + r, y - r); to.lineTo(x, y + r); to.closePath(); }
  if (shape === "up") { to.moveTo(x - r, y + r); to.lineTo(x + r, y + r); to.lineTo(x, y - r); to.closePath(); }
  if (shape === "diamond" || shape === "hollow") {
    to.moveTo(x - r, y); to.lineTo(x, y - r); to.lineTo(x + r, y); to.lineTo(x, y + r); to.closePath();
  }
  if (shape === "bar") { to.moveTo(x, y - r); to.lineTo(x, y + r); }
  if (shape === "cross") { to.moveTo(x - r, y - r); to.lineTo(x + r, y + r); to.moveTo(x + r, y - r); to.lineTo(x - r, y + r); }
  if (["ring", "hollow", "bar", "cross"].includes(shape)) to.stroke(); else to.fill();
}

// Calls `paint` with the ends of every span of a list that is in sight; spans of one pixel that fall together count once.
function each_span(list, paint) {
  let last = -10;
  const right = view.left + view.width / view.scale;
  // A list is sorted by where its spans begin, and only some kinds overlap: these begin their look at the start.
  const nested = list.length && (list[0].type === "obligation" || list[0].type === "cancel");
  for (let i = nested ? 0 : Math.max(0, first_where(list, span => place[span.to] + 1 >= view.left)); i < list.length; ++i) {
    const span = list[i];
    if (place[span.from] > right) break;
    const x = Math.max(start_of(span), -50), end = Math.min(end_of(span), view.width + 50);
    if (end < 0 || (end - x < 1 && x - last < 1 && !nested)) continue;
    paint(x, Math.max(end - x, 1), span);
    last = end;
  }
}

function draw_row(row, y) {
  const middle = y + row_height / 2;
  pen.fillStyle = ink["cancel-band"];
  each_span(row.spans.cancel, (x, width) => pen.fillRect(x, y + 1, width, row_height - 2));
  each_span(row.spans.state, (x, width, span) => {
    pen.fillStyle = ink[state_ink[span.state]];
    pen.fillRect(x, y + 5, width, row_height - 10);
    if (width > 44) {
      pen.fillStyle = ink["on-state"];
      pen.save();
      pen.beginPath(); pen.rect(x, y, width - 4, row_height); pen.clip();
      pen.fillText(span.state, Math.max(x, 0) + 10, middle);
      pen.restore();
    }
  });
  pen.fillStyle = ink.wait;
  each_span(row.spans.wait, (x, width) => pen.fillRect(x, middle - 1, width, 2));
  pen.fillStyle = row.finalizer ? ink.finalizer : ink.poll;
  each_span(row.spans.poll, (x, width) => pen.fillRect(x, middle - 7, Math.max(width, 1.5), 14));
  pen.fillStyle = ink.promise;
  let lane = 0;
  each_span(row.spans.obligation, (x, width) => pen.fillRect(x, y + row_height - 4 - 4 * (lane++ % 2), width, 3));
  draw_events(row, middle);
}

function draw_events(row, y) {
  const right = view.left + view.width / view.scale;
  const size = Math.min(1, 0.45 + view.scale / 12);
  let last = -10;
  for (let i = first_where(row.events, event => place[event.at] + 12 / view.scale >= view.left); i < row.events.length; ++i) {
    const event = row.events[i], x = x_of(event.at);
    if (place[event.at] > right) break;
    const [shape, colour, r] = marks[event.kind.name];
    if (shape === "none" || x - last < 1) continue;
    draw_mark(pen, shape, ink[colour], x + Math.min(view.scale * 0.45, 6), y, r * size);
    last = x;
  }
}

function middle_of(event) {
  return [x_of(event.at) + Math.min(view.scale * 0.45, 6), y_of(index_of_row(event.row)) + row_height / 2];
}

function draw_link(from, to) {
  if (index_of_row(from.row) < 0 || index_of_row(to.row) < 0) return;
  const [x1, y1] = middle_of(from), [x2, y2] = middle_of(to);
  const bend = Math.max(20, Math.abs(x2 - x1) / 3);
  pen.strokeStyle = pen.fillStyle = ink.accent;
  pen.lineWidth = 1.5;
  pen.beginPath(); pen.moveTo(x1, y1); pen.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2 - 5, y2); pen.stroke();
  pen.beginPath(); pen.moveTo(x2, y2); pen.lineTo(x2 - 8, y2 - 4); pen.lineTo(x2 - 8, y2 + 4); pen.fill();
}

function draw_chosen() {
  const event = view.chosen;
  if (!event || index_of_row(event.row) < 0) return;
  if (event.cause >= 0) draw_link(events[event.cause], event);
  event.effects.slice(0, 50).forEach(at => draw_link(event, events[at]));
  const [x, y] = middle_of(event);
  pen.strokeStyle = ink.accent;
  pen.lineWidth = 2.5;
  pen.beginPath(); pen.arc(x, y, 10, 0, 7); pen.stroke();
}

function draw_axis() {
  pen.fillStyle = ink.panel;
  pen.fillRect(0, 0, view.width, axis_height);
  pen.fillStyle = ink.soft;
  pen.strokeStyle = ink.line;
  pen.lineWidth = 1;
  let last = -1000, shown = null;
  for (let i = first_where(events, event => place[event.at] >= view.left); i < events.length && x_of(i) < view.width; ++i) {
    const text = view.axis === "time" ? time_text(events[i].time) : "#" + events[i].sequence;
    if (x_of(i) - last < 84 || text === shown) continue;
    last = x_of(i);
    shown = text;
    pen.beginPath(); pen.moveTo(last + 0.5, 20); pen.lineTo(last + 0.5, view.height); pen.stroke();
    pen.fillText(text, last + 4, 14);
  }
  pen.beginPath(); pen.moveTo(0, axis_height - 0.5); pen.lineTo(view.width, axis_height - 0.5); pen.stroke();
}

function draw_labels(first, end) {
  const parts = [];
  for (let index = first; index < end; ++index) {
    const row = view.shown[index];
    const label = document.createElement("button");
    label.type = "button";
    label.className = row.type + (row.finalizer ? " finalizer" : "") +
      (view.chosen && view.chosen.row === row.at ? " chosen" : "");
    label.dataset.row = row.at;
    label.tabIndex = -1;
    label.title = row.title + (row.spawn ? "\nspawned at " + row.spawn : "") + (row.await ? "\nawaits at " + row.await : "");
    label.style.cssText = `top:${y_of(index)}px;height:${row_height}px;padding-left:${8 + 14 * row.depth}px`;
    if (row.below) label.setAttribute("aria-expanded", String(!view.folded.has(row.at)));
    label.textContent = (row.below ? (view.folded.has(row.at) ? "▸ " : "▾ ") : "") + row.title +
      (row.below && view.folded.has(row.at) ? ` (${row.below})` : "");
    parts.push(label);
  }
  const corner = document.createElement("button");  // keeps labels from showing beside the axis
  corner.type = "button"; corner.tabIndex = -1; corner.disabled = true;
  corner.style.cssText = `top:0;height:${axis_height}px;background:var(--panel);border-bottom:1px solid var(--line)`;
  labels.replaceChildren(...parts, corner);
}

function draw() {
  const ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(view.width * ratio) || canvas.height !== Math.round(view.height * ratio)) {
    canvas.width = Math.round(view.width * ratio);
    canvas.height = Math.round(view.height * ratio);
  }
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.font = "12px system-ui, sans-serif";
  pen.textBaseline = "middle";
  pen.fillStyle = ink.paper;
  pen.fillRect(0, 0, view.width, view.height);
  const first = Math.max(0, Math.floor(view.top / row_height));
  const end = Math.min(view.shown.length, Math.ceil((view.top + view.height) / row_height));
  for (let index = first; index < end; ++index) {
    pen.fillStyle = view.chosen && view.chosen.row === view.shown[index].at ? ink.chosen : index % 2 ? ink.stripe : ink.paper;
    pen.fillRect(0, y_of(index), view.width, row_height);
  }
  draw_axis();
  pen.save();
  pen.beginPath(); pen.rect(0, axis_height, view.width, view.height); pen.clip();
  for (let index = first; index < end; ++index) draw_row(view.shown[index], y_of(index));
  draw_chosen();
  pen.restore();
  draw_labels(first, end);
}

let asked = false;
function redraw() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => { asked = false; draw(); });
}
