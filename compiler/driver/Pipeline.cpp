// The pipeline, stage by stage; a comment after each says what holds then.
// Must not do what a room does.
#include "compiler/driver/Compiler.h"

#include "compiler/driver/Failures.h"
#include "compiler/driver/Generators.h"
#include "compiler/driver/ModelTokens.h"
#include "compiler/driver/RequestChecks.h"
#include "compiler/driver/machine/Machine.h"
#include "compiler/driver/package/Manifest.h"
#include "compiler/driver/package/ModelFiles.h"
#include "compiler/driver/program/Calibrate.h"
#include "compiler/driver/program/Certificate.h"
#include "compiler/driver/program/Fused.h"
#include "compiler/driver/program/Kernels.h"
#include "compiler/driver/program/Targets.h"
#include "compiler/driver/program/Traffic.h"
#include "compiler/driver/program/TrainStep.h"
#include "compiler/driver/program/WeightDtypes.h"
#include "compiler/entries/DeriveEntries.h"
#include "compiler/entries/DeriveSource.h"
#include "compiler/fuse/Passes.h"
#include "compiler/import/Import.h"
#include "compiler/link/Link.h"
#include "compiler/lower/Lower.h"
#include "compiler/plan/Passes.h"
#include "compiler/rewrite/Passes.h"
#include "dialects/kernel/Signature.h"
#include "dialects/transformer/Identifier.h"
#include "dialects/transformer/Training.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

using namespace mille;
using llvm::StringRef;

// The archive of the runtime, beside the tools: bin/mille, lib/libmille.a.
static std::string runtimeLibrary(StringRef given) {
  if (!given.empty())
    return (given + "/libmille.a").str();
  std::string tool = llvm::sys::fs::getMainExecutable(nullptr, nullptr);
  llvm::SmallString<256> path(
      llvm::sys::path::parent_path(llvm::sys::path::parent_path(tool)));
  llvm::sys::path::append(path, "lib", "libmille.a");
  return std::string(path);
}

static void askForRemarks(mlir::MLIRContext &context,
                          const std::vector<std::string> &rooms) {
  if (rooms.empty())
    return;
  const std::string pattern = "^(" + llvm::join(rooms, "|") + ").*";
  mlir::remark::RemarkCategories categories{pattern, pattern, pattern, pattern,
                                            pattern};
  (void)mlir::remark::enableOptimizationRemarks(
      context, nullptr,
      std::make_unique<mlir::remark::RemarkEmittingPolicyAll>(), categories,
      /*printAsEmitRemarks=*/true);
}

namespace {
// One compile: the stages, and what each hands to the next.
class Climb {
public:
  Climb(const CompileRequest &request, const DtypeChoice &dtype,
        mlir::MLIRContext &context, llvm::raw_ostream &ir)
      : request(request), dtype(dtype), context(context), ir(ir) {}

  Status toTheTop();

private:
  Status import();
  Status runPasses(Stage stage, llvm::function_ref<void(mlir::PassManager &)>);
  Status calibrate();
  Status differentiate();
  Status generate();
  Status describePackage(ManifestInput &manifest);
  Status link();
  // A step changes the parameters, so nothing is computed of them before.
  rewrite::Wishes wishes() const {
    if (request.train)
      return {std::vector<std::string>(), request.bitExact, false};
    return {request.rewrites, request.bitExact, request.foldSchedules};
  }
  PlanChoices choices() const {
    std::vector<Target> targets = targetsMeant(request.targets);
    PlanChoices choices = {nameOf(dtype.usual).str(), request.keyCache,
                           generators().panels(targets),
                           generators().turnFirst(targets)};
    if (generators().join(targets))
      choices.joins = [targets](mlir::Operation *leader) {
        return generators().joins(leader, targets);
      };
    return choices;
  }
  // Devices have no products by head. In bytes keys and values have panels of
  // their own.
  LatentRows latentRows() const {
    if (llvm::any_of(targetsMeant(request.targets),
                     [](const Target &target) { return target.isDevice(); }))
      return LatentRows::none;
    return request.keyCache == "int8" ? LatentRows::apart : LatentRows::one;
  }
  bool stopsAfter(Stage stage);
  void working(const llvm::Twine &what) {
    if (request.observer.working)
      request.observer.working(what.str());
  }
  bool breaks(Stage stage) {
    return request.observer.breaks && request.observer.breaks(stage);
  }

  const CompileRequest &request;
  const DtypeChoice &dtype; // request.dtype
  mlir::MLIRContext &context;
  llvm::raw_ostream &ir;
  Imported imported;
  std::string name, text; // text: the imported model, NAME.mlir
  std::string trained;    // with --train: what is trained, without its name
  mlir::Operation *model = nullptr;
  int64_t parameters = 0; // of the imported model
  // The stage whose result the input is. It is not `import` if the input is IR
  // that --stop-after printed; the compile continues from there.
  Stage given = Stage::import;
  std::optional<Traffic> unscaled;
  std::optional<Laboratory> laboratory; // holds a sample of the imported model
  Importance importance;                // with --calibrate
  std::vector<Target> isas;
  std::vector<DistinctKernel> kernels;
  std::vector<std::pair<std::string, std::string>> objects;
};
} // namespace

// The last stage that the IR of a model has passed, judged by its ops.
static Stage landingOf(mlir::Operation *model) {
  if (kernel::sizeArguments(kernel::forwardOf(model)))
    return Stage::fuse;
  bool isRolled = model
                      ->walk([](transformer::LayersOp) {
                        return mlir::WalkResult::interrupt();
                      })
                      .wasInterrupted();
  return isRolled ? Stage::roll : Stage::import;
}

Status Climb::toTheTop() {
  if (Status status = import(); failed(status) || stopsAfter(Stage::import))
    return status;
  // The model is in the transformer dialect, with all layers unrolled.

  if (Status status = runPasses(Stage::rewrite,
                                [&](mlir::PassManager &p) {
                                  rewrite::addRewritePipeline(p, wishes());
                                });
      failed(status) || stopsAfter(Stage::rewrite))
    return status;
  // Norms and scales stand where they cost least; each rewrite is recorded.

  if (Status status = calibrate(); failed(status))
    return status;
  // With --calibrate it is known which columns of weights matter.

  if (Status status =
          runPasses(Stage::roll,
                    [&](mlir::PassManager &p) {
                      addRollPipeline(p, dtype.usual.kind == Dtype::stored);
                    });
      failed(status))
    return status;
  if (Status status = differentiate();
      failed(status) || stopsAfter(Stage::roll))
    return status;
  // Equal layers are one body, an index for each layer and a table. With
  // --train the entries are a step, forward and back, and its loss alone.

  if (Status status = runPasses(
          Stage::fuse, [](mlir::PassManager &p) { addFusePipeline(p); });
      failed(status))
    return status;
  if (Status status = requireFused(model, request.requireFused);
      failed(status) || stopsAfter(Stage::fuse))
    return status;
  // Every op of an entry is a kernel op on tensors, and what was fused is
  // known.

  if (Status status = runPasses(
          Stage::plan,
          [&](mlir::PassManager &p) { addPlanPipeline(p, choices()); });
      failed(status) || stopsAfter(Stage::plan))
    return status;
  // Every buffer has its place in the arena, every weight its layout.

  std::string why;
  isas = chooseTargets(describeMachine().features, request.targets, dtype, why);
  if (isas.empty())
    return fail(context, why, Status::machine);
  if (Status status = distinctKernels(model, kernels); failed(status))
    return given == Stage::fuse ? Status::input : status; // its own kernels
  remarkOnTiles(kernels, isas);
  if (request.stopAfter != Stage::lower)
    if (Status status = generate(); failed(status))
      return status;
  // Each distinct kernel is an object for each instruction set and row class.

  return link();
  // The package is on disk, whole.
}

Status Climb::import() {
  working("reading " + llvm::Twine(request.model));
  ImportOptions wishes;
  wishes.hiddenStates = request.hiddenStates;
  wishes.name = request.name;
  wishes.weights = request.weights;
  wishes.imageSize = request.imageSize;
  wishes.imageSizeAtHand = request.imageSizeAtHand;
  wishes.anyImageSize = request.anyImageSize;
  wishes.mostImageSize = request.mostImageSize;
  if (Status status = importModel(request.model, wishes, context, imported);
      failed(status))
    return status;
  for (auto candidate : imported.module->getOps<transformer::ModelOp>()) {
    model = candidate;
    // A model in a `.mlir` file may have any name, but C functions may not.
    name = request.name.empty() ? identifierFrom(candidate.getSymName())
                                : request.name;
    parameters = countParameters(model);
    given = landingOf(model);
  }
  if (model && model->hasAttr("weights") && request.embedWeights) {
    emitError(context) << "--embed-weights is given but the model is without "
                          "weights: there is nothing to embed";
    return Status::commandLine;
  }
  // If the input has passed later stages, no rewrite is left to measure.
  mlir::OwningOpRef<mlir::ModuleOp> sampled;
  if (model && given == Stage::import && !request.stopAfter &&
      request.certify) {
    unscaled = trafficUnscaled(*imported.module, this->wishes(), choices());
    sampled = imported.module->clone();
  }
  if (model)
    if (Status status = deriveEntries(model, request.entries, latentRows());
        failed(status))
      return status;
  if (model && failed(nameDtypes(model, dtype.weights, given != Stage::import)))
    return Status::commandLine;
  if (sampled) {
    copyDtypes(model, *sampled);
    laboratory.emplace(std::move(sampled), imported.folder, Effort::brief);
  }
  llvm::raw_string_ostream stream(text);
  imported.module->print(stream);
  if (request.observer.imported)
    request.observer.imported(text);
  return model && !breaks(Stage::import) ? Status::done : Status::bug;
}

Status Climb::calibrate() {
  if (request.calibrate.empty())
    return Status::done;
  if (given != Stage::import || !model) {
    emitError(context) << "--calibrate is given but the model given has been "
                          "through "
                       << rungOf(given).name;
    return Status::commandLine;
  }
  working("reading " + llvm::Twine(request.calibrate));
  return measureImportance(*imported.module, request.model, imported.folder,
                           request.calibrate, importance);
}

Status Climb::differentiate() {
  if (!request.train)
    return Status::done;
  if (mlir::failed(trainingOf(model)))
    return Status::input;
  llvm::raw_string_ostream stream(trained);
  // One numbering: else each op's printing numbers the whole model.
  mlir::AsmState numbering(
      model, mlir::OpPrintingFlags().assumeVerified().useLocalScope());
  for (mlir::Operation &op : model->getRegion(0).front())
    op.print(stream, numbering);
  if (Stage::roll <= given)
    return checkTrainStep(*imported.module);
  std::string recompute;
  if (Status status =
          chooseRecompute(*imported.module, request, choices(), recompute);
      failed(status))
    return status;
  if (failed(makeTrainStep(*imported.module, recompute)))
    return Status::input;
  return failed(mlir::verify(*imported.module)) ? Status::bug : Status::done;
}

// A pass fails at what Mille does not support; invalid IR after it is a bug.
Status Climb::runPasses(Stage stage,
                        llvm::function_ref<void(mlir::PassManager &)> add) {
  if (stage <= given)
    return Status::done;
  working(rungOf(stage).name);
  mlir::PassManager passes(&context);
  passes.enableVerifier(false);
  add(passes);
  if (mlir::failed(passes.run(*imported.module)))
    return Status::input;
  if (mlir::failed(mlir::verify(*imported.module)) || breaks(stage))
    return Status::bug;
  return Status::done;
}

bool Climb::stopsAfter(Stage stage) {
  if (request.stopAfter != stage)
    return false;
  working("");
  imported.module->print(ir);
  return true;
}

Status Climb::generate() {
  for (const std::string &text : generators().warnings(isas))
    mlir::emitWarning(mlir::UnknownLoc::get(&context)) << text;
  unsigned jobs = request.jobs ? request.jobs : describeMachine().cores;
  auto made = [&](size_t finished, size_t all) {
    working("kernels: " + llvm::Twine(finished) + " of " + llvm::Twine(all));
  };
  Status status = generateKernels(kernels, isas, request.tiles, jobs,
                                  request.cache, made, objects);
  working("");
  return breaks(Stage::generate) ? Status::bug : status;
}

// The contents of the manifest; with request.certify, measured rewrites too.
Status Climb::describePackage(ManifestInput &manifest) {
  llvm::SmallString<256> path, folder;
  llvm::sys::fs::real_path(request.model, path);
  llvm::sys::fs::real_path(imported.folder, folder);
  manifest.name = name;
  manifest.path = path.str();
  manifest.folder = folder.str();
  manifest.hash = hashModel(path, folder, model);
  manifest.model = model;
  manifest.parameters = parameters;
  manifest.certificate.wishes = wishes();
  if (given != Stage::import)
    manifest.certificate.note =
        ("the model given has been through " + rungOf(given).name).str();
  if (laboratory)
    if (Status status = certify(*laboratory, claimsOf(model), wishes(),
                                nameOf(dtype.usual), manifest.certificate);
        failed(status))
      return status;
  manifest.traffic = trafficOf(model);
  manifest.unscaled = unscaled;
  manifest.isas = isas;
  manifest.kernels = kernels;
  manifest.tiles = request.tiles;
  manifest.dtype = request.dtype;
  manifest.cache = request.keyCache;
  manifest.calibrate = request.calibrate;
  manifest.hiddenStates = request.hiddenStates;
  manifest.embedWeights = request.embedWeights;
  return Status::done;
}

Status Climb::link() {
  WeightTable table = collectWeights(model);
  auto lower = [&](const PackageFacts &facts,
                   mlir::OwningOpRef<mlir::ModuleOp> &program) {
    LowerOptions wishes;
    wishes.name = name;
    wishes.isas = isas;
    wishes.describe = [](mlir::Operation *op) {
      return generators().describe(op);
    };
    wishes.symbol = kernelSymbol;
    wishes.weights = facts.weights;
    if (request.train)
      wishes.trainedHash = llvm::xxh3_64bits(trained);
    wishes.embedWeights = request.embedWeights;
    Status status = lowerProgram(model, table, wishes, program);
    return breaks(Stage::lower) ? Status::bug : status;
  };
  if (request.stopAfter == Stage::lower) {
    mlir::OwningOpRef<mlir::ModuleOp> program;
    Status status = lower(PackageFacts(), program);
    working("");
    if (!failed(status))
      program->print(ir);
    return status;
  }
  working("weights");
  ManifestInput manifest;
  if (Status status = describePackage(manifest); failed(status))
    return status;
  ParameterValues values(model, imported.folder);
  values.roundBy(importance);
  LinkInput input;
  input.model = model;
  input.name = name;
  input.imported = text;
  input.table = &table;
  input.parameters = &values;
  input.kernelObjects = std::move(objects);
  input.runtimeLibrary = runtimeLibrary(request.runtimeFolder);
  input.embedWeights = request.embedWeights;
  input.withoutWeights = model->hasAttr("weights"); // "none"
  manifest.tokens = tokensOfModel(request.model, imported.folder, context);
  input.tokens = manifest.tokens.bytes;
  if (kernel::entryOf(model, entries::sourceName))
    if (Status status =
            readGenerationRules(imported.folder, context, manifest.generation);
        failed(status))
      return status;
  input.hostObject = [&](const PackageFacts &facts, std::string &object) {
    mlir::OwningOpRef<mlir::ModuleOp> program;
    if (Status status = lower(facts, program); failed(status))
      return status;
    return emitObject(*program, object);
  };
  input.manifest = [&](const PackageFacts &facts) {
    return writeManifest(manifest, facts);
  };
  Status status = linkPackage(input, request.folder);
  return breaks(Stage::link) ? Status::bug : status;
}

Status mille::compileModel(const CompileRequest &asked,
                           mlir::MLIRContext &context, llvm::raw_ostream &ir) {
  CompileRequest request = asked;
  request.keyCache = cacheBeside(request.dtype, request.keyCache);
  std::string why;
  std::optional<DtypeChoice> dtype = DtypeChoice::parse(request.dtype, why);
  if (!dtype)
    why = "dtype is '" + request.dtype + "' but must be " + why;
  // The types of a training are checkTraining's.
  const bool fits =
      dtype && (request.train || targetsFit(*dtype, request.targets, why));
  if (!fits)
    return fail(context, why, Status::commandLine);
  if (!checkRequest(request, *dtype, context))
    return Status::commandLine;
  askForRemarks(context, request.remarks);
  return Climb(request, *dtype, context, ir).toTheTop();
}
