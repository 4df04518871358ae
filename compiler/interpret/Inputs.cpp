// Binds named inputs to the arguments of forward: names, shapes that agree, id
// bounds, defaults. Must not read files.
#include "compiler/interpret/Inputs.h"
#include "compiler/interpret/Numbers.h"
#include "dialects/kernel/Signature.h"
#include "dialects/transformer/Grid.h"
#include "dialects/transformer/Shape.h"
#include "llvm/ADT/StringExtras.h"

#include <limits>

using namespace mlir;
using namespace mille;
using namespace mille::interpreter;

StringRef mille::interpreter::inputName(func::FuncOp forward, unsigned i) {
  auto name = forward.getArgAttrOfType<StringAttr>(i, "transformer.name");
  return name ? name.getValue() : StringRef();
}

StringRef mille::interpreter::outputName(func::FuncOp forward, unsigned i) {
  auto name = forward.getResultAttrOfType<StringAttr>(i, "transformer.name");
  return name ? name.getValue() : StringRef();
}

Shape mille::interpreter::inputShape(func::FuncOp forward, unsigned i) {
  return kernel::portShape(forward.getArgumentTypes()[i],
                           forward.getArgAttr(i, "transformer.shape"));
}

Shape mille::interpreter::outputShape(func::FuncOp forward, unsigned i) {
  return kernel::portShape(forward.getResultTypes()[i],
                           forward.getResultAttr(i, "transformer.shape"));
}

std::vector<int64_t>
mille::interpreter::extentsOf(const Run &run, ArrayRef<ShapeExtent> shape) {
  std::vector<int64_t> extents;
  for (const ShapeExtent &extent : shape)
    extents.push_back(extent.isSize() ? run.sizes.lookup(extent.size)
                                      : extent.count);
  return extents;
}

namespace {

std::string positionOf(size_t flat, ArrayRef<int64_t> shape) {
  std::vector<int64_t> at(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    at[i] = flat % shape[i];
    flat /= shape[i];
  }
  return shapeText(at);
}

class Binder {
public:
  Binder(Run &run, func::FuncOp forward, const Values &inputs)
      : run(run), forward(forward), inputs(inputs) {}

  Status bind() {
    if (Status s = checkNames(); failed(s))
      return s;
    for (unsigned i = 0; i < forward.getNumArguments(); ++i)
      if (Status s = measure(i); failed(s))
        return s;
    takeContext();
    if (Status s = deriveSizes(); failed(s))
      return s;
    if (Status s = checkSizes(); failed(s))
      return s;
    for (unsigned i = 0; i < forward.getNumArguments(); ++i)
      if (Status s = set(i); failed(s))
        return s;
    return checkPast();
  }

private:
  // The place is that of no line of the program: what is wrong are the inputs.
  InFlightDiagnostic errorOnInputs() {
    return emitError(UnknownLoc::get(forward.getContext()));
  }
  Status wrong(const Twine &what) {
    errorOnInputs() << what;
    return Status::input;
  }

  // Leading index arguments of a kernel program are sizes, without a name.
  bool isSize(unsigned i) { return forward.getArgumentTypes()[i].isIndex(); }
  StringRef defaultOf(unsigned i) {
    auto word = forward.getArgAttrOfType<StringAttr>(i, "transformer.default");
    return word ? word.getValue() : StringRef();
  }

  Status checkNames() {
    std::vector<std::string> known;
    std::string missing;
    for (unsigned i = 0; i < forward.getNumArguments(); ++i) {
      if (isSize(i))
        continue;
      if (!isa<RankedTensorType>(forward.getArgumentTypes()[i])) {
        forward.emitError()
            << "argument " << i << " of forward is not a tensor: "
            << "the interpreter runs programs before they are planned";
        return Status::input;
      }
      known.push_back(inputName(forward, i).str());
      if (missing.empty() && !inputs.count(known.back()) &&
          defaultOf(i).empty() && !kernel::isState(forward, i))
        missing = known.back();
    }
    // First what is given: a name that is misspelt is also one that is missing.
    for (auto &[name, value] : inputs)
      if (!llvm::is_contained(known, name)) {
        auto error = errorOnInputs()
                     << "input " << name << " is given but the model has none "
                     << "of that name";
        error.attachNote() << "its inputs are " << llvm::join(known, ", ");
        return Status::input;
      }
    return missing.empty() ? Status::done
                           : wrong("input " + missing + " is missing");
  }

  const Tensor *given(StringRef name) const {
    auto found = inputs.find(name.str());
    return found == inputs.end() ? nullptr : &found->second;
  }
  // The tokens of each sequence that states hold before the run; null: none.
  const Tensor *past() const { return given(kernel::pastName); }
  // The same of an encoder's tokens; null: this run's tokens are those.
  const Tensor *sourceTokens() const { return given(kernel::sourceTokensName); }

  static int64_t most(const Tensor *numbers) {
    double most = 0;
    if (numbers)
      for (double number : numbers->numbers)
        most = std::max(most, number);
    return int64_t(most);
  }

  // Without a given state, its number of rows is that needed after the run.
  void takeContext() {
    const int64_t tokens = run.sizes.lookup(mille::sizes::tokens);
    for (unsigned i = 0; i < forward.getNumArguments(); ++i) {
      if (!kernel::isState(forward, i))
        continue;
      ShapeExtent rows = inputShape(forward, i)[2];
      if (rows.isSize())
        run.sizes.try_emplace(rows.size, rows.size == mille::sizes::source &&
                                                 sourceTokens()
                                             ? most(sourceTokens())
                                             : most(past()) + tokens);
    }
  }

  // Checks the sides of images, and sets the sizes that follow from them.
  Status deriveSizes() {
    for (BlockArgument pixels : forward.getArguments()) {
      auto grid = transformer::gridOf(pixels);
      if (!grid)
        continue;
      int64_t sides[2];
      for (unsigned axis : {0, 1}) {
        StringRef name = transformer::sideOf(pixels, axis);
        sides[axis] = run.sizes.lookup(name);
        const int64_t least = grid.getLeastOf(axis),
                      multiple = grid.getMultiple(axis);
        if (sides[axis] < least || sides[axis] % multiple)
          return wrong(name + " is " + Twine(sides[axis]) + " but must be " +
                       (sides[axis] < least
                            ? "at least " + Twine(least)
                            : "a multiple of " + Twine(multiple)));
      }
      run.sizes[grid.getTokens()] = grid.countTokens(sides[0], sides[1]);
      for (transformer::PartAttr part : grid.getParts())
        run.sizes[part.getTokens()] = part.countTokens(sides[0], sides[1]);
    }
    return Status::done;
  }

  // The run's tokens of a sequence up to its last unmasked one.
  int64_t tokensShown(int64_t sequence) {
    int64_t tokens = run.sizes.lookup(mille::sizes::tokens);
    BlockArgument mask = kernel::maskOf(forward);
    if (!mask)
      return tokens;
    auto given = inputs.find(inputName(forward, mask.getArgNumber()).str());
    return interpreter::tokensShown(
        given == inputs.end() ? nullptr : &given->second, sequence, tokens);
  }

  // States have room for the tokens that they hold and for those of the run,
  // but not for padding after them.
  Status checkPast() {
    const Tensor *given = past();
    for (unsigned i = 0; i < forward.getNumArguments(); ++i) {
      if (!kernel::isState(forward, i))
        continue;
      ShapeExtent rows = inputShape(forward, i)[2];
      int64_t room = run.sizes.lookup(rows.size);
      if (const Tensor *source = sourceTokens();
          source && rows.size == mille::sizes::source) {
        if (Status s = checkSource(*source, room); failed(s))
          return s;
        continue;
      }
      if (!given)
        continue;
      for (auto [sequence, held] : llvm::enumerate(given->numbers))
        if (int64_t tokens = tokensShown(sequence);
            held < 0 || (rows.isSize() && held + tokens > room))
          return wrong("sequence " + Twine(sequence) + " has " +
                       Twine(int64_t(held)) + " tokens and " + Twine(tokens) +
                       " new ones but " + inputName(forward, i) + " holds " +
                       Twine(room));
    }
    return Status::done;
  }

  Status checkSource(const Tensor &source, int64_t room) {
    for (auto [sequence, held] : llvm::enumerate(source.numbers))
      if (held < 1 || held > room)
        return wrong(kernel::sourceTokensName + "[" + Twine(sequence) +
                     "] is " + Twine(int64_t(held)) +
                     " but must be at least 1 and at most " + Twine(room));
    return Status::done;
  }

  // "sequences", "decoder tokens", "pixels of height"
  static std::string inWords(StringRef size) {
    std::string words = size == sizes::batch ? "sequences" : size.str();
    if (size == sizes::height || size == sizes::width)
      words = "pixels of " + words;
    std::replace(words.begin(), words.end(), '_', ' ');
    return words;
  }

  // Checks that the sizes of inputs without a value are known.
  Status checkSizes() {
    if (!run.sizes.count(sizes::batch))
      return wrong("no input says how many sequences there are");
    for (unsigned i = 0; i < forward.getNumArguments(); ++i) {
      if (isSize(i))
        continue;
      for (const ShapeExtent &extent : inputShape(forward, i))
        if (extent.isSize() && !run.sizes.count(extent.size))
          return wrong("no input says how many " + inWords(extent.size) +
                       " input " + inputName(forward, i) + " has");
    }
    return checkMost();
  }

  // Checks sizes against the model's maxima.
  Status checkMost() {
    auto model = forward->getParentOfType<transformer::ModelOp>();
    for (const auto &entry : run.sizes) {
      StringRef size = entry.first();
      auto most = model
                      ? model->getAttrOfType<IntegerAttr>(("max_" + size).str())
                      : IntegerAttr();
      auto input = saidBy.find(size.str());
      std::string who =
          input == saidBy.end()
              ? "the run"
              : ("input " + inputName(forward, input->second)).str();
      if (most && most.getInt() > 0 && entry.second > most.getInt())
        return wrong(who + " has " + Twine(entry.second) + " " + inWords(size) +
                     " but the model takes at most " + Twine(most.getInt()));
    }
    return Status::done;
  }

  // Shape of a given input against the declared one; sets the run's sizes.
  Status measure(unsigned i) {
    if (isSize(i))
      return Status::done;
    StringRef name = inputName(forward, i);
    auto given = inputs.find(name.str());
    if (given == inputs.end())
      return Status::done;
    const Tensor &value = given->second;
    Shape shape = inputShape(forward, i);
    bool ids = cast<ShapedType>(forward.getArgumentTypes()[i])
                   .getElementType()
                   .isInteger();
    if (ids && !value.integer && !kernel::isState(forward, i))
      return wrong("input " + name + " holds floats but must hold integers");
    if (value.shape.size() != shape.size())
      return wrong("input " + name + " is " + shapeText(value.shape) +
                   " but must have rank " + Twine(shape.size()));
    for (size_t d = 0; d < shape.size(); ++d) {
      int64_t extent = value.shape[d];
      if (!shape[d].isSize() && extent != shape[d].count)
        return wrong("input " + name + " is " + shapeText(value.shape) +
                     " but extent " + Twine(d) + " must be " + shape[d].text());
      if (!shape[d].isSize())
        continue;
      if (extent == 0)
        return wrong("input " + name + " is " + shapeText(value.shape) +
                     " but a run needs at least one sequence and one token");
      auto [size, isFirst] = saidBy.try_emplace(shape[d].size, i);
      auto [number, isFree] = run.sizes.try_emplace(shape[d].size, extent);
      if (isFirst && !isFree && number->second != extent)
        return wrong("input " + name + " is " + shapeText(value.shape) +
                     " but the run is for " + Twine(number->second) + " " +
                     inWords(shape[d].size));
      if (number->second != extent) {
        StringRef otherName = inputName(forward, size->second);
        return wrong("input " + name + " is " + shapeText(value.shape) +
                     " but " + otherName + " is " +
                     shapeText(inputs.find(otherName.str())->second.shape));
      }
    }
    return Status::done;
  }

  Status checkIds(unsigned i, const Tensor &value) {
    auto below = forward.getArgAttrOfType<IntegerAttr>(i, "transformer.below");
    if (!value.integer)
      return Status::done;
    double bound = below && below.getInt() > 0
                       ? double(below.getInt())
                       : double(std::numeric_limits<int32_t>::max()) + 1;
    double least = below ? 0 : double(std::numeric_limits<int32_t>::min());
    for (auto [at, number] : llvm::enumerate(value.numbers))
      if (number < least || number >= bound)
        return wrong(
            "input " + inputName(forward, i) + " is " + Twine(int64_t(number)) +
            " at " + positionOf(at, value.shape) + " but must be from " +
            Twine(int64_t(least)) + " to " + Twine(int64_t(bound) - 1));
    return Status::done;
  }

  // The verifier admits no other defaults.
  void fill(unsigned i, Tensor &value) {
    value.shape = extentsOf(run, inputShape(forward, i));
    StringRef word = defaultOf(i);
    value.integer = cast<ShapedType>(forward.getArgumentTypes()[i])
                        .getElementType()
                        .isInteger();
    double number = word == "ones" ? 1
                    : word == "last" || word == "none"
                        ? std::numeric_limits<int32_t>::max()
                        : 0;
    value.numbers.assign(elementsOf(value.shape), number);
    if (word == "positions")
      for (size_t at = 0; at < value.numbers.size(); ++at)
        value.numbers[at] = at % value.shape.back();
  }

  Status setState(unsigned i) {
    auto given = inputs.find(inputName(forward, i).str());
    Tensor value = given == inputs.end()
                       ? zeros(extentsOf(run, inputShape(forward, i)))
                       : given->second;
    run.states[forward.getArgument(i)] = std::move(value);
    return Status::done;
  }

  Status set(unsigned i) {
    if (kernel::isState(forward, i))
      return setState(i);
    Tensor value;
    if (isSize(i)) {
      value.integer = true;
      value.numbers = {double(run.sizes.lookup(kernel::sizeName(forward, i)))};
      run.set(forward.getArgument(i), std::move(value));
      return Status::done;
    }
    auto given = inputs.find(inputName(forward, i).str());
    if (given != inputs.end())
      value = given->second;
    else
      fill(i, value);
    if (Status s = checkIds(i, value); failed(s))
      return s;
    if (inputName(forward, i) == "step" && !value.numbers.empty())
      run.step = value.numbers[0];
    flatten(i, value);
    run.set(forward.getArgument(i), std::move(value));
    return Status::done;
  }

  // [batch, ...] as the kernel program sees it: [rows, columns], [rows].
  void flatten(unsigned i, Tensor &value) {
    auto type = cast<ShapedType>(forward.getArgumentTypes()[i]);
    if (type.getRank() >= int64_t(value.shape.size()))
      return;
    int64_t columns = type.getRank() == 2 ? type.getDimSize(1) : 1;
    if (columns <= 0)
      return;
    value.shape = {int64_t(value.numbers.size()) / columns};
    if (type.getRank() == 2)
      value.shape.push_back(columns);
  }

  Run &run;
  func::FuncOp forward;
  const Values &inputs;
  std::map<std::string, unsigned> saidBy; // of each size the first input
};

} // namespace

Status mille::interpreter::bindInputs(Run &run, func::FuncOp forward,
                                      const Values &inputs) {
  return Binder(run, forward, inputs).bind();
}
