// Replaces scales that follow a schedule by the number at its end.
// Must not fold anything else; other passes then see constants.
#include "compiler/rewrite/RewriteLog.h"
#include "compiler/rewrite/Units.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/ADT/StringExtras.h"

namespace mille::rewrite {
#define GEN_PASS_DEF_FOLDSCHEDULES
#include "compiler/rewrite/Passes.h.inc"
} // namespace mille::rewrite

using namespace mlir;
using namespace mille::rewrite;
using namespace mille::transformer;

namespace {

struct FoldSchedules : mille::rewrite::impl::FoldSchedulesBase<FoldSchedules> {
  using FoldSchedulesBase::FoldSchedulesBase;

  void runOnOperation() override {
    for (auto function : getOperation().getBody().getOps<func::FuncOp>()) {
      RewriteLog log(function, "fold-schedules");
      function.walk([&](Operation *op) { fold(op, log); });
      dropStep(function);
    }
  }

  static void fold(Operation *op, RewriteLog &log) {
    SmallVector<std::string> ended;
    AttrTypeReplacer ends;
    ends.addReplacement([&](ScaleAttr scale) -> std::optional<Attribute> {
      if (scale.getKind() != ScaleKind::scheduled)
        return std::nullopt;
      ended.push_back(formatDouble(scale.getTo()) + " as from step " +
                      std::to_string(scale.getSteps()) + " on");
      return constantScale(scale.getContext(), scale.getTo());
    });
    ends.replaceElementsIn(op);
    if (!ended.empty())
      log.applied(op, llvm::join(ended, ", "));
  }

  // Removes the input `step`, which only schedules read.
  static void dropStep(func::FuncOp function) {
    for (unsigned i = function.getNumArguments(); i-- > 0;) {
      auto name = function.getArgAttrOfType<StringAttr>(i, "transformer.name");
      if (name && name.getValue() == "step" &&
          function.getArgument(i).use_empty())
        (void)function.eraseArgument(i);
    }
  }
};

} // namespace
