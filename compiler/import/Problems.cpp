// Sorts problems by their place and emits them as MLIR diagnostics.
#include "compiler/import/Problems.h"
#include "mlir/IR/Location.h"

#include <iterator>
#include <utility>

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

using Place = std::pair<unsigned, unsigned>;

static Place placeOf(const Problems::Problem &problem) {
  auto at = llvm::dyn_cast<mlir::FileLineColLoc>(problem.at);
  return at ? Place(at.getLine(), at.getColumn()) : Place(0, 0);
}

// Equal places keep the order in which they were found.
Problems::Problem &Problems::add(Kept &kept, Problem problem) {
  ++kept.count;
  auto place = kept.first.end();
  while (place != kept.first.begin() &&
         placeOf(problem) < placeOf(*std::prev(place)))
    --place;
  Problem &added = *kept.first.insert(place, std::move(problem));
  dropped.clear();
  if (kept.first.size() > kept.most)
    dropped.splice(dropped.end(), kept.first, std::prev(kept.first.end()));
  return added;
}

Problems::Problem &Problems::error(mlir::LocationAttr at,
                                   const llvm::Twine &text) {
  return add(errors, {at, text.str(), true, {}});
}

Problems::Problem &Problems::note(mlir::LocationAttr at,
                                  const llvm::Twine &text) {
  return add(notes, {at, text.str(), false, {}});
}

bool Problems::tell() {
  bool fine = errors.count == 0;
  size_t moreErrors = errors.count - errors.first.size();
  size_t moreNotes = notes.count - notes.first.size();
  std::list<Problem> all = std::move(errors.first);
  const Problem *lastError = all.empty() ? nullptr : &all.back();
  const Problem *lastNote = notes.first.empty() ? nullptr : &notes.first.back();
  all.merge(notes.first, [](const Problem &one, const Problem &other) {
    return placeOf(one) < placeOf(other);
  });
  for (const Problem &problem : all) {
    mlir::DiagnosticEngine &engine = problem.at.getContext()->getDiagEngine();
    mlir::InFlightDiagnostic message = engine.emit(
        problem.at, problem.isError ? mlir::DiagnosticSeverity::Error
                                    : mlir::DiagnosticSeverity::Note);
    message << problem.text;
    for (auto &[at, text] : problem.notes)
      message.attachNote(at) << text;
    auto sayMore = [&](size_t more, llvm::StringRef what) {
      if (more)
        message.attachNote(problem.at)
            << "there are " << more << " more " << what;
    };
    if (&problem == lastError)
      sayMore(moreErrors, "errors");
    if (&problem == lastNote)
      sayMore(moreNotes, "notes");
  }
  for (Kept *kept : {&errors, &notes}) {
    kept->first.clear();
    kept->count = 0;
  }
  dropped.clear();
  return fine;
}
