// The inputs, outputs, states and sizes of an entry, read from its attributes.
// Must not change the program.
#pragma once
#include "dialects/kernel/Kernel.h"

namespace mille::kernel {

// The name of the input that says how many tokens of each sequence an entry's
// states hold.
constexpr llvm::StringLiteral pastName = "past";
// And the name of the one that says how many tokens of each sequence's source
// they hold, where an encoder's keys and values are remembered.
constexpr llvm::StringLiteral sourceTokensName = "source_tokens";

// The element types of inputs, outputs and states; only states can be bf16, i8
// or f16.
enum class PortElement { i32, f32, bf16, i8, f16 };
llvm::StringRef wordOf(PortElement element);

// One input, output or state; mirrors mille_tensor_info of runtime/abi.h.
struct TensorInfo {
  std::string name;
  PortElement element = PortElement::i32;
  Shape shape;
  std::string fallback;            // "", ones, zeros, positions, none
  int64_t below = 0;               // exclusive upper bound of ids, 0: none
  transformer::GridAttr grid = {}; // of an image whose sides are sizes
};

// A size that follows from two others: prefix + each * (size / step) * (other /
// step), both rounded down, or up.
struct SizeRule {
  std::string from[2];
  int64_t step[2] = {1, 1};
  int64_t prefix = 0, each = 1;
  bool up = false;
};

// A size that each run chooses, by its name.
struct SizeInfo {
  std::string name;
  int64_t most = 0;     // the number of learned positions; 0: any
  bool ofRuns = false;  // each run chooses it; else each session does
  int64_t multiple = 1; // a run's number is a multiple of this
  int64_t own = 0;      // that the model was trained with; 0: none
  int64_t least = 0;    // of a run; 0: any
  std::optional<SizeRule> rule = {}; // absent: the application gives it

  bool isGiven() const { return !rule; }
};

// A scale that follows a schedule; mirrors mille_schedule_info of
// runtime/abi.h.
struct ScheduledScale {
  std::string name;
  double from = 0, to = 0;
  int64_t steps = 0;
};

struct Signature {
  std::vector<TensorInfo> inputs, outputs, states;
  std::vector<ScheduledScale> scales; // in the order of the program
  // The sizes in shapes: the batch first, then in the order of the arguments.
  std::vector<SizeInfo> sizes;

  // The index of the output with that name, or -1.
  int64_t find(llvm::StringRef output) const;
  // The size with that name, or null if no shape has it.
  const SizeInfo *size(llvm::StringRef name) const;
};

// The union of the sizes, states and scales of all entries of a model, in the
// order of the entries.
struct SharedSignature {
  std::vector<SizeInfo> sizes; // the batch first
  std::vector<TensorInfo> states;
  std::vector<ScheduledScale> scales;

  // The index of the item with this name, or -1.
  int64_t size(llvm::StringRef name) const;
  int64_t state(llvm::StringRef name) const;
  int64_t scale(llvm::StringRef name) const;
};

// The entries of a model, or of the model in a module, in order. The first is
// the default.
llvm::SmallVector<mlir::func::FuncOp> entriesOf(mlir::Operation *model);
// The entry with that name (empty: the first), or null.
mlir::func::FuncOp entryOf(mlir::Operation *model, llvm::StringRef name);
// The first entry, or null.
mlir::func::FuncOp forwardOf(mlir::Operation *model);

// The shape of an input or result of `type`: `declared` if that is a shape,
// else [batch, tokens, ...] by the type.
Shape portShape(mlir::Type type, mlir::Attribute declared);

// The number of arguments before the inputs that are sizes of the run. Each has
// its name in `kernel.size`.
unsigned sizeArguments(mlir::func::FuncOp entry);
// The name of the size that argument `number` is, or "".
llvm::StringRef sizeName(mlir::func::FuncOp entry, unsigned number);
// The argument that is the size with this name, or null.
mlir::BlockArgument sizeArgument(mlir::func::FuncOp entry,
                                 llvm::StringRef name);

// The most that an amount can be: a constant, a size of the run up to what the
// model takes, or a sum or product of such. Nothing where it has no bound.
std::optional<int64_t> mostOf(mlir::Value amount);

// The arena of a planned entry, read from its attributes.
struct ArenaSizes {
  int64_t bytesPerRow = 0;
  int64_t fixedBytes = 0;  // of buffers that no run's rows change
  int64_t fixedTokens = 0; // the most rows per sequence of a fixed number
  int64_t slots = 1;       // the most rows of a buffer per row of the run
  bool stateRows = false;  // a buffer has as many rows as a state
};
ArenaSizes arenaSizesOf(mlir::func::FuncOp forward);

// The padding rows that a run may leave out, read from the entry's attributes;
// mirrors mille_entry's padding_ends and mask_input.
struct RemovablePadding {
  static constexpr int64_t after = 1, before = 2;
  int64_t ends = 0; // the ends of a sequence, MILLE_PADDING_*
  int64_t maskInput = 0;
};
RemovablePadding removablePaddingOf(mlir::func::FuncOp forward);

// Reads the signature of an entry. On tensors the results are the outputs, and
// on memrefs, after planning, the last arguments. The outputs of `kernel.keep`
// and `kernel.similarity` come after these.
Signature signatureOf(mlir::func::FuncOp forward);
SharedSignature sharedSignatureOf(mlir::Operation *model);

// Whether argument `number` is a state: memory that outlives a run.
bool isState(mlir::func::FuncOp entry, unsigned number);

// The argument that masks padding, i32 [batch, tokens] with the default ones;
// null if an entry has none.
mlir::BlockArgument maskOf(mlir::func::FuncOp entry);

} // namespace mille::kernel
