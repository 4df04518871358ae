// Writes the types that --dtype gives to single weights into the model.
// Must not decide what a matmul makes of them (compiler/plan).
#include "compiler/driver/program/WeightDtypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"

using namespace mlir;
using namespace mille;
using namespace mille::transformer;

static mlir::InFlightDiagnostic error(Operation *model,
                                      const DtypeChoice::Weights &some) {
  return mlir::emitError(UnknownLoc::get(model->getContext()))
         << "dtype is '" << some.names << '=' << nameOf(some.dtype) << "' but ";
}

// The parameters that linears read, in the model's order.
static SmallVector<ParameterOp> weightsOf(Operation *model) {
  llvm::DenseSet<StringAttr> read;
  model->walk(
      [&](LinearOp linear) { read.insert(linear.getWeightAttr().getAttr()); });
  model->walk([&](LinearByHeadOp linear) {
    read.insert(linear.getWeightAttr().getAttr());
  });
  SmallVector<ParameterOp> weights;
  model->walk([&](ParameterOp parameter) {
    if (read.contains(parameter.getSymNameAttr()))
      weights.push_back(parameter);
  });
  return weights;
}

void mille::copyDtypes(Operation *from, Operation *to) {
  llvm::StringMap<StringAttr> names;
  from->walk([&](ParameterOp parameter) {
    if (StringAttr dtype = parameter.getDtypeAttr())
      names[parameter.getSymName()] = dtype;
  });
  to->walk([&](ParameterOp parameter) {
    if (StringAttr dtype = names.lookup(parameter.getSymName()))
      parameter.setDtypeAttr(dtype);
  });
}

LogicalResult mille::nameDtypes(Operation *model,
                                ArrayRef<DtypeChoice::Weights> weights,
                                bool isRolled) {
  if (weights.empty())
    return success();
  if (isRolled)
    return error(model, weights.front())
           << "the layers of this model are rolled: give the model that they "
              "were rolled from";
  SmallVector<ParameterOp> known = weightsOf(model);
  for (const DtypeChoice::Weights &some : weights) {
    llvm::GlobPattern pattern =
        llvm::cantFail(llvm::GlobPattern::create(some.names));
    bool matches = false;
    for (ParameterOp parameter : known)
      if (pattern.match(parameter.getSymName())) {
        parameter.setDtype(nameOf(some.dtype));
        matches = true;
      }
    if (matches)
      continue;
    auto names = llvm::map_range(
        ArrayRef(known).take_back(std::min<size_t>(known.size(), 4)),
        [](ParameterOp parameter) { return parameter.getSymName(); });
    return error(model, some)
           << "no matmul of the model reads a weight of such a name; it reads "
           << (known.size() > 4 ? "..., " : "") << llvm::join(names, ", ");
  }
  return success();
}
