// What of it is seen: axis, zoom, scroll, folded rows, filter, the selected event.
const row_height = 26, axis_height = 30;
const view = {axis: "order", scale: 1, left: 0, top: 0, width: 1, height: 1, folded: new Set(), filter: "", chosen: null,
              shown: rows, hovered: null};

// Where each event stands, in units: one for every event, and on the time axis as many again for all the time that passes.
const place = new Float64Array(events.length + 1);
function lay_out() {
  const begin = events.length ? events[0].time : 0;
  const end = events.reduce((last, event) => Math.max(last, event.time), begin);
  const by_time = view.axis === "time" && end > begin ? events.length / (end - begin) : 0;
  let last = 0;
  events.forEach((event, at) => { last = place[at] = Math.max(last, at + (event.time - begin) * by_time); });
  place[events.length] = events.length ? last + 1 : 1;
}

const x_of = at => (place[at] - view.left) * view.scale;
const x_after = at => x_of(at) + 0.9 * view.scale;
const start_of = span => span.after ? x_after(span.from) : x_of(span.from);
const end_of = span => span.through ? x_after(span.to) : x_of(span.to);
const y_of = index => axis_height + index * row_height - view.top;
const total_height = () => axis_height + view.shown.length * row_height;

function clamp_view() {
  const fit = view.width / place[events.length];
  view.scale = Math.min(Math.max(view.scale, fit * 0.9), 240);
  const room = view.width / view.scale;
  view.left = Math.min(Math.max(view.left, -0.05 * room), Math.max(place[events.length] - 0.9 * room, -0.05 * room));
  view.top = Math.min(Math.max(view.top, 0), Math.max(0, total_height() - view.height));
}

function fit() {
  view.scale = view.width / (place[events.length] * 1.04);
  view.left = -0.02 * place[events.length];
}

function zoom(by, x = view.width / 2) {
  const unit = view.left + x / view.scale;
  view.scale *= by;
  clamp_view();
  view.left = unit - x / view.scale;
  clamp_view();
}

// Rows that fit the filter stay, and with them all rows they stand under; folded rows hide what is below.
function find_shown() {
  const word = view.filter.trim().toLowerCase();
  const keep = new Set();
  let found = 0;
  for (const row of rows) {
    const fits = !word || row.title.toLowerCase().includes(word) ||
      row.events.some(event => event.kind.name.includes(word) || event.says.toLowerCase().includes(word));
    if (!fits) continue;
    ++found;
    for (let at = row.at; at >= 0 && !keep.has(at); at = rows[at].parent) keep.add(at);
  }
  view.shown = [];
  for (let at = 0; at < rows.length; ++at) {
    if (keep.has(at)) view.shown.push(rows[at]);
    if (view.folded.has(at)) at += rows[at].below;
  }
  view.shown.forEach((row, index) => { row.index = index; });
  return word ? `${found} of ${rows.length} rows` : "";
}

const index_of_row = at => view.shown[rows[at].index] === rows[at] ? rows[at].index : -1;

// Brings an event into sight; unfolds what hides it.
function reveal(event) {
  for (let at = rows[event.row].parent; at >= 0; at = rows[at].parent) view.folded.delete(at);
  find_shown();
  if (index_of_row(event.row) < 0) { view.filter = ""; find_shown(); }
  const x = x_of(event.at);
  if (x < 20 || x > view.width - 40) view.left = place[event.at] - view.width / view.scale / 2;
  const y = y_of(index_of_row(event.row));
  if (y < axis_height) view.top += y - axis_height;
  if (y + row_height > view.height) view.top += y + row_height - view.height;
  clamp_view();
}
