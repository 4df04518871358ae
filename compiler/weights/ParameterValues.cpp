// Builds the tree of a value expression: opens files, follows symbols, checks
// that what a file stores is what the model says. Arithmetic is in Expression.
#include "compiler/weights/ParameterValues.h"
#include "compiler/weights/Elements.h"
#include "compiler/weights/Expression.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Path.h"

#include <cmath>

using namespace mlir;
using namespace mille;
using namespace mille::transformer;

struct ParameterValues::Files {
  llvm::StringMap<std::unique_ptr<TensorFile>> open;
  llvm::StringMap<Attribute> parameters;

  // A parameter's value; the table is made again when passes added some.
  Attribute parameter(Operation *model, llvm::StringRef name) {
    if (Attribute known = parameters.lookup(name))
      return known;
    if (!model || model->getNumRegions() == 0 || model->getRegion(0).empty())
      return {};
    for (auto op : model->getRegion(0).front().getOps<ParameterOp>())
      parameters[op.getSymName()] = op.getValue();
    return parameters.lookup(name);
  }
};

namespace {

std::optional<Encoding> storedAs(StoredAttr stored) {
  if (isBlocks(stored.getEncoding()))
    return stored.getEncoding();
  mlir::Type type = stored.getType().getElementType();
  if (type.isF64())
    return Encoding::f64;
  if (type.isF32())
    return Encoding::f32;
  if (type.isF16())
    return Encoding::f16;
  if (type.isBF16())
    return Encoding::bf16;
  if (type.isInteger(64))
    return Encoding::i64;
  if (type.isInteger(32))
    return Encoding::i32;
  return std::nullopt;
}

class Build {
public:
  using OpenFile = llvm::function_ref<const TensorFile *(StringRef)>;
  Build(ResolveSymbol resolve, OpenFile open, Location location)
      : resolve(resolve), open(open), location(location) {}

  // Shapes were checked by valueType; null after an error of a file.
  ExpressionPtr operator()(Attribute value) {
    return llvm::TypeSwitch<Attribute, ExpressionPtr>(value)
        .Case([&](FlatSymbolRefAttr a) { return (*this)(resolve(a)); })
        .Case([&](FloatAttr a) { return number(a.getValueAsDouble()); })
        .Case([&](StoredAttr a) { return fromFile(a); })
        .Case([&](DrawnAttr a) { return drawn(a); })
        .Case([&](SliceAttr a) {
          auto from = (*this)(a.getValue());
          return from ? slice(std::move(from), a.getAxis(), a.getOffset(),
                              a.getSize(), a.getStride())
                      : nullptr;
        })
        .Case([&](TransposeAttr a) {
          auto from = (*this)(a.getValue());
          return from ? transpose(std::move(from)) : nullptr;
        })
        .Case([&](ConcatAttr a) {
          auto parts = all(a.getValues());
          return parts.empty() ? nullptr : concat(std::move(parts));
        })
        .Case([&](StackAttr a) {
          auto parts = all(a.getValues());
          return parts.empty() ? nullptr : stack(std::move(parts));
        })
        .Case([&](TimesAttr a) {
          auto from = (*this)(a.getValue()), by = (*this)(a.getFactor());
          return from && by ? times(std::move(from), std::move(by)) : nullptr;
        })
        .Case([&](PlusAttr a) {
          auto from = (*this)(a.getValue()), term = (*this)(a.getTerm());
          return from && term ? plus(std::move(from), std::move(term))
                              : nullptr;
        })
        .Case([&](PackAttr a) {
          auto from = (*this)(a.getValue());
          return from ? pack(std::move(from),
                             {a.getPanel(), a.getAccumulators(), a.getGroup()})
                      : nullptr;
        })
        .Default([&](Attribute a) { return derived(a); });
  }

private:
  ExpressionPtr derived(Attribute value) {
    auto of = [&](Attribute operand, auto make) -> ExpressionPtr {
      auto from = (*this)(operand);
      return from ? make(std::move(from)) : nullptr;
    };
    return llvm::TypeSwitch<Attribute, ExpressionPtr>(value)
        .Case([&](NumbersAttr a) { return numbers(a); })
        .Case([&](SinusoidAttr a) { return sinusoid(a); })
        .Case([&](GatherAttr a) {
          return of(a.getValue(), [&](ExpressionPtr from) {
            return gather(std::move(from), a.getIndices().asArrayRef());
          });
        })
        .Case([&](RepeatAttr a) {
          return of(a.getValue(), [&](ExpressionPtr from) {
            return repeat(std::move(from), a.getCount(), a.getEach());
          });
        })
        .Case([&](ReshapeAttr a) {
          return of(a.getValue(), [&](ExpressionPtr from) {
            return reshape(std::move(from), a.getShape().asArrayRef());
          });
        })
        .Case([&](PermuteAttr a) {
          return of(a.getValue(), [&](ExpressionPtr from) {
            return permute(std::move(from), a.getOrder().asArrayRef());
          });
        })
        .Case([&](InBlocksAttr a) {
          return of(a.getValue(), [&](ExpressionPtr from) {
            return inBlocks(std::move(from), a.getEncoding());
          });
        })
        .Case([&](PackBlocksAttr a) {
          return of(a.getValue(), [&](ExpressionPtr from) {
            return packBlocks(std::move(from), a.getEncoding(),
                              a.getAccumulators());
          });
        })
        .Case([&](RowScalesAttr a) { return of(a.getValue(), rowScales); })
        .Case([&](QuantizedAttr a) { return of(a.getValue(), quantized); })
        .Case([&](RowSumsAttr a) { return of(a.getValue(), rowSums); })
        .Case([&](ColumnRmsAttr a) { return of(a.getValue(), columnRms); })
        .Case([&](ApplyAttr a) {
          return of(a.getValue(), [&](ExpressionPtr from) {
            return apply(std::move(from), a.getFunction());
          });
        })
        .Case([&](ProductAttr a) {
          auto left = (*this)(a.getLeft()), right = (*this)(a.getRight());
          return left && right ? product(std::move(left), std::move(right))
                               : nullptr;
        })
        .Case([&](NormedAttr a) {
          auto from = (*this)(a.getValue()), weight = (*this)(a.getWeight()),
               bias = (*this)(a.getBias());
          return from && weight && bias
                     ? normed(std::move(from), std::move(weight),
                              std::move(bias), a.getEps().getValueAsDouble())
                     : nullptr;
        })
        .Default([](Attribute) { return nullptr; });
  }

  // Empty after an error.
  std::vector<ExpressionPtr> all(ArrayRef<Attribute> values) {
    std::vector<ExpressionPtr> parts;
    for (Attribute value : values) {
      parts.push_back((*this)(value));
      if (!parts.back())
        return {};
    }
    return parts;
  }

  ExpressionPtr fromFile(StoredAttr a) {
    const TensorFile *file = open(a.getFile());
    if (!file)
      return nullptr;
    const StoredTensor *tensor = file->find(a.getName());
    if (!tensor) {
      emitError(location) << "tensor '" << a.getName() << "' is not in "
                          << file->path();
      return nullptr;
    }
    std::optional<Encoding> type = storedAs(a);
    if (type != tensor->type ||
        a.getType().getShape() != ArrayRef<int64_t>(tensor->shape)) {
      auto message = emitError(location);
      message << "tensor '" << a.getName() << "' is " << a.getType();
      if (isBlocks(a.getEncoding()))
        message << " in blocks of " << nameOf(a.getEncoding());
      message << " in the model but " << nameOf(tensor->type) << " [";
      llvm::interleaveComma(tensor->shape, message);
      message << "] in " << file->path();
      return nullptr;
    }
    return stored(Strided(tensor));
  }

  ResolveSymbol resolve;
  OpenFile open;
  Location location;
};

} // namespace

ParameterValues::ParameterValues(Operation *model, std::string folder)
    : model(model), folder(std::move(folder)),
      files(std::make_unique<Files>()) {}

ParameterValues::~ParameterValues() = default;

std::unique_ptr<Expression> ParameterValues::express(Attribute value,
                                                     Location location,
                                                     ResolveSymbol column) {
  auto resolve = [&](FlatSymbolRefAttr symbol) -> Attribute {
    if (column)
      if (Attribute found = column(symbol); found && found != symbol)
        return found;
    return files->parameter(model, symbol.getValue());
  };
  std::string why;
  if (!value || failed(valueType(value, resolve, why))) {
    emitError(location) << "the value of a parameter " << why;
    return nullptr;
  }
  auto open = [&](StringRef name) -> const TensorFile * {
    auto [found, fresh] = files->open.try_emplace(name);
    if (fresh) {
      llvm::SmallString<128> path(name);
      if (!llvm::sys::path::is_absolute(name)) {
        path = folder;
        llvm::sys::path::append(path, name);
      }
      found->second = TensorFile::open(path, *location.getContext());
    }
    return found->second.get();
  };
  return Build(resolve, open, location)(value);
}

FailureOr<ParameterTensor> ParameterValues::evaluate(Attribute value,
                                                     Location location,
                                                     ResolveSymbol column) {
  std::unique_ptr<Expression> expression = express(value, location, column);
  if (!expression)
    return failure();
  ParameterTensor tensor;
  tensor.shape.assign(expression->shape.begin(), expression->shape.end());
  tensor.numbers.resize(expression->elements());
  expression->rows(0, expression->rowCount(), tensor.numbers.data());
  return tensor;
}

LogicalResult ParameterValues::evaluateF32(Attribute value, Location location,
                                           llvm::MutableArrayRef<float> into,
                                           ResolveSymbol column) {
  std::unique_ptr<Expression> expression = express(value, location, column);
  if (!expression)
    return failure();
  if (int64_t(into.size()) != expression->elements())
    return emitError(location)
           << "a value has " << expression->elements()
           << " elements but there is room for " << into.size();
  expression->rows(0, expression->rowCount(), into.data());
  return success();
}

namespace {

// Rows one after the other, as `Stored` numbers made from `Number`s.
template <typename Number, typename Stored, typename Convert>
void store(const Expression &expression, char *into, Convert convert) {
  const int64_t size = expression.rowSize();
  std::vector<Number> row(size);
  for (int64_t i = 0; i < expression.rowCount(); ++i) {
    expression.rows(i, 1, row.data());
    for (Number number : row) {
      Stored stored = convert(number);
      std::memcpy(into, &stored, sizeof stored);
      into += sizeof stored;
    }
  }
}

} // namespace

LogicalResult ParameterValues::evaluateAs(Type type, Attribute value,
                                          Location location,
                                          llvm::MutableArrayRef<char> into) {
  if (type.isF32()) {
    auto *floats = reinterpret_cast<float *>(into.data());
    return evaluateF32(value, location, {floats, into.size() / sizeof(float)});
  }
  std::unique_ptr<Expression> expression = express(value, location, nullptr);
  if (!expression)
    return failure();
  if (type.isBF16())
    store<float, uint16_t>(*expression, into.data(), narrowBf16);
  else if (type.isInteger(8))
    store<double, int8_t>(*expression, into.data(), [](double x) {
      return int8_t(std::clamp(std::nearbyint(x), -128.0, 127.0));
    });
  else
    store<double, int32_t>(*expression, into.data(),
                           [](double x) { return int32_t(std::nearbyint(x)); });
  return success();
}
