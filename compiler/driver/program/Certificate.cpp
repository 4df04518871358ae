// Measures how rewrites change numbers: runs the program before and after each
// one on random and adversarial inputs. Must not claim a proof.
#include "compiler/driver/program/Certificate.h"

#include "compiler/driver/program/Trials.h"
#include "compiler/fuse/Passes.h"
#include "compiler/interpret/Compare.h"
#include "compiler/plan/Passes.h"
#include "dialects/kernel/Signature.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mille;

// Rounding errors add up like a random walk, not all to one side. So a program
// may err by this factor times the change that one rounding of the inputs
// causes.
static constexpr double margin = 4;
static constexpr double roundingF32 = 0x1p-24, roundingF64 = 0x1p-53;

// Half a step of the type's largest number.
static double roundingOf(llvm::StringRef dtype) {
  if (dtype == "f16")
    return 0x1p-12;
  if (dtype == "bf16")
    return 0x1p-9;
  if (dtype.starts_with("q6"))
    return 0x1p-6;
  if (dtype.starts_with("q5") || dtype == "fp8")
    return 0x1p-5;
  return dtype.starts_with("q4") ? 0x1p-4 : 0x1p-8;
}

static transformer::ModelOp modelOf(mlir::ModuleOp module) {
  return *module.getOps<transformer::ModelOp>().begin();
}

// The types of matmuls: the usual one, and those that weights name.
static std::vector<llvm::StringRef> typesOf(transformer::ModelOp model,
                                            llvm::StringRef usual) {
  std::vector<llvm::StringRef> types{usual};
  for (auto parameter : model.getBody().getOps<transformer::ParameterOp>())
    if (std::optional<llvm::StringRef> own = parameter.getDtype())
      types.push_back(*own);
  return types;
}

static bool isSmall(const rewrite::Sample &sample) {
  return sample.parameters <= 1 << 18;
}

// Products of a run that are still worth their time while compiling, half a
// second for each of three to six runs; and those of a sample with more.
static constexpr int64_t mostProducts = 1 << 26, fewerProducts = 1 << 24;

Laboratory::Laboratory(mlir::OwningOpRef<mlir::ModuleOp> imported,
                       std::string folder, Effort effort)
    : program(std::move(imported)), folder(std::move(folder)) {
  size = rewrite::cutToSample(modelOf(*program));
  isWhole = effort == Effort::thorough || isSmall(size);
}

// Not before the plan has refused extents that nobody can count to.
void Laboratory::shrink() {
  if (isWhole)
    return;
  const int64_t rows = rowsOf(modelOf(*program));
  auto takesLong = [&] { return size.parameters > mostProducts / rows; };
  if (takesLong())
    rewrite::cutOutputs(modelOf(*program), size);
  if (takesLong())
    rewrite::thin(modelOf(*program), fewerProducts / rows, size);
}

Status Laboratory::run(mlir::ModuleOp module, size_t trial, Values &outputs,
                       Routing *routing) const {
  transformer::ModelOp model = modelOf(module);
  ParameterValues parameters(model, folder);
  return interpret(model, parameters, all[trial].inputs, outputs, "", {}, {},
                   routing);
}

Status Laboratory::answer(size_t trial, const Routes &routes,
                          Values &answers) const {
  answers = before[trial];
  Routing followed = routed[trial];
  return follow(routes, answers, followed,
                [&](Values &outputs, Routing &routing) {
                  return run(*program, trial, outputs, &routing);
                });
}

Status Laboratory::difference(size_t trial, const Values &got,
                              const Values &expected, double &error) const {
  std::vector<Difference> differences;
  if (Status status = compare(got, expected, all[trial].inputs,
                              mlir::ModuleOp(*program).getLoc(), differences);
      failed(status))
    return status;
  error = 0;
  for (const Difference &one : differences)
    error = std::max(error, one.relative);
  return Status::done;
}

Status Laboratory::prepare() {
  shrink();
  all = trialsFor(modelOf(*program), isWhole);
  before.resize(all.size());
  routed.resize(all.size());
  ofF64.assign(all.size(), roundingF64);
  ofF32.assign(all.size(), roundingF32);
  for (size_t trial = 0; trial < all.size(); ++trial) {
    if (Status status = run(*program, trial, before[trial], &routed[trial]);
        failed(status))
      return status;
    for (auto [rounding, most] :
         {std::pair(roundingF64, &ofF64), std::pair(roundingF32, &ofF32)}) {
      if (rounding == roundingF32 && !isWhole)
        continue; // kernels are not measured
      Trial given = all[trial];
      moveByRounding(all[trial].inputs, rounding);
      Values moved;
      double change = 0;
      Status status = run(*program, trial, moved);
      std::swap(all[trial], given);
      if (!failed(status))
        status = difference(trial, moved, before[trial], change);
      if (failed(status))
        return status;
      (*most)[trial] = std::max((*most)[trial], change);
    }
  }
  return Status::done;
}

double Laboratory::allowed(size_t trial, int64_t roundings, bool isWide) const {
  if (roundings == 0)
    return 0;
  return margin * (1 + size.units * roundings) *
         (isWide ? ofF64[trial] : ofF32[trial]);
}

Status
Laboratory::apply(mlir::ModuleOp module,
                  llvm::function_ref<void(mlir::PassManager &)> add) const {
  mlir::PassManager passes(module.getContext());
  passes.enableVerifier(false);
  add(passes);
  bool good = mlir::succeeded(passes.run(module)) &&
              mlir::succeeded(mlir::verify(module));
  return good ? Status::done : Status::bug;
}

Status Laboratory::step(mlir::ModuleOp module, llvm::StringRef what,
                        llvm::function_ref<double(size_t)> allowance,
                        std::vector<Values> &last,
                        std::vector<Finding> &measured) const {
  for (size_t trial = 0; trial < all.size(); ++trial) {
    Values now;
    if (Status status = run(module, trial, now); failed(status))
      return status;
    Finding one{what.str(), all[trial].name, "f64", 0, allowance(trial)};
    if (Status status = difference(trial, now, last[trial], one.error);
        failed(status))
      return status;
    measured.push_back(one);
    last[trial] = std::move(now);
  }
  return Status::done;
}

Status Laboratory::measure(llvm::ArrayRef<Claim> claims,
                           const rewrite::Wishes &wishes, llvm::StringRef dtype,
                           std::vector<Finding> &measured) {
  mlir::OwningOpRef<mlir::ModuleOp> module = program->clone();
  std::vector<Values> last = before;
  for (const Claim &claim : claims) {
    const rewrite::Law *law = rewrite::lawOf(claim.rewrite);
    if (!law) {
      mlir::emitError(program->getLoc())
          << "the certificate names the rewrite '" << claim.rewrite
          << "' but this mille has none of that name";
      return Status::input;
    }
    if (Status status = apply(*module,
                              [&](mlir::PassManager &passes) {
                                passes.addNestedPass<transformer::ModelOp>(
                                    law->create(wishes));
                              });
        failed(status))
      return status;
    if (Status status = step(
            *module, claim.rewrite,
            [&](size_t trial) {
              return allowed(trial, claim.roundings, /*wide=*/true);
            },
            last, measured);
        failed(status))
      return status;
  }
  mlir::OwningOpRef<mlir::ModuleOp> rewritten = module->clone();
  if (isWhole)
    if (Status status = measureKernels(*module, last, measured); failed(status))
      return status;
  if (llvm::all_of(typesOf(modelOf(*program), dtype),
                   [](llvm::StringRef type) { return type == "f32"; }))
    return Status::done;
  return narrow(*rewritten, dtype, measured);
}

// `module` becomes the kernels that it is converted to.
Status Laboratory::measureKernels(mlir::ModuleOp module,
                                  std::vector<Values> &last,
                                  std::vector<Finding> &measured) const {
  // Kernels hold constants as f32, which costs a rounding or two in each unit.
  mlir::OwningOpRef<mlir::ModuleOp> fused = module.clone();
  if (Status status = apply(module,
                            [](mlir::PassManager &passes) {
                              addRollPipeline(passes);
                              passes.addNestedPass<transformer::ModelOp>(
                                  createConvertToKernel());
                            });
      failed(status))
    return status;
  if (Status status = step(
          module, "kernels",
          [&](size_t trial) { return allowed(trial, 2, /*wide=*/false); }, last,
          measured);
      failed(status))
    return status;
  if (Status status = apply(*fused,
                            [](mlir::PassManager &passes) {
                              addRollPipeline(passes);
                              addFusePipeline(passes);
                            });
      failed(status))
    return status;
  return step(*fused, "fusions", [](size_t) { return 0.0; }, last, measured);
}

// After the rewrites the program in narrow types may err twice as much as
// without them, and half a step of the type more.
Status Laboratory::narrow(mlir::ModuleOp rewritten, llvm::StringRef dtype,
                          std::vector<Finding> &measured) const {
  std::vector<double> errors[2]; // without the rewrites, and with them
  for (auto [module, error] :
       {std::pair(*program, &errors[0]), std::pair(rewritten, &errors[1])}) {
    mlir::OwningOpRef<mlir::ModuleOp> narrowed =
        mlir::OwningOpRef<mlir::ModuleOp>(mlir::ModuleOp(module).clone());
    if (Status status =
            apply(*narrowed,
                  [&](mlir::PassManager &passes) {
                    addRollPipeline(passes, dtype == "stored");
                    addFusePipeline(passes);
                    passes.addPass(plan::createNarrowTypes({dtype.str()}));
                  });
        failed(status))
      return status;
    for (size_t trial = 0; trial < all.size(); ++trial) {
      Values got, expected;
      Routing routing;
      if (Status status = run(*narrowed, trial, got, &routing); failed(status))
        return status;
      if (Status status = answer(trial, routing.made, expected); failed(status))
        return status;
      if (Status status =
              difference(trial, got, expected, error->emplace_back());
          failed(status))
        return status;
    }
  }
  double rounding = 0;
  llvm::StringRef coarsest = dtype;
  for (llvm::StringRef type : typesOf(modelOf(*program), dtype))
    if (type != "f32" && roundingOf(type) > rounding) {
      rounding = roundingOf(type);
      coarsest = type;
    }
  for (size_t trial = 0; trial < all.size(); ++trial)
    measured.push_back({"narrow", all[trial].name, coarsest.str(),
                        errors[1][trial], 2 * errors[0][trial] + rounding});
  return Status::done;
}

std::vector<Claim> mille::claimsOf(mlir::Operation *model) {
  std::vector<Claim> claims;
  for (mlir::func::FuncOp entry : kernel::entriesOf(model)) {
    auto list = entry->getAttrOfType<mlir::ArrayAttr>("transformer.rewrites");
    if (!list)
      continue;
    for (auto rewrite : list.getAsRange<mlir::DictionaryAttr>()) {
      if (rewrite.getAs<mlir::StringAttr>("status").getValue() != "applied")
        continue;
      std::string name = rewrite.getAs<mlir::StringAttr>("name").str();
      auto known = llvm::find_if(
          claims, [&](const Claim &claim) { return claim.rewrite == name; });
      if (known == claims.end())
        known = claims.insert(claims.end(), {name, 0});
      known->roundings =
          std::max(known->roundings,
                   rewrite.getAs<mlir::IntegerAttr>("roundings").getInt());
    }
  }
  return claims;
}

// Reports the first finding that exceeds what is allowed. A law that does not
// hold is a bug. What its roundings do to narrow types is one where they were
// chosen here, and else what was asked for.
static Status judge(const Certificate &certificate, mlir::Location at) {
  for (const Finding &one : certificate.measured) {
    if (one.good())
      continue;
    const bool isNarrow = one.what == "narrow";
    mlir::emitError(at) << (isNarrow ? "the rewritten program" : one.what)
                        << (isNarrow ? " errs by " : " changes numbers by ")
                        << llvm::formatv("{0:e2}", one.error) << " in "
                        << one.type << " on inputs '" << one.inputs
                        << "' but may "
                        << (isNarrow ? "err by " : "change them by ")
                        << llvm::formatv("{0:e2}", one.allowed)
                        << (isNarrow ? ": --rewrites=none leaves it as it is"
                                     : "");
    return isNarrow && certificate.wishes.names ? Status::commandLine
                                                : Status::bug;
  }
  return Status::done;
}

static std::string noteOn(const rewrite::Sample &sample) {
  std::string note = "the rewrites alone, on a few random rows";
  if (sample.columns)
    note += ", " + std::to_string(sample.columns) + " columns of outputs";
  if (sample.thinned > 1)
    note += ", one row of " + std::to_string(sample.thinned) +
            " of the weights, zeros between";
  return note;
}

Status mille::certify(Laboratory &laboratory, llvm::ArrayRef<Claim> claims,
                      const rewrite::Wishes &wishes, llvm::StringRef dtype,
                      Certificate &certificate) {
  certificate = {wishes, laboratory.sample(), {}, ""};
  if (!laboratory.measuresAll() && claims.empty()) {
    certificate.note = "no rewrite was applied";
    return Status::done;
  }
  Status status = laboratory.prepare();
  certificate.sample = laboratory.sample();
  if (!laboratory.measuresAll())
    certificate.note = noteOn(certificate.sample);
  if (!failed(status))
    status = laboratory.measure(claims, wishes, dtype, certificate.measured);
  const mlir::Location at = laboratory.module().getLoc();
  if (!failed(status))
    return judge(certificate, at);
  mlir::emitError(at) << "the sample that measures rewrites does not run";
  return status == Status::machine ? status : Status::bug;
}

std::vector<const Finding *>
mille::worstOfEach(const std::vector<Finding> &findings) {
  auto share =
      [](const Finding &one) { // 0 / 0: no error allowed, and none made
        return one.error == 0 ? 0 : one.error / one.allowed;
      };
  std::vector<const Finding *> worst;
  for (const Finding &one : findings) {
    if (worst.empty() || worst.back()->what != one.what)
      worst.push_back(&one);
    else if (!(share(one) <= share(*worst.back())))
      worst.back() = &one;
  }
  return worst;
}
