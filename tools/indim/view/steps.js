// What is executed: a table of the steps, the roofline, and the loops and the machine code of one.
function seconds(step) {
  const p = profile.get(step.number);
  return p ? p.seconds : 0;
}

function stepName(step) {
  const names = step.list.slice(0, 3).map(i => i.name).join(", ");
  return (step.service ? step.service + " " : step.kind === "loop" ? "" : step.kind + " ") + (names || (step.kind === "loop" ? "loop" : ""));
}

function selectStep(number) { location.hash = "#!step/" + number; }

function stepTable() {
  const hasTimes = profile.size > 0;
  const most = Math.max(...steps.map(s => hasTimes ? seconds(s) : s.bytes), 0);
  const head = ["Step", "Computes", "How", "Bytes", "Operations", "Op/byte"].concat(hasTimes ? ["Time", "GB/s", "Gop/s"] : []);
  const table = el("table", {id: "steps"}, el("thead", {}, el("tr", {}, head.map((text, k) => el("th", {class: k >= 3 ? "n" : false}, text)))));
  const body = el("tbody");
  table.append(body);
  const shown = steps.length > 2000 ? steps.slice(0, 2000) : steps;
  for (const step of shown) {
    const time = seconds(step);
    const runs = profile.get(step.number) ? profile.get(step.number).runs : 1;
    const meter = el("span", {class: "meter", "aria-hidden": "true"});
    meter.style.width = most > 0 ? Math.round(60 * (hasTimes ? time : step.bytes) / most) + "px" : "0";
    const how = [step.parallel ? "parallel" : "", step.lanes > 1 ? step.lanes + " lanes" : "", step.inside ? "in " + step.inside[0] : ""].filter(Boolean).join(", ");
    body.append(el("tr", {"data-step": step.number, class: state.step === step.number ? "on" : false, onclick: () => selectStep(step.number)},
      el("td", {}, stepLink(step.number)), el("td", {}, stepName(step)), el("td", {}, how),
      el("td", {class: "n"}, hasTimes ? null : meter, bytesText(step.bytes)), el("td", {class: "n"}, countText(step.work)),
      el("td", {class: "n"}, step.bytes > 0 ? (step.work / step.bytes).toPrecision(2) : ""),
      hasTimes ? [el("td", {class: "n"}, meter, time > 0 ? timeText(time) : ""),
        el("td", {class: "n"}, time > 0 ? (step.bytes * runs / time / 1e9).toPrecision(3) : ""),
        el("td", {class: "n"}, time > 0 ? (step.work * runs / time / 1e9).toPrecision(3) : "")] : null));
  }
  return [table, shown.length < steps.length ? el("p", {class: "soft"}, `The first ${shown.length} of ${steps.length}; the others are found by search and in the loops.`) : null];
}

// Operations for each byte against operations for each second, both logarithmic.
function roofline() {
  const points = steps.filter(s => seconds(s) > 0 && s.work > 0 && s.bytes > 0).map(s => {
    const runs = profile.get(s.number).runs;
    return {step: s, x: s.work / s.bytes, y: s.work * runs / seconds(s)};
  });
  if (points.length === 0) return null;
  const W = 560, H = 300, L = 60, B = 34, T = 12, R = 12;
  const log = v => Math.log10(v);
  const xs = points.map(p => log(p.x)), ys = points.map(p => log(p.y));
  if (roof.flops > 0) ys.push(log(roof.flops));
  if (roof.bandwidth > 0 && roof.flops > 0) xs.push(log(roof.flops / roof.bandwidth));
  const x0 = Math.floor(Math.min(...xs) - .2), x1 = Math.ceil(Math.max(...xs) + .2);
  const y0 = Math.floor(Math.min(...ys) - .2), y1 = Math.ceil(Math.max(...ys) + .2);
  const px = v => L + (log(v) - x0) / (x1 - x0) * (W - L - R);
  const py = v => H - B - (log(v) - y0) / (y1 - y0) * (H - B - T);
  const chart = svg("svg", {width: "100%", viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": "Roofline", id: "roofline"});
  chart.style.maxWidth = "720px";
  for (let k = x0; k <= x1; k++) {
    chart.append(svg("path", {class: "axis", d: `M ${px(10 ** k)} ${T} V ${H - B}`}), svg("text", {class: "soft" + (k === x1 ? " end" : ""), x: px(10 ** k) + (k === x1 ? 0 : 2), y: H - B + 14}, countTextSmall(10 ** k)));
  }
  for (let k = y0; k <= y1; k++) {
    chart.append(svg("path", {class: "axis", d: `M ${L} ${py(10 ** k)} H ${W - R}`}), svg("text", {class: "soft", x: 2, y: py(10 ** k) + 4}, countText(10 ** k) + "/s"));
  }
  chart.append(svg("text", {class: "soft", x: W - R - 150, y: H - 4}, "operations per byte"));
  if (roof.bandwidth > 0 && roof.flops > 0) {
    const ridge = roof.flops / roof.bandwidth;
    const from = Math.max(10 ** x0, 10 ** y0 / roof.bandwidth);
    chart.append(svg("path", {class: "roof", d: `M ${px(from)} ${py(from * roof.bandwidth)} L ${px(ridge)} ${py(roof.flops)} H ${W - R}`}));
  }
  for (const p of points) {
    chart.append(svg("circle", {class: "point" + (p.step.number === state.step ? " on" : ""), cx: px(p.x), cy: py(p.y), r: 5, onclick: () => selectStep(p.step.number)},
      svg("title", {}, `step ${p.step.number}: ${stepName(p.step)}`)));
  }
  return el("div", {}, el("h3", {}, "Roofline"), chart,
    roof.bandwidth > 0 ? el("p", {class: "soft"}, `Measured limits: ${(roof.bandwidth / 1e9).toPrecision(3)} GB/s, ${(roof.flops / 1e9).toPrecision(3)} Gop/s.`) : null);
}
function countTextSmall(v) { return v >= 1 ? countText(v) : String(Number(v.toPrecision(1))); }

function showSteps(main) {
  if (!report) return main.append(nothing());
  const rest = lines.asm.length;
  main.append(el("div", {class: "scroll"},
    el("p", {class: "soft"}, steps.length === 0 ? "The program is straight-line code: there are no loops and no calls. " : `${steps.length} steps. `,
      "A step is a loop nest, a call of the host, a copy or a fill; what lies between is straight-line code. Bytes count each element once; operations are estimates.",
      profile.size === 0 ? " Times come with --profile." : ""),
    roofline(), stepTable(), steps.length === 0 ? [el("p", {}, el("a", {href: "#!loops"}, "The loop program"), ", ", el("a", {href: "#!code"}, `the machine code (${rest} lines)`))] : null));
  const on = main.querySelector("tr.on");
  if (on) on.scrollIntoView({block: "nearest"});
}

function textOf(list, ranges, most) {
  const out = [];
  ranges.forEach(([first, count], k) => {
    if (k > 0) out.push("\u22ee");
    out.push(...list.slice(first, first + count));
  });
  const all = out.length;
  return out.length > most ? out.slice(0, most).join("\n") + `\n\u2026 ${all - most} more lines` : out.join("\n");
}

function storageLink(k) {
  const s = storages[k];
  return el("a", {href: "#!memory/" + k}, s.kind === "scratch" ? s.name || "#" + k : `${s.kind} ${s.name}`);
}

function stepDetail(step) {
  const p = profile.get(step.number);
  const touch = (title, list) => list.length === 0 ? null : [el("dt", {}, title), el("dd", {}, list.map(([k, bytes], n) => [n > 0 ? ", " : "", storageLink(k), ` (${bytesText(bytes)})`]))];
  return [
    el("h2", {}, `Step ${step.number}: ${stepName(step)}`),
    el("dl", {},
      el("dt", {}, "Kind"), el("dd", {}, [step.kind, step.service, step.parallel ? "parallel" : "", step.lanes > 1 ? `vectors of ${step.lanes} lanes` : ""].filter(Boolean).join(", ")),
      step.inside ? [el("dt", {}, "Inside"), el("dd", {}, find(...step.inside) ? linkTo(find(...step.inside)) : step.inside[0])] : null,
      touch("Reads", step.reads), touch("Writes", step.writes),
      el("dt", {}, "Bytes"), el("dd", {}, `${bytesText(step.bytes_read)} read, ${bytesText(step.bytes_written)} written`),
      el("dt", {}, "Operations"), el("dd", {}, `${countText(step.operations)}, and ${countText(step.transcendentals)} functions`),
      p ? [el("dt", {}, "Time"), el("dd", {}, timeText(p.seconds) + (p.runs > 1 ? ` in ${p.runs} executions` : ""))] : null),
    el("h3", {}, "Computes"),
    el("ul", {}, step.list.map(i => el("li", {}, linkTo(i), " ", el("span", {class: "soft"}, i.op)))),
    step.fused.length > 0 ? [el("h3", {}, `Fused into it (${step.fused.length})`),
      el("ul", {}, step.fused.slice(0, 40).map(i => el("li", {}, linkTo(i), " ", el("span", {class: "soft"}, i.op))), step.fused.length > 40 ? el("li", {}, `and ${step.fused.length - 40} more`) : null)] : null,
    el("h3", {}, "Loops ", el("a", {href: "#!loops/" + step.loop_lines[0]}, "in the program")),
    el("pre", {class: "loops"}, textOf(lines.loops, [step.loop_lines], 400)),
    el("h3", {}, "Machine code ", step.asm_lines.length > 0 ? el("a", {href: "#!code/" + step.asm_lines[0][0]}, "in the program") : null),
    el("pre", {class: "asm"}, textOf(lines.asm, step.asm_lines, 600) || "none"),
  ];
}

// The loops or the machine code as one text, with the step of each line.
function showText(main, which, at) {
  if (!report) return main.append(nothing());
  const list = lines[which === "code" ? "asm" : "loops"];
  const owner = new Array(list.length);
  for (const step of steps) {
    for (const [first, count] of which === "code" ? step.asm_lines : [step.loop_lines]) owner.fill(step.number, first, first + count);
  }
  const view = new List(list.length, (k, row) => {
    if (k === at || (owner[k] !== undefined && owner[k] === state.step)) row.classList.add("on");
    row.append(el("span", {class: "number"}, owner[k] !== undefined && owner[k] !== owner[k - 1] ? el("a", {href: "#!step/" + owner[k]}, String(owner[k])) : ""), list[k]);
  }, which === "code" ? "Machine code" : "Loops");
  main.append(el("div", {class: "pane"}, el("div", {class: "bar"}, el("span", {class: "grow"}, `${list.length} lines; the numbers are those of the steps`)), view.node));
  main.firstChild.style.flex = "1";
  if (at !== undefined) view.show(at);
}
