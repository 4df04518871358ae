// Converts similarities of a batch with itself to outputs by name; their scale
// and shift go into their operands. Must not make a value of run-time columns.
#include "compiler/fuse/Activations.h"
#include "compiler/fuse/Converter.h"

using namespace mlir;
using namespace mille;
using namespace mille::transformer;

SimilarityOp mille::similarityOf(Value returned) {
  if (auto affine = returned.getDefiningOp<AffineOp>())
    returned = affine.getInput();
  return returned.getDefiningOp<SimilarityOp>();
}

// The output is made where it is returned, since it gets its name there.
LogicalResult Converter::convertSimilarity(SimilarityOp op) {
  SmallVector<Operation *> readers;
  for (Operation *user : op.getResult().getUsers())
    if (isa<AffineOp>(user))
      llvm::append_range(readers, user->getResult(0).getUsers());
    else
      readers.push_back(user);
  for (Operation *user : readers)
    if (!isa<func::ReturnOp>(user)) {
      auto error = op.emitOpError("feeds '")
                   << user->getName()
                   << "' but its columns are a run-time size: it can only be "
                      "an output, perhaps after an affine";
      error.attachNote(user->getLoc()) << "the value is read here";
      return error;
    }
  return success();
}

namespace {

Attribute zeros(MLIRContext *context, int64_t size, double number = 0) {
  return DrawnAttr::get(
      context, Distribution::fixed, number, 0.0, 0.0, 0, "",
      RankedTensorType::get({size}, Float32Type::get(context)));
}

// [columns + 1, columns]: the identity, and a row of zeros.
Attribute identityAndZeros(MLIRContext *context, int64_t columns) {
  Attribute one =
      ConcatAttr::get(context, {zeros(context, 1, 1), zeros(context, columns)});
  return ReshapeAttr::get(
      context, RepeatAttr::get(context, one, columns, false),
      DenseI64ArrayAttr::get(context, {columns + 1, columns}));
}

} // namespace

// `x` with one more column, which holds `number` in every row.
Value Converter::withColumn(Location location, Value x, Attribute number) {
  MLIRContext *context = number.getContext();
  int64_t columns = cast<ShapedType>(x.getType()).getShape().back();
  Value bias = weight(
      location, ConcatAttr::get(context, {zeros(context, columns), number}));
  Value matrix = weight(location, identityAndZeros(context, columns));
  if (!bias || !matrix)
    return {};
  return makeMatmul(
      body, location, x, matrix, Value(), bias, 1,
      makeDestination(body, location, batch, columns + 1),
      [](OpBuilder &builder, Location where, ValueRange arguments) -> Value {
        return arith::AddFOp::create(builder, where, arguments[0],
                                     arguments[1]);
      });
}

// scale * (l . r) + shift = (scale l, shift) . (r, 1)
LogicalResult Converter::makeSimilarity(Value returned, StringAttr name) {
  SimilarityOp op = similarityOf(returned);
  Location location = op.getLoc();
  Value left = valueOf(op.getLeft()), right = valueOf(op.getRight());
  if (auto affine = returned.getDefiningOp<AffineOp>()) {
    for (ScaleAttr part : {affine.getScaleAttr(), affine.getShiftAttr()})
      if (part && (part.getKind() == ScaleKind::learned_channel ||
                   part.getKind() == ScaleKind::scheduled))
        return affine.emitOpError("of a similarity has ")
               << part << " but can only have one number";
    RowsParts spec;
    spec.inputs.push_back(left);
    auto holder = scaleOperand(affine, "scale", affine.getScaleAttr());
    if (failed(holder))
      return failure();
    if (*holder)
      spec.inputs.push_back(*holder);
    if (ScaleAttr scale = affine.getScaleAttr())
      left = makeRows(
          body, location, spec, batch, channelsOf(op.getLeft()),
          [&](OpBuilder &builder, Location where, ValueRange x) -> Value {
            Value factor = x.size() == 2
                               ? x[1]
                               : constant(builder, where, scale.getValue());
            return arith::MulFOp::create(builder, where, factor, x[0]);
          });
    if (ScaleAttr shift = affine.getShiftAttr()) {
      Attribute number = shift.getSymbol();
      if (!number)
        number = zeros(op.getContext(), 1, shift.getValue());
      left = withColumn(location, left, number);
      right = withColumn(location, right, zeros(op.getContext(), 1, 1));
      if (!left || !right)
        return failure();
    }
  }
  kernel::SimilarityOp::create(body, location, left, right, name);
  return success();
}
