// The classes of Trainer.h for Python: names, types and documentation. Must not
// do their work.
#include "Trainer.h"
#include <nanobind/stl/pair.h>

using namespace mille_python;

static void bindReports(nb::module_ &m) {
  using Step = mille_step_report;
  nb::class_<Step>(m, "StepReport", "What one step did.")
      .def_ro("step", &Step::step, "The number of its update, from 1 on.")
      .def_ro("loss", &Step::loss, "The mean over the labels that count.")
      .def_ro("labels", &Step::labels, "How many they are.")
      .def_ro("gradient_norm", &Step::gradient_norm,
              "The gradient's length, before it is clipped.")
      .def_ro("rate", &Step::rate, "The learning rate.")
      .def("__repr__", [](const Step &step) {
        return nb::str("StepReport(step={}, loss={}, labels={}, "
                       "gradient_norm={}, rate={})")
            .format(step.step, step.loss, step.labels, step.gradient_norm,
                    step.rate);
      });
  using Report = mille_training_report;
  nb::class_<Report>(m, "TrainingReport",
                     R"(What a trainer has done since it was made, and what it
holds. Evaluations do not count, nor steps that fail.)")
      .def_prop_ro(
          "last",
          [](const Report &report) {
            return report.last.step ? std::optional(report.last) : std::nullopt;
          },
          "The last step; None: there was none.")
      .def_ro("steps", &Report::steps, "How many there were.")
      .def_ro("sequences", &Report::sequences, "That it has learnt from.")
      .def_ro("labels", &Report::labels, "That it has learnt from.")
      .def_ro("seconds", &Report::seconds, "Of all steps, on the clock.")
      .def_ro("forward_seconds", &Report::forward_seconds,
              "Until all losses were known.")
      .def_ro("backward_seconds", &Report::backward_seconds,
              "From there on, without updates.")
      .def_ro("update_seconds", &Report::update_seconds,
              "With the gradient's length.")
      .def_ro("bytes", &Report::bytes, "All memory.")
      .def_ro("weight_bytes", &Report::weight_bytes, "Of the weights.")
      .def_ro("state_bytes", &Report::state_bytes, "Of the optimizer's states.")
      .def_ro("gradient_bytes", &Report::gradient_bytes,
              "Of all parameters, or of the largest layer.")
      .def_ro("session_bytes", &Report::session_bytes,
              "What layers save, and what kernels work in.");
  using Parameter = TrainedParameter;
  nb::class_<Parameter>(m, "TrainedParameter",
                        "A parameter, and how the last step changed it.")
      .def_ro("name", &Parameter::name, "The model's name of it.")
      .def_prop_ro(
          "shape", [](const Parameter &one) { return one.shape; },
          nb::sig("def shape(self) -> tuple[int, ...]"),
          "As a checkpoint has it.")
      .def_ro("gradient_norm", &Parameter::gradientNorm,
              "Before it is clipped; 0 where there was no step.")
      .def_ro("rate", &Parameter::rate, "The factor of the next step's rate.")
      .def_ro("weight_decay", &Parameter::weightDecay, "Of the next step.")
      .def_ro("trust", &Parameter::trust,
              "LAMB's factor of the last step; of others 1.");
}

static void bindSteps(nb::class_<Trainer> &trainer) {
  trainer.def_prop_ro("inputs", &Trainer::inputs, "What a step takes.")
      .def("step", &Trainer::step, nb::arg("arrays"),
           nb::sig("def step(self, **arrays: typing.Any) -> StepReport"),
           R"(One update of the weights by a batch. arrays: by name, as a
session takes them; of `labels` the id that each token should give, or -100,
which does not count. A step that fails changes nothing, but for one whose
message says that weights have changed: then the trainer does nothing until it
loads a checkpoint. Ctrl-C ends a step, or is raised after it where weights have
begun to change: `steps` tells. InvalidArgument: a name, a type, a shape, an id
or a label is not the model's, or the loss or the gradient is not finite, with
its place. TooLarge: more than the trainer was made for. Cancelled: `cancel` was
called.)")
      .def("gradients", &Trainer::gradients, nb::arg("arrays"),
           nb::sig("def gradients(self, **arrays: typing.Any) -> StepReport"),
           R"(The gradients by a batch, without an update: `gradient` gives
them. Arrays and errors as for step, and OutOfMemory: the first call takes
memory for the gradients of all layers.)")
      .def("evaluate", &Trainer::evaluate, nb::arg("arrays"),
           nb::sig("def evaluate(self, **arrays: typing.Any) "
                   "-> tuple[float, int]"),
           R"((mean loss, labels that count) of a batch of any number of
sequences, without an update, smoothing or dropout. Arrays and errors as for
step.)")
      .def("cancel", &Trainer::cancel,
           R"(Ends the step or evaluation that is under way, from any thread; a
step that has begun to change weights is finished.)");
}

static void bindNumbers(nb::class_<Trainer> &trainer) {
  trainer
      .def("set", &Trainer::set, nb::arg("numbers") = nb::none(),
           nb::arg("named"),
           nb::sig("def set(self, numbers: collections.abc.Mapping[str, "
                   "float | None] | None = None, "
                   "**named: float | None) -> None"),
           R"(From the next step on numbers of the training are these; None:
as the package says.

rate=3e-4               in place of the schedule's
peak_rate, end_rate, warmup, steps      of the schedule
clip=1                  the most that the gradient's length may be; 0: any
momentum, beta1, beta2, epsilon         of the optimizer
dropout_seed=7          whose masks are another training's
step=100                the updates that are done; not None

A name may be a scheduled scale, or rate:PATTERN or weight_decay:PATTERN of the
parameters whose names match: set({"rate:embed*": 0}). They are set one after
the other. Of all a checkpoint keeps the step alone. InvalidArgument: there is
no such number, or it is out of its range.)")
      .def("parameters", &Trainer::names,
           "The names of all parameters, in the model's order. "
           "InvalidArgument: the trainer is closed.")
      .def("parameter", &Trainer::parameter, nb::arg("name"),
           R"(A parameter, and how the last step changed it. InvalidArgument:
there is none of that name.)")
      .def("gradient", &Trainer::gradient, nb::arg("name"),
           nb::sig("def gradient(self, name: str) -> "
                   "numpy.typing.NDArray[numpy.float32]"),
           R"(The gradient of a parameter by the last call of `gradients`, a
copy in the parameter's shape. InvalidArgument: there is no such parameter, or a
step has used the gradients up.)")
      .def("weight", &Trainer::weight, nb::arg("name"),
           nb::sig("def weight(self, name: str) -> "
                   "numpy.typing.NDArray[numpy.float32]"),
           R"(A parameter as the steps so far have left it, a copy in its
shape. InvalidArgument: there is none of that name, the package is an older
build's, or a failed step has left weights of two steps.)")
      .def_prop_ro("steps", &Trainer::steps,
                   "The updates that are done, those before a load too. "
                   "InvalidArgument: the trainer is closed.")
      .def_prop_ro("memory", &Trainer::memory,
                   "Bytes that it holds. InvalidArgument: it is closed.")
      .def("report", &Trainer::report,
           "What it has done since it was made, and what it holds. "
           "InvalidArgument: it is closed, or an older build's package.");
}

static void bindFiles(nb::class_<Trainer> &trainer) {
  trainer
      .def("save", &Trainer::save, nb::arg("path"),
           nb::sig("def save(self, "
                   "path: str | bytes | os.PathLike[str]) -> None"),
           R"(Writes the parameters, the optimizer's states and the number of
steps to one safetensors file, whole or not at all; `mille train --resume` and
`compile(weights=...)` read it. FileError: it cannot be written.)")
      .def("load", &Trainer::load, nb::arg("path"),
           nb::sig("def load(self, "
                   "path: str | bytes | os.PathLike[str]) -> None"),
           R"(Goes on as the trainer that saved the file: the next step has
the same bits. FileError: it cannot be read. BadWeights: it is damaged, or of
another model or optimizer.)")
      .def("note", &Trainer::note, nb::arg("name"),
           R"(A note of the checkpoint: "seed", "data" or "mask". "": there is
none. Errors as for step.)")
      .def("set_note", &Trainer::setNote, nb::arg("name"), nb::arg("text"),
           R"(Notes what a checkpoint is to keep: as "seed" the seed of the
order of the data, with which `mille train --resume` goes on. InvalidArgument:
there is no such note, or more than 159 characters, or one that is not
plain.)")
      .def("close", &Trainer::close,
           "Gives all memory back; what is asked for afterwards is refused.")
      .def(
          "__enter__", [](nb::object self) { return self; },
          nb::sig("def __enter__(self) -> Trainer"))
      .def(
          "__exit__", [](Trainer &self, const nb::args &) { self.close(); },
          nb::arg("raised"),
          nb::sig("def __exit__(self, *raised: object) -> None"));
}

static void bindData(nb::module_ &m) {
  m.def("rows_of_step", &rowsOfStep, nb::arg("step"), nb::arg("batch"),
        nb::arg("count"), nb::arg("seed") = 0,
        R"(The sequences that `mille train` takes of a file with `count` in the
step after `step` others: numbers in [0, count), in each epoch all of them in
another order. InvalidArgument: step is less than 0, batch or count less than 1,
or they are more than can be counted.)");
  m.def(
      "mask_tokens",
      [](const nb::object &tokens, int32_t ids, int32_t mask, double rate,
         double replaced, double random, uint64_t sequence, uint64_t epoch,
         uint64_t seed, const nb::object &never) {
        return maskTokens(tokens, {rate, replaced, random, mask, ids}, sequence,
                          epoch, seed, never);
      },
      nb::arg("tokens"), nb::kw_only(), nb::arg("ids"), nb::arg("mask"),
      nb::arg("rate") = 0.15, nb::arg("replaced") = 0.8,
      nb::arg("random") = 0.1, nb::arg("sequence") = 0, nb::arg("epoch") = 0,
      nb::arg("seed") = 0, nb::arg("never") = nb::none(),
      nb::sig("def mask_tokens(tokens: numpy.typing.ArrayLike, *, "
              "ids: int, mask: int, rate: float = 0.15, "
              "replaced: float = 0.8, random: float = 0.1, "
              "sequence: int = 0, epoch: int = 0, seed: int = 0, "
              "never: numpy.typing.ArrayLike | None = None) "
              "-> tuple[numpy.typing.NDArray[numpy.int32], "
              "numpy.typing.NDArray[numpy.int32]]"),
      R"((input_ids, labels) of one sequence of a masked language model: a
share `rate` of its tokens is to be guessed, of which a share becomes the id
`mask`, one any of `ids` ids, and others stay. What is chosen follows from the
seed, the epoch, the sequence's number and the place alone: `mille train --mask`
takes the number of the row, and as epoch how often all rows were taken before,
(step * batch + i) // count for the i-th of a step. never: True for tokens that
stay. InvalidArgument: a share is not in 0 to 1, or the mask is none
of the ids.)");
}

void mille_python::bindTrainer(nb::module_ &m) {
  bindReports(m);
  nb::class_<Trainer> trainer(
      m, "Trainer",
      R"(A model that learns: weights of its own, which steps change, and the
optimizer's states. The package stays as it is. Calls of several threads run one
after the other.)");
  bindSteps(trainer);
  bindNumbers(trainer);
  bindFiles(trainer);
  bindData(m);
}
