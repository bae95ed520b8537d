// Which view is shown, search, keyboard, details.
const state = {view: "program", selected: null, step: null, storage: null};

const VIEWS = [
  ["program", "Program"], ["steps", "Steps"], ["memory", "Memory"], ["copies", "Copies"], ["loops", "Loops"], ["code", "Code"]];

function itemDetail(item) {
  const flow = report.flows[item.flow];
  const place = {
    memory: "in memory", registers: "in registers", fused: "fused: computed in the loops of its users", constant: "a constant in the code",
    none: "not computed: nobody needs it"}[item.place];
  const targets = (item.into || []).map(k => flow.items[k].target).filter(Boolean);
  const notes = item.notes || [];
  return el("li", {},
    item.kind === "parameter" ? `parameter ${item.number}, ` : item.kind === "member" ? `result ${item.number}, ` : "", place,
    flow.role === "program" ? "" : el("span", {class: "soft"}, ` (in the ${flow.role})`), item.part ? el("span", {class: "soft"}, ` as ${item.part}`) : "",
    item.reason ? [": ", item.reason] : "",
    targets.length > 0 ? [" \u2014 into ", targets.map((t, n) => [n > 0 ? ", " : "", linkTo(t)])] : "",
    item.storage !== undefined ? [", buffer ", storageLink(item.storage)] : "",
    item.overwrites !== undefined && flow.items[item.overwrites].target ? [", overwrites ", linkTo(flow.items[item.overwrites].target)] : "",
    item.copies ? ["; a copy: ", item.copies.because !== undefined && flow.items[item.copies.because].target ? [linkTo(flow.items[item.copies.because].target), " "] : "", item.copies.why] : "",
    notes.length > 0 ? el("ul", {}, notes.map(n => el("li", {}, n))) : null);
}

function shapeDetail(text) {
  const facts = data.shapes[text];
  return [el("code", {class: "shape"}, text),
    facts && facts.bytes !== undefined ? el("span", {class: "soft"}, ` ${facts.elements} elements, ${bytesText(facts.bytes)}`) : null,
    facts && facts.picture ? pictureOf(facts.picture) : null];
}

const MANY = 30;
function links(ids) {
  const list = [...new Set(ids)];
  return el("ul", {}, list.slice(0, MANY).map(k => el("li", {}, linkTo(instructions[k]), " ", el("span", {class: "soft"}, instructions[k].op + " " + instructions[k].shape))),
    list.length > MANY ? el("li", {}, `and ${list.length - MANY} more`) : null);
}

function instructionDetail(i) {
  return [
    el("h2", {}, i.name), el("p", {class: "soft"}, `${i.op} in ${i.computation.name}`, data.ops[i.op] ? ": " + data.ops[i.op] : ""),
    el("pre", {class: "wrap"}, i.text),
    i.items.length > 0 ? [el("h3", {}, "What became of it"), el("ul", {id: "became"}, i.items.slice(0, MANY).map(itemDetail), i.items.length > MANY ? el("li", {}, `and ${i.items.length - MANY} more`) : null)] : null,
    i.steps.length > 0 ? [el("h3", {}, "Steps"), el("ul", {}, i.steps.slice(0, MANY).map(s => el("li", {}, stepLink(s), " ", el("span", {class: "soft"}, steps[s].kind + (profile.has(s) ? ", " + timeText(profile.get(s).seconds) : "")))))] : null,
    el("h3", {}, "Shape"), shapeDetail(i.shape),
    i.operands.length > 0 ? [el("h3", {}, "Operands"), links(i.operands)] : null,
    i.users.length > 0 ? [el("h3", {}, `Users (${i.users.length})`), links(i.users)] : null,
    i.called.length > 0 ? [el("h3", {}, "Calls"), el("ul", {}, i.called.map(c => el("li", {}, linkTo(instructions[computations[c].root], computations[c].name), el("span", {class: "soft"}, ` ${computations[c].count} instructions`))))] : null,
    i.computation.callers.length > 0 ? [el("h3", {}, "Called by"), links(i.computation.callers)] : null,
  ];
}

function showDetail() {
  const detail = by("detail");
  const content = state.view === "memory" && storages[state.storage] ? storageDetail(state.storage) : state.view !== "program" && state.view !== "memory" && state.step !== null && steps[state.step] ? stepDetail(steps[state.step])
    : state.view === "program" && instructions[state.selected] ? instructionDetail(instructions[state.selected])
      : [el("p", {class: "soft"}, "Select an instruction, a step or a buffer. Keys: / searches, j and k go through the instructions, 1 to 6 change the view, Esc closes.")];
  detail.replaceChildren();
  fill(detail, {}, [content]);
  detail.scrollTop = 0;
}

// Routes --------------------------------------------------------------------------------------------------------------

function decode(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

// "#name", "#computation/name", "#!view", "#!step/3", "#!memory/2", "#!loops/40".
function route() {
  const hash = location.hash.slice(1);
  const before = state.view;
  if (hash.startsWith("!")) {
    const [view, number] = hash.slice(1).split("/");
    const k = number === undefined || !/^\d+$/.test(number) ? null : Number(number);
    state.view = view === "step" ? "steps" : VIEWS.some(([name]) => name === view) ? view : "program";
    if (view === "step") state.step = k !== null && k < steps.length ? k : null;
    state.storage = view === "memory" ? k : null;
    state.line = view === "loops" || view === "code" ? k : null;
  } else {
    state.view = "program";
    const [first, second] = hash.split("/").map(decode);
    const found = hash === "" ? null : second === undefined ? find(first, entry.name) || anywhere(first) : find(second, first);
    if (found) state.selected = found.id;
    else if (hash === "" && entry) state.selected = entry.root;
  }
  show(before);
}

function anywhere(name) {
  return instructions.find(i => i.name === name);
}

function show(before) {
  const main = by("main");
  for (const tab of by("tabs").children) tab.setAttribute("aria-selected", String(tab.dataset.view === state.view));
  if (state.view === "program" && before === "program" && program.list && main.contains(program.list.node)) {
    updateProgram();
  } else {
    main.replaceChildren();
    const at = state.line === null ? undefined : state.line;
    ({program: showProgram, steps: showSteps, memory: showMemory, copies: showCopies, loops: m => showText(m, "loops", at), code: m => showText(m, "code", at)})[state.view](main);
  }
  showDetail();
}

// Search ----------------------------------------------------------------------------------------------------------------

const MOST_FOUND = 200;
const found = {list: [], on: 0};

function search(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const box = by("found");
  found.list = [];
  found.on = 0;
  if (words.length === 0) {
    box.hidden = true;
    return;
  }
  let count = 0;
  const exact = [];
  for (const i of instructions) {
    const line = (i.text + " " + i.computation.name).toLowerCase();
    if (words.every(w => line.includes(w))) {
      count++;
      if (i.name.toLowerCase() === words[0]) exact.push(i);
      else if (found.list.length < MOST_FOUND) found.list.push(i);
    }
  }
  found.list = exact.concat(found.list).slice(0, MOST_FOUND);
  box.replaceChildren(el("p", {class: "soft"}, count === 0 ? "Nothing found" : count > found.list.length ? `${found.list.length} of ${count} found` : `${count} found`));
  found.list.forEach((i, k) => box.append(el("a", {href: hashOf(i), role: "option", class: k === 0 ? "on" : false, onclick: closeSearch}, `${i.name} = ${i.shape} ${i.op}`)));
  box.hidden = false;
}

function closeSearch() { by("found").hidden = true; }

function moveFound(step) {
  const options = by("found").querySelectorAll("a");
  if (options.length === 0) return;
  options[found.on].classList.remove("on");
  found.on = (found.on + step + options.length) % options.length;
  options[found.on].classList.add("on");
  options[found.on].scrollIntoView({block: "nearest"});
}

// Begin -----------------------------------------------------------------------------------------------------------------

function begin() {
  document.title = data.program.split("/").pop() + " \u2014 indim view";
  by("title").textContent = data.program.split("/").pop();
  by("title").title = data.program;
  const counted = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
  const facts = [`${counted(instructions.length, "instruction")} in ${counted(computations.length, "computation")}`];
  if (report) facts.push(counted(steps.length, "step"), `${bytesText(report.scratch_bytes)} of working memory`, `${report.target}, vectors of ${report.vector_bytes} bytes`);
  by("summary").textContent = facts.join(" \u00b7 ");
  VIEWS.forEach(([view, title], k) => by("tabs").append(el("button", {role: "tab", "data-view": view, "aria-keyshortcuts": String(k + 1), onclick: () => {
    location.hash = view === "program" ? (instructions[state.selected] ? hashOf(instructions[state.selected]) : "") : "#!" + view;
  }}, title)));
  if (data.problems.length > 0) {
    by("problems").hidden = false;
    fill(by("problems"), {}, [data.problems.map(p => el("div", {}, (p.line > 0 ? `${p.line}:${p.column}: ` : "") + p.message + (p.hint ? "; " + p.hint : "")))]);
  }
  const box = by("search");
  box.addEventListener("input", () => search(box.value));
  box.addEventListener("focus", () => search(box.value));
  box.addEventListener("keydown", event => {
    if (event.key === "ArrowDown") moveFound(1);
    else if (event.key === "ArrowUp") moveFound(-1);
    else if (event.key === "Enter" && found.list[found.on]) {
      location.hash = hashOf(found.list[found.on]);
      closeSearch();
      box.blur();
    } else if (event.key === "Escape") {
      closeSearch();
      box.blur();
    } else return;
    event.preventDefault();
  });
  document.addEventListener("click", event => { if (!by("searching").contains(event.target)) closeSearch(); });
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA)$/.test(event.target.tagName)) return;
    if (event.key === "/") box.focus();
    else if (/^[1-6]$/.test(event.key)) by("tabs").children[Number(event.key) - 1].click();
    else if ((event.key === "j" || event.key === "k") && state.view === "program" && event.target.tagName !== "BUTTON" && !event.target.closest(".list")) moveSelection(event.key === "j" ? 1 : -1);
    else return;
    event.preventDefault();
  });
  hovering();
  addEventListener("hashchange", route);
  route();
}

function showHover(hover, text, x, y) {
  hover.replaceChildren();
  fill(hover, {}, [shapeDetail(text)]);
  hover.hidden = false;
  const box = hover.getBoundingClientRect();
  hover.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 4)) + "px";
  hover.style.top = (y + 18 + box.height < innerHeight ? y + 18 : Math.max(4, y - box.height - 10)) + "px";
}

// The shape of what is pointed at for a moment, explained.
function hovering() {
  const hover = by("hover");
  let shown = "";
  let waiting = 0;
  const hide = () => {
    clearTimeout(waiting);
    hover.hidden = true;
    shown = "";
  };
  for (const event of ["hashchange", "wheel", "blur", "keydown"]) addEventListener(event, hide, {passive: true});
  document.addEventListener("mousemove", event => {
    const target = event.target.closest ? event.target.closest("[data-shape]") : null;
    const text = target ? target.getAttribute("data-shape") : "";
    if (text === shown) return;
    hide();
    shown = text;
    if (text !== "") waiting = setTimeout(() => showHover(hover, text, event.clientX, event.clientY), 300);
  }, {passive: true});
}

begin();
