// Sorts problems by their place and emits them as MLIR diagnostics.
#include "compiler/import/Problems.h"
#include "mlir/IR/Location.h"

#include <algorithm>
#include <optional>
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

// Limits for a file that is wrong throughout. More problems are kept than
// printed, since they are printed in file order; the rest is only counted.
static Problems::Problem &add(std::deque<Problems::Problem> &problems,
                              Problems::Problem problem, bool always) {
  constexpr size_t mostKept = 1000;
  thread_local std::optional<Problems::Problem> dropped;
  if (problems.size() < mostKept || always)
    return problems.emplace_back(std::move(problem));
  return dropped.emplace(std::move(problem));
}

Problems::Problem &Problems::error(mlir::LocationAttr at,
                                   const llvm::Twine &text) {
  bool first = errors++ == 0;
  return add(problems, {at, text.str(), true, {}}, first);
}

Problems::Problem &Problems::note(mlir::LocationAttr at,
                                  const llvm::Twine &text) {
  return add(problems, {at, text.str(), false, {}}, false);
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
