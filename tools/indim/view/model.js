// The data of the page, joined: instructions by number, what became of each, the steps that compute it.
const data = JSON.parse(document.getElementById("data").textContent);
const report = data.report;

const instructions = [];  // {id, computation, name, op, shape, operands, users, text, called, items, steps}
const computations = [];  // {name, first, count, root, callers}
const byName = new Map();  // computation name -> Map of instruction name -> instruction

for (const c of data.computations) {
  const first = instructions.length;
  const computation = {name: c.name, index: computations.length, isEntry: c.entry, first, count: c.instructions.length, callers: []};
  const names = new Map();
  for (const [name, op, shape, operands, text, called] of c.instructions) {
    const instruction = {
      id: instructions.length, computation, name, op, shape, text, called: called || [],
      operands: operands.map(k => first + k), users: [], items: [], steps: []};
    instructions.push(instruction);
    names.set(name, instruction);
  }
  computation.root = first + c.root;
  computations.push(computation);
  byName.set(c.name, names);
}
for (const instruction of instructions) {
  for (const k of new Set(instruction.operands)) {
    if (instructions[k]) instructions[k].users.push(instruction.id);
  }
  for (const c of instruction.called) computations[c].callers.push(instruction.id);
}
const entry = computations.find(c => c.isEntry) || computations[0];

function find(name, computation) {
  const names = byName.get(computation);
  return names && names.get(name);
}

// Of the report.
const steps = [];
const storages = report ? report.storages : [];
const lines = {loops: report ? report.loops.split("\n") : [], asm: report ? report.asm.split("\n") : []};
const profile = new Map();

if (report) {
  report.steps.forEach((s, number) => {
    const step = {...s, number, list: s.instructions.map(([n, c]) => find(n, c)).filter(Boolean), fused: []};
    step.name = step.list.length > 0 ? step.list[0].name : "";
    step.bytes = s.bytes_read + s.bytes_written;
    step.work = s.operations + s.transcendentals;
    for (const i of step.list) i.steps.push(number);
    steps.push(step);
  });
  report.flows.forEach((flow, f) => flow.items.forEach((item, k) => {
    item.flow = f;
    item.index = k;
    item.of = item.kind === "member" ? item.of : undefined;
    const instruction = find(item.instruction, item.computation);
    item.target = instruction;
    if (instruction) instruction.items.push(item);
  }));
  // What a step computes has a place; what is in its loops besides is fused into that.
  for (const step of steps) {
    const placed = step.list.filter(i => i.items.length === 0 || i.items.some(item => item.place !== "fused"));
    const fused = step.list.filter(i => !placed.includes(i));
    step.list = placed.length > 0 ? placed : step.list;
    step.fused = placed.length > 0 ? fused : [];
  }
  for (const flow of report.flows) {
    for (const item of flow.items) {
      for (const k of item.into || []) {
        const user = flow.items[k].target;
        for (const s of user ? user.steps : []) {
          if (!item.target || !steps[s].list.includes(user) || steps[s].fused.includes(item.target)) continue;
          steps[s].fused.push(item.target);
          if (!item.target.steps.includes(s)) item.target.steps.push(s);
        }
      }
    }
  }
}

// Each step gets the same room, and a quarter of it the stretches between them; moments inside are spread evenly.
const stretches = [];  // {from, to, step, at, width}: moments from |from| to before |to|
let room = 0;          // of all of them
if (report) {
  let now = 1;
  for (const step of steps) {
    if (step.time[0] > now) stretches.push({from: now, to: step.time[0], step: null});
    stretches.push({from: step.time[0], to: step.time[1] + 1, step: step.number});
    now = step.time[1] + 1;
  }
  if (report.time >= now || stretches.length === 0) stretches.push({from: now, to: Math.max(now, report.time) + 1, step: null});
  for (const s of stretches) {
    s.at = room;
    s.width = s.step === null ? .25 : 1;
    room += s.width;
  }
}

function stretchAt(time) {
  let low = 0, high = stretches.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (stretches[middle].from <= time) low = middle;
    else high = middle - 1;
  }
  return low;
}

// Where a moment begins, from 0 to |room|.
function placeOf(time) {
  const s = stretches[stretchAt(time)];
  return s.at + s.width * Math.min(1, (time - s.from) / (s.to - s.from));
}

// The step at a moment, or the next one's number and that it is before it.
function momentName(time) {
  const k = stretchAt(time);
  if (stretches[k].step !== null) return {step: stretches[k].step, before: false};
  return k + 1 < stretches.length ? {step: stretches[k + 1].step, before: true} : {step: null, before: false};
}

const measured = data.profile && (data.profile.profile || data.profile);
const measuredSteps = Array.isArray(measured) ? measured : measured && Array.isArray(measured.steps) ? measured.steps : [];
measuredSteps.forEach((s, k) => {
  const number = s && Number.isInteger(s.step) ? s.step : k;
  if (s && typeof s.seconds === "number" && s.seconds >= 0) profile.set(number, {seconds: s.seconds, runs: s.runs > 0 ? s.runs : 1});
});
const roof = {
  bandwidth: measured && measured.bandwidth > 0 ? measured.bandwidth : 0,
  flops: measured && measured.flops > 0 ? measured.flops : 0,
};

// The class of an instruction by what became of it.
function fate(instruction) {
  if (instruction.op === "parameter" && instruction.computation.isEntry) return "argument";
  const places = new Set(instruction.items.map(item => item.place));
  for (const place of ["memory", "registers", "fused", "constant", "none"]) {
    if (places.has(place)) return place;
  }
  return instruction.op === "constant" ? "constant" : "unknown";
}

// Whether it moves data that need not be moved, and what is known of it.
const MOVES = new Set(["copy", "transpose", "copy-start", "copy-done"]);
function copying(instruction) {
  return instruction.items.some(item => item.copies || (item.notes || []).some(n => n.startsWith("works on a copy"))) ||
      (MOVES.has(instruction.op) && instruction.items.some(item => item.place === "memory"));
}

function bytesText(n) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let k = 0;
  for (; n >= 1024 && k + 1 < units.length; k++) n /= 1024;
  return (k === 0 ? String(n) : n.toPrecision(3)) + " " + units[k];
}

function countText(n) {
  const units = ["", "k", "M", "G", "T", "P"];
  let k = 0;
  for (; n >= 1000 && k + 1 < units.length; k++) n /= 1000;
  return (k === 0 ? String(Math.round(n * 100) / 100) : n.toPrecision(3)) + units[k];
}

function timeText(seconds) {
  const units = ["s", "ms", "us", "ns"];
  let k = 0;
  for (; seconds < 1 && k + 1 < units.length && seconds > 0; k++) seconds *= 1000;
  return seconds.toPrecision(3) + " " + units[k];
}

// Where an instruction is found: #name, or #computation/name outside the entry.
function hashOf(instruction) {
  const name = encodeURIComponent(instruction.name).replace(/!/g, "%21");
  return "#" + (instruction.computation === entry ? "" : encodeURIComponent(instruction.computation.name).replace(/!/g, "%21") + "/") + name;
}
