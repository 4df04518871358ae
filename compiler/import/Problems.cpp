// Sorts what was found by its place and hands it to MLIR's diagnostics.
#include "compiler/import/Problems.h"
#include "mlir/IR/Location.h"

#include <algorithm>
#include <tuple>

using namespace mille::import;

Problems::Problem &Problems::Problem::note(mlir::LocationAttr where,
                                           const llvm::Twine &what) {
  notes.emplace_back(where ? mlir::Location(where) : at, what.str());
  return *this;
}

Problems::Problem &Problems::Problem::help(const llvm::Twine &what) {
  notes.emplace_back(at, "help: " + what.str());
  return *this;
}

Problems::Problem &Problems::error(mlir::LocationAttr at,
                                   const llvm::Twine &text) {
  ++errors;
  problems.push_back({at, text.str(), true, {}});
  return problems.back();
}

Problems::Problem &Problems::note(mlir::LocationAttr at,
                                  const llvm::Twine &text) {
  problems.push_back({at, text.str(), false, {}});
  return problems.back();
}

bool Problems::tell() {
  // By place; equal places keep the order in which they were found.
  using Key = std::tuple<unsigned, unsigned, size_t>;
  std::vector<std::pair<Key, const Problem *>> order;
  for (const Problem &problem : problems) {
    auto at = llvm::dyn_cast<mlir::FileLineColLoc>(problem.at);
    order.push_back(
        {Key(at ? at.getLine() : 0, at ? at.getColumn() : 0, order.size()),
         &problem});
  }
  std::sort(order.begin(), order.end());
  size_t told = 0;
  for (auto &[key, problem] : order) {
    if (problem->isError && ++told > most)
      continue;
    mlir::DiagnosticEngine &engine = problem->at.getContext()->getDiagEngine();
    mlir::InFlightDiagnostic message = engine.emit(
        problem->at, problem->isError ? mlir::DiagnosticSeverity::Error
                                      : mlir::DiagnosticSeverity::Note);
    message << problem->text;
    for (auto &[at, text] : problem->notes)
      message.attachNote(at) << text;
    if (problem->isError && told == most && errors > most)
      message.attachNote(problem->at)
          << "there are " << errors - most << " more errors";
  }
  bool fine = errors == 0;
  problems.clear();
  errors = 0;
  return fine;
}
