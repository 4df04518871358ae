// What both pages share: elements, numbers in words, tables, and charts, which
// Chart.js draws. A script of the page's kind runs after it.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);

// A test reads it.
window.addEventListener("error", (event) => {
  document.documentElement.dataset.error = event.message;
});

// An element; a child that is no node becomes text.
function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {}))
    made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== null));
  return made;
}

function add(parent, tag, attributes, ...children) {
  const made = element(tag, attributes, ...children);
  parent.append(made);
  return made;
}

const vector = "http://www.w3.org/2000/svg";
function shape(parent, tag, attributes, text) {
  const made = document.createElementNS(vector, tag);
  for (const [key, value] of Object.entries(attributes))
    made.setAttribute(key, value);
  if (text !== undefined)
    made.textContent = text;
  parent.append(made);
  return made;
}

//===-- Numbers in words --------------------------------------------------===//

// Four digits: 0.0625, 1.23e+5. JSON has null for an infinite number.
function number(value) {
  if (value === null || value === undefined)
    return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e6 || size < 1e-3))
    return value.toExponential(2);
  return String(Number(value.toPrecision(4)));
}

// At the ticks of a logarithmic axis, which are round: 1e-24.
function tick(value) {
  const size = Math.abs(value);
  return size !== 0 && (size >= 1e6 || size < 1e-3)
    ? Number(value.toPrecision(2)).toExponential() : number(value);
}

// At those of another axis, all in the form of the largest: 0.0008 below 0.001.
function evenTick(value, index, ticks) {
  const most = Math.max(...ticks.map((one) => Math.abs(one.value)));
  return value === 0 || most >= 1e6 || most < 1e-3
    ? tick(value) : String(Number(value.toPrecision(4)));
}

function whole(value) {
  return String(value).replace(/\B(?=(\d{3})+$)/g, " ");
}

function bytes(value) {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let unit = 0;
  for (; value >= 1024 && unit < 4; ++unit)
    value /= 1024;
  const fraction = unit > 0 && value < 100 && value !== Math.floor(value);
  return `${value.toFixed(fraction ? 1 : 0)} ${units[unit]}`;
}

//===-- Parts of a page ---------------------------------------------------===//

function tiles(parent, list) {
  const box = add(parent, "div", {class: "tiles"});
  for (const [value, name] of list)
    add(box, "div", {class: "tile"}, element("b", {}, value),
        element("span", {}, name));
}

// columns: [title, isNumber]. A cell is a text or a node; "" is said to be none.
function table(parent, id, columns, rows) {
  const made = add(add(parent, "div", {class: "scroll"}), "table", {id});
  const attributes = ([, isNumber]) => (isNumber ? {class: "number"} : {});
  const head = add(add(made, "thead"), "tr");
  for (const column of columns)
    add(head, "th", attributes(column), column[0]);
  const body = add(made, "tbody");
  for (const row of rows) {
    const line = add(body, "tr");
    row.forEach((cell, i) => add(line, "td", attributes(columns[i]),
                                 cell === "" ? "–" : cell));
  }
  return made;
}

function details(parent, title) {
  const made = add(parent, "details");
  add(made, "summary", {}, title);
  return made;
}

//===-- Charts ------------------------------------------------------------===//

const colour = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const seriesColour = (i) => colour(`--series-${i % 6}`);
const pointStyles = ["circle", "rect", "triangle", "rectRot", "star", "cross"];

const plans = []; // what draws each chart, to draw it again in other colours

// `plan` gives Chart.js's configuration, in the colours of now.
function chart(parent, title, note, plan, attributes) {
  const figure = add(parent, "figure", attributes || {});
  add(figure, "h3", {}, title);
  add(figure, "figcaption", {}, note);
  const canvas = add(add(figure, "div", {class: "canvas"}), "canvas",
                     {role: "img", "aria-label": `${title}: ${note}`});
  plans.push({title, plan, canvas, drawn: null});
}

// 1, 2 and 5 times powers of ten; of many decades, round powers alone.
function roundLogarithms(low, high) {
  const first = Math.floor(Math.log10(low) + 1e-9);
  const last = Math.ceil(Math.log10(high) - 1e-9);
  const decades = Math.max(1, last - first);
  const found = [];
  for (let power = first; power <= last; power += Math.ceil(decades / 8))
    for (const factor of decades <= 3 ? [1, 2, 5] : [1]) {
      const value = Number(`${factor}e${power}`);
      if (value >= low * 0.999 && value <= high * 1.001)
        found.push({value});
    }
  return found;
}

function axis(title, more) {
  return Object.assign({
    title: {display: true, text: title, color: colour("--faint")},
    grid: {color: colour("--rule")},
    ticks: {color: colour("--faint")},
  }, more);
}

// From 0 to more than the largest value, also where all values are one: grace
// around one value is an axis of 1.5 on each side of 0. As few ticks as a small
// chart has room for: of more Chart.js leaves out the last.
function axisFromZero(title, values) {
  return axis(title, {beginAtZero: true,
                      suggestedMax: 1.1 * (Math.max(...values, 0) || 1),
                      ticks: {color: colour("--faint"), callback: evenTick,
                              maxTicksLimit: 7}});
}

// Of values over less than one decade from 0 on, else a logarithmic axis whose
// ends are round.
function valueAxis(title, values, floor) {
  const there = values.filter((value) => value > 0 && isFinite(value));
  const low = Math.min(...there), high = Math.max(...there);
  if (!there.length || (high / low < 10 && !floor))
    return axisFromZero(title, there);
  const end = (value, round) => {
    const power = 10 ** Math.floor(Math.log10(value) + 1e-9);
    const steps = high / low > 1000 ? [1, 10] : [1, 2, 5, 10];
    const fits = steps.map((step) => Number((step * power).toPrecision(3)));
    return round === "down" ? fits.filter((at) => at <= value * 1.001).pop()
                            : fits.find((at) => at >= value * 0.999);
  };
  const min = end(low, "down"), max = end(high, "up");
  return axis(title, {
    type: "logarithmic", min, max,
    afterBuildTicks: (scale) => { scale.ticks = roundLogarithms(min, max); },
    ticks: {color: colour("--faint"), autoSkip: false, callback: tick},
  });
}

// What the legend shows of a series: the line with its dashes, or the point as
// it is drawn, in the series' own colours also where its first point is hollow.
function legendOf(chart) {
  const made = Chart.defaults.plugins.legend.labels.generateLabels(chart);
  return made.map((item) => {
    const series = chart.data.datasets[item.datasetIndex];
    const symbol = item.pointStyle;
    const shown = {...item, symbol, strokeStyle: series.borderColor,
                   lineDash: series.showLine ? series.borderDash || [] : []};
    if (symbol !== "line") {
      const canvas = element("canvas", {width: 14, height: 14});
      const pen = canvas.getContext("2d");
      pen.strokeStyle = series.borderColor;
      pen.fillStyle = series.backgroundColor || series.borderColor;
      pen.lineWidth = 1.5;
      Chart.helpers.drawPoint(pen, {pointStyle: symbol, radius: 4, rotation: 0,
                                    borderWidth: 1.5}, 7, 7);
      shown.pointStyle = canvas;
    }
    return shown;
  });
}

// What every chart has; tooltip texts come from a dataset's `say`.
function options(scales, more) {
  return Object.assign({
    responsive: true, maintainAspectRatio: false, animation: false, scales,
    interaction: {mode: "nearest", axis: "xy", intersect: false},
    plugins: {
      legend: {position: "bottom",
               labels: {color: colour("--ink"), usePointStyle: true,
                        pointStyleWidth: 20, boxHeight: 7, font: {size: 12},
                        generateLabels: legendOf}},
      tooltip: {callbacks: {
        title: () => "",
        label: (at) => at.dataset.say ? at.dataset.say(at.raw)
            : `${at.dataset.label}: ${number(at.parsed.y)}`}},
    },
  }, more);
}

function drawAll() {
  for (const entry of plans) {
    if (entry.drawn)
      entry.drawn.destroy();
    entry.drawn = new Chart(entry.canvas, entry.plan());
  }
}

// Draws, and leaves in the page what was drawn, so that a test can compare it
// with the data.
function finish() {
  drawAll();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  const drawn = plans.map(({title, drawn}) => ({
    title, series: drawn.data.datasets.map(
      ({label, data: points}) => ({label, points})),
    axis: drawn.scales.y && [drawn.scales.y.min, drawn.scales.y.max],
    ticks: drawn.scales.y && drawn.scales.y.ticks.map(({label}) => label),
    legend: drawn.options.plugins.legend.display ? drawn.legend.legendItems.map(
      ({text, strokeStyle, symbol, lineDash, datasetIndex}) =>
        ({text, strokeStyle, symbol, lineDash,
          order: drawn.data.datasets[datasetIndex].order || 0})) : [],
  }));
  document.body.append(element(
    "script", {type: "application/json", id: "drawn"},
    JSON.stringify(drawn).replace(/</g, "\\u003c")));
  add(document.body, "footer", {},
      "Written by mille. Charts by Chart.js; its licence is in this file.");
}
