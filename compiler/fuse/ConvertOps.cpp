// Converts tables and products from `transformer` to `kernel`: embed, linear.
// Must not fuse.
#include "compiler/fuse/Activations.h"
#include "compiler/fuse/Converter.h"

using namespace mlir;
using namespace mille;
using namespace mille::transformer;

// scale * table_0[ids_0] + table_1[ids_1 + offset_1] + ...: an offset is a
// slice of the table, since ids + offset name its rows from offset on.
LogicalResult Converter::convertEmbed(EmbedOp op) {
  RowsParts spec;
  for (auto [i, table] : llvm::enumerate(op.getTables())) {
    Attribute value = table;
    Value ids = valueOf(op.getIds()[i]);
    if (isTrained())
      ids =
          shifted(op.getLoc(), ids, rowsOf(op.getIds()[i]), op.getOffsets()[i]);
    else if (int64_t offset = op.getOffsets()[i]) {
      auto parameter =
          symbols.lookup<ParameterOp>(cast<FlatSymbolRefAttr>(table).getAttr());
      int64_t entries =
          cast<ShapedType>(parameter.getType()).getShape().front();
      if (offset < 0 || offset >= entries)
        return op.emitOpError("has offset ")
               << offset << " but table " << table << " has " << entries
               << " entries";
      value = SliceAttr::get(op.getContext(), table, 0, offset,
                             entries - offset, 1);
    }
    Value operand = weight(op.getLoc(), value);
    if (!operand)
      return failure();
    spec.inputs.push_back(operand);
    spec.indices.push_back(ids);
    spec.gather.push_back(i);
  }
  double scale = op.getScale().convertToDouble();
  values[op.getResult()] = makeRows(
      body, op.getLoc(), spec, rowsOf(op.getResult()),
      channelsOf(op.getResult()),
      [&](OpBuilder &builder, Location location, ValueRange x) {
        Value sum = x[0];
        if (scale != 1)
          sum = arith::MulFOp::create(builder, location,
                                      constant(builder, location, scale), sum);
        for (Value next : x.drop_front())
          sum = arith::AddFOp::create(builder, location, sum, next);
        return sum;
      });
  return success();
}

// scale * x[0] + x[1], where there is an x[1].
Value Converter::scaledPlusBias(OpBuilder &builder, Location location,
                                double scale, ValueRange x) {
  Value sum = x[0];
  if (scale != 1)
    sum = arith::MulFOp::create(builder, location, sum,
                                constant(builder, location, scale));
  if (x.size() == 2)
    sum = arith::AddFOp::create(builder, location, sum, x[1]);
  return sum;
}

LogicalResult Converter::convertLinearByHead(LinearByHeadOp op) {
  Value matrix = weight(op.getLoc(), op.getWeightAttr());
  if (!matrix)
    return failure();
  Value product =
      makeMatmul(body, op.getLoc(), valueOf(op.getInput()), matrix, Value(), {},
                 1, destinationOf(op.getResult()),
                 [](OpBuilder &, Location, ValueRange x) { return x[0]; });
  product.getDefiningOp<kernel::MatmulOp>().setHeads(op.getHeads());
  values[op.getResult()] = product;
  return success();
}

LogicalResult Converter::convertLinear(LinearOp op) {
  if (op.getExperts())
    return convertExpertLinear(op);
  Value matrix = weight(op.getLoc(), op.getWeightAttr());
  if (!matrix)
    return failure();
  if (op.getTransposed() || isTrained())
    matrix = packed(op.getLoc(), matrix, op.getTransposed());
  Value rows = rowsOf(op.getResult());
  int64_t columns = channelsOf(op.getResult());
  Value product =
      makeMatmul(body, op.getLoc(), valueOf(op.getInput()), matrix, Value(), {},
                 1, makeDestination(body, op.getLoc(), rows, columns),
                 [](OpBuilder &, Location, ValueRange x) { return x[0]; });
  double scale = op.getScale().convertToDouble();
  if (scale != 1 || op.getBiasAttr()) {
    RowsParts spec;
    spec.inputs.push_back(product);
    if (op.getBiasAttr()) {
      spec.inputs.push_back(weight(op.getLoc(), op.getBiasAttr()));
      if (!spec.inputs.back())
        return failure();
    }
    product =
        makeRows(body, op.getLoc(), spec, rows, columns,
                 [&](OpBuilder &builder, Location location, ValueRange x) {
                   return scaledPlusBias(builder, location, scale, x);
                 });
  }
  values[op.getResult()] = product;
  return success();
}
