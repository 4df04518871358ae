// stages-agree: whether the programs that are made of a model mean the same, in
// double. Every line of the standard input is one case, as JSON:
//   model      the file of its spec
//   weights    as `mille compile --weights` takes it
//   inputs     the file of the run's inputs
//   folder     where the programs are written: import.mlir, fuse.mlir, ...
//   hidden     whether the points of the residual stream are outputs
//   rewrites   those that one more program is made with
//   passes     of mille-opt, for another one
//   recompute  as `mille compile --recompute` takes it, for a step of training;
//              "": none is made
// The answer is a line on the standard output: `agrees`, with ` and trains`
// where a step was made; `refused`, by import; or what failed or differs. What
// Mille says goes to the standard error. One process for all cases: each takes
// milliseconds, and starting a tool would take longer.
#include "compiler/differentiate/Passes.h"
#include "compiler/driver/Compile.h"
#include "compiler/driver/Compiler.h"
#include "compiler/driver/Diagnose.h"
#include "compiler/driver/package/Reference.h"
#include "compiler/driver/train/StepInputs.h"
#include "compiler/fuse/Passes.h"
#include "compiler/interpret/Judge.h"
#include "compiler/interpret/TensorFiles.h"
#include "dialects/transformer/Training.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"

#include <cmath>
#include <iostream>

using namespace mille;
using llvm::StringRef;

namespace {

class Case {
public:
  Case(const llvm::json::Object &words, mlir::MLIRContext &context,
       Diagnostics &messages)
      : words(words), context(context), messages(messages) {}

  std::string outcome() {
    CompileRequest request = requestTo(Stage::import);
    Status status = write(request, "import");
    if (status == Status::input)
      return "refused";
    if (failed(status))
      return "import fails";
    if (failed(readTensors(word("inputs"), context, inputs)))
      return "no inputs";
    if (failed(run("import", "", inputs, expected)))
      return "import does not run";
    std::string wrong = fused("fuse", std::nullopt);
    if (wrong.empty())
      wrong = fused("rewritten", rewrites());
    if (wrong.empty())
      wrong = passed();
    if (!wrong.empty())
      return wrong;
    return word("recompute").empty() ? "agrees" : trained();
  }

private:
  std::string word(StringRef key) const {
    return words.getString(key).value_or("").str();
  }

  std::vector<std::string> rewrites() const {
    std::vector<std::string> names;
    if (const llvm::json::Array *all = words.getArray("rewrites"))
      for (const llvm::json::Value &one : *all)
        names.push_back(one.getAsString().value_or("").str());
    return names;
  }

  std::string file(StringRef stage) const {
    return word("folder") + "/" + stage.str() + ".mlir";
  }

  CompileRequest requestTo(Stage stage) const {
    CompileRequest request;
    request.model = word("model");
    request.weights = word("weights");
    request.hiddenStates = words.getBoolean("hidden").value_or(false);
    request.stopAfter = stage;
    return request;
  }

  Status write(const CompileRequest &request, StringRef stage) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    Status status = compile(request, messages, stream);
    return failed(status) ? status : write(text, stage);
  }

  Status write(StringRef text, StringRef stage) {
    std::error_code problem;
    llvm::raw_fd_ostream out(file(stage), problem);
    out << text;
    out.close();
    return problem || out.has_error() ? Status::machine : Status::done;
  }

  Status open(StringRef stage, Reference &program) {
    ImportOptions wishes;
    wishes.name = "model";
    return Reference::open(file(stage), wishes, context, program);
  }

  Status run(StringRef stage, StringRef entry, const Values &given,
             Values &outputs) {
    Reference program;
    if (Status status = open(stage, program); failed(status))
      return status;
    return program.run(given, outputs, entry);
  }

  // What is wrong with the program that `mille compile` fuses.
  std::string fused(StringRef stage,
                    std::optional<std::vector<std::string>> chosen) {
    CompileRequest request = requestTo(Stage::fuse);
    request.rewrites = std::move(chosen);
    if (failed(write(request, stage)))
      return stage.str() + " fails";
    return againstImport(stage);
  }

  std::string againstImport(StringRef stage) {
    Values outputs;
    if (failed(run(stage, "", inputs, outputs)))
      return stage.str() + " does not run";
    return agree(outputs, expected, 0) ? "" : stage.str() + " differs";
  }

  // The same of the passes that the case names, in their order.
  std::string passed() {
    Reference program;
    if (failed(open("import", program)))
      return "import does not open";
    mlir::OwningOpRef<mlir::ModuleOp> module = program.copy();
    mlir::PassManager passes(&context);
    if (failed(mlir::parsePassPipeline(word("passes"),
                                       passes.nest<transformer::ModelOp>())) ||
        failed(passes.run(*module)))
      return "passes fail";
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream);
    if (failed(write(text, "passed")))
      return "passed is not written";
    return againstImport("passed");
  }

  // A step of the model, differentiated as it was imported, and the fused one.
  std::string trained() {
    Reference program;
    if (failed(open("import", program)))
      return "import does not open";
    mlir::OwningOpRef<mlir::ModuleOp> module = program.copy();
    auto model = *module->getOps<transformer::ModelOp>().begin();
    mlir::PassManager passes(&context);
    passes.nest<transformer::ModelOp>().addPass(
        differentiate::createDifferentiate());
    if (failed(passes.run(*module)))
      return "agrees"; // an op without an adjoint
    CompileRequest request = requestTo(Stage::fuse);
    request.hiddenStates = false;
    request.train = true;
    request.recompute = word("recompute");
    if (Status status = write(request, "step"); failed(status))
      return status == Status::input ? "agrees" : "step fails";

    StepShape shape;
    const char *decoded = "decoder_input_ids";
    const Value &ids = inputs.at(inputs.count(decoded) ? decoded : "input_ids");
    shape.batch = ids.shape[0];
    shape.tokens = ids.shape[1];
    int64_t labels = 0;
    Values given = stepInputs(model, inputs, shape, labels), wanted, outputs;
    ParameterValues parameters(model, "");
    if (failed(interpret(model, parameters, given, wanted, trainStepName)))
      return "the step of import does not run";
    if (failed(run("step", trainStepName, given, outputs)))
      return "step does not run";
    // What has no gradient in the one program has zeros in the other.
    for (Values *values : {&wanted, &outputs})
      for (auto &[name, value] : values == &wanted ? outputs : wanted)
        if (Value &mine = (*values)[name]; mine.numbers.empty()) {
          mine.shape = value.shape;
          mine.numbers.assign(value.numbers.size(), 0.0);
        }
    return agree(outputs, wanted, leastShare) ? "agrees and trains"
                                              : "step differs";
  }

  // Within a bound of each tensor's largest number; `share`: or of that much of
  // the largest gradient, beside which some cancel to nothing.
  bool agree(const Values &got, const Values &wanted, double share) {
    std::vector<Difference> differences;
    if (failed(compare(got, wanted, {}, mlir::UnknownLoc::get(&context),
                       differences)))
      return false;
    for (const Values *values : {&got, &wanted})
      for (const auto &[name, value] : *values)
        if (!llvm::all_of(value.numbers,
                          [](double x) { return std::isfinite(x); })) {
          llvm::errs() << name << " has a number that is none\n";
          return false;
        }
    double largest = 0;
    for (const Difference &one : differences)
      largest = std::max(largest, one.maxExpected);
    for (Difference &one : differences)
      one.maxExpected = std::max(one.maxExpected, share * largest);
    const Tolerance tolerance = toleranceOf("kernel_stage");
    if (llvm::all_of(differences, [&](const Difference &one) {
          return isWithin(one, tolerance);
        }))
      return true;
    judge(llvm::errs(), "beside import", differences,
          [&](const Difference &) { return tolerance; });
    return false;
  }

  static constexpr double leastShare = 0.02;

  const llvm::json::Object &words;
  mlir::MLIRContext &context;
  Diagnostics &messages;
  Values inputs, expected;
};

} // namespace

static std::string answer(const llvm::json::Object &words) {
  Diagnose messages(llvm::errs(), /*colours=*/false);
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  context.printOpOnDiagnostic(false);
  Reporting reporting(context, messages);
  return Case(words, context, messages).outcome();
}

int main() {
  registerFusePasses();
  for (std::string line; std::getline(std::cin, line);) {
    llvm::Expected<llvm::json::Value> words = llvm::json::parse(line);
    if (!words || !words->getAsObject()) {
      llvm::errs() << "a case is an object of JSON\n";
      return 2;
    }
    std::cout << answer(*words->getAsObject()) << std::endl;
  }
  return 0;
}
