// The program: text and graph side by side.
const LEGEND = [
  ["memory", "memory"], ["registers", "registers"], ["fused", "fused into users"], ["constant", "constant"], ["argument", "argument"],
  ["copying", "copy"], ["none", "a name only, or not needed"]];

// Rows of the list: computations' heads and their instructions.
const rows = [];
const rowOf = [];  // of each instruction
for (const c of computations) {
  rows.push({computation: c});
  for (let k = 0; k < c.count; k++) {
    rowOf[c.first + k] = rows.length;
    rows.push({instruction: instructions[c.first + k]});
  }
}

const program = {whole: false, size: 40, collapsed: new Set()};

function programRow(k, row) {
  const {computation, instruction} = program.rows[k];
  if (computation) {
    row.classList.add("head");
    const isClosed = program.collapsed.has(computation);
    row.append(el("button", {"aria-expanded": String(!isClosed), "aria-label": (isClosed ? "Open " : "Close ") + computation.name,
      onclick: () => { fold(computation); }}, isClosed ? "\u25b8" : "\u25be"),
    ` ${computation.isEntry ? "ENTRY " : ""}${computation.name}  (${computation.count})`);
    return;
  }
  if (instruction.id === state.selected) row.classList.add("on");
  row.append(el("span", {class: "dot " + (copying(instruction) ? "copying" : fate(instruction)), title: fate(instruction)}),
    el("a", {href: hashOf(instruction), tabindex: -1, "data-shape": instruction.shape}, instruction.text));
}

function foldRows() {
  program.rows = rows.filter(r => r.computation || !program.collapsed.has(r.instruction.computation));
  program.at = new Map();
  program.rows.forEach((r, k) => { if (r.instruction) program.at.set(r.instruction.id, k); });
}

function fold(computation) {
  if (!program.collapsed.delete(computation)) program.collapsed.add(computation);
  foldRows();
  program.list.count = program.rows.length;
  program.list.space.style.height = program.rows.length * ROW + "px";
  program.list.draw(true);
}

function showProgram(main) {
  foldRows();
  const list = new List(program.rows.length, programRow, "Instructions");
  program.list = list;
  list.node.addEventListener("keydown", event => {
    const step = {ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 20, PageUp: -20}[event.key];
    if (step && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      moveSelection(step);
    }
  });
  const graph = el("div", {class: "graph", id: "graph"});
  const name = el("span", {class: "grow", id: "graph-name"});
  program.graph = graph;
  program.name = name;
  program.wholeButton = el("button", {onclick: () => { program.whole = !program.whole; drawProgramGraph(); }}, "Whole computation");
  main.append(el("div", {class: "two"},
    el("div", {class: "pane"}, el("div", {class: "bar legend"}, LEGEND.map(([c, text]) => el("span", {}, el("span", {class: "dot " + c}), text))), list.node),
    el("div", {class: "pane"},
      el("div", {class: "bar"}, name,
        el("button", {"aria-label": "Show fewer", onclick: () => { program.size = Math.max(8, program.size >> 1); drawProgramGraph(); }}, "\u2212"),
        el("button", {"aria-label": "Show more", onclick: () => { program.size = Math.min(640, program.size * 2); drawProgramGraph(); }}, "+"),
        program.wholeButton),
      graph)));
  if (state.selected === null && entry) state.selected = entry.root;
  updateProgram();
}

function moveSelection(step) {
  let k = program.at.get(state.selected);
  k = k === undefined ? 0 : Math.max(0, Math.min(program.rows.length - 1, k + step));
  while (program.rows[k] && !program.rows[k].instruction) k += step > 0 ? 1 : -1;
  if (program.rows[k]) location.hash = hashOf(program.rows[k].instruction);
}

const WHOLE = 400;  // instructions of a computation that is drawn whole
function drawProgramGraph() {
  const i = instructions[state.selected];
  if (!i) return;
  const c = i.computation;
  const canWhole = c.count <= WHOLE;
  const isWhole = canWhole && (program.whole || c.count <= program.size);
  const ids = isWhole ? Array.from({length: c.count}, (_, k) => c.first + k) : neighbourhood(i.id, program.size);
  const drawing = drawGraph(ids, i.id);
  program.graph.replaceChildren(drawing);
  program.name.textContent = `${c.name}: ${isWhole ? "all " + c.count : `${ids.length} of ${c.count} instructions around ${i.name}`}`;
  program.wholeButton.hidden = !canWhole || c.count <= program.size;
  program.wholeButton.setAttribute("aria-pressed", String(isWhole));
  const node = drawing.querySelector(".node.on");
  const box = node.transform.baseVal.getItem(0).matrix;
  program.graph.scrollLeft = box.e - program.graph.clientWidth / 2 + 60;
  program.graph.scrollTop = box.f - program.graph.clientHeight / 2;
}

function updateProgram() {
  const i = instructions[state.selected];
  if (i && program.collapsed.has(i.computation)) fold(i.computation);
  if (i) program.list.show(program.at.get(i.id));
  drawProgramGraph();
}
