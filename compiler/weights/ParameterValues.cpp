// Builds the tree of a value expression: opens files, follows symbols, and
// checks that stored tensors are as the model says. Must leave arithmetic to
// Expression.
#include "compiler/weights/ParameterValues.h"
#include "compiler/weights/Elements.h"
#include "compiler/weights/Expression.h"
#include "dialects/transformer/E4m3.h"
#include "dialects/transformer/ValueList.h"
#include "llvm/Support/Path.h"

#include <cmath>

using namespace mlir;
using namespace mille;
using namespace mille::transformer;

struct ParameterValues::Files {
  llvm::StringMap<std::unique_ptr<TensorFile>> open;
  llvm::StringMap<Attribute> parameters;

  // A parameter's value. Rebuilds the table if passes have added parameters.
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

// Makes nodes for attributes whose shapes valueType has checked. Null after an
// error with a file.
class Build {
public:
  using OpenFile = llvm::function_ref<const TensorFile *(StringRef)>;
  Build(ResolveSymbol resolve, OpenFile open, const Importance &importance,
        Location location)
      : resolve(resolve), open(open), importance(importance),
        location(location) {}

  ExpressionPtr operator()(Attribute value) const {
    if (auto name = dyn_cast<FlatSymbolRefAttr>(value))
      return (*this)(resolve(name));
    if (auto constant = dyn_cast<FloatAttr>(value))
      return number(constant.getValueAsDouble());
    auto node = cast<ParameterValue>(value);
    Parts of;
    for (Attribute operand : node.getOperands()) {
      of.push_back((*this)(operand));
      if (!of.back())
        return nullptr;
    }
    return Values::visit<ExpressionPtr>(
        node, [&](auto attr) { return make(attr, std::move(of)); });
  }

private:
  using Parts = std::vector<ExpressionPtr>; // expressions of the operands

  ExpressionPtr make(DrawnAttr a, Parts) const { return drawn(a); }
  ExpressionPtr make(NumbersAttr a, Parts) const { return numbers(a); }
  ExpressionPtr make(SinusoidAttr a, Parts) const { return sinusoid(a); }
  ExpressionPtr make(SliceAttr a, Parts of) const {
    return slice(std::move(of[0]), a.getAxis(), a.getOffset(), a.getSize(),
                 a.getStride());
  }
  ExpressionPtr make(TransposeAttr, Parts of) const {
    return transpose(std::move(of[0]));
  }
  ExpressionPtr make(ConcatAttr, Parts of) const {
    return concat(std::move(of));
  }
  ExpressionPtr make(StackAttr, Parts of) const { return stack(std::move(of)); }
  ExpressionPtr make(TimesAttr, Parts of) const {
    return times(std::move(of[0]), std::move(of[1]));
  }
  ExpressionPtr make(PlusAttr, Parts of) const {
    return plus(std::move(of[0]), std::move(of[1]));
  }
  ExpressionPtr make(PackAttr a, Parts of) const {
    return pack(std::move(of[0]),
                {a.getPanel(), a.getAccumulators(), a.getGroup()});
  }
  ExpressionPtr make(GatherAttr a, Parts of) const {
    return gather(std::move(of[0]), a.getIndices().asArrayRef());
  }
  ExpressionPtr make(RepeatAttr a, Parts of) const {
    return repeat(std::move(of[0]), a.getCount(), a.getEach());
  }
  ExpressionPtr make(ReshapeAttr a, Parts of) const {
    return reshape(std::move(of[0]), a.getShape().asArrayRef());
  }
  ExpressionPtr make(PermuteAttr a, Parts of) const {
    return permute(std::move(of[0]), a.getOrder().asArrayRef());
  }
  ExpressionPtr make(InBlocksAttr a, Parts of) const {
    return inBlocks(std::move(of[0]), a.getEncoding(),
                    importanceOf(a.getValue()));
  }
  ExpressionPtr make(PackBlocksAttr a, Parts of) const {
    return packBlocks(std::move(of[0]), {a.getEncoding(), a.getAccumulators()},
                      importanceOf(a.getValue()));
  }
  ExpressionPtr make(RowScalesAttr a, Parts of) const {
    return rowScales(std::move(of[0]), a.getKind());
  }
  ExpressionPtr make(QuantizedAttr a, Parts of) const {
    return quantized(std::move(of[0]), a.getKind());
  }
  ExpressionPtr make(RowSumsAttr, Parts of) const {
    return rowSums(std::move(of[0]));
  }
  ExpressionPtr make(ColumnRmsAttr, Parts of) const {
    return columnRms(std::move(of[0]));
  }
  ExpressionPtr make(ApplyAttr a, Parts of) const {
    return apply(std::move(of[0]), a.getFunction());
  }
  ExpressionPtr make(ProductAttr, Parts of) const {
    return product(std::move(of[0]), std::move(of[1]));
  }
  ExpressionPtr make(NormedAttr a, Parts of) const {
    return normed(std::move(of[0]), std::move(of[1]), std::move(of[2]),
                  a.getEps());
  }

  // That of the first parameter in the value that has one: all parts of a
  // matmul's weight read the same columns.
  std::vector<double> importanceOf(Attribute value) const {
    if (importance.empty())
      return {};
    if (auto name = dyn_cast<FlatSymbolRefAttr>(value)) {
      auto found = importance.find(name.getValue());
      return found == importance.end() ? importanceOf(resolve(name))
                                       : found->second;
    }
    if (auto node = dyn_cast_or_null<ParameterValue>(value))
      for (Attribute operand : node.getOperands())
        if (std::vector<double> found = importanceOf(operand); !found.empty())
          return found;
    return {};
  }

  ExpressionPtr make(StoredAttr a, Parts) const {
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
  const Importance &importance;
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
  return Build(resolve, open, importance, location)(value);
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

// The bytes of numbers that are in memory at a time, where a row has no more.
constexpr int64_t bytesTogether = 1 << 20;

template <typename Number>
void readRows(const Expression &expression, int64_t first, int64_t count,
              Number *into) {
  expression.rows(first, count, into);
}
void readRows(const Expression &expression, int64_t first, int64_t count,
              int8_t *into) {
  expression.bytes(first, count, into);
}

// Hands on all rows, some at a time, each `Number` converted to `Stored`.
template <typename Number, typename Stored, typename Convert>
LogicalResult store(const Expression &expression,
                    ParameterValues::TakeBytes take, Convert convert) {
  const int64_t size = expression.rowSize(), rows = expression.rowCount();
  const int64_t together = std::clamp<int64_t>(
      bytesTogether / std::max<int64_t>(size * sizeof(Number), 1), 1,
      std::max<int64_t>(rows, 1));
  std::vector<Number> numbers(size * together);
  std::vector<Stored> stored(numbers.size());
  for (int64_t first = 0; first < rows; first += together) {
    const int64_t count = std::min(together, rows - first);
    readRows(expression, first, count, numbers.data());
    std::transform(numbers.begin(), numbers.begin() + count * size,
                   stored.begin(), convert);
    if (failed(take({reinterpret_cast<const char *>(stored.data()),
                     size_t(count * size) * sizeof(Stored)})))
      return failure();
  }
  return success();
}

} // namespace

LogicalResult ParameterValues::evaluateRows(
    Attribute value, Location location, ResolveSymbol column,
    llvm::function_ref<void(int64_t, ArrayRef<double>)> take) {
  std::unique_ptr<Expression> expression = express(value, location, column);
  if (!expression)
    return failure();
  const int64_t size = expression->rowSize();
  int64_t first = 0;
  return store<double, double>(
      *expression,
      [&](ArrayRef<char> bytes) {
        ArrayRef<double> numbers(reinterpret_cast<const double *>(bytes.data()),
                                 bytes.size() / sizeof(double));
        take(first, numbers);
        first += int64_t(numbers.size()) / size;
        return success();
      },
      [](double x) { return x; });
}

LogicalResult ParameterValues::evaluateAs(Type type, Attribute value,
                                          Location location, TakeBytes take) {
  std::unique_ptr<Expression> expression = express(value, location, nullptr);
  if (!expression)
    return failure();
  if (type.isF32())
    return store<float, float>(*expression, take, [](float x) { return x; });
  if (type.isBF16())
    return store<float, uint16_t>(*expression, take, narrowBf16);
  if (type.isF16())
    return store<float, uint16_t>(*expression, take, narrowF16);
  if (isa<Float8E4M3FNType>(type))
    return store<double, uint8_t>(*expression, take, narrowE4m3);
  if (type.isInteger(8))
    return store<int8_t, int8_t>(*expression, take, [](int8_t x) { return x; });
  return store<double, int32_t>(
      *expression, take, [](double x) { return int32_t(std::nearbyint(x)); });
}
