// The Python module's classes: names, types and documentation. Must not do
// their work.
#include "Generation.h"
#include "Tokens.h"
#include "Trainer.h"

using namespace mille_python;

static void bindTensor(nb::module_ &m) {
  nb::class_<Tensor>(m, "Tensor", "An input or an output of an entry.")
      .def_ro("name", &Tensor::name, "As in runs: session(NAME=array).")
      .def_ro("optional", &Tensor::optional, "Whether a run may lack it.")
      .def_prop_ro("shape", &Tensor::dimensions,
                   nb::sig("def shape(self) -> tuple[int | str, ...]"),
                   R"(Of each dimension its number, or the name of its size:
("batch", "tokens", 384).)")
      .def_prop_ro(
          "dtype",
          [](const Tensor &tensor) {
            return tensor.type == MILLE_TYPE_I32 ? "int32" : "float32";
          },
          "\"int32\" or \"float32\".");
}

static nb::object report(const nb::object &package, const nb::kwargs &options) {
  return nb::module_::import_("mille").attr("report")(package, **options);
}

static void bindFacts(nb::class_<Package> &package) {
  package.def_prop_ro("name", &Package::name, "The model's name.")
      .def_prop_ro("path", &Package::folder, nb::sig("def path(self) -> str"),
                   "What load was given, as an absolute path.")
      .def_prop_ro("isa", &Package::isa, "The instruction set that runs.")
      .def_prop_ro("weights_bytes", &Package::weightsBytes,
                   "Bytes of the weights, as the package holds them.")
      .def_prop_ro("sizes", &Package::sizes,
                   R"(Of each size of runs (batch, tokens, ...) the most that
the model takes; 0: any.)")
      .def_prop_ro(
          "entries",
          [](const Package &opened) {
            std::vector<std::string> names;
            for (const Entry &entry : opened.entries())
              names.push_back(entry.name);
            return names;
          },
          "Names of the entries; a run is of the first, unless it says which.")
      .def_prop_ro(
          "inputs",
          [](const Package &opened) { return opened.entries()[0].inputs; },
          "The inputs of the first entry.")
      .def_prop_ro(
          "outputs",
          [](const Package &opened) { return opened.entries()[0].outputs; },
          "The outputs of the first entry.")
      .def_prop_ro("manifest", &Package::manifest,
                   nb::sig("def manifest(self) -> dict[str, typing.Any]"),
                   R"(What the compiler wrote of the package in NAME.json: the
model, the entries, their tensors. It is read anew. FileError: it is not there
any more.)");
}

static void bindTraining(nb::class_<Package> &package) {
  package.def(
      "trainer",
      [](const Package &opened, const nb::object &batch,
         const nb::object &tokens, int threads, const nb::kwargs &others) {
        return std::make_unique<Trainer>(
            opened, takeSizes(batch, tokens, others), threads);
      },
      nb::arg("batch") = nb::none(), nb::arg("tokens") = nb::none(),
      nb::arg("threads") = 0, nb::arg("sizes"),
      nb::sig("def trainer(self, batch: int | None = None, "
              "tokens: int | None = None, threads: int = 0, "
              "**sizes: int) -> Trainer"),
      R"(A trainer for batches of up to `batch` sequences, of a package that was
compiled with train=True; sizes and threads as for `session`, and the bits are
the same for any threads. Weights begin as `mille init` draws them, or as those
of `compile(weights=...)`. InvalidArgument: the package infers, or a size is
missing, unknown, or no whole number from 1. TooLarge: the model does not take
so many.
OutOfMemory: memory or a thread was refused.)");
}

static void bindPackage(nb::module_ &m) {
  nb::class_<Package> package(m, "Package",
                              R"(A compiled model, opened by `load` or
`compile`.)");
  bindFacts(package);
  bindTraining(package);
  package
      .def("session", &Package::session, nb::arg("batch") = nb::none(),
           nb::arg("tokens") = nb::none(), nb::arg("threads") = 0,
           nb::arg("device") = nb::none(), nb::arg("sizes"),
           nb::sig("def session(self, batch: int | None = None, "
                   "tokens: int | None = None, threads: int = 0, "
                   "device: str | None = None, **sizes: int) -> Session"),
           R"(A session for runs of up to `batch` sequences of `tokens` tokens
each, and of the model's other sizes by their names (decoder_tokens=32): see
`sizes`. threads: 1 to 64; 0 is one for each CPU of the process. device: "cpu",
"opencl", "cuda", "cuda:1" or "cuda:NAME"; None is the package's choice.
InvalidArgument: a size is missing, unknown, or no whole number from 1, or the
package was not compiled for the device. TooLarge: the model does not take so
many. NoDevice: this machine has none. OutOfMemory: memory or a thread was
refused.)")
      .def("report", &report, nb::arg("options"),
           nb::sig("def report(self, **options: typing.Any) "
                   "-> dict[str, typing.Any]"),
           R"(What became of the model, as a dictionary: mille.report of this
package, with its options (measure=True: the time of each kernel too). It runs
the command. FileError: there is no command, or no file of the package.)")
      .def(
          "generation",
          [](const Package &opened, int64_t context, int64_t sequences,
             int threads) {
            return std::make_unique<Generation>(opened, context, sequences,
                                                threads);
          },
          nb::kw_only(), nb::arg("context") = 2048, nb::arg("sequences") = 1,
          nb::arg("threads") = 0,
          R"(Sequences that the model continues, by the package's entry next or
extend: up to `sequences` at a time, of up to `context` tokens each. threads: as
for `session`. InvalidArgument: the package has neither entry, or a number is out
of its range. TooLarge: the model does not take such a context. OutOfMemory: memory or
a thread was refused.)");
}

static void bindSession(nb::module_ &m) {
  nb::class_<Session>(m, "Session",
                      R"(Memory and threads for runs. Runs of several threads
are one after the other.)")
      .def("__call__", &Session::run, nb::kw_only(), nb::arg("entry") = "",
           nb::arg("out") = nb::none(), nb::arg("arrays"),
           nb::sig("def __call__(self, *, entry: str = \"\", "
                   "out: collections.abc.Mapping[str, typing.Any] | None = "
                   "None, **arrays: typing.Any) "
                   "-> dict[str, typing.Any]"),
           R"(Runs an entry, the first if none is named: {name: float32 array}
of its outputs, in the shapes of `Package.outputs`. arrays: of each input an
int32 or float32 array in its shape, of anything with DLPack or the buffer
protocol; a dense one is not copied, int64 ids are taken where they fit. out:
dense float32 arrays by the names of outputs to write into, which the result then
has. Ctrl-C stops a run. InvalidArgument: a name, a type, a shape or an id is not
the model's, or arrays share memory. TooLarge: more than the session was made
for. Cancelled: `cancel` was called.)")
      .def("cancel", &Session::cancel,
           R"(Stops the run that is under way, from any thread; its outputs are
undefined.)");
}

static void bindTokens(nb::module_ &m) {
  nb::class_<Tokens>(m, "Tokens",
                     R"(The vocabulary of a package, NAME.tokens. FileError: it
cannot be read. InvalidArgument: it is damaged.)")
      .def(nb::init<const nb::object &>(), nb::arg("path"),
           nb::sig("def __init__(self, "
                   "path: str | bytes | os.PathLike[str]) -> None"))
      .def_prop_ro("ends", &Tokens::ends,
                   "How many ids each text gets before and after its own.")
      .def("encode", &Tokens::encode, nb::arg("texts"), nb::arg("most"),
           nb::sig("def encode(self, texts: list[str], most: int) "
                   "-> list[list[int] | None]"),
           R"(Of each text a list of ids, which is cut to `most`; None where it
has characters that versions of Unicode disagree on. InvalidArgument: `most` is
less than `ends`.)");
  m.def("tokenizer_hash", &hashOfFile, nb::arg("path"),
        nb::sig("def tokenizer_hash(path: str | bytes | os.PathLike[str]) "
                "-> str"),
        R"(The hash of a file, as NAME.json has it of a tokenizer.json: 16
digits in hexadecimal. FileError: it cannot be read.)");
}

NB_MODULE(_mille, m) {
  m.doc() =
      "Mille's packages, sessions, generations, trainers and vocabularies, in "
      "C++.";
  bindTensor(m);
  bindTrainer(m);
  bindPackage(m);
  bindGeneration(m);
  bindSession(m);
  bindTokens(m);
  m.def(
      "load",
      [](const nb::object &path) { return std::make_unique<Package>(path); },
      nb::arg("path").none(),
      nb::sig("def load(path: str | bytes | os.PathLike[str]) -> Package"),
      R"(Opens the package in a folder, or the package of a NAME.so. Its code
runs in this process: open only what you would run. FileError: there is none, or
it cannot be read. BadWeights: its weights are damaged, of another model, or of a
newer Mille. UnsupportedCpu: this CPU lacks an instruction set. InvalidArgument:
the path is none.)");
}
