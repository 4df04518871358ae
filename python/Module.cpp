// The Python module's classes and their documentation. Must not do their work.
#include "Generation.h"
#include "Tokens.h"

using namespace mille_python;

NB_MODULE(_mille, m) {
  nb::class_<Tensor>(m, "Tensor", "An input or an output of an entry.")
      .def_ro("name", &Tensor::name)
      .def_ro("optional", &Tensor::optional)
      .def_prop_ro("shape", &Tensor::dimensions,
                   "A number, or the name of a size, per dimension.")
      .def_prop_ro("dtype", [](const Tensor &tensor) {
        return tensor.type == MILLE_TYPE_I32 ? "int32" : "float32";
      });
  nb::class_<Package>(m, "Package", "A compiled model, opened.")
      .def_prop_ro("name", &Package::name)
      .def_prop_ro("path", &Package::folder,
                   "What load was given, as an absolute path.")
      .def_prop_ro("isa", &Package::isa, "The instruction set that runs.")
      .def_prop_ro("weights_bytes", &Package::weightsBytes)
      .def_prop_ro("sizes", &Package::sizes,
                   "The most that the model takes of each size; 0: any.")
      .def_prop_ro("entries",
                   [](const Package &package) {
                     std::vector<std::string> names;
                     for (const Entry &entry : package.entries())
                       names.push_back(entry.name);
                     return names;
                   })
      .def_prop_ro(
          "inputs",
          [](const Package &package) { return package.entries()[0].inputs; },
          "The inputs of the first entry.")
      .def_prop_ro(
          "outputs",
          [](const Package &package) { return package.entries()[0].outputs; },
          "The outputs of the first entry.")
      .def("session", &Package::session, nb::kw_only(), nb::arg("threads") = 0,
           nb::arg("device") = nb::none(), nb::arg("sizes"),
           "A session for runs of up to these sizes (batch=8, tokens=128).")
      .def_prop_ro("manifest", &Package::manifest,
                   "What the compiler wrote of the package in NAME.json, read "
                   "anew. FileError: it is not there any more.")
      .def(
          "report",
          [](const nb::object &package, const nb::kwargs &options) {
            return nb::module_::import_("mille").attr("report")(package,
                                                                **options);
          },
          nb::arg("options"),
          "What became of the model, as a dictionary: mille.report of this "
          "package. It runs the command.")
      .def(
          "generation",
          [](const Package &package, int64_t context, int64_t sequences,
             int threads) {
            return std::make_unique<Generation>(package, context, sequences,
                                                threads);
          },
          nb::kw_only(), nb::arg("context") = 2048, nb::arg("sequences") = 1,
          nb::arg("threads") = 0,
          "Sequences of up to `context` tokens that the model continues: the "
          "package needs the entry next or extend.");
  bindGeneration(m);
  nb::class_<Session>(m, "Session", "Memory and threads for runs.")
      .def("__call__", &Session::run, nb::kw_only(), nb::arg("entry") = "",
           nb::arg("out") = nb::none(), nb::arg("arrays"),
           "Runs an entry: {name: float32 array}. Inputs are int32 or float32 "
           "arrays by name; `out` maps names to arrays to write into.")
      .def("cancel", &Session::cancel, "Stops a run, from any thread.");
  nb::class_<Tokens>(m, "Tokens", "The vocabulary of a package, NAME.tokens.")
      .def(nb::init<const nb::object &>(), nb::arg("path"))
      .def_prop_ro("ends", &Tokens::ends,
                   "How many ids each text gets before and after its own.")
      .def("encode", &Tokens::encode, nb::arg("texts"), nb::arg("most"),
           "Of each text a list of ids, which is cut to `most`; None where it "
           "has characters that versions of Unicode disagree on.");
  m.def("tokenizer_hash", &hashOfFile, nb::arg("path"),
        "The hash of a file, as NAME.json has it of a tokenizer.json.");
  m.def(
      "load",
      [](const nb::object &path) { return std::make_unique<Package>(path); },
      nb::arg("path").none(), "Opens the package in a folder.");
}
