// Verifiers of norms, scales and drawn values, one `// Cn` per constraint.
// Must not check symbols: the op with the attribute does.
#include "dialects/transformer/Encoding.h"
#include "dialects/transformer/Formula.h"
#include "dialects/transformer/Transformer.h"

#include <cmath>

using namespace mlir;
using namespace mille::transformer;
using EmitError = llvm::function_ref<InFlightDiagnostic()>;

LogicalResult NormAttr::verify(EmitError emitError, NormKind kind, F64 eps,
                               Affine affine, FlatSymbolRefAttr weight,
                               FlatSymbolRefAttr bias, int64_t group) {
  if (!std::isfinite(eps) || eps < 0) // C1
    return emitError() << "eps is " << formatDouble(eps)
                       << " but must be finite and >= 0";
  if (double(eps) == 0 &&
      (kind == NormKind::layer_norm || kind == NormKind::rms_norm)) // C1
    return emitError() << "eps is 0.0 but must be > 0 for "
                       << stringifyNormKind(kind);
  if (affine == Affine::none && weight) // C2
    return emitError() << "weight is " << weight << " but affine is none";
  if (affine != Affine::none && !weight) // C2
    return emitError() << "affine is " << stringifyAffine(affine)
                       << " but no weight is named";
  if (kind == NormKind::identity && (weight || bias)) // C3
    return emitError() << "identity norm has " << (weight ? "weight " : "bias ")
                       << (weight ? weight : bias)
                       << " but takes neither weight nor bias";
  if (group < 0) // C4
    return emitError() << "group is " << group << " but must be >= 0";
  return success();
}

LogicalResult LengthScaleAttr::verify(EmitError emitError, LengthKind kind,
                                      F64 base, F64 floor, F64 beta,
                                      int64_t period, int64_t offset) {
  bool byId = kind == LengthKind::log_floor;
  for (auto [name, isGiven] :
       {std::pair<StringRef, bool>{"base", byId && double(base) != 0},
        {"floor", kind != LengthKind::log_keys && double(floor) != 1},
        {"beta", !byId && double(beta) != 0},
        {"period", !byId && period != 0},
        {"offset", !byId && offset != 0}})
    if (isGiven) // C3
      return emitError() << name << " is given but is no part of "
                         << stringifyLengthKind(kind);
  if (byId) {
    if (!std::isfinite(beta)) // C2
      return emitError() << "beta is " << formatDouble(beta)
                         << " but must be finite";
    if (period <= 0) // C2
      return emitError() << "period is " << period << " but must be > 0";
    return success();
  }
  if (!std::isfinite(base) || base <= 1) // C1
    return emitError() << "base is " << formatDouble(base)
                       << " but must be finite and > 1";
  if (!(floor >= 1) || !std::isfinite(floor)) // C1
    return emitError() << "floor is " << formatDouble(floor)
                       << " but must be finite and >= 1";
  return success();
}

LogicalResult LongContextAttr::verify(EmitError emitError, int64_t after,
                                      F64 stretch,
                                      DenseF64ArrayAttr frequencies) {
  if (after <= 0) // C1
    return emitError() << "after is " << after << " but must be > 0";
  if (!frequencies && (!std::isfinite(stretch) || stretch < 1)) // C2
    return emitError() << "stretch is " << formatDouble(stretch)
                       << " but must be finite and >= 1";
  if (frequencies)
    for (double frequency : frequencies.asArrayRef())
      if (!std::isfinite(frequency)) // C2
        return emitError() << "a frequency is " << formatDouble(frequency)
                           << " but must be finite";
  return success();
}

LogicalResult NumbersAttr::verify(EmitError emitError,
                                  DenseF64ArrayAttr numbers,
                                  RankedTensorType type) {
  if (!type || !type.getElementType().isF32() || !type.hasStaticShape() ||
      type.getNumElements() != numbers.size()) // C1
    return emitError() << "there are " << numbers.size()
                       << " numbers but the type is " << type;
  for (double number : numbers.asArrayRef())
    if (!std::isfinite(number)) // C1
      return emitError() << "a number is " << formatDouble(number)
                         << " but must be finite";
  return success();
}

namespace {

// Formula and value must agree, if the formula has no names.
LogicalResult verifyFormula(EmitError emitError, F64 value,
                            StringAttr formula) {
  std::string why;
  bool isFree = false;
  std::optional<double> said = evaluateFormula(
      formula.getValue(),
      [&](StringRef) -> std::optional<double> {
        isFree = true;
        return 1.0;
      },
      why);
  if (!said) // C4
    return emitError() << "formula " << formula << ' ' << why;
  double slack = 1e-12 * std::max(1.0, std::fabs(value));
  if (!isFree && !(std::fabs(*said - value) <= slack)) // C4
    return emitError() << "formula " << formula << " is " << formatDouble(*said)
                       << " but value is " << formatDouble(value);
  return success();
}

} // namespace

LogicalResult ScaleAttr::verify(EmitError emitError, ScaleKind kind, F64 value,
                                StringAttr formula, FlatSymbolRefAttr symbol,
                                Share share, F64 from, F64 to, int64_t steps) {
  for (auto [name, number] :
       {std::pair<StringRef, F64>{"value", value}, {"from", from}, {"to", to}})
    if (!std::isfinite(number)) // C1
      return emitError() << name << " is " << formatDouble(number)
                         << " but must be finite";
  bool isLearned =
      kind == ScaleKind::learned_scalar || kind == ScaleKind::learned_channel;
  // That others name nothing is the syntax's doing.
  if (isLearned && !symbol) // C2
    return emitError() << stringifyScaleKind(kind) << " names no parameter";
  if (kind == ScaleKind::scheduled && steps <= 0) // C3
    return emitError() << "steps is " << steps << " but must be > 0";
  if (formula && !symbol)
    return verifyFormula(emitError, value, formula); // C4
  return success();
}

LogicalResult StoredAttr::verify(EmitError emitError, StringRef, StringRef,
                                 RankedTensorType type, Encoding encoding) {
  if (encoding == Encoding::f32) // as the element type says
    return success();
  if (!isBlocks(encoding)) // C1
    return emitError() << "encoding is " << stringifyEncoding(encoding)
                       << " but must be one of blocks: the element type says "
                          "the others";
  if (!type.getElementType().isF32()) // C1
    return emitError() << "element type is " << type.getElementType()
                       << " but blocks of " << stringifyEncoding(encoding)
                       << " stand for f32";
  const int64_t row = type.getRank() ? type.getShape().back() : 1;
  if (!bytesOfRow(encoding, row)) // C2
    return emitError() << "a row has " << row << " numbers but a block of "
                       << stringifyEncoding(encoding) << " has "
                       << blockLength(encoding);
  return success();
}

LogicalResult DrawnAttr::verify(EmitError emitError, Distribution distribution,
                                F64 mean, F64 std, F64 cut, uint64_t seed,
                                StringRef stream, RankedTensorType type) {
  if (!std::isfinite(mean)) // C1
    return emitError() << "mean is " << formatDouble(mean)
                       << " but must be finite";
  if (!std::isfinite(std) || std < 0) // C1
    return emitError() << "std is " << formatDouble(std)
                       << " but must be finite and >= 0";
  bool cuts = distribution == Distribution::truncated_normal;
  if (cuts ? !(std::isfinite(cut) && cut > 0) : double(cut) != 0) // C2
    return emitError() << "cut is " << formatDouble(cut) << " but must be "
                       << (cuts ? "finite and > 0" : "absent") << " for "
                       << stringifyDistribution(distribution);
  if (!type.getElementType().isF32() || !type.hasStaticShape()) // C3
    return emitError() << "type is " << type
                       << " but must be an f32 tensor of static shape";
  return success();
}
