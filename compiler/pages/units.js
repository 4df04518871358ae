// Draws a residual unit as a diagram: norms, the tap and scales where they sit.
"use strict";

const sizes = {top: 34, row: 84, gap: 26, box: 50};

function shorten(text, most) {
  return text.length > most ? text.slice(0, most - 1) + "…" : text;
}

// The two lines of a box, from what fills a slot.
const mainFact = (facts) => facts.find((fact) =>
  /attention|feed-forward|experts/.test(fact.what)) || facts[0];

const boxes = {
  norm: (text) => {
    const [name, rest] = text.split(" eps ");
    return {kind: "norm", width: 138, name: name.replace(/_/g, " "),
            detail: rest ? `eps ${rest}` : "", text};
  },
  scale: (letter, text) => {
    const [value, ...formulas] = text.split(" = ");
    const isNumber = !isNaN(Number(value));
    return {kind: "scale", width: 116, text,
            name: isNumber ? `${letter} = ${number(Number(value))}` : letter,
            detail: isNumber ? formulas[0] || "" : text};
  },
  branch: (letter, facts) => {
    const main = mainFact(facts);
    return {kind: "branch", width: 190, name: `${letter}: ${main.what}`,
            detail: main.value,
            text: facts.map((f) => `${f.what}: ${f.value}`).join("\n")};
  },
};

function drawBox(svg, box, x, y) {
  const group = shape(svg, "g", {});
  shape(group, "title", {}, box.text);
  shape(group, "rect", {class: box.kind, x, y: y - sizes.box / 2, rx: 5,
                        width: box.width, height: sizes.box});
  const middle = {x: x + box.width / 2, "text-anchor": "middle"};
  shape(group, "text", {...middle, y: y + (box.detail ? -4 : 5)}, box.name);
  if (box.detail)
    shape(group, "text", {...middle, y: y + 14, class: "small"},
          shorten(box.detail, Math.floor(box.width / 6.2)));
}

function arrow(svg, ...points) {
  shape(svg, "polyline", {class: "wire", "marker-end": "url(#head)",
                          points: points.map((p) => p.join(",")).join(" ")});
}

// Boxes in a row with arrows between them: returns where the last one ends.
function chain(svg, list, x, y) {
  for (const box of list) {
    arrow(svg, [x, y], [x + sizes.gap, y]);
    drawBox(svg, box, x + sizes.gap, y);
    x += sizes.gap + box.width;
  }
  return x;
}

const widthOf = (list) =>
  list.reduce((sum, box) => sum + sizes.gap + box.width, 0);

// The boxes of a unit: before the fork, of each branch, of the skip, after the
// sum.
function slotsOf(unit) {
  const several = unit.branches.length > 1;
  const shared = unit.shared_input_norm || unit.normed_tap;
  const first = unit.branches[0] || {};
  const before = shared && first.input_norm ? [boxes.norm(first.input_norm)] : [];
  const rows = unit.branches.map((branch, i) => {
    const mark = several ? String(i + 1) : "";
    return [
      !shared && branch.input_norm ? boxes.norm(branch.input_norm) : null,
      boxes.branch("F" + mark, branch.facts),
      branch.branch_norm ? boxes.norm(branch.branch_norm) : null,
      branch.branch_scale ? boxes.scale("B" + mark, branch.branch_scale) : null,
    ].filter((box) => box);
  });
  return {
    before, rows,
    skip: unit.skip_scale ? [boxes.scale("A", unit.skip_scale)] : [],
    after: [
      unit.output_norm ? boxes.norm(unit.output_norm) : null,
      unit.stream_scale ? boxes.scale("s", unit.stream_scale) : null,
    ].filter((box) => box),
  };
}

// The skip runs straight on top; branches leave it at the fork and come back at
// the sum. The input norm stands before the fork where the skip is normed, and
// where branches share it without the skip, below it.
function drawUnit(parent, unit) {
  const {before, rows, skip, after} = slotsOf(unit);
  const y = sizes.top, left = 30;
  const onSkip = unit.normed_tap ? before : [];
  const below = unit.normed_tap ? [] : before;
  const fork = left + widthOf(onSkip) + 20;
  const start = fork + widthOf(below) + (below.length ? 24 : 0) + sizes.gap;
  const sum = start + Math.max(widthOf(skip), ...rows.map(widthOf)) + 44;
  const width = sum + 14 + widthOf(after) + 64;
  const height = y + Math.max(1, rows.length) * sizes.row + sizes.box;
  if (width > 640)
    parent.classList.add("wide");
  const svg = shape(parent, "svg", {
    viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
    "aria-label": `${unit.placement}: ${unit.formula}`});
  const marker = shape(shape(svg, "defs", {}), "marker", {
    id: "head", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7,
    markerHeight: 7, orient: "auto-start-reverse"});
  shape(marker, "path", {d: "M0 0L8 4L0 8z", class: "dot"});

  shape(svg, "text", {x: 8, y: y + 5}, "x");
  const tapped = chain(svg, onSkip, left - 8, y);
  shape(svg, "line", {class: "wire", x1: tapped, x2: fork, y1: y, y2: y});
  shape(svg, "circle", {class: "dot", cx: fork, cy: y, r: 3.5});
  const skipped = chain(svg, skip, start - sizes.gap, y);
  shape(svg, "line", {class: "wire", x1: fork, x2: skip.length ? start : sum - 13,
                      y1: y, y2: y});
  if (!skip.length)
    shape(svg, "text", {x: (fork + sum) / 2, y: y - 8, class: "small",
                        "text-anchor": "middle"},
          unit.normed_tap ? "skip, normed" : "skip");
  arrow(svg, [skipped, y], [sum - 12, y]);

  let from = [fork, y];
  if (below.length) {
    const at = y + sizes.row;
    arrow(svg, [fork, y], [fork, at], [fork + sizes.gap, at]);
    const end = chain(svg, below, fork, at);
    shape(svg, "circle", {class: "dot", cx: end + 12, cy: at, r: 3.5});
    shape(svg, "line", {class: "wire", x1: end, x2: end + 12, y1: at, y2: at});
    from = [end + 12, at];
  }
  rows.forEach((row, i) => {
    const at = y + (i + 1) * sizes.row;
    const begin = start - sizes.gap;
    shape(svg, "polyline", {class: "wire",
                            points: `${from} ${from[0]},${at} ${begin},${at}`});
    const end = chain(svg, row, begin, at);
    arrow(svg, [end, at], [sum, at], [sum, y + 12]);
  });
  shape(svg, "circle", {class: "sum", cx: sum, cy: y, r: 12});
  shape(svg, "text", {x: sum, y: y + 5, "text-anchor": "middle"}, "+");
  const end = chain(svg, after, sum + 12, y);
  arrow(svg, [end, y], [end + sizes.gap, y]);
  shape(svg, "text", {x: end + sizes.gap + 6, y: y + 5}, "x′");
}

function factsList(parent, facts, usual) {
  const differs = (fact) => !usual || !usual.some(
    (other) => other.what === fact.what && other.value === fact.value);
  table(parent, "", [["fact"], ["value"]],
        facts.filter(differs).map((fact) => [fact.what, fact.value]));
}

function units(parent) {
  add(parent, "h2", {}, "Units");
  add(parent, "p", {class: "faint"},
      "x is the stream, F what a unit computes, A, B and s are scales; " +
      "what is not drawn is not there. Hover a box for all that it does.");
  data.stacks.forEach((stack, number) => {
    if (data.stacks.length > 1)
      add(parent, "h3", {}, `Stack ${number + 1} of ${data.stacks.length}`);
    const grid = add(parent, "div", {class: "units"});
    for (const kinds of stack)
      kinds.forEach((kind, i) => {
        const box = add(grid, "div", {class: "unit"});
        const names = kind.branches.map((one) => mainFact(one.facts).what);
        add(box, "h3", {}, `${names.join(" beside ")}: ${kind.formula}`);
        add(box, "p", {class: "faint"}, `${kind.placement}; ` +
            (kind.units === 1 ? "layer " : `${kind.units} units, layers `) +
            kind.layers);
        drawUnit(box, kind);
        const more = details(box, i ? "What differs from the unit above"
                                    : "In words");
        factsList(more, kind.facts, i ? kinds[0].facts : null);
      });
  });
  if (!data.stacks.length)
    add(parent, "p", {}, "The package's model has no residual units: it was " +
        "compiled from a landing below the transformer dialect.");
}
