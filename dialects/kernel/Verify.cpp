// Verifiers of kernels, one `// Cn` per labelled constraint. Attention is in
// VerifyAttention.cpp, ops that move rows in VerifyMovement.cpp, scalar regions
// in VerifyScalarRegion.cpp, ops of the runtime in VerifyPrepared.cpp; weights,
// the arena, launches and the layer loop are in VerifyProgram.cpp.
#include "dialects/kernel/Access.h"
#include "dialects/transformer/Panels.h"
#include "dialects/transformer/Symbols.h"

#include <cmath>

using namespace mlir;
using namespace mille::kernel;
using mille::shapeText;
using mille::transformer::formatDouble;

namespace {

bool areElements(Type type, Elements elements) {
  bool bytes = type.isUnsignedInteger(8) || type.isSignlessInteger(8);
  bool anyBytes = bytes || isa<Float8E4M3FNType>(type);
  switch (elements) {
  case Elements::f32:
    return type.isF32();
  case Elements::real:
    return areElements(type, Elements::f32OrBf16) || type.isF16();
  case Elements::f32OrBf16:
    return type.isF32() || type.isBF16();
  case Elements::realOrBytes:
    return areElements(type, Elements::real) || anyBytes;
  case Elements::bytes:
    return bytes;
  case Elements::anyBytes:
    return anyBytes;
  case Elements::f16:
    return type.isF16();
  }
  return false;
}

StringRef wordsOf(Elements elements) {
  switch (elements) {
  case Elements::f32:
    return "f32";
  case Elements::real:
    return "f32, bf16 or f16";
  case Elements::realOrBytes:
    return "f32, bf16, f16, ui8, i8 or f8E4M3FN";
  case Elements::f32OrBf16:
    return "f32 or bf16";
  case Elements::bytes:
    return "ui8 or i8";
  case Elements::anyBytes:
    return "ui8, i8 or f8E4M3FN";
  case Elements::f16:
    return "f16";
  }
  return "";
}

} // namespace

std::optional<int64_t> mille::kernel::columnsOf(Operation *op, StringRef name,
                                                Value value,
                                                Elements elements) {
  ShapedType type = shapedOf(value);
  if (type.getRank() == 2 && areElements(type.getElementType(), elements) &&
      !type.isDynamicDim(1) && type.getDimSize(1) > 0)
    return type.getDimSize(1);
  op->emitOpError() << name << " is " << type << " but must be "
                    << wordsOf(elements) << " [rows, columns]";
  return std::nullopt;
}

LogicalResult mille::kernel::verifyOutColumns(Operation *op, Value out,
                                              int64_t wanted) {
  auto columns = columnsOf(op, "outs", out);
  if (!columns)
    return failure();
  if (wanted == *columns)
    return success();
  return op->emitOpError() << "outs has " << *columns
                           << " columns but must have " << wanted;
}

LogicalResult mille::kernel::verifyResult(Operation *op, Value out,
                                          Value result) {
  bool isTensor = isa<RankedTensorType>(out.getType());
  if (!isTensor && result)
    return op->emitOpError("outs is a memref but there is a result");
  if (isTensor && !result)
    return op->emitOpError("outs is a tensor but there is no result");
  if (result && result.getType() != out.getType())
    return op->emitOpError() << "result is " << result.getType()
                             << " but outs is " << out.getType();
  return success();
}

LogicalResult mille::kernel::verifyResults(Operation *op, ValueRange outs,
                                           ValueRange results) {
  bool isTensor = isa<RankedTensorType>(outs.front().getType());
  if (results.size() != (isTensor ? outs.size() : 0))
    return op->emitOpError()
           << "has " << results.size() << " results but outs are "
           << (isTensor ? "tensors" : "memrefs");
  for (auto [out, result] : llvm::zip(outs, results))
    if (failed(verifyResult(op, out, result)))
      return failure();
  return success();
}

LogicalResult mille::kernel::verifyAccess(Operation *op, StringRef name,
                                          size_t index, Value value,
                                          int64_t columns, int64_t entries) {
  bool byExpert =
      entries && shapeOf(value) == ArrayRef<int64_t>({entries, columns});
  auto access = accessOf(shapedOf(value), columns);
  if (areElements(shapedOf(value).getElementType(),
                  access == Access::element ? Elements::real : Elements::f32) &&
      (byExpert || access))
    return success();
  auto error = op->emitOpError()
               << name << ' ' << index << " is " << value.getType()
               << " but must be f32 [?, " << columns << "], [" << columns
               << "], [1, " << columns << "], [?, 1] or [1]";
  if (entries)
    error << ", or by expert [" << entries << ", " << columns << "]";
  return error;
}

LogicalResult mille::kernel::verifyPositive(Operation *op, StringRef name,
                                            int64_t size) {
  if (size > 0)
    return success();
  return op->emitOpError() << name << " is " << size << " but must be > 0";
}

LogicalResult mille::kernel::verifyIndices(Operation *op, StringRef name,
                                           Value value) {
  if (!value || (shapedOf(value).getRank() == 1 &&
                 shapedOf(value).getElementType().isInteger(32)))
    return success();
  return op->emitOpError() << name << " is " << value.getType()
                           << " but must be i32 [?]";
}

FailureOr<int64_t> mille::kernel::entriesOf(Operation *op, Value starts) {
  if (!starts)
    return 0;
  ShapedType type = shapedOf(starts);
  if (type.getRank() == 1 && type.getElementType().isInteger(32) &&
      !type.isDynamicDim(0) && type.getDimSize(0) > 1)
    return type.getDimSize(0) - 1;
  return op->emitOpError() << "starts is " << type
                           << " but must be i32 [entries + 1]";
}

//===-- matmul ------------------------------------------------------------===//

namespace {

// The weight as [accumulators * N, K], or in panels [panels, ceil(K / group),
// panel * group], where 32 bits hold a group.
bool weightFits(ArrayRef<int64_t> weight, int64_t accumulators, int64_t columns,
                int64_t inner, int64_t entries, int64_t group) {
  if (entries) { // a stack of weights
    if (weight.size() < 3 || weight[0] != entries)
      return false;
    weight = weight.drop_front();
  }
  if (weight.size() == 2)
    return weight[0] % accumulators == 0 &&
           weight[0] / accumulators == columns && weight[1] == inner;
  if (weight.size() != 3 || weight[2] <= 0 ||
      weight[2] % (accumulators * group))
    return false;
  const mille::Panels panels{weight[2] / group, accumulators, group};
  return weight ==
         ArrayRef<int64_t>(panels.shapeOf({accumulators * columns, inner}));
}

// Floats with floats of their type, bytes with signed bytes.
bool elementsFit(Type input, Type weight) {
  return input.isUnsignedInteger(8)
             ? weight.isSignlessInteger(8)
             : weight == input && !input.isSignlessInteger(8);
}

// Those of rows of `inner` values of this type.
LogicalResult verifyRowParameters(Operation *op, Value parameters, Type element,
                                  int64_t inner) {
  const int64_t wanted = rowParameters(element, inner);
  auto columns = columnsOf(op, "parameters", parameters);
  if (!columns)
    return failure();
  if (*columns == wanted)
    return success();
  return op->emitOpError() << "parameters has " << *columns
                           << " columns but must have " << wanted;
}

LogicalResult verifyBlockLength(Operation *op, int64_t columns,
                                int64_t length) {
  if (columns % length == 0)
    return success();
  return op->emitOpError() << "K is " << columns
                           << " but must be a multiple of " << length
                           << " in blocks";
}

// The weight is given as numbers, or as bytes in panels.
bool blocksFit(MatmulOp op, mille::Encoding blocks, int64_t columns,
               int64_t inner, int64_t entries) {
  ShapedType weight = shapedOf(op.getWeight());
  const int64_t accumulators = op.getAccumulators();
  if (weight.getElementType().isF32())
    return weight.getRank() == (entries ? 3 : 2) &&
           weightFits(weight.getShape(), accumulators, columns, inner, entries,
                      1);
  SmallVector<int64_t> rows{accumulators * columns, inner};
  if (entries)
    rows.insert(rows.begin(), entries);
  auto packed = mille::BlockPanels{blocks, accumulators}.shapeOf(rows);
  return weight.getElementType().isSignlessInteger(8) &&
         weight.getShape() == ArrayRef<int64_t>(packed);
}

// A matmul of a weight in blocks.
LogicalResult verifyBlocks(MatmulOp op, int64_t inner) {
  const mille::Encoding blocks = *op.getBlocks();
  if (!mille::isMultiplied(blocks)) // C8
    return op.emitOpError()
           << "blocks is " << mille::transformer::stringifyEncoding(blocks)
           << " but must be " << mille::multipliedNames();
  if (failed(verifyBlockLength(op, inner, mille::blockLength(blocks)))) // C8
    return failure();
  if (!op.getParameters() || op.getSums()) // C8
    return op.emitOpError("has blocks, which go with parameters and no sums");
  return verifyRowParameters(op, op.getParameters(),
                             shapedOf(op.getInput()).getElementType(),
                             inner); // C8
}

LogicalResult verifyParameters(MatmulOp op, int64_t columns, int64_t inner,
                               int64_t entries) {
  constexpr int64_t most = 65536; // 255 * 127 * K fits in 31 bits
  if (op.getBlocks())
    return verifyBlocks(op, inner);
  bool exact = shapedOf(op.getWeight()).getElementType().isInteger(8);
  Value parameters = op.getParameters(), sums = op.getSums();
  if (exact != !!parameters || exact != !!sums) // C7
    return op.emitOpError()
           << "weight is " << op.getWeight().getType()
           << (exact ? " but there are no parameters and sums"
                     : " but parameters and sums are for one of i8");
  if (!exact)
    return success();
  if (inner > most) // C7
    return op.emitOpError() << "K is " << inner << " but must be <= " << most
                            << " where integers are summed";
  if (!shapedOf(sums).getElementType().isInteger(32) ||
      !weightFits(shapeOf(sums), op.getAccumulators(), columns, 1, entries,
                  1)) // C7
    return op.emitOpError()
           << "sums is " << sums.getType()
           << " but must be i32, a number for each row of the weight";
  return verifyRowParameters(op, parameters,
                             shapedOf(op.getInput()).getElementType(),
                             inner); // C7
}

// Columns are then those of one head.
LogicalResult verifyByHead(MatmulOp op, int64_t &columns, int64_t &inner) {
  const int64_t heads = op.getHeads();
  if (heads < 0 || (heads && (columns % heads || inner % heads))) // C9
    return op.emitOpError() << "heads is " << heads << " but input has "
                            << inner << " columns and outs " << columns;
  if (!heads)
    return success();
  Type element = shapedOf(op.getWeight()).getElementType();
  if (op.getAccumulators() != 1 || op.getStarts() || !op.getExtras().empty() ||
      op.getBlocks() || element.getIntOrFloatBitWidth() == 8) // C9
    return op.emitOpError()
           << "has heads, which go with f32 or bf16, one accumulator, and "
              "neither starts nor extras";
  columns /= heads;
  inner /= heads;
  return success();
}

} // namespace

LogicalResult MatmulOp::verify() {
  auto inner =
      columnsOf(*this, "input", getInput(), Elements::realOrBytes); // C1
  if (!inner)
    return failure();
  auto columns = columnsOf(*this, "outs", getOut(), Elements::real); // C1
  if (!columns)
    return failure();
  int64_t accumulators = getAccumulators();
  if (accumulators != 1 && accumulators != 2) // C2
    return emitOpError() << "accumulators is " << accumulators
                         << " but must be 1 or 2";
  FailureOr<int64_t> stack = entriesOf(*this, getStarts());           // C6
  if (failed(stack) || failed(verifyByHead(*this, *columns, *inner))) // C9
    return failure();
  const int64_t entries = getHeads() ? int64_t(getHeads()) : *stack;
  Type element = shapedOf(getWeight()).getElementType(),
       given = shapedOf(getInput()).getElementType();
  bool fits =
      getBlocks()
          ? given.isSignlessInteger(8) &&
                blocksFit(*this, *getBlocks(), *columns, *inner, entries)
          : elementsFit(given, element) &&
                weightFits(shapeOf(getWeight()), accumulators, *columns, *inner,
                           entries, groupOf(element));
  if (!fits) // C1
    return emitOpError() << "weight is " << getWeight().getType()
                         << " but input is " << shapeText(shapeOf(getInput()))
                         << " of " << given << ", outs is "
                         << shapeText(shapeOf(getOut()))
                         << " and accumulators is " << accumulators;
  if (failed(verifyParameters(*this, *columns, *inner, entries))) // C7
    return failure();
  for (auto [index, extra] : llvm::enumerate(getExtras()))
    if (failed(verifyAccess(*this, "extra", index, extra, *columns,
                            entries))) // C3
      return failure();
  if (failed(verifyScalarRegion(*this, getEpilogue(), // C4
                                accumulators + getExtras().size(),
                                "one per accumulator and extra")))
    return failure();
  return verifyResult(*this, getOut(), getResult()); // C5
}

// A row of integers without sign has a step, a zero, an outlier and its column;
// one of floats has a scale; one in blocks has inputParameters per block.
int64_t mille::kernel::rowParameters(Type element, int64_t columns) {
  if (isa<FloatType>(element))
    return 1;
  return element.isUnsignedInteger()
             ? 4
             : mille::inputParameters * columns / mille::inputBlock;
}

LogicalResult QuantizeOp::verify() {
  auto columns = columnsOf(*this, "input", getInput(), Elements::real); // C1
  if (!columns)
    return failure();
  auto values =
      columnsOf(*this, "values", getValues(), Elements::anyBytes); // C1
  if (!values)
    return failure();
  Type element = shapedOf(getValues()).getElementType();
  if (element.isSignlessInteger(8) &&
      failed(verifyBlockLength(*this, *columns, mille::inputBlock))) // C1
    return failure();
  if (failed(verifyRowParameters(*this, getParameters(), element,
                                 *columns))) // C1
    return failure();
  if (*values != *columns) // C1
    return emitOpError() << "input has " << *columns << " columns but values "
                         << *values;
  bool isTensor = isa<RankedTensorType>(getValues().getType());
  TypeRange wanted = isTensor
                         ? TypeRange(getOperation()->getOperands().drop_front())
                         : TypeRange();
  if (TypeRange(getResults()) == wanted) // C2
    return success();
  return emitOpError() << "results are " << TypeRange(getResults())
                       << " but must be " << wanted;
}

LogicalResult
mille::kernel::verifyOneOf(Operation *op, StringRef name, Value value,
                           ArrayRef<SmallVector<int64_t>> shapes) {
  if (!value)
    return success();
  for (ArrayRef<int64_t> shape : shapes)
    if (shapedOf(value).getElementType().isF32() && shapeOf(value) == shape)
      return success();
  auto error = op->emitOpError()
               << name << " is " << value.getType() << " but must be f32 ";
  llvm::interleave(
      shapes, [&](ArrayRef<int64_t> shape) { error << shapeText(shape); },
      [&] { error << " or "; });
  return error;
}

//===-- rows --------------------------------------------------------------===//

LogicalResult mille::kernel::verifyRowNorm(Operation *op, RowNormAttr norm,
                                           int64_t columns) {
  const int64_t group = norm.getGroup();
  if (group < 0 || (group && columns % group))
    return op->emitOpError()
           << "norms groups of " << group << " of " << columns << " columns";
  const double eps = norm.getEps();
  if (std::isfinite(eps) && eps >= 0)
    return success();
  return op->emitOpError() << "norms with an eps of " << formatDouble(eps)
                           << ", which is not finite and >= 0";
}

namespace {

LogicalResult verifyNorm(RowsOp op, int64_t columns) {
  if (op.getInputs().empty()) // C5
    return op.emitOpError("has a norm but no input");
  if (op.getGather()[0] == -1 &&
      accessOf(shapedOf(op.getInputs()[0]), columns) != Access::element) // C5
    return op.emitOpError()
           << "input 0 is " << op.getInputs()[0].getType()
           << " but a normed one must be [?, " << columns << "] or gathered";
  return verifyRowNorm(op, op.getNormAttr(), columns); // C5
}

} // namespace

LogicalResult RowsOp::verify() {
  auto columns = columnsOf(*this, "outs", getOut(), Elements::real);
  if (!columns)
    return failure();
  ArrayRef<int64_t> gather = getGather();
  int64_t indices = getIndices().size();
  if (gather.size() != getInputs().size()) // C2
    return emitOpError() << "gather has " << gather.size()
                         << " entries but there are " << getInputs().size()
                         << " inputs";
  for (auto [index, input] : llvm::enumerate(getInputs())) {
    int64_t from = gather[index];
    if (from < -1 || from >= indices) // C2
      return emitOpError() << "gather[" << index << "] is " << from
                           << " but there are " << indices << " indices";
    if (from == -1) {
      if (failed(verifyAccess(*this, "input", index, input, *columns))) // C1
        return failure();
      continue;
    }
    ShapedType table = shapedOf(input);
    if (!areElements(table.getElementType(), Elements::f32OrBf16) ||
        table.getRank() != 2 || table.getDimSize(1) != *columns) // C1
      return emitOpError() << "gathered input " << index << " is " << table
                           << " but must be " << wordsOf(Elements::f32OrBf16)
                           << " [entries, " << *columns << "]";
  }
  for (Value index : getIndices())
    if (shapedOf(index).getRank() != 1 ||
        !shapedOf(index).getElementType().isInteger(32)) // C3
      return emitOpError() << "indices are " << index.getType()
                           << " but must be i32 [?]";
  if (failed(verifyScalarRegion(*this, getBody(), getInputs().size(), // C4
                                "one per input")))
    return failure();
  if (getNormAttr() && failed(verifyNorm(*this, *columns))) // C5
    return failure();
  return verifyResult(*this, getOut(), getResult()); // C6
}
