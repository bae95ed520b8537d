// Working memory: which buffer lies where while which steps run; and copies.
function showMemory(main) {
  if (!report) return main.append(nothing());
  const scratch = storages.map((s, k) => ({...s, k})).filter(s => s.kind === "scratch" && s.offset !== undefined);
  const count = room;
  const W = 900, H = 320, L = 70, B = 24, T = 8, R = 8;
  const total = Math.max(1, report.scratch_bytes);
  const px = v => L + v / count * (W - L - R);
  const py = v => H - B - v / total * (H - B - T);
  const chart = svg("svg", {width: "100%", viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": "Buffers in working memory", id: "buffers"});
  chart.append(svg("path", {class: "axis", d: `M ${L} ${T} V ${H - B} H ${W - R}`}),
    svg("text", {class: "soft", x: 2, y: T + 10}, bytesText(report.scratch_bytes)), svg("text", {class: "soft", x: L, y: H - 6}, steps.length > 0 ? "step 0" : "begin"),
    svg("text", {class: "soft end", x: W - R, y: H - 6}, steps.length > 0 ? "step " + (steps.length - 1) : "the end"));
  const drawn = scratch.sort((a, b) => b.bytes - a.bytes).slice(0, 1500);
  for (const s of drawn) {
    const y = py(s.offset + s.bytes);
    chart.append(svg("rect", {class: "buffer memory" + (state.storage === s.k ? " on" : ""), x: px(placeOf(s.live[0])), y, width: Math.max(.5, px(placeOf(s.live[1] + 1)) - px(placeOf(s.live[0])) - .5),
      height: Math.max(.5, py(s.offset) - y), onclick: () => { location.hash = "#!memory/" + s.k; }},
    svg("title", {}, `${s.name}: ${bytesText(s.bytes)} at ${s.offset}`)));
  }
  const changes = scratch.flatMap(s => [[s.live[0], s.bytes], [s.live[1] + 1, -s.bytes]]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  let d = `M ${px(0)} ${py(0)}`, now = 0;
  for (const [time, bytes] of changes) {
    now += bytes;
    d += ` H ${px(placeOf(time))} V ${py(now)}`;
  }
  if (scratch.length > 0) {
    chart.append(svg("path", {class: "level", d: d + ` H ${px(count)}`}), svg("path", {class: "peak", d: `M ${px(placeOf(report.peak_time))} ${T} V ${H - B}`}));
  }
  const waste = report.scratch_bytes - report.peak_bytes;
  const listed = storages.map((s, k) => ({...s, k})).filter(s => s.live).sort((a, b) => b.bytes - a.bytes);
  main.append(el("div", {class: "scroll"},
    el("p", {id: "peak"}, report.scratch_bytes === 0 ? "The program needs no working memory." :
      [`${bytesText(report.scratch_bytes)} of working memory. At most ${bytesText(report.peak_bytes)} are live at once, at `, momentLink(report.peak_time),
        waste > 0 ? `; ${bytesText(waste)} (${(100 * waste / report.scratch_bytes).toPrecision(2)} %) are lost to how buffers fit beside each other.` : "; nothing is lost."]),
    scratch.length > 0 ? chart : null,
    scratch.length > drawn.length ? el("p", {class: "soft"}, `The ${drawn.length} largest of ${scratch.length} are drawn.`) : null,
    el("table", {id: "storages"}, el("thead", {}, el("tr", {}, ["Buffer", "Kind", "Elements", "Bytes", "Offset", "Steps", "Memory"].map((t, k) => el("th", {class: k >= 2 && k <= 4 ? "n" : false}, t)))),
      el("tbody", {}, listed.slice(0, 2000).map(s => el("tr", {class: state.storage === s.k ? "on" : false, "data-storage": s.k},
        el("td", {}, el("a", {href: "#!memory/" + s.k}, s.name || "#" + s.k)), el("td", {}, s.kind + (s.number === undefined ? "" : " " + s.number)),
        el("td", {class: "n"}, `${s.type}[${s.elements}]`), el("td", {class: "n"}, bytesText(s.bytes)), el("td", {class: "n"}, s.offset === undefined ? "" : String(s.offset)),
        el("td", {}, periodLinks(s.live)),
        el("td", {}, s.shares === undefined ? null : ["is that of ", storageLink(s.shares)]))))),
    listed.length > 2000 ? el("p", {class: "soft"}, `The 2000 largest of ${listed.length}.`) : null));
  const on = main.querySelector("tr.on");
  if (on) on.scrollIntoView({block: "nearest"});
}

function storageDetail(k) {
  const s = storages[k];
  const items = report.flows.flatMap(flow => flow.items.filter(item => item.storage === k && item.target));
  const users = (which, title) => {
    const list = steps.filter(step => step[which].some(([n]) => n === k));
    return list.length === 0 ? null : [el("h3", {}, title), el("ul", {}, list.slice(0, MANY).map(step => el("li", {}, stepLink(step.number), " ", el("span", {class: "soft"}, stepName(step)))), list.length > MANY ? el("li", {}, `and ${list.length - MANY} more`) : null)];
  };
  const sharers = storages.flatMap((other, n) => other.shares === k ? [n] : []);
  return [el("h2", {}, `Buffer ${s.name || "#" + k}`),
    el("dl", {},
      el("dt", {}, "Kind"), el("dd", {}, s.kind + (s.number === undefined ? "" : " " + s.number)),
      el("dt", {}, "Elements"), el("dd", {}, `${s.type}[${s.elements}], ${bytesText(s.bytes)}`),
      s.offset === undefined ? null : [el("dt", {}, "Offset"), el("dd", {}, `${s.offset} in working memory`)],
      s.live ? [el("dt", {}, "Live"), el("dd", {}, periodLinks(s.live))] : [el("dt", {}, "Live"), el("dd", {}, "never used")],
      s.shares === undefined ? null : [el("dt", {}, "Reuses"), el("dd", {}, "the memory of ", storageLink(s.shares))],
      sharers.length === 0 ? null : [el("dt", {}, "Reused by"), el("dd", {}, sharers.map((n, at) => [at > 0 ? ", " : "", storageLink(n)]))]),
    items.length > 0 ? [el("h3", {}, "Holds"), el("ul", {}, items.slice(0, MANY).map(item => el("li", {}, linkTo(item.target), " ", el("span", {class: "soft"}, item.shape))))] : null,
    users("writes", "Written in"), users("reads", "Read in")];
}

// Where memory is moved for the sake of its order or of a value that somebody still reads.
function showCopies(main) {
  if (!report) return main.append(nothing());
  const list = [];
  for (const flow of report.flows) {
    for (const item of flow.items) {
      const i = item.target;
      if (!i || item.kind !== "op") continue;
      const own = i.steps.map(k => steps[k]).filter(step => step.list.includes(i));
      const copies = own.filter(step => step.kind === "copy");
      const moved = (copies.length > 0 ? copies : own).reduce((sum, step) => sum + step.bytes, 0);
      const at = (copies.length > 0 ? copies : own).slice(0, 4).map(step => [", ", stepLink(step.number)]);
      const notes = (item.notes || []).filter(n => n.startsWith("works on a copy"));
      const because = item.copies && item.copies.because !== undefined ? flow.items[item.copies.because].target : null;
      if (item.copies) {
        list.push({i, moved, why: ["works on a copy" + (item.copies.from >= 0 ? " of " : ""), item.copies.from >= 0 && flow.items[item.copies.from].target ? linkTo(flow.items[item.copies.from].target) : "",
          because ? [", because ", linkTo(because), " "] : ", because that ", item.copies.why, at]});
      } else if (notes.length > 0) {
        list.push({i, moved, why: [notes.join("; "), at]});
      } else if (MOVES.has(i.op) && item.place === "memory") {
        list.push({i, moved, why: [`a ${i.op} that is not fused: ${item.reason || "it has loops of its own"}`, at]});
      } else if (MOVES.has(i.op) && item.place === "fused") {
        list.push({i, moved: 0, why: "fused: its users read the operand where it lies"});
      }
    }
  }
  const told = new Set(list.map(c => c.i));
  for (const step of steps.filter(s => s.kind === "copy" && !told.has(s.list[0]))) {
    list.push({i: step.list[0], step, moved: step.bytes, why: ["a plain copy, ", stepLink(step.number)]});
  }
  list.sort((a, b) => b.moved - a.moved);
  main.append(el("div", {class: "scroll"},
    el("p", {class: "soft"}, list.length === 0 ? "Nothing is copied or transposed for its own sake." : "Copies and transposes, the largest first, and because of which instruction."),
    el("table", {id: "copies"}, el("thead", {}, el("tr", {}, ["Instruction", "Op", "Moves", "Why"].map((t, k) => el("th", {class: k === 2 ? "n" : false}, t)))),
      el("tbody", {}, list.slice(0, 2000).map(c => el("tr", {}, el("td", {}, c.i ? linkTo(c.i) : ""), el("td", {}, c.i ? c.i.op : "copy"), el("td", {class: "n"}, c.moved > 0 ? bytesText(c.moved) : ""),
        el("td", {}, c.why)))))));
}

function nothing() {
  return el("div", {class: "scroll"}, el("p", {}, "The program was not compiled, so there is nothing to show here. The graph and the text are under Program."));
}
