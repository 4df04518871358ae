// `mille verify --certificate`: measures a package's rewrites again, in double
// and compiled. Must not hold a bound: the manifest says what a rewrite may do.
#include "compiler/driver/commands/VerifyCertificate.h"

#include "compiler/driver/Compiler.h"
#include "compiler/driver/Console.h"
#include "compiler/driver/Progress.h"
#include "compiler/driver/Scratch.h"
#include "compiler/driver/commands/OneRun.h"
#include "compiler/driver/commands/VerifyReport.h"
#include "compiler/driver/package/Package.h"
#include "compiler/driver/package/Reference.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <set>

using namespace mille;
namespace fs = llvm::sys::fs;

// Further roundings that compiled f32 code makes in each unit: in products,
// sums and the norm.
static constexpr int64_t roundingsOfCode = 8;

static std::vector<Claim> claimsIn(const Package &package) {
  std::vector<Claim> claims;
  for (const Package::Rewrite &rewrite : package.rewrites) {
    if (rewrite.status != "applied")
      continue;
    if (claims.empty() || claims.back().rewrite != rewrite.name)
      claims.push_back({rewrite.name, 0});
    claims.back().roundings =
        std::max(claims.back().roundings, rewrite.roundings);
  }
  return claims;
}

// Writes the sample as a model to `folder`, with links to the files that it
// names.
static Status writeSample(Laboratory &laboratory, llvm::StringRef files,
                          const std::string &folder, std::string &path) {
  std::set<std::string> names;
  laboratory.module().walk([&](transformer::ParameterOp parameter) {
    parameter.getValue().walk([&](transformer::StoredAttr stored) {
      names.insert(stored.getFile().str());
    });
  });
  for (const std::string &name : names) {
    llvm::SmallString<256> from(files), to(folder);
    llvm::sys::path::append(from, name);
    llvm::sys::path::append(to, name);
    fs::make_absolute(from);
    (void)fs::create_directories(llvm::sys::path::parent_path(to));
    if (std::error_code error = fs::create_link(from, to)) {
      mlir::emitError(
          mlir::FileLineColLoc::get(laboratory.module().getContext(), to, 0, 0))
          << error.message();
      return Status::machine;
    }
  }
  path = folder + "/sample.mlir";
  std::error_code error;
  llvm::raw_fd_ostream out(path, error);
  laboratory.module()->print(out);
  return error ? Status::machine : Status::done;
}

// Compiles the sample and runs it on every trial.
static Status measureCompiled(Laboratory &laboratory, const std::string &path,
                              llvm::StringRef what,
                              const rewrite::Wishes &wishes, int64_t roundings,
                              unsigned threads, mlir::MLIRContext &context,
                              std::vector<Finding> &findings) {
  CompileRequest request = requestOf(CompileOptions());
  request.model = path;
  request.folder = path + "." + what.rsplit(' ').second.str();
  request.targets = {"host"};
  request.rewrites = wishes.names;
  request.bitExact = wishes.bitExact;
  request.foldSchedules = wishes.foldSchedules;
  request.certify = false;
  Package package;
  if (Status status = compileModel(request, context, llvm::nulls());
      failed(status))
    return status;
  if (Status status = findPackage(request.folder, context, package);
      failed(status))
    return status;
  for (auto [trial, given] : llvm::enumerate(laboratory.trials())) {
    Values got, expected;
    Routes routes;
    Compiled::Wishes watched;
    watched.routes = &routes;
    if (Status status = runCompiled(package, "", threads, given.inputs, context,
                                    got, watched);
        failed(status))
      return status;
    if (Status status = laboratory.answer(trial, routes, expected);
        failed(status))
      return status;
    Finding one{what.str(), given.name, "f32", 0,
                laboratory.allowed(trial, roundings, /*wide=*/false)};
    if (Status status = laboratory.difference(trial, got, expected, one.error);
        failed(status))
      return status;
    findings.push_back(one);
  }
  return Status::done;
}

Status mille::verifyCertificate(const Package &package, unsigned threads,
                                mlir::MLIRContext &context,
                                VerifyReport &report) {
  Reference reference;
  if (Status status = Reference::open(package, context, reference);
      failed(status))
    return status;
  showProgress("measuring rewrites");
  Laboratory laboratory(reference.copy(), reference.storedIn(),
                        Effort::thorough);
  std::vector<Claim> claims = claimsIn(package);
  const rewrite::Wishes &wishes = package.certificate.wishes;
  std::vector<Finding> findings;
  int64_t roundings = roundingsOfCode;
  for (const Claim &claim : claims)
    roundings += claim.roundings;
  if (Status status = laboratory.prepare(); failed(status))
    return status;
  if (Status status = laboratory.measure(claims, wishes,
                                         nameOf(package.dtype.usual), findings);
      failed(status))
    return status;
  Scratch scratch;
  std::string path;
  if (Status status =
          writeSample(laboratory, reference.storedIn(), scratch.folder(), path);
      failed(status))
    return status;
  rewrite::Wishes none{std::vector<std::string>(), false, false};
  if (Status status =
          measureCompiled(laboratory, path, "compiled before", none,
                          roundingsOfCode, threads, context, findings);
      failed(status))
    return status;
  if (Status status =
          measureCompiled(laboratory, path, "compiled after", wishes, roundings,
                          threads, context, findings);
      failed(status))
    return status;
  clearProgress();
  return report.certify(laboratory.sample(), findings) ? Status::done
                                                       : Status::bug;
}
