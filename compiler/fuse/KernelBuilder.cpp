// Makes kernel ops on tensors: destinations, weights, scalar regions.
// Must not decide what to build.
#include "compiler/fuse/KernelBuilder.h"

using namespace mlir;

Value mille::makeDestination(OpBuilder &builder, Location location, Value rows,
                             int64_t columns) {
  auto type = RankedTensorType::get({ShapedType::kDynamic, columns},
                                    builder.getF32Type());
  return tensor::EmptyOp::create(builder, location, type, rows);
}

void mille::fillScalarRegion(OpBuilder &builder, Location location,
                             Region &region, unsigned arguments,
                             Scalar scalar) {
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> types(arguments, builder.getF32Type());
  SmallVector<Location> locations(arguments, location);
  Block *block = builder.createBlock(&region, {}, types, locations);
  kernel::YieldOp::create(builder, location,
                          scalar(builder, location, block->getArguments()));
}

Value mille::makeRows(OpBuilder &builder, Location location,
                      const RowsParts &spec, Value rows, int64_t columns,
                      Scalar scalar) {
  SmallVector<int64_t> gather = spec.gather;
  gather.resize(spec.inputs.size(), -1);
  Value destination = makeDestination(builder, location, rows, columns);
  auto op = kernel::RowsOp::create(builder, location, destination.getType(),
                                   spec.inputs, spec.indices, destination,
                                   gather, spec.norm);
  fillScalarRegion(builder, location, op.getBody(), spec.inputs.size(), scalar);
  return op.getResult();
}

Value mille::makeMatmul(OpBuilder &builder, Location location, Value input,
                        Value weight, Value starts, ValueRange extras,
                        int64_t accumulators, Value destination,
                        Scalar scalar) {
  auto op =
      kernel::MatmulOp::create(builder, location, destination.getType(), input,
                               weight, /*parameters=*/Value(), /*sums=*/Value(),
                               starts, extras, destination, accumulators,
                               /*blocks=*/{});
  fillScalarRegion(builder, location, op.getEpilogue(),
                   accumulators + extras.size(), scalar);
  return op.getResult();
}
