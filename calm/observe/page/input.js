// Mouse, keys and the start of it all.
const stage = document.getElementById("stage"), tip = document.getElementById("tip");
const by_id = id => document.getElementById(id);

function choose(event) {
  view.chosen = event;
  if (event) reveal(event);
  show_details();
  by_id("filter").value = view.filter;
  redraw();
}

// An event is chosen by its address: the browser's way back works, and a link to an event can be passed on.
function go(event) {
  const hash = event ? "#e" + event.sequence : "#";
  if (location.hash === hash || (!event && !location.hash)) choose(event); else location.hash = hash;
}
function follow_hash() { choose(by_sequence.get(location.hash.slice(2)) || null); }

function row_at(y) { return y < axis_height ? undefined : view.shown[Math.floor((y - axis_height + view.top) / row_height)]; }

// The event under a point: the mark that is nearest, or what began the box there.
function event_at(x, y) {
  const row = row_at(y);
  if (!row) return null;
  const after = first_where(row.events, event => x_of(event.at) > x);
  const near = [row.events[after - 1], row.events[after]].filter(Boolean)
    .map(event => [Math.abs(middle_of(event)[0] - x), event]).sort((a, b) => a[0] - b[0])[0];
  const box = [...row.spans.poll, ...row.spans.state].find(span => start_of(span) <= x && x <= end_of(span));
  const marked = near && marks[near[1].kind.name][0] !== "none";
  if (near && near[0] <= (marked ? 9 : 3)) return near[1];
  if (box && !(row.type === "region" && box.from === 0 && !row.events.includes(events[0]))) return events[box.from];
  return near && near[0] <= 12 ? near[1] : null;
}

function point(mouse) {
  const box = stage.getBoundingClientRect();
  return [mouse.clientX - box.left, mouse.clientY - box.top];
}

let grip = null;
stage.addEventListener("pointerdown", mouse => {
  if (mouse.button !== 0) return;
  grip = {x: mouse.clientX, y: mouse.clientY, left: view.left, top: view.top, moved: false};
  stage.setPointerCapture(mouse.pointerId);
});
stage.addEventListener("pointermove", mouse => {
  if (!grip) return hover(mouse);
  const x = mouse.clientX - grip.x, y = mouse.clientY - grip.y;
  if (Math.abs(x) + Math.abs(y) > 4) grip.moved = true;
  if (!grip.moved) return;
  stage.classList.add("moving");
  view.left = grip.left - x / view.scale;
  view.top = grip.top - y;
  clamp_view();
  redraw();
});
stage.addEventListener("pointerup", mouse => {
  const still = grip && !grip.moved;
  grip = null;
  stage.classList.remove("moving");
  if (still) go(event_at(...point(mouse)));
});
stage.addEventListener("pointercancel", () => { grip = null; stage.classList.remove("moving"); });
stage.addEventListener("pointerleave", () => { tip.hidden = true; });

function hover(mouse) {
  const [x, y] = point(mouse), event = event_at(x, y);
  tip.hidden = !event;
  if (!event) return;
  tip.textContent = `#${event.sequence} ${event.says}`;
  tip.style.left = Math.max(0, Math.min(x + 14, view.width - tip.offsetWidth - 6)) + "px";
  tip.style.top = Math.min(y + 16, view.height - tip.offsetHeight - 6) + "px";
}

function scroll(wheel) {
  wheel.preventDefault();
  const size = wheel.deltaMode === 1 ? 30 : 1;
  if (wheel.ctrlKey || wheel.metaKey) zoom(Math.exp(-wheel.deltaY * size * 0.002), point(wheel)[0]);
  else if (wheel.shiftKey) view.left += wheel.deltaY * size / view.scale;
  else { view.left += wheel.deltaX * size / view.scale; view.top += wheel.deltaY * size; }
  clamp_view();
  redraw();
}
stage.addEventListener("wheel", scroll, {passive: false});
labels.addEventListener("wheel", scroll, {passive: false});
// Pressed and released in the same row, whatever was drawn between: every drawing puts new buttons in place of the old ones.
let pressed = null;
labels.addEventListener("pointerdown", mouse => { pressed = mouse.button === 0 ? row_at(point(mouse)[1]) : null; });
labels.addEventListener("pointerup", mouse => {
  const row = pressed === row_at(point(mouse)[1]) ? pressed : null;
  pressed = null;
  if (!row || !row.below) return;
  if (!view.folded.delete(row.at)) view.folded.add(row.at);
  find_shown();
  clamp_view();
  redraw();
});

function set_axis(axis) {
  view.axis = axis;
  by_id("axis-order").setAttribute("aria-pressed", String(axis === "order"));
  by_id("axis-time").setAttribute("aria-pressed", String(axis === "time"));
  lay_out();
  fit();
  if (view.chosen) reveal(view.chosen);
  redraw();
}

function step_in_row(by) {
  if (!view.chosen) return go(events[0] || null);
  const list = rows[view.chosen.row].events;
  go(list[list.indexOf(view.chosen) + by] || view.chosen);
}
function step_row(by) {
  if (!view.chosen) return go(events[0] || null);
  for (let index = index_of_row(view.chosen.row) + by; index >= 0 && index < view.shown.length; index += by) {
    const list = view.shown[index].events;
    if (!list.length) continue;
    const after = first_where(list, event => event.at >= view.chosen.at);
    return go(list[Math.min(after, list.length - 1)]);
  }
}
const keys = {
  ArrowLeft: () => step_in_row(-1), ArrowRight: () => step_in_row(1), ArrowUp: () => step_row(-1), ArrowDown: () => step_row(1),
  ",": () => go(view.chosen ? events[view.chosen.at - 1] || view.chosen : events[0] || null),
  ".": () => go(view.chosen ? events[view.chosen.at + 1] || view.chosen : events[0] || null),
  c: () => { if (view.chosen && view.chosen.cause >= 0) go(events[view.chosen.cause]); },
  "+": () => zoom(1.4), "=": () => zoom(1.4), "-": () => zoom(1 / 1.4), 0: fit,
  t: () => set_axis(view.axis === "order" ? "time" : "order"),
  "/": () => by_id("filter").focus(), Escape: () => go(null), "?": () => by_id("keys").showModal(),
};
document.addEventListener("keydown", key => {
  if (key.ctrlKey || key.metaKey || key.altKey || by_id("keys").open) return;
  if (key.target === by_id("filter")) { if (key.key === "Escape") stage.focus(); return; }
  if (!keys[key.key]) return;
  key.preventDefault();
  keys[key.key]();
  redraw();
});
by_id("filter").addEventListener("input", () => {
  view.filter = by_id("filter").value;
  by_id("found").textContent = find_shown();
  view.top = 0;
  clamp_view();
  redraw();
});
by_id("axis-order").addEventListener("click", () => set_axis("order"));
by_id("axis-time").addEventListener("click", () => set_axis("time"));
by_id("zoom-in").addEventListener("click", () => { zoom(1.4); redraw(); });
by_id("zoom-out").addEventListener("click", () => { zoom(1 / 1.4); redraw(); });
by_id("zoom-fit").addEventListener("click", () => { fit(); redraw(); });
by_id("help").addEventListener("click", () => by_id("keys").showModal());
window.addEventListener("hashchange", follow_hash);

let fitted = false;
new ResizeObserver(() => {
  view.width = Math.max(stage.clientWidth, 1);
  view.height = Math.max(stage.clientHeight, 1);
  if (!fitted) { fitted = true; fit(); follow_hash(); }
  clamp_view();
  redraw();
}).observe(stage);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { read_colours(); show_legend(); redraw(); });

document.title = data.title;
by_id("title").textContent = data.title;
by_id("summary").textContent = `${events.length} events, ${rows.filter(row => row.type === "task").length} tasks, ` +
  `${rows.filter(row => row.type === "region").length} regions, digest ${data.digest}` +
  (data.overwritten === 0 ? "" : `; ${data.overwritten} older events are missing`);
read_colours();
lay_out();
find_shown();
show_details();
show_legend();

// For scripts that drive this page: where the mark of an event is in the window, once it is drawn.
window.calmTimeline = {
  place(sequence) {
    const event = by_sequence.get(String(sequence));
    if (!event || !fitted || index_of_row(event.row) < 0) return null;
    const box = stage.getBoundingClientRect(), [x, y] = middle_of(event);
    return {x: box.left + x, y: box.top + y};
  },
  view,
};
