// A layered drawing of some instructions of one computation: operands above, users below.
const NODE = {height: 40, gapX: 18, gapY: 46};

// Splits edges over several layers by points of no width, so that edges bend around nodes.
function layered(ids) {
  const inside = new Set(ids);
  const sorted = [...ids].sort((a, b) => a - b);  // operands come first in a computation
  const nodes = new Map();
  for (const id of sorted) {
    const up = [...new Set(instructions[id].operands)].filter(k => inside.has(k) && k < id);
    const layer = up.reduce((most, k) => Math.max(most, nodes.get(k).layer + 1), 0);
    const label = instructions[id].name;
    const i = instructions[id];
    const width = Math.min(260, Math.max(80, 6.7 * Math.max(label.length, i.op.length + i.shape.length + (i.called.length > 0 ? 3 : 1)) + 14));
    nodes.set(id, {id, layer, width, up: [], down: [], from: up});
  }
  // What nothing is above of sinks to just above its first user.
  for (const id of sorted.slice().reverse()) {
    const node = nodes.get(id);
    const users = instructions[id].users.filter(k => nodes.has(k));
    if (node.from.length === 0 && users.length > 0) {
      node.layer = Math.min(...users.map(k => nodes.get(k).layer)) - 1;
    }
  }
  const layers = [];
  const place = node => { (layers[node.layer] = layers[node.layer] || []).push(node); };
  const edges = [];
  for (const id of sorted) place(nodes.get(id));
  for (const id of sorted) {
    const node = nodes.get(id);
    for (const k of node.from) {
      const path = [nodes.get(k)];
      for (let layer = path[0].layer + 1; layer < node.layer; layer++) {
        const point = {layer, width: 2, up: [], down: []};
        place(point);
        path.push(point);
      }
      path.push(node);
      for (let i = 1; i < path.length; i++) {
        path[i].up.push(path[i - 1]);
        path[i - 1].down.push(path[i]);
      }
      edges.push({from: k, to: id, path});
    }
  }
  for (let k = 0; k < layers.length; k++) layers[k] = layers[k] || [];
  return {nodes, layers, edges};
}

// Orders each layer by the middle of its neighbours, down and up again.
function order(layers) {
  const renumber = layer => layer.forEach((node, k) => { node.position = k; });
  layers.forEach(renumber);
  for (let sweep = 0; sweep < 8; sweep++) {
    const side = sweep % 2 === 0 ? "up" : "down";
    const walk = side === "up" ? layers : layers.slice().reverse();
    for (const layer of walk) {
      for (const node of layer) {
        const near = node[side];
        node.key = near.length > 0 ? near.reduce((sum, n) => sum + n.position, 0) / near.length : node.position;
      }
      layer.sort((a, b) => a.key - b.key);
      renumber(layer);
    }
  }
}

// Moves nodes towards their neighbours without letting any two of a layer overlap.
function spread(layers) {
  for (const layer of layers) {
    let x = 0;
    for (const node of layer) {
      node.x = x + node.width / 2;
      x += node.width + NODE.gapX;
    }
  }
  const middle = list => {
    const xs = list.map(n => n.x).sort((a, b) => a - b);
    const k = xs.length >> 1;
    return xs.length % 2 === 1 ? xs[k] : (xs[k - 1] + xs[k]) / 2;
  };
  for (let sweep = 0; sweep < 10; sweep++) {
    const side = sweep % 2 === 0 ? "up" : "down";
    for (const layer of side === "up" ? layers : layers.slice().reverse()) {
      for (const node of layer) node.want = node[side].length > 0 ? middle(node[side]) : node.x;
      // The least change that keeps distances: blocks of nodes that touch share the mean of what they want.
      const blocks = [];
      for (const node of layer) {
        const before = blocks.length > 0 ? blocks[blocks.length - 1] : null;
        let block = {nodes: [node], offsets: [0], sum: node.want, x: node.want};
        const distance = (a, b) => (a.width + b.width) / 2 + NODE.gapX;
        let last = before;
        while (last) {
          const end = last.x + last.offsets[last.offsets.length - 1];
          const gap = distance(last.nodes[last.nodes.length - 1], block.nodes[0]);
          if (end + gap <= block.x) break;
          const shift = last.offsets[last.offsets.length - 1] + gap;
          last.offsets.push(...block.offsets.map(o => o + shift));
          last.sum += block.sum - shift * block.nodes.length;
          last.nodes.push(...block.nodes);
          last.x = last.sum / last.nodes.length;
          blocks.pop();
          block = last;
          last = blocks.length > 0 ? blocks[blocks.length - 1] : null;
        }
        blocks.push(block);
      }
      for (const block of blocks) block.nodes.forEach((node, k) => { node.x = block.x + block.offsets[k]; });
    }
  }
}

function short(text, most) {
  return text.length > most ? text.slice(0, most - 1) + "\u2026" : text;
}

// The drawing of the instructions |ids|, with |selected| marked.
function drawGraph(ids, selected) {
  const {nodes, layers, edges} = layered(ids);
  order(layers);
  spread(layers);
  let left = Infinity, right = -Infinity;
  for (const node of layers.flat()) {
    left = Math.min(left, node.x - node.width / 2);
    right = Math.max(right, node.x + node.width / 2);
  }
  const pad = 12;
  const y = node => pad + node.layer * (NODE.height + NODE.gapY);
  const x = node => node.x - left + pad;
  const width = right - left + 2 * pad;
  const height = layers.length * (NODE.height + NODE.gapY) - NODE.gapY + 2 * pad;
  const drawing = svg("svg", {width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Graph"});
  for (const edge of edges) {
    let d = `M ${x(edge.path[0])} ${y(edge.path[0]) + NODE.height}`;
    for (let i = 1; i < edge.path.length; i++) {
      const a = edge.path[i - 1], b = edge.path[i];
      const from = y(a) + (i === 1 ? NODE.height : NODE.height / 2);
      const to = y(b) + (i + 1 === edge.path.length ? 0 : NODE.height / 2);
      const bend = (to - from) / 2;
      d += ` C ${x(a)} ${from + bend} ${x(b)} ${to - bend} ${x(b)} ${to}`;
    }
    const isOn = edge.from === selected || edge.to === selected;
    drawing.append(svg("path", {class: isOn ? "edge on" : "edge", d}));
  }
  for (const [id, node] of nodes) {
    const i = instructions[id];
    const most = Math.floor((node.width - 12) / 6.7);
    const hidden = i.operands.some(k => !nodes.has(k)) || i.users.some(k => !nodes.has(k));
    drawing.append(svg("g", {
      class: "node" + (id === selected ? " on" : ""), tabindex: 0, role: "link", "data-id": id, "data-shape": i.shape,
      "aria-label": i.op + " " + i.name,
      transform: `translate(${x(node) - node.width / 2} ${y(node)})`,
      onclick: () => { location.hash = hashOf(i); },
      onkeydown: event => { if (event.key === "Enter") location.hash = hashOf(i); }},
    svg("rect", {class: copying(i) ? "copying" : fate(i), width: node.width, height: NODE.height, rx: 4, "stroke-dasharray": hidden ? "5 3" : false}),
    svg("text", {x: 6, y: 16}, short(i.name, most)),
    svg("text", {x: 6, y: 32, class: "soft"}, short((i.called.length > 0 ? "\u25b8 " : "") + i.op + " " + i.shape, most))));
  }
  return drawing;
}

// What is near an instruction: its operands and users, and theirs, as far as |most| allows; not by way of what has many users.
const HUB = 8;
function neighbourhood(id, most) {
  const seen = new Set([id]);
  let edge = [id];
  while (edge.length > 0 && seen.size < most) {
    const next = [];
    for (const k of edge) {
      const users = k === id ? instructions[k].users.slice(0, 24) : instructions[k].users.length <= HUB ? instructions[k].users : [];
      for (const n of [...instructions[k].operands, ...users]) {
        if (!seen.has(n) && seen.size < most) {
          seen.add(n);
          next.push(n);
        }
      }
    }
    edge = next;
  }
  return [...seen];
}
