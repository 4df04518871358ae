// Builds the beginning of stacks that read no ids: patches, merged tokens,
// sound.
#include "compiler/import/model/ModelBuilder.h"

using namespace mlir;
using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::StringRef;

// i32 [batch, n]: these numbers for each sequence. Made once, at the top of
// `forward`, for all readers.
Value ModelBuilder::tokenNumbers(ArrayRef<int64_t> numbers) {
  Value &value = numbered[std::vector<int64_t>(numbers)];
  if (value)
    return value;
  OpBuilder::InsertionGuard guard(op);
  op.setInsertionPointToStart(&forward.getBody().front());
  Value like = forward.getArgument(0);
  auto type = RankedTensorType::get(
      {ShapedType::kDynamic, int64_t(numbers.size())}, op.getI32Type());
  value = TokenNumbersOp::create(op, where(spec.at), type, like, numbers);
  return value;
}

Value ModelBuilder::gatherTokens(Value x, ArrayRef<int64_t> index,
                                 int64_t group) {
  int64_t channels =
      llvm::cast<RankedTensorType>(x.getType()).getShape().back();
  auto type = RankedTensorType::get(
      {ShapedType::kDynamic, int64_t(index.size()) / group, group * channels},
      f32);
  return GatherTokensOp::create(op, where(spec.at), type, x,
                                op.getDenseI64ArrayAttr(index),
                                op.getI64IntegerAttr(group));
}

// Reshapes a convolution's weight [out, in, kernel...] to a linear's, [out, in
// * kernel]. `tokensFirst`: the input is tokens side by side, not the channels
// of a patch.
FlatSymbolRefAttr ModelBuilder::convolution(StringRef name,
                                            SmallVector<Dimension, 2> shape,
                                            bool tokensFirst, LocationAttr at) {
  const std::string weight = (name + ".weight").str();
  auto symbol = FlatSymbolRefAttr::get(&context, weight);
  Attribute value = valueOf({weight, shape, Role::dense});
  if (!value)
    return symbol;
  Dimension flat{1, {}};
  for (const Dimension &dimension : ArrayRef(shape).drop_front()) {
    flat.size *= dimension.size;
    flat.from.append(dimension.from.begin(), dimension.from.end());
  }
  if (tokensFirst)
    value =
        PermuteAttr::get(&context, value, op.getDenseI64ArrayAttr({0, 2, 1}));
  value = ReshapeAttr::get(&context, value,
                           op.getDenseI64ArrayAttr({shape[0].size, flat.size}));
  declare(weight, {shape[0], flat}, value, at);
  return symbol;
}

// The rows of a position table as it is stored, for messages with its keys.
static Dimension storedRows(const Image &image, int64_t placed) {
  return {placed + image.ownGrid().tokens(),
          {&image.ownHeight, &image.ownWidth, &image.patchHeight,
           &image.patchWidth}};
}

// [tokens, channels]: the rows of the position table; zeros for tokens without
// a row.
Attribute ModelBuilder::imagePositions(const Image &image) {
  std::vector<int64_t> index;
  int64_t rows = 0;
  for (const LeadingTokens &token : image.leading)
    for (int64_t i = 0; i < token.count.value; ++i)
      index.push_back(token.placed ? rows++ : -1);
  for (int64_t i = 0; i < image.grid().tokens(); ++i)
    index.push_back(rows++);
  Dimension stored = storedRows(image, rows - image.grid().tokens());
  Attribute table = valueOf(
      {named("position.weight"), {stored, dim(stack->hidden)}, Role::position});
  if (!table || rows == int64_t(index.size()))
    return table;
  return GatherAttr::get(&context, table, op.getDenseI64ArrayAttr(index));
}

// The rows of the leading tokens, then those of the patches: the projection's
// bias where there are leading tokens, which must not have it. Null if there
// is nothing to add; `found` is false if an error is reported already.
Attribute ModelBuilder::baseRows(const Image &image, int64_t patches,
                                 bool &found) {
  Dimension channels = dim(stack->hidden);
  const int64_t leading = image.leadingTokens();
  SmallVector<Attribute> parts;
  auto add = [&](StringRef name, Role role, SmallVector<Dimension, 2> shape) {
    parts.push_back(valueOf({named(name), std::move(shape), role}));
    found &= bool(parts.back());
  };
  for (const LeadingTokens &token : image.leading)
    add(token.name, Role::position, {dim(token.count), channels});
  const bool bias = image.bias && leading > 0;
  if (bias)
    add("patch.bias", Role::bias, {channels});
  if (parts.empty() || !found)
    return {};
  return tokenRows(parts, leading, patches, bias);
}

// The sum to add to the projected patches: leading tokens and the projection's
// bias, each in its rows, and positions. Null if there is nothing to add.
FlatSymbolRefAttr ModelBuilder::tokenTable(const Image &image) {
  if (image.leading.empty() && !image.positions)
    return {};
  Dimension tokens{
      image.tokens(),
      {&image.height, &image.width, &image.patchHeight, &image.patchWidth}};
  bool found = true;
  Attribute sum = baseRows(image, image.grid().tokens(), found);
  if (image.positions) {
    Attribute positions = imagePositions(image);
    found &= bool(positions);
    sum = sum && positions ? PlusAttr::get(&context, sum, positions)
                           : Attribute(positions);
  }
  const std::string name = named("tokens.weight");
  if (found)
    declare(name, {tokens, dim(stack->hidden)}, sum, image.height.at);
  return FlatSymbolRefAttr::get(&context, name);
}

// The same for an image of another grid than the positions' own: they are
// resized. Null if there is nothing to add.
Value ModelBuilder::resizedTable(const Image &image, Value pixels) {
  if (image.leading.empty() && !image.positions)
    return {};
  LocationAttr at = image.height.at;
  FlatSymbolRefAttr base, table;
  int64_t placed = 0;
  if (!image.leading.empty()) {
    bool found = true;
    const std::string name = named("tokens.weight");
    const Dimension rows{image.leadingTokens() + 1, {}};
    if (Attribute value = baseRows(image, 1, found))
      declare(name, {rows, dim(stack->hidden)}, value, at);
    base = FlatSymbolRefAttr::get(&context, name);
  }
  if (image.positions) {
    for (const LeadingTokens &token : image.leading)
      placed += token.placed ? token.count.value : 0;
    table = parameter(named("position.weight"), Role::position,
                      {storedRows(image, placed), dim(stack->hidden)}, at);
  }
  auto resize = table ? ResizeAttr::get(&context, *image.resize) : ResizeAttr();
  auto own = table ? op.getDenseI64ArrayAttr(
                         {image.ownGrid().height, image.ownGrid().width})
                   : DenseI64ArrayAttr();
  return PatchTableOp::create(op, where(at), stream(stack->hidden.value),
                              pixels,
                              op.getDenseI64ArrayAttr({image.patchHeight.value,
                                                       image.patchWidth.value}),
                              op.getI64IntegerAttr(image.leadingTokens()), base,
                              table, own, op.getI64IntegerAttr(placed), resize);
}

// [leading + patches, channels]: the rows of the leading tokens, then in every
// patch's row the last part (a bias), or zeros.
Attribute ModelBuilder::tokenRows(SmallVector<Attribute> parts, int64_t leading,
                                  int64_t patches, bool bias) {
  if (bias) {
    Attribute row =
        ReshapeAttr::get(&context, parts.back(),
                         op.getDenseI64ArrayAttr({1, stack->hidden.value}));
    parts.back() = RepeatAttr::get(&context, row, patches, false);
  }
  Attribute rows =
      parts.size() == 1 ? parts[0] : ConcatAttr::get(&context, parts);
  if (bias)
    return rows;
  SmallVector<int64_t> index(leading + patches, -1);
  for (int64_t i = 0; i < leading; ++i)
    index[i] = i;
  return GatherAttr::get(&context, rows, op.getDenseI64ArrayAttr(index));
}

Value ModelBuilder::addTokenTable(Value x, FlatSymbolRefAttr table,
                                  LocationAttr at) {
  SmallVector<int64_t> rows(tokens);
  for (int64_t i = 0; i < tokens; ++i)
    rows[i] = i;
  Value sum = EmbedOp::create(
      op, where(at), x.getType(), tokenNumbers(rows), op.getArrayAttr(table),
      op.getDenseI64ArrayAttr({0}), op.getF64FloatAttr(1));
  return AddOp::create(op, where(at), x, sum);
}

Value ModelBuilder::embedImage() {
  const Image &image = *stack->image;
  LocationAttr at = image.height.at;
  const Extent &high = image.patchHeight, &wide = image.patchWidth;
  tokens = image.ofRuns ? ShapedType::kDynamic : image.tokens();
  Value pixels = inputNamed("pixel_values");
  const int64_t width = image.channels.value * high.value * wide.value;
  Value x = PatchesOp::create(op, where(at), stream(width), pixels,
                              op.getDenseI64ArrayAttr({high.value, wide.value}),
                              op.getDenseI64ArrayAttr({high.value, wide.value}),
                              op.getDenseI64ArrayAttr({0, 0}),
                              op.getI64IntegerAttr(image.leadingTokens()));
  auto weight = convolution(
      named("patch"),
      {dim(stack->hidden), dim(image.channels), dim(high), dim(wide)}, false,
      at);
  // If there are leading tokens, their rows must stay zeros here, so the bias
  // goes into the table.
  FlatSymbolRefAttr bias;
  if (image.bias && image.leading.empty())
    bias = parameter(named("patch.bias"), Role::bias, {dim(stack->hidden)}, at);
  x = apply(x, weight, bias, stack->hidden.value, at);
  Value resized;
  FlatSymbolRefAttr table;
  if (image.resized())
    resized = resizedTable(image, pixels);
  else
    table = tokenTable(image);
  if (image.normFirst)
    x = normed(x, stack->embedNorm, named("embed_norm"));
  if (resized)
    x = AddOp::create(op, where(at), x, resized);
  else if (table)
    x = addTokenTable(x, table, at);
  return image.normFirst ? x : normed(x, stack->embedNorm, named("embed_norm"));
}

Value ModelBuilder::embedMerged() {
  const Merging &merging = *stack->merging;
  Value x;
  if (isSized(memory)) {
    x = move(memory, Move::merge, merging.side, 0, 0);
  } else {
    const std::vector<int64_t> index = mergeIndex(merging.grid);
    x = gatherTokens(memory, index, 4);
    tokens = int64_t(index.size()) / 4;
  }
  Extent four = *memoryWidth;
  four.value *= 4;
  four.key = "4 * " + four.key;
  if (merging.normFirst)
    x = normed(x, stack->embedNorm, merging.prefix + "merge_norm", &four);
  x = linear(x, merging.prefix + "merge", Role::dense, dim(stack->hidden),
             dim(four), false, stack->hidden.at);
  return merging.normFirst
             ? x
             : normed(x, stack->embedNorm, merging.prefix + "merge_norm");
}

Value ModelBuilder::embedSound() {
  const Sound &sound = *stack->sound;
  LocationAttr at = sound.frames.at;
  const Dimension out = dim(stack->hidden), three{3, {}};
  tokens = 2 * sound.frames.value;
  Value x = PatchesOp::create(
      op, where(at), stream(3 * sound.bands.value),
      inputNamed("input_features"), op.getDenseI64ArrayAttr({1, 3}),
      op.getDenseI64ArrayAttr({1, 1}), op.getDenseI64ArrayAttr({0, 1}),
      op.getI64IntegerAttr(0));
  auto convolve = [&](StringRef name, Dimension in, bool tokensFirst) {
    auto weight = convolution(named(name), {out, in, three}, tokensFirst, at);
    auto bias = parameter(named((name + ".bias").str()), Role::bias, {out}, at);
    x = apply(x, weight, bias, stack->hidden.value, at);
    x = ActivateOp::create(op, where(at), x, sound.act);
  };
  convolve("first_convolution", dim(sound.bands), false);
  SmallVector<int64_t> index;
  for (int64_t token = 0; token < sound.frames.value; ++token)
    index.append({token == 0 ? -1 : 2 * token - 1, 2 * token, 2 * token + 1});
  x = gatherTokens(x, index, 3);
  tokens = sound.frames.value;
  convolve("second_convolution", out, true);
  FlatSymbolRefAttr table;
  if (stack->positions) {
    positions(table, stack->hidden);
    x = addTokenTable(x, table, at);
  }
  return normed(x, stack->embedNorm, named("embed_norm"));
}
