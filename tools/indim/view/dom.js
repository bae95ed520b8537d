// Elements. Text from the program goes through textContent and attributes alone: nothing of it is ever parsed as HTML.
const SVG = "http://www.w3.org/2000/svg";

function fill(node, properties, children) {
  for (const [key, value] of Object.entries(properties || {})) {
    if (value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}
const el = (tag, properties, ...children) => fill(document.createElement(tag), properties, children);
const svg = (tag, properties, ...children) => fill(document.createElementNS(SVG, tag), properties, children);
const by = id => document.getElementById(id);

function linkTo(instruction, text) {
  return el("a", {href: hashOf(instruction), "data-shape": instruction.shape}, text || instruction.name);
}
function momentLink(time) {
  const {step, before} = momentName(time);
  return step === null ? "the end" : [before ? "before " : "", stepLink(step)];
}
function periodLinks([from, to]) {
  const a = momentName(from), b = momentName(to);
  return a.step === b.step && a.before === b.before ? momentLink(from) : [momentLink(from), " to ", momentLink(to)];
}
const stepLink = number => el("a", {href: "#!step/" + number}, "step " + number);

// A list of rows of one height, of which only those in sight exist. |render| fills the element of row |k|.
const ROW = 20;
class List {
  constructor(count, render, label) {
    this.count = count;
    this.render = render;
    this.rows = new Map();
    this.space = el("div", {"aria-hidden": "true"});
    this.space.style.cssText = "width:1px";
    this.space.style.height = count * ROW + "px";
    this.node = el("div", {class: "list", tabindex: 0, role: "list", "aria-label": label}, this.space);
    this.node.addEventListener("scroll", () => this.schedule(), {passive: true});
    new ResizeObserver(() => this.schedule()).observe(this.node);
  }
  schedule() {
    if (!this.pending) {
      this.pending = true;
      requestAnimationFrame(() => { this.pending = false; this.draw(); });
    }
  }
  draw(again) {
    const from = Math.max(0, Math.floor(this.node.scrollTop / ROW) - 5);
    const to = Math.min(this.count, Math.ceil((this.node.scrollTop + this.node.clientHeight) / ROW) + 5);
    for (const [k, row] of this.rows) {
      if (again || k < from || k >= to) {
        row.remove();
        this.rows.delete(k);
      }
    }
    for (let k = from; k < to; k++) {
      if (!this.rows.has(k)) {
        const row = el("div", {class: "row", role: "listitem"});
        row.style.top = k * ROW + "px";
        this.render(k, row);
        this.node.append(row);
        this.rows.set(k, row);
      }
    }
  }
  show(k) {
    const top = k * ROW;
    const height = this.node.clientHeight;
    if (top < this.node.scrollTop || top + ROW > this.node.scrollTop + height) {
      this.node.scrollTop = Math.max(0, top - height / 3);
    }
    this.draw(true);
  }
}
