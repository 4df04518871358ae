// The `transformer` dialect: registration, and how its attributes print.
// Verifiers are in Verify.cpp, folders in Fold.cpp.
#include "dialects/transformer/Transformer.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <charconv>

using namespace mlir;
using namespace mille::transformer;

// An f64 with the fewest digits that read back: 1.0e-06.
static ParseResult parseNumber(AsmParser &parser, FloatAttr &number) {
  double value;
  if (parser.parseFloat(value))
    return failure();
  number = parser.getBuilder().getF64FloatAttr(value);
  return success();
}
static void printNumber(AsmPrinter &printer, FloatAttr number) {
  printer << formatDouble(number.getValueAsDouble());
}

#include "dialects/transformer/TransformerDialect.cpp.inc"
#include "dialects/transformer/TransformerEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/transformer/TransformerAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/transformer/TransformerOps.cpp.inc"

void TransformerDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/transformer/TransformerOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/transformer/TransformerAttrs.cpp.inc"
      >();
}

bool TransformerDialect::isFirstWarning(StringRef of) {
  std::lock_guard<std::mutex> lock(guard);
  return warned.insert(of.str()).second;
}

static ParseResult parseDoubles(AsmParser &parser, DenseF64ArrayAttr &numbers) {
  SmallVector<double> values;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parser.parseFloat(values.emplace_back());
      }))
    return failure();
  numbers = parser.getBuilder().getDenseF64ArrayAttr(values);
  return success();
}

static void printDoubles(AsmPrinter &printer, DenseF64ArrayAttr numbers) {
  printer << '[';
  llvm::interleaveComma(numbers.asArrayRef(), printer,
                        [&](double value) { printer << formatDouble(value); });
  printer << ']';
}

ParseResult mille::parseNumbers(OpAsmParser &parser,
                                DenseF64ArrayAttr &numbers) {
  return parseDoubles(parser, numbers);
}

void mille::printNumbers(OpAsmPrinter &printer, Operation *,
                         DenseF64ArrayAttr numbers) {
  printDoubles(printer, numbers);
}

std::string mille::transformer::formatDouble(double value) {
  char text[64];
  auto [end, error] = std::to_chars(text, text + sizeof text, value);
  std::string digits(text, end);
  // MLIR's lexer wants a point before an exponent, and to tell it from an int.
  size_t exponent = digits.find('e');
  if (digits.find_first_of(".n") == std::string::npos)
    digits.insert(exponent == std::string::npos ? digits.size() : exponent,
                  ".0");
  return digits;
}

namespace {

ParseResult parseNumber(AsmParser &parser, F64 &number) {
  double value;
  if (parser.parseFloat(value))
    return failure();
  number = F64(value);
  return success();
}

template <typename Enum>
ParseResult parseWord(AsmParser &parser, Enum &word,
                      std::optional<Enum> (*read)(StringRef), StringRef what) {
  StringRef text;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseKeyword(&text))
    return failure();
  std::optional<Enum> found = read(text);
  if (!found)
    return parser.emitError(at) << "unknown " << what << " '" << text << "'";
  word = *found;
  return success();
}

ParseResult parseSymbol(AsmParser &parser, FlatSymbolRefAttr &symbol) {
  return parser.parseAttribute(symbol);
}

} // namespace

// <layer_norm, eps = 1.0e-5, affine = weight, weight = @w, bias = @b, group =
// 4,
//  cast = mul_then_cast>
Attribute NormAttr::parse(AsmParser &parser, Type) {
  NormKind kind;
  F64 eps;
  Affine affine = Affine::none;
  FlatSymbolRefAttr weight, bias;
  int64_t group = 0;
  WeightCast cast = WeightCast::cast_then_mul;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parseWord<NormKind>(parser, kind, symbolizeNormKind, "norm"))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    StringRef key;
    SMLoc keyAt = parser.getCurrentLocation();
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return {};
    ParseResult read =
        key == "eps" ? parseNumber(parser, eps)
        : key == "affine"
            ? parseWord<Affine>(parser, affine, symbolizeAffine, "affine")
        : key == "weight" ? parseSymbol(parser, weight)
        : key == "bias"   ? parseSymbol(parser, bias)
        : key == "group"  ? parser.parseInteger(group)
        : key == "cast"
            ? parseWord<WeightCast>(parser, cast, symbolizeWeightCast, "cast")
            : parser.emitError(keyAt)
                  << "unknown key '" << key << "' of a norm";
    if (read)
      return {};
  }
  if (parser.parseGreater())
    return {};
  return NormAttr::getChecked([&] { return parser.emitError(at); },
                              parser.getContext(), kind, eps, affine, weight,
                              bias, group, cast);
}

void NormAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyNormKind(getKind());
  if (getEps() != 0)
    printer << ", eps = " << formatDouble(getEps());
  if (getAffine() != Affine::none)
    printer << ", affine = " << stringifyAffine(getAffine());
  if (getWeight())
    printer << ", weight = " << getWeight();
  if (getBias())
    printer << ", bias = " << getBias();
  if (getGroup())
    printer << ", group = " << getGroup();
  if (getCast() != WeightCast::cast_then_mul)
    printer << ", cast = " << stringifyWeightCast(getCast());
  printer << '>';
}

// <log_keys, base = 512.0, floor = 16.0> <log_floor, beta = 0.1, period = 4>
Attribute LengthScaleAttr::parse(AsmParser &parser, Type) {
  LengthKind kind;
  F64 base, floor(1.0), beta;
  int64_t period = 0, offset = 0;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parseWord<LengthKind>(parser, kind, symbolizeLengthKind, "length scale"))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    StringRef key;
    SMLoc keyAt = parser.getCurrentLocation();
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return {};
    ParseResult read = key == "base"     ? parseNumber(parser, base)
                       : key == "floor"  ? parseNumber(parser, floor)
                       : key == "beta"   ? parseNumber(parser, beta)
                       : key == "period" ? parser.parseInteger(period)
                       : key == "offset" ? parser.parseInteger(offset)
                                         : parser.emitError(keyAt)
                                               << "unknown key '" << key
                                               << "' of a length scale";
    if (read)
      return {};
  }
  if (parser.parseGreater())
    return {};
  return LengthScaleAttr::getChecked([&] { return parser.emitError(at); },
                                     parser.getContext(), kind, base, floor,
                                     beta, period, offset);
}

void LengthScaleAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyLengthKind(getKind());
  if (getKind() == LengthKind::log_floor)
    printer << ", beta = " << formatDouble(getBeta())
            << ", period = " << getPeriod();
  else
    printer << ", base = " << formatDouble(getBase());
  if (getFloor() != 1)
    printer << ", floor = " << formatDouble(getFloor());
  if (getOffset())
    printer << ", offset = " << getOffset();
  printer << '>';
}

// <after = 8, stretch = 2.0> <after = 16, frequencies = [1.0, 0.01]>
Attribute LongContextAttr::parse(AsmParser &parser, Type) {
  int64_t after = 0;
  F64 stretch(1.0);
  DenseF64ArrayAttr frequencies;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword("after") ||
      parser.parseEqual() || parser.parseInteger(after) || parser.parseComma())
    return {};
  if (succeeded(parser.parseOptionalKeyword("stretch"))) {
    if (parser.parseEqual() || parseNumber(parser, stretch))
      return {};
  } else if (parser.parseKeyword("frequencies") || parser.parseEqual() ||
             parseDoubles(parser, frequencies)) {
    return {};
  }
  if (parser.parseGreater())
    return {};
  return LongContextAttr::getChecked([&] { return parser.emitError(at); },
                                     parser.getContext(), after, stretch,
                                     frequencies);
}

void LongContextAttr::print(AsmPrinter &printer) const {
  printer << "<after = " << getAfter() << ", ";
  if (getFrequencies()) {
    printer << "frequencies = ";
    printDoubles(printer, getFrequencies());
  } else {
    printer << "stretch = " << formatDouble(getStretch());
  }
  printer << '>';
}

// <[0.5, 0.25], tensor<2xf32>>
Attribute NumbersAttr::parse(AsmParser &parser, Type) {
  DenseF64ArrayAttr numbers;
  RankedTensorType type;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseLess() || parseDoubles(parser, numbers) ||
      parser.parseComma() || parser.parseType(type) || parser.parseGreater())
    return {};
  return NumbersAttr::getChecked([&] { return parser.emitError(at); },
                                 parser.getContext(), numbers, type);
}

void NumbersAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printDoubles(printer, getNumbers());
  printer << ", " << getType() << '>';
}

// <divisor = 4.0, zero = -1, tensor<16x8xf32>>
Attribute SinusoidAttr::parse(AsmParser &parser, Type) {
  F64 divisor;
  int64_t zero = -1;
  RankedTensorType type;
  if (parser.parseLess() || parser.parseKeyword("divisor") ||
      parser.parseEqual() || parseNumber(parser, divisor) ||
      parser.parseComma() || parser.parseKeyword("zero") ||
      parser.parseEqual() || parser.parseInteger(zero) || parser.parseComma() ||
      parser.parseType(type) || parser.parseGreater())
    return {};
  return SinusoidAttr::get(parser.getContext(), divisor, zero, type);
}

void SinusoidAttr::print(AsmPrinter &printer) const {
  printer << "<divisor = " << formatDouble(getDivisor())
          << ", zero = " << getZero() << ", " << getType() << '>';
}

// <constant 1.5 = "formula"> <constant @slot> <learned_scalar @a, share =
// layer> <scheduled from 0.0 to 1.0 over 1000>
Attribute ScaleAttr::parse(AsmParser &parser, Type) {
  ScaleKind kind;
  F64 value(1.0), from, to;
  StringAttr formula;
  FlatSymbolRefAttr symbol;
  Share share = Share::unit;
  int64_t steps = 0;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parseWord<ScaleKind>(parser, kind, symbolizeScaleKind, "scale"))
    return {};
  if (kind == ScaleKind::scheduled) {
    if (parser.parseKeyword("from") || parseNumber(parser, from) ||
        parser.parseKeyword("to") || parseNumber(parser, to) ||
        parser.parseKeyword("over") || parser.parseInteger(steps))
      return {};
  } else {
    OptionalParseResult named = parser.parseOptionalAttribute(symbol);
    if (named.has_value() && failed(*named))
      return {};
    if (kind == ScaleKind::constant && !named.has_value()) {
      if (parseNumber(parser, value))
        return {};
      if (succeeded(parser.parseOptionalEqual()) &&
          parser.parseAttribute(formula))
        return {};
    }
  }
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("share") || parser.parseEqual() ||
       parseWord<Share>(parser, share, symbolizeShare, "share")))
    return {};
  if (parser.parseGreater())
    return {};
  return ScaleAttr::getChecked([&] { return parser.emitError(at); },
                               parser.getContext(), kind, value, formula,
                               symbol, share, from, to, steps);
}

void ScaleAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyScaleKind(getKind()) << ' ';
  if (getKind() == ScaleKind::scheduled)
    printer << "from " << formatDouble(getFrom()) << " to "
            << formatDouble(getTo()) << " over " << getSteps();
  else if (getSymbol())
    printer << getSymbol();
  else
    printer << formatDouble(getValue());
  if (getFormula())
    printer << " = " << getFormula();
  if (getShare() != Share::unit)
    printer << ", share = " << stringifyShare(getShare());
  printer << '>';
}

// <normal, mean = 0.0, std = 0.02, seed = 1, stream = "w", tensor<4x4xf32>>
Attribute DrawnAttr::parse(AsmParser &parser, Type) {
  Distribution distribution;
  F64 mean, std, cut;
  uint64_t seed = 0;
  std::string stream;
  RankedTensorType type;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parseWord<Distribution>(parser, distribution, symbolizeDistribution,
                              "distribution"))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    StringRef key;
    SMLoc keyAt = parser.getCurrentLocation();
    if (failed(parser.parseOptionalKeyword(
            &key, {"mean", "std", "cut", "seed", "stream"}))) {
      if (parser.parseType(type))
        return {};
      break;
    }
    if (parser.parseEqual())
      return {};
    ParseResult read = key == "mean"   ? parseNumber(parser, mean)
                       : key == "std"  ? parseNumber(parser, std)
                       : key == "cut"  ? parseNumber(parser, cut)
                       : key == "seed" ? parser.parseInteger(seed)
                       : key == "stream"
                           ? parser.parseString(&stream)
                           : parser.emitError(keyAt) << "unknown key";
    if (read)
      return {};
  }
  if (parser.parseGreater())
    return {};
  return DrawnAttr::getChecked([&] { return parser.emitError(at); },
                               parser.getContext(), distribution, mean, std,
                               cut, seed, StringRef(stream), type);
}

void DrawnAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyDistribution(getDistribution())
          << ", mean = " << formatDouble(getMean())
          << ", std = " << formatDouble(getStd());
  if (getCut() != 0)
    printer << ", cut = " << formatDouble(getCut());
  printer << ", seed = " << getSeed() << ", stream = \"";
  llvm::printEscapedString(getStream(), printer.getStream());
  printer << "\", " << getType() << '>';
}
