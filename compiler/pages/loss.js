// The page of `mille train --html`: the loss over the steps, that of --eval, the
// gradient's length and the rate.
"use strict";

// A line over the steps; `vertical` makes the axis of its values.
function over(parent, title, note, series, vertical) {
  const there = series.filter((one) => one.points.length);
  if (!there.length)
    return;
  chart(parent, title, note, () => ({
    type: "scatter",
    data: {datasets: there.map((one, i) => ({
      label: one.label, data: one.points, showLine: true,
      borderColor: seriesColour(i), backgroundColor: seriesColour(i),
      borderWidth: 1.5, pointStyle: one.marks ? "rectRot" : "line",
      pointRadius: one.marks ? 4 : one.points.length < 3 ? 3 : 0,
      pointHitRadius: 6,
      say: (point) => `step ${point.x}, ${one.label}: ${number(point.y)}`,
    }))},
    options: options({
      x: axis("step", {type: "linear",
                       ticks: {color: colour("--faint"), precision: 0}}),
      y: vertical("", there.flatMap(
        (one) => one.points.map((point) => point.y))),
    }),
  }), {class: "wide"});
}

const points = (list, key) =>
  list.map((one) => ({x: one.step, y: one[key]}))
    .filter((point) => typeof point.y === "number");

const main = add(document.body, "main");
add(main, "h1", {}, `Training of ${data.model}`);
const last = data.train.at(-1), lastEval = data.eval.at(-1);
add(main, "p", {class: "faint"}, data.done ? "The training has ended."
  : "The training runs; this page reads itself again.");
tiles(main, [
  [`${whole(last ? last.step : 0)} of ${whole(data.steps)}`, "steps"],
  [number(last ? last.loss : null), "loss"],
  ...(lastEval ? [[number(lastEval.loss), "loss of --eval"]] : []),
  [whole(Math.round(data.labels_per_second)), "tokens a second"],
  [`${number(data.seconds)} s`, "so far"],
]);
const each = data.steps_per_point > 1
  ? ` Each point is the mean of ${data.steps_per_point} steps.` : "";
over(main, "Loss", "The mean over the tokens of a step." + each,
     [{label: "training", points: points(data.train, "loss")},
      {label: "--eval", points: points(data.eval, "loss"), marks: true}],
     (title) => axis(title, {grace: "5%"}));
const box = add(main, "div", {class: "charts"});
over(box, "Length of the gradient", "Before it is clipped." + each,
     [{label: "length", points: points(data.train, "gradient_norm")}],
     valueAxis);
over(box, "Rate", "The learning rate of each step.",
     [{label: "rate", points: points(data.train, "rate")}], axisFromZero);
finish();
