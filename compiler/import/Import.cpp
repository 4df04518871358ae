// Finds out what a path is (folder, native spec, .gguf, .mlir) and where its
// weights are, then reads the model and builds its ops.
#include "compiler/import/Import.h"
#include "compiler/import/CheckpointWeights.h"
#include "compiler/import/HuggingFace.h"
#include "compiler/import/Text.h"
#include "compiler/import/config/ConfigImage.h"
#include "compiler/import/gguf/GgufModel.h"
#include "compiler/import/gguf/GgufWeights.h"
#include "compiler/import/model/Build.h"
#include "compiler/import/spec/Spec.h"
#include "dialects/transformer/Identifier.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mille;
using namespace mille::import;
using llvm::StringRef;
using llvm::Twine;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace {

// A symbol name that is also an identifier of C.
std::string identifier(StringRef text) {
  std::string name = identifierFrom(text);
  return name.find_first_not_of('_') == std::string::npos ? "model" : name;
}

class Importer {
public:
  Importer(StringRef given, const ImportOptions &options,
           mlir::MLIRContext &context, Imported &imported)
      : given(given), options(options), context(context), imported(imported) {}

  Status run() {
    readWeightsOption();
    fs::file_status status;
    if (std::error_code error = fs::status(given, status))
      return wrong(given, "cannot read the model: " + error.message());
    if (fs::is_directory(status))
      return folder();
    imported.folder = path::parent_path(given).str();
    if (imported.folder.empty())
      imported.folder = ".";
    if ((options.imageSize || options.anyImageSize) &&
        path::filename(given) != "config.json")
      return wrong(given, "--image-size is given but only a Hugging Face "
                          "folder's image_size can be replaced");
    if (given.ends_with(".mlir"))
      return importText(given, context, imported);
    if (path::filename(given) == "config.json")
      return huggingFace(given);
    if (given.ends_with(".json"))
      return nativeSpec();
    if (given.ends_with(".gguf"))
      return gguf();
    return wrong(given, "a model is a folder with config.json, a native spec "
                        "(*.json), *.gguf or *.mlir");
  }

private:
  Status wrong(StringRef file, const Twine &text) {
    mlir::emitError(mlir::FileLineColLoc::get(&context, file, 0, 0)) << text;
    return Status::input;
  }

  // --weights=none | random:SEED | FILE
  void readWeightsOption() {
    StringRef text = options.weights;
    if (text == "none") {
      none = true;
    } else if (text.consume_front("random:")) {
      uint64_t number = 0;
      [[maybe_unused]] const bool isNone = text.getAsInteger(10, number);
      assert(!isNone && "who asks has looked at the seed");
      seed = number;
    }
  }
  bool fromFiles() const { return !none && !seed && !options.making; }

  // The files behind the weights; false after an error.
  bool openTensors(StoredTensors &tensors) {
    if (options.weights.empty())
      return tensors.addFolder(imported.folder, context);
    // A file in the model's folder is named by its name, others by their path.
    llvm::SmallString<128> whole(options.weights), folder(imported.folder);
    fs::make_absolute(whole);
    fs::make_absolute(folder);
    path::remove_dots(whole, true);
    path::remove_dots(folder, true);
    bool beside = path::parent_path(whole) == folder;
    std::unique_ptr<TensorFile> file =
        TensorFile::open(options.weights, context);
    if (!file)
      return false;
    isCheckpoint = file->note("format").starts_with("mille-checkpoint");
    tensors.add(std::move(file),
                beside ? path::filename(whole) : StringRef(whole));
    return true;
  }

  Status folder() {
    imported.folder = given.str();
    llvm::SmallString<128> file(given);
    path::append(file, "config.json");
    if (fs::exists(file))
      return huggingFace(file);
    mlir::InFlightDiagnostic error =
        mlir::emitError(mlir::FileLineColLoc::get(&context, given, 0, 0))
        << "the folder has no config.json";
    path::remove_filename(file);
    path::append(file, "spec.json");
    if (fs::exists(file))
      error.attachNote() << "help: a native spec is given by its file, "
                         << file;
    return Status::input;
  }

  Status huggingFace(StringRef file) {
    auto document = json::parseFile(file, context);
    if (!document)
      return Status::input;
    Problems problems;
    StoredTensors tensors;
    if (fromFiles() && !openTensors(tensors))
      return Status::input;
    const bool ownNames = tensors.haveOwnNames();
    Config config(*document, problems, context,
                  fromFiles() && !ownNames ? &tensors : nullptr);
    config.imageSize = options.imageSize;
    config.imageSizeAtHand = options.imageSizeAtHand;
    config.anyImageSize = options.anyImageSize;
    config.mostImageSize = options.mostImageSize;
    const Family *family = familyOf(config, problems);
    const bool pickled =
        llvm::sys::fs::exists(imported.folder + "/pytorch_model.bin");
    if (family && fromFiles() && tensors.empty())
      problems
          .error(mlir::FileLineColLoc::get(&context, imported.folder, 0, 0),
                 "the folder has neither model.safetensors nor "
                 "model.safetensors.index.json")
          .help(
              pickled
                  ? "pytorch_model.bin is not read: save_pretrained of "
                    "transformers writes safetensors"
                  : "--weights=FILE names another file, --weights=random:SEED "
                    "makes weights");
    if (problems.any() || !family) {
      problems.tell();
      return Status::input;
    }
    ModelSpec spec;
    readConfig(config, *family, spec);
    bool image = spec.image.has_value();
    for (const Stack &stack : spec.before)
      image |= stack.image.has_value();
    checkImages(config, spec);
    if ((options.imageSize || options.anyImageSize) && !image)
      problems.error(spec.at, "--image-size is given but the model reads no "
                              "image");
    if (options.mostImageSize && !options.anyImageSize)
      problems.error(spec.at, "--max-image-size is given but --image-size is "
                              "not any");
    if (problems.any()) {
      problems.tell();
      return Status::input;
    }
    spec.name = nameOf(spec.name);
    if (!fromFiles())
      return made(spec, family->scheme, problems);
    if (ownNames)
      return fromOwnNames(spec, tensors, problems);
    FamilyWeights weights(*family, tensors, spec.at, problems, context);
    buildFrom(spec, weights);
    if (!problems.any())
      weights.noteUnused();
    return finish(problems);
  }

  Status gguf() {
    Problems problems;
    StoredTensors tensors, others;
    const Gguf *file = openParts(given, tensors, context);
    const bool elsewhere = fromFiles() && !options.weights.empty();
    if (!file || (elsewhere && !openTensors(others)))
      return Status::input;
    GgufModel model(*file, tensors, problems, context);
    ModelSpec spec;
    if (model.read()) {
      Config config(*model.config, problems, context, &tensors);
      config.ropeFactors = model.ropeFactors;
      readConfig(config, *model.architecture->family, spec);
      model.adjust(spec);
    }
    if (problems.any()) {
      model.explain();
      problems.tell();
      return Status::input;
    }
    spec.name = nameOf(spec.name);
    if (!fromFiles())
      return made(spec, model.architecture->family->scheme, problems);
    if (others.haveOwnNames())
      return fromOwnNames(spec, others, problems);
    const Family family = withGgufNames(*model.architecture);
    GgufWeights weights(*model.architecture, family,
                        elsewhere ? others : tensors, spec.at, problems,
                        context);
    buildFrom(spec, weights);
    if (problems.any())
      model.explain();
    else
      weights.noteUnused();
    return finish(problems);
  }

  Status nativeSpec() {
    auto document = json::parseFile(given, context);
    if (!document)
      return Status::input;
    Problems problems;
    ModelSpec spec;
    std::optional<InitRecipe> init;
    readSpec(*document, spec, init, problems, context);
    if (problems.any()) {
      problems.tell();
      return Status::input;
    }
    spec.name = nameOf(spec.name);
    if (init && options.making)
      seed = init->seed;
    if (!fromFiles())
      return made(spec, usualScheme(spec, init), problems,
                  init ? init->at : mlir::LocationAttr());
    StoredTensors tensors;
    if (!openTensors(tensors))
      return Status::input;
    if (tensors.empty() && init) {
      seed = init->seed;
      return made(spec, init->scheme, problems, init->at);
    }
    if (tensors.empty()) {
      problems
          .error(spec.at, "the spec has no init and there is no "
                          "model.safetensors beside it")
          .help("add \"init\": {\"scheme\": \"xavier\", \"seed\": 1}, or give "
                "--weights=FILE");
      problems.tell();
      return Status::input;
    }
    return fromOwnNames(spec, tensors, problems);
  }

  // Nobody named the weights that merely lie beside a spec.
  void explainWeights(Problems &problems) {
    if (!options.weights.empty() || !given.ends_with(".json"))
      return;
    bool said = false;
    problems.forEachError([&](Problems::Problem &problem) {
      if (!said)
        problem.help("the weights of a spec are the model.safetensors beside "
                     "it; --weights=FILE names others, --weights=random:SEED "
                     "makes them");
      said = true;
    });
  }

  // What a trainer's checkpoint holds beside the model.
  static bool isOfOptimizer(StringRef tensor) {
    return tensor.starts_with("state.m.") || tensor.starts_with("state.v.");
  }

  // Files whose tensors have Mille's own names, whatever describes the model.
  Status fromOwnNames(const ModelSpec &spec, StoredTensors &tensors,
                      Problems &problems) {
    if (isCheckpoint) {
      CheckpointWeights weights(tensors, spec.at, problems, context);
      buildFrom(spec, weights);
      weights.fill(*imported.module->getOps<transformer::ModelOp>().begin());
    } else {
      NativeWeights weights(tensors, spec.at, problems, context);
      buildFrom(spec, weights);
    }
    if (!problems.any())
      for (const StoredTensors::Entry *entry : tensors.unused())
        if (!isOfOptimizer(entry->tensor->name))
          problems.note(mlir::FileLineColLoc::get(&context, entry->path, 0, 0),
                        "tensor '" + entry->tensor->name +
                            "' is no part of the model and is left out");
    explainWeights(problems);
    return finish(problems);
  }

  std::string nameOf(StringRef own) {
    if (!options.name.empty())
      return options.name;
    if (!own.empty())
      return identifier(own);
    llvm::SmallString<128> whole(given);
    fs::make_absolute(whole);
    path::remove_dots(whole, true);
    if (path::filename(whole) == "config.json")
      path::remove_filename(whole);
    StringRef file = path::filename(whole);
    return identifier(given.ends_with(".json")   ? path::stem(whole)
                      : given.ends_with(".gguf") ? stemOfParts(file)
                                                 : file);
  }

  // A spec for which the options ask for random weights.
  static Scheme usualScheme(const ModelSpec &spec,
                            const std::optional<InitRecipe> &init) {
    return init ? init->scheme : spec.ntk ? Scheme::ntk : Scheme::bert;
  }

  // `at`: the place where the model names its scheme.
  Status made(const ModelSpec &spec, Scheme scheme, Problems &problems,
              mlir::LocationAttr at = {}) {
    if (none) {
      NoWeights weights(context);
      buildFrom(spec, weights);
      return finish(problems);
    }
    const bool given = options.making && !options.making->scheme.empty();
    if (given)
      scheme = schemeNamed(options.making->scheme).value_or(scheme);
    checkScheme(scheme, spec, problems);
    if (problems.any()) {
      if (at && !given)
        problems.note(at, "the scheme is named here");
      problems.tell();
      return Status::input;
    }
    if (options.making)
      seed = options.making->seed.value_or(seed.value_or(0));
    Recipe weights(scheme, *seed, spec, context);
    buildFrom(spec, weights);
    imported.made = std::move(weights.made);
    imported.scheme = entryOf(scheme).name.str();
    imported.seed = *seed;
    return finish(problems);
  }

  void buildFrom(const ModelSpec &spec, WeightSource &weights) {
    context.loadDialect<transformer::TransformerDialect,
                        mlir::func::FuncDialect>();
    BuildOptions how;
    how.hiddenStates = options.hiddenStates;
    how.withoutWeights = none;
    imported.module = build(spec, weights, how, context);
  }

  Status finish(Problems &problems) {
    if (!problems.tell()) {
      imported.module = nullptr;
      return Status::input;
    }
    // A verifier refused values of the user's file, so it is the input's fault.
    if (mlir::failed(mlir::verify(*imported.module))) {
      imported.module = nullptr;
      return Status::input;
    }
    return Status::done;
  }

  StringRef given;
  const ImportOptions &options;
  mlir::MLIRContext &context;
  Imported &imported;
  bool none = false, isCheckpoint = false; // what --weights gives
  std::optional<uint64_t> seed;
};

} // namespace

Imported::Imported() = default;
Imported::Imported(Imported &&) = default;
Imported::~Imported() = default;

Status mille::importModel(StringRef path, const ImportOptions &options,
                          mlir::MLIRContext &context, Imported &imported) {
  while (path.size() > 1 && path.ends_with("/"))
    path = path.drop_back();
  return Importer(path, options, context, imported).run();
}
