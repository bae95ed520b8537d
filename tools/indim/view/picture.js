// Pictures of shapes: facts in words, grids of cells, the way of memory as a line.
const CELL = {character: 7, row: 20, line: 17};

function gridPicture(block) {
  const rows = block.rows.map(([label, cells]) => [label, cells === "" ? [] : cells.split("|").map(c => ({kind: c[0], edges: parseInt(c[1], 16), text: c.slice(2)}))]);
  const most = Math.max(2, ...block.columns.map(c => c.length), ...rows.flatMap(([, cells]) => cells.map(c => c.text.length)));
  const w = most * CELL.character + 8, h = CELL.row;
  const left = Math.max(block.corner.length, ...rows.map(([label]) => label.length), 0) * CELL.character + 8;
  const top = 2 * CELL.line + 4;
  const width = Math.max(left + block.columns.length * w + 4, block.text.length * CELL.character + 4);
  const height = top + rows.length * h + 4;
  const drawing = svg("svg", {class: "shape", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": block.text});
  drawing.append(svg("text", {class: "soft", x: 2, y: 12}, block.text), svg("text", {class: "soft", x: 2, y: top - 6}, block.corner));
  block.columns.forEach((c, k) => drawing.append(svg("text", {class: "soft middle", x: left + (k + .5) * w, y: top - 6}, c)));
  let tiles = "";
  rows.forEach(([label, cells], r) => {
    const y = top + r * h;
    drawing.append(svg("text", {class: "soft end", x: left - 5, y: y + 14}, label));
    cells.forEach((cell, c) => {
      const x = left + c * w;
      if (cell.kind === ".") return;
      const kind = cell.kind === "-" ? "padding" : cell.kind === "~" ? "gap" : "t" + cell.kind;
      drawing.append(svg("rect", {class: kind, x, y, width: w, height: h}),
        svg("text", {class: "middle" + (/\d/.test(cell.kind) ? "" : " soft"), x: x + w / 2, y: y + 14}, cell.kind === "~" ? "\u2026" : cell.text));
      if (cell.edges & 1) tiles += `M${x} ${y}v${h}`;
      if (cell.edges & 2) tiles += `M${x} ${y}h${w}`;
      if (cell.edges & 4) tiles += `M${x + w} ${y}v${h}`;
      if (cell.edges & 8) tiles += `M${x} ${y + h}h${w}`;
    });
  });
  if (tiles) drawing.append(svg("path", {class: "tile", d: tiles}));
  if (block.path) {
    const columns = block.columns.length;
    const way = block.path.map((place, k) => ({place, x: left + (k % columns + .5) * w, y: top + Math.floor(k / columns) * h + h - 4}))
      .filter(s => s.place >= 0).sort((a, b) => a.place - b.place);
    for (const isJump of [false, true]) {
      let d = "";
      for (let k = 1; k < way.length; k++) {
        if ((way[k].place !== way[k - 1].place + 1) === isJump) d += `M${way[k - 1].x} ${way[k - 1].y}L${way[k].x} ${way[k].y}`;
      }
      if (d) drawing.append(svg("path", {class: isJump ? "path jump" : "path", d}));
    }
  }
  return drawing;
}

function pictureOf(blocks) {
  const out = el("div", {class: "shape-picture"});
  for (const block of blocks) {
    if (block.kind === "grid") out.append(gridPicture(block));
    else if (block.kind === "fact") out.append(el("div", {class: "fact"}, el("span", {class: "soft"}, block.label), " ", block.text));
    else out.append(el(block.kind === "heading" ? "strong" : "p", {}, block.text));
  }
  return out;
}
