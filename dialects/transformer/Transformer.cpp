// The `transformer` dialect: registration, and the text of scales and numbers.
// Verifiers are in Verify.cpp, folders in Fold.cpp.
#include "dialects/transformer/Transformer.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include <charconv>

using namespace mlir;
using namespace mille::transformer;

// [0.5, 0.25]
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

#include "dialects/transformer/TransformerDialect.cpp.inc"
#include "dialects/transformer/TransformerEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/transformer/TransformerAttrs.cpp.inc"
// Small, not fast: most of it is printing, parsing and building, and it is the
// largest file of a build.
#pragma clang attribute push(__attribute__((minsize)), apply_to = function)
#define GET_OP_CLASSES
#include "dialects/transformer/TransformerOps.cpp.inc"
#pragma clang attribute pop

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

FailureOr<F64> FieldParser<F64>::parse(AsmParser &parser) {
  double value;
  if (parser.parseFloat(value))
    return failure();
  return F64(value);
}

// <constant 1.5 = "formula"> <constant @slot>
// <learned_scalar @a, share = layer> <scheduled from 0.0 to 1.0 over 1000>
Attribute ScaleAttr::parse(AsmParser &parser, Type) {
  F64 value(1.0), from, to;
  auto number = [&](F64 &into) -> ParseResult {
    FailureOr<F64> read = FieldParser<F64>::parse(parser);
    if (failed(read))
      return failure();
    into = *read;
    return success();
  };
  StringAttr formula;
  FlatSymbolRefAttr symbol;
  FailureOr<Share> share = Share::unit;
  int64_t steps = 0;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  FailureOr<ScaleKind> kind = FieldParser<ScaleKind>::parse(parser);
  if (failed(kind))
    return {};
  if (*kind == ScaleKind::scheduled) {
    if (parser.parseKeyword("from") || number(from) ||
        parser.parseKeyword("to") || number(to) ||
        parser.parseKeyword("over") || parser.parseInteger(steps))
      return {};
  } else {
    OptionalParseResult named = parser.parseOptionalAttribute(symbol);
    if (named.has_value() && failed(*named))
      return {};
    if (*kind == ScaleKind::constant && !named.has_value()) {
      if (number(value))
        return {};
      if (succeeded(parser.parseOptionalEqual()) &&
          parser.parseAttribute(formula))
        return {};
    }
  }
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("share") || parser.parseEqual() ||
       failed(share = FieldParser<Share>::parse(parser))))
    return {};
  if (parser.parseGreater())
    return {};
  return ScaleAttr::getChecked([&] { return parser.emitError(at); },
                               parser.getContext(), *kind, value, formula,
                               symbol, *share, from, to, steps);
}

void ScaleAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyScaleKind(getKind()) << ' ';
  if (getKind() == ScaleKind::scheduled)
    printer << "from " << getFrom() << " to " << getTo() << " over "
            << getSteps();
  else if (getSymbol())
    printer << getSymbol();
  else
    printer << getValue();
  if (getFormula())
    printer << " = " << getFormula();
  if (getShare() != Share::unit)
    printer << ", share = " << stringifyShare(getShare());
  printer << '>';
}
