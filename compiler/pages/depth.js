// The page of `mille analyze`: for each stack its numbers, charts over depth
// with a series for each kind of unit, the advice, and every unit.
"use strict";

const growth = {sgd: "SGD", adam: "Adam", lamb: "LAMB"};

// The kinds of units of a stack by name, each with its units in the order of
// layers. A second unit of one name in one layer is a kind of its own.
function kindsOf(stack) {
  const kinds = new Map();
  const seen = new Map();
  for (const unit of stack.units) {
    const place = `${unit.unit} ${unit.layer}`;
    const times = (seen.get(place) || 0) + 1;
    seen.set(place, times);
    const name = times > 1 ? `${unit.unit} (${times})` : unit.unit;
    if (!kinds.has(name))
      kinds.set(name, []);
    kinds.get(name).push(unit);
  }
  return [...kinds].map(([name, units], i) => ({name, units, index: i}));
}

// One source of numbers: how it is called and drawn, and the number of a unit.
function predicted(of) {
  return {name: "predicted", of, line: true};
}
function simulated(of) {
  return {name: "simulated", of: (unit) => of(unit.simulated), radius: 2.5};
}
function bound(of) {
  return {name: "bound", of, line: true, dash: [1, 3]};
}
function measured(of) {
  return {name: "measured", of: (unit) => of(unit.range), cross: true};
}

// Of the model's own loss. `factor`: to the scale of the others.
function exact(of, factor) {
  return {name: "exact", cross: true,
          of: (unit) => unit.exact ? factor * of(unit.exact) : null};
}

const usable = (value) =>
  typeof value === "number" && value > 0 && isFinite(value);

function seriesOf(kinds, sources, floor) {
  const series = [];
  for (const source of sources)
    for (const kind of kinds) {
      const points = kind.units.map((unit) => ({x: unit.layer,
                                                y: source.of(unit)}))
        .filter((point) => usable(point.y));
      if (!points.length)
        continue;
      const line = seriesColour(kind.index);
      const isFaint = (point) => floor && !source.line && point.y < floor;
      const alone = points.length < 2; // a line of its own needs two
      series.push({
        label: `${kind.name}, ${source.name}`, data: points,
        showLine: !!source.line, borderColor: line, borderWidth: 2,
        order: source.cross ? 0 : source.line ? 1 : 2,
        borderDash: source.dash || (kind.index % 2 ? [6, 3] : []),
        pointStyle: source.line ? "line" : source.cross ? "crossRot"
          : pointStyles[kind.index % pointStyles.length],
        pointRadius: source.line ? (alone ? 12 : 0) : source.cross ? 4
          : points.length > 100 ? 1.5 : source.radius,
        pointHitRadius: 6,
        pointBorderColor: points.map((p) => (isFaint(p) ? line + "55" : line)),
        pointBackgroundColor: points.map(
          (p) => (isFaint(p) ? "transparent" : line)),
        say: (point) => `layer ${point.x}, ${kind.name}, ${source.name}: ` +
                        number(point.y),
      });
    }
  return series;
}

// A level that holds for all layers: a limit, or the floor of the simulation.
function level(kinds, label, value, more) {
  const layers = kinds.flatMap((kind) => kind.units.map((unit) => unit.layer));
  const ends = [Math.min(...layers), Math.max(...layers)];
  return Object.assign({
    label, data: ends.map((x) => ({x, y: value})), showLine: true,
    borderColor: colour("--faint"), borderWidth: 1.5, borderDash: [9, 3, 2, 3],
    order: 3, // under all series
    pointRadius: 0, pointStyle: "line", say: () => `${label}: ${number(value)}`,
  }, more);
}

function overDepth(parent, kinds, title, note, sources, more) {
  const {floor, limit, label} = more || {};
  const values = kinds.flatMap((kind) => kind.units.flatMap(
    (unit) => sources.map((source) => source.of(unit)))).filter(usable);
  if (!values.length)
    return;
  chart(parent, title, note, () => {
    const series = seriesOf(kinds, sources, floor);
    if (floor)
      series.push(level(kinds, "the simulation's floor", floor,
                        {fill: "start", backgroundColor: colour("--rule")}));
    if (limit && Math.max(...values) > limit / 1e4)
      series.push(level(kinds, label, limit,
                        {borderColor: colour("--bad")}));
    const shown = series.flatMap((one) => one.data.map((point) => point.y));
    return {
      type: "scatter", data: {datasets: series},
      options: options({
        x: axis("layer", {type: "linear",
                          ticks: {color: colour("--faint"), precision: 0}}),
        y: valueAxis("", shown, floor),
      }),
    };
  });
}

function charts(parent, stack, kinds) {
  const box = add(parent, "div", {class: "charts"});
  const both = (title, note, of, more, last) =>
    overDepth(box, kinds, title, note,
              [predicted((unit) => of(unit.predicted_narrow)), simulated(of),
               ...(last || [])], more);
  both("Second moment at the residual sum",
       "E[y²] before the output norm: the size of what a unit adds up.",
       (m) => m.sum, {}, [measured((range) => range.measured_second_moment)]);
  both("Second moment of the stream",
       "E[x²] after the unit: what the next unit is given.",
       (m) => m.out, {}, [measured((range) => range.measured_out)]);
  both("Weight of the stack's input",
       "The cosine between the stream and the stack's input. Below the " +
       "floor a simulation of " + data.simulated_channels + " channels " +
       "cannot tell it from 0 (hollow).",
       (m) => m.input_weight, {floor: data.simulated_cosine_floor});
  overDepth(box, kinds, "Weight of each unit's branches in the result",
            "Which units make up the result.",
            [predicted((unit) => unit.predicted.branch_weight)]);
  both("Second moment of the gradient",
       "Of the loss at the unit's input: growth to the left explodes, " +
       "decay vanishes.", (m) => m.gradient, {}, [exact((m) => m.gradient, 1)]);
  for (const [key, name] of Object.entries(growth))
    both(`First update, ${name}`,
         "How much this unit's first step changes the loss, per learning rate." +
         (stack.update_exact ? " Exact: scaled to the sum that is predicted." : ""),
         (m) => m.update[key], {},
         stack.update_exact ? [exact(
           (m) => m.update[key],
           stack.update_predicted[key] / stack.update_exact[key])] : []);
  overDepth(box, kinds, "Largest magnitude at the residual sum",
            "Predicted for normal numbers, measured in a run, and the bound " +
            "that no input exceeds.",
            [predicted((unit) => unit.range.predicted_largest),
             measured((range) => range.measured_largest),
             bound((unit) => unit.range.bound)],
            {limit: 65504, label: "f16 ends"});
  overDepth(box, kinds, "Saturation of the softmax",
            `Of scores over ${data.keys} keys: from 1 on one key takes all.`,
            [predicted((unit) => unit.logits.length ?
              Math.max(...unit.logits.map((one) => one.saturation)) : null)],
            {limit: 1, label: "one key takes all"});
}

function summary(parent, stack, id) {
  tiles(parent, [
    [whole(stack.units_count), `units of ${stack.channels} channels`],
    [number(stack.effective_depth), "effective depth"],
    [number(stack.input_weight), "weight of the input in the result"],
    [stack.final_norm ? "yes" : "no", "final norm"],
  ]);
  // As compiler/analyze/Advice.cpp says it.
  const power = (value) => value === null ? "too few layers for a power"
    : value < 0.2 ? "does not grow with depth"
    : `grows as layers^${number(Math.round(value * 100) / 100)}`;
  table(parent, `updates-${id}`,
        [["first update"], ["predicted", 1], ["simulated", 1],
         ["over one layer's", 1], ["with depth"],
         ...(stack.update_exact ? [["exact", 1]] : [])],
        Object.entries(growth).map(([key, name]) => [
          name, number(stack.update_predicted[key]),
          number(stack.update_simulated[key]),
          number(stack.update_over_one_layer[key]),
          power(stack.update_power_of_layers[key]),
          ...(stack.update_exact ? [number(stack.update_exact[key])] : [])]));
  for (const advice of stack.advice)
    add(parent, "p", {class: "advice"}, advice);
}

function everyUnit(parent, stack, id) {
  const box = details(parent, `Every unit (${stack.units_count})`);
  table(box, `units-${id}`,
        [["layer", 1], ["unit"], ["E[sum²]", 1], ["simulated", 1],
         ["input's weight", 1], ["branch weight", 1], ["gradient", 1],
         ["simulated", 1], ["max |sum|", 1], ["measured", 1], ["bound", 1]],
        stack.units.map((unit) => [
          String(unit.layer), unit.unit, number(unit.predicted.sum),
          number(unit.simulated.sum), number(unit.predicted.input_weight),
          number(unit.predicted.branch_weight),
          number(unit.predicted_narrow.gradient),
          number(unit.simulated.gradient), number(unit.range.predicted_largest),
          number(unit.range.measured_largest), number(unit.range.bound)]));
}

const main = add(document.body, "main");
add(main, "h1", {}, `What depth does to ${data.model}`);
add(main, "p", {class: "faint"},
    `Weights ${data.weights}. Lines: predicted by formulas. Points: means of ` +
    `${data.simulated_draws} random stacks of ${data.simulated_channels} ` +
    "channels." + (data.sample ? ` Crosses: measured on ${data.sample}.` : "") +
    (data.loss ? ` Exact: gradients of ${data.loss}.` : ""));
data.stacks.forEach((stack, id) => {
  const layers = 1 + stack.units.at(-1).layer;
  add(main, "h2", {}, (data.stacks.length > 1 ? `Stack ${id + 1}: ` : "") +
      `${layers} layers, ${stack.placement}`);
  summary(main, stack, id);
  charts(main, stack, kindsOf(stack));
  everyUnit(main, stack, id);
});
if (!data.stacks.length)
  add(main, "p", {}, "The model has no residual units.");
finish();
