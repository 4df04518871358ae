// The page of `mille report`: the units drawn, layers and bodies, what was
// fused, kernels beside the machine's ceilings, memory, and the certificate.
"use strict";

//===-- Layers, fusions, rewrites -----------------------------------------===//

const within = (entry, text) => (entry ? `${entry}: ${text}` : text);

// "0-2,5" -> 0, 1, 2, 5
function numbersIn(ranges) {
  return ranges.split(",").flatMap((range) => {
    const [first, last] = range.trim().split("-").map(Number);
    return Array.from({length: (last ?? first) - first + 1},
                      (_, i) => first + i);
  });
}

function layers(parent) {
  add(parent, "h2", {}, "Layers and bodies");
  if (!data.bodies.length)
    return add(parent, "p", {}, "No layers are rolled into a loop.");
  add(parent, "p", {class: "faint"},
      "Layers that do the same with other weights share a body: its code " +
      "stands once in the package.");
  const stacks = new Map();
  for (const body of data.bodies) {
    const name = within(body.entry, `stack ${body.stack + 1}`);
    stacks.set(name, [...(stacks.get(name) || []), body]);
  }
  for (const [name, bodies] of stacks) {
    const bodyOf = new Map(bodies.flatMap(
      (body) => numbersIn(body.layers).map((layer) => [layer, body])));
    const numbers = [...bodyOf.keys()].sort((a, b) => a - b);
    if (stacks.size > 1)
      add(parent, "h3", {}, name);
    const strip = add(parent, "div",
                      {class: numbers.length > 64 ? "strip many" : "strip"});
    for (const layer of numbers) {
      const body = bodyOf.get(layer);
      add(strip, "div", {title: `layer ${layer}: body ${body.body}`,
                         style: `background:var(--series-${body.body % 6})`},
          String(layer));
    }
  }
  table(parent, "bodies",
        [["stack"], ["body", 1], ["layers"], ["why a body of its own"]],
        data.bodies.map((body) => [
          within(body.entry, String(body.stack + 1)), String(body.body),
          body.layers, body.body ? body.difference : "–"]));
}

function status(word, good) {
  return element("span", {class: word === good ? "good" : "bad"},
                 `${word === good ? "✓" : "×"} ${word}`);
}

function fusions(parent) {
  add(parent, "h2", {}, "Fusions");
  const fused = data.fusions.filter((one) => one.status === "fused");
  const saved = fused.reduce((sum, one) => sum + one.bytes_saved, 0);
  const launches = fused.reduce((sum, one) => sum + one.launches_saved, 0);
  add(parent, "p", {id: "fused"},
      `${fused.length} of ${data.fusions.length} boundaries are fused: ` +
      `${bytes(saved)} less to move for each row, ${launches} launches fewer.`);
  table(parent, "fusions",
        [["boundary"], ["unit"], ["layers"], ["status"], ["saves per row", 1],
         ["launches", 1], ["reason"]],
        data.fusions.map((one) => {
          const done = one.status === "fused";
          return [one.boundary, within(one.entry, one.unit), one.layers,
                  status(one.status, "fused"),
                  done ? bytes(one.bytes_saved) : "–",
                  done ? String(one.launches_saved) : "–", one.reason];
        }));
}

function rewrites(parent) {
  add(parent, "h2", {}, "Rewrites and their certificate");
  if (data.rewrites.length)
    table(parent, "rewrites",
          [["rewrite"], ["unit"], ["layers"], ["status"], ["what"], ["bound"]],
          data.rewrites.map((one) => [
            one.name, within(one.entry, one.unit), one.layers,
            status(one.status, "applied"), one.reason, one.bound]));
  else
    add(parent, "p", {}, "None was applied, and none declined.");
  const {note, measured, layers, of_layers} = data.certificate;
  add(parent, "p", {class: "faint"}, measured.length
    ? `Checked in double on ${layers} of ${of_layers} layers, ` +
      `${note || "on random and hard streams"}. ` +
      "Error and what is allowed are relative."
    : `Certificate: ${note || "nothing was to be measured"}.`);
  if (measured.length)
    table(parent, "certificate",
          [["measured"], ["on"], ["error", 1], ["allowed", 1], ["verdict"]],
          measured.map((one) => [
            one.what, one.inputs, one.error.toExponential(1),
            one.allowed.toExponential(1),
            status(one.ok ? "ok" : "exceeds", "ok")]));
  const without = data.traffic_without_scales;
  if (without) {
    add(parent, "p", {}, "What skip and branch scales cost:");
    const row = (name, traffic) => [
      name, whole(traffic.kernels), whole(traffic.launches),
      bytes(traffic.bytes_per_row), bytes(traffic.weight_bytes)];
    table(parent, "traffic",
          [["model"], ["kernels", 1], ["launches", 1], ["moved per row", 1],
           ["weights", 1]],
          [row("with them", data.traffic), row("without", without)]);
  }
}

//===-- Kernels -----------------------------------------------------------===//

const groupOf = (does) => does.split(" ")[0].replace(",", "");

// Times are summed over the threads, the peak is of all of them.
const speed = (one, run) => one.gflops * run.threads;

// No kernel is faster than the machine: one that is above the peak says that the
// peak was measured while others had the cores.
function busy(parent, run) {
  const above = run.kernels.filter(
    (one) => run.peak_gflops && speed(one, run) > run.peak_gflops);
  if (!above.length)
    return;
  const most = Math.max(...above.map((one) => speed(one, run)));
  add(parent, "p", {id: "busy"},
      `The machine was busy while its peak was measured: ${above.length} of ` +
      `${run.kernels.length} kernels ran above it, the fastest at ` +
      `${number(100 * most / run.peak_gflops)} %. Shares of the peak are too ` +
      "high here; measure again when nothing else runs.");
}

// Kernels on a roofline: the peak of this machine's registers and of its memory
// in the same run bound them.
function roofline(parent, run) {
  const kernels = run.kernels.filter((one) => one.flops > 0 && one.bytes > 0);
  if (!kernels.length)
    return;
  chart(parent, "Kernels on a roofline",
        "Each point is a kernel, its area its share of the time. To the left " +
        "of the bend memory is the limit, to the right arithmetic; a point " +
        "above the slope was fed by a cache.", () => {
    const groups = [...new Set(kernels.map((one) => groupOf(one.does)))];
    const series = groups.map((group, i) => ({
      label: group,
      data: kernels.filter((one) => groupOf(one.does) === group).map((one) => ({
        x: one.flops / one.bytes, y: speed(one, run), one})),
      backgroundColor: seriesColour(i) + "aa", borderColor: seriesColour(i),
      pointStyle: pointStyles[i % 4],
      clip: false, // a point at the edge is whole
      pointRadius: (at) => at.raw ? 4 + 16 * Math.sqrt(at.raw.one.share) : 5,
      pointHoverRadius: (at) => 5 + 16 * Math.sqrt(at.raw.one.share),
      say: ({x, y, one}) => [
        one.does, `${number(y)} GFLOP/s at ${number(x)} FLOP/B`,
        `${number(one.ms)} ms, ${number(100 * one.share)} % of the time`],
    }));
    const xs = kernels.map((one) => one.flops / one.bytes);
    const low = Math.min(...xs) / 2, high = Math.max(...xs) * 2;
    const line = {showLine: true, pointRadius: 0, borderWidth: 2,
                  pointStyle: "line", borderColor: colour("--faint"),
                  order: 1};
    const peak = run.peak_gflops, read = run.read_gb_per_s;
    if (peak && read) {
      const bend = peak / read;
      series.push({...line, label: `memory, ${number(read)} GB/s`,
                   borderDash: [6, 3],
                   data: [[Math.min(low, bend / 4), 0], [bend, 0]].map(
                     ([x]) => ({x, y: x * read})),
                   say: () => `memory: ${number(read)} GB/s`});
      series.push({...line, label: `peak, ${number(peak)} GFLOP/s`,
                   data: [bend, Math.max(high, bend * 4)].map(
                     (x) => ({x, y: peak})),
                   say: () => `peak: ${number(peak)} GFLOP/s`});
    }
    const all = series.flatMap((one) => one.data);
    return {type: "scatter", data: {datasets: series}, options: options({
      x: valueAxis("operations per byte moved", all.map((p) => p.x), 1),
      y: valueAxis("GFLOP/s", all.map((p) => p.y), 1)})};
  }, {class: "wide", id: "roofline"});
}

function times(parent, run) {
  const most = [...run.kernels].sort((a, b) => b.ms - a.ms).slice(0, 12);
  chart(parent, "Where the time goes",
        "Milliseconds of one run, summed over the threads.", () => ({
    type: "bar",
    data: {labels: most.map((one) => shorten(one.does, 44)), datasets: [{
      label: "ms", data: most.map((one) => one.ms),
      backgroundColor: seriesColour(0)}]},
    options: options(
      {x: axis("ms", {beginAtZero: true}),
       y: axis("", {ticks: {color: colour("--ink"), autoSkip: false},
                    grid: {display: false}})},
      {indexAxis: "y", plugins: {
        legend: {display: false},
        tooltip: {callbacks: {label: (at) =>
          `${number(at.parsed.x)} ms, ` +
          `${number(100 * most[at.dataIndex].share)} %`}}}}),
  }), {class: "wide"});
}

function kernels(parent) {
  add(parent, "h2", {}, "Kernels");
  const run = data.measured;
  const known = new Map((run ? run.kernels : []).map((one) => [one.name, one]));
  if (run) {
    const size = run.tokens ? `${run.batch} × ${run.tokens} tokens`
                            : `batch ${run.batch}`;
    tiles(parent, [
      [`${number(run.median_ms)} ms`, `a run of ${size}, median of ${run.runs}`],
      [number(run.gflops), "GFLOP/s"],
      [run.peak_gflops ? `${number(100 * run.share_of_peak)} %` : "–",
       run.peak_gflops ? `of ${number(run.peak_gflops)}: ${run.peak_of}`
                       : "of the peak"],
      [bytes(run.session_bytes), "memory of the session"],
      [run.isa, `instruction set, ${run.threads} thread` +
       (run.threads > 1 ? "s" : "")],
    ]);
    busy(parent, run);
    const box = add(parent, "div", {class: "charts"});
    roofline(box, run);
    times(box, run);
  } else {
    add(parent, "p", {class: "faint"},
        "With --measure: their times, on a roofline of this machine.");
  }
  const tile = (one) => one.tiles.map(
    (t) => `${t.isa}: ${t.tile}${t.rank ? ", as measured" : ""}`).join("; ");
  const maker = (one) => one.makers.map(
    (m) => `${m.isa}: ${m.generator}`).join("; ");
  const columns = [["does"], ["places", 1], ["operations per row", 1],
                   ["weights", 1]];
  if (run)
    columns.push(["launches", 1], ["ms", 1], ["share", 1], ["GFLOP/s", 1]);
  columns.push(["tile"]);
  if (data.kernels.some((one) => one.makers.length))
    columns.push(["generator"]);
  table(parent, "kernels", columns, data.kernels.map((one) => {
    const row = [element("span", {title: one.name}, one.does),
                 String(one.places), whole(one.flops_per_row),
                 bytes(one.weight_bytes)];
    const ran = known.get(one.name);
    if (run)
      row.push(ran ? whole(ran.launches) : "–", number(ran && ran.ms),
               ran ? `${number(100 * ran.share)} %` : "–",
               number(ran && speed(ran, run)));
    row.push(tile(one) || "–");
    return row.concat(columns.at(-1)[0] === "generator" ? [maker(one)] : []);
  }));
}

//===-- Memory ------------------------------------------------------------===//

// The arena over the program: a block for each buffer, from the step that
// writes it to the last that reads it.
function arena(parent, entry) {
  const steps = entry.steps, last = steps.length - 1;
  const live = steps.map((_, i) => entry.buffers.reduce(
    (sum, b) => sum + (b.first <= i && i <= b.last ? b.bytes : 0), 0));
  const name = (i) => `${i + 1}. ${steps[i].does}` +
    (steps[i].layers ? `, layers ${steps[i].layers}` : "");
  const several = data.entries.length > 1 ? ` of ${entry.name}` : "";
  chart(parent, `The arena${several} over the program`,
        "Each block is a buffer: across, the kernels that it holds something " +
        "for; up, its place in the arena, per row of a run. Layers that " +
        "share a body stand once.", () => ({
    type: "bar",
    data: {labels: steps.map((_, i) => String(i + 1)),
           datasets: entry.buffers.map((buffer, k) => ({
      label: `buffer ${k + 1}`, grouped: false, barPercentage: 1,
      categoryPercentage: 1, borderWidth: {top: 1, bottom: 1, left: 0, right: 0},
      borderSkipped: false,
      borderColor: colour("--panel"), backgroundColor: seriesColour(k) + "cc",
      data: steps.map((_, i) => buffer.first <= i && i <= buffer.last
        ? [buffer.offset, buffer.offset + buffer.bytes] : null),
      tell: (i) => [
        `${bytes(buffer.bytes)} per row from ${bytes(buffer.offset)} on`,
        `from ${name(Math.min(buffer.first, last))}`,
        `to ${name(Math.min(buffer.last, last))}`,
        `at ${name(i)}: ${bytes(live[i])} in use`],
    }))},
    options: options(
      {x: axis("kernel, in the order of the program", {grid: {display: false}}),
       y: axis("per row", {beginAtZero: true, ticks: {
         color: colour("--faint"), callback: bytes, stepSize: roundBytes(
           entry.arena_bytes_per_row / 6)}})},
      {interaction: {mode: "point", intersect: true}, plugins: {
        legend: {display: false},
        tooltip: {callbacks: {title: () => "",
          label: (at) => at.dataset.tell(at.dataIndex)}}}}),
  }), {class: "wide"});
  const box = details(parent, `Every step${several} (${steps.length})`);
  table(box, `steps-${entry.name}`,
        [["step", 1], ["kernel"], ["layers"], ["in use per row", 1]],
        steps.map((step, i) => [String(i + 1), step.does, step.layers || "–",
                                bytes(live[i])]));
}

// The power of two that is not below.
const roundBytes = (value) => 2 ** Math.ceil(Math.log2(Math.max(1, value)));

function memory(parent) {
  add(parent, "h2", {}, "Memory");
  const several = data.entries.length > 1;
  tiles(parent, [
    [bytes(data.memory.weights_bytes), "weights"],
    [bytes(data.memory.code_bytes), "code"],
    ...data.entries.map((entry) => [bytes(entry.arena_bytes_per_row),
      (several ? `arena of ${entry.name}` : "arena") + ", per row"]),
    [bytes(data.memory.scratch_bytes_per_thread), "per thread"],
  ]);
  for (const entry of data.entries)
    if (entry.steps.length)
      arena(parent, entry);
    else
      add(parent, "p", {class: "faint"}, "The package is of an earlier " +
          "build and does not say how its arena is used.");
}

function ports(parent) {
  add(parent, "h2", {}, "Inputs and outputs");
  table(parent, "ports",
        [["entry"], ["kind"], ["name"], ["type"], ["shape"], ["if left out"]],
        data.entries.flatMap((entry) => ["inputs", "outputs", "states"].flatMap(
          (kind) => entry[kind].map((one) => [
            entry.name, kind.slice(0, -1), one.name, one.type, one.shape,
            one.default || "–"]))));
}

const main = add(document.body, "main");
add(main, "h1", {}, `Package ${data.package}`);
add(main, "p", {class: "faint"}, `From ${data.model}; for ` +
    `${data.isas.map((isa) => isa.name).join(", ")}.`);
tiles(main, [
  [whole(data.parameters), "parameters"], [data.dtype, "type"],
  [whole(data.traffic.kernels), "different kernels"],
  [whole(data.traffic.launches), "launches a run"],
  [bytes(data.traffic.bytes_per_row), "moved per row"],
]);
for (const part of [units, layers, fusions, kernels, memory, rewrites, ports])
  part(main);
finish();
