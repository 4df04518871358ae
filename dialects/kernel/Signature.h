// What an entry of a program takes and gives, read off its attributes.
// Changes nothing.
#pragma once
#include "dialects/kernel/Kernel.h"

namespace mille::kernel {

// The input that says how many tokens of each sequence an entry's states hold.
constexpr llvm::StringLiteral pastName = "past";

// What the elements of an input, an output or a state are; bf16 of states only.
enum class PortElement { i32, f32, bf16 };
llvm::StringRef wordOf(PortElement element);

// One input, output or state; mirrors mille_tensor_info of runtime/abi.h.
struct TensorInfo {
  std::string name;
  PortElement element = PortElement::i32;
  Shape shape;
  std::string fallback; // "", ones, zeros, positions, none
  int64_t below = 0;    // exclusive upper bound of ids, 0: none
};

// A size that each run chooses, by its name.
struct SizeInfo {
  std::string name;
  int64_t most = 0;    // of learned positions; 0: any
  bool ofRuns = false; // in an input or output; else each session chooses it
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
  // Those in a shape, the batch first, then in the order of the arguments.
  std::vector<SizeInfo> sizes;

  // The number of the output of that name, or -1.
  int64_t find(llvm::StringRef output) const;
  // The size of that name, or null where it is in no shape.
  const SizeInfo *size(llvm::StringRef name) const;
};

// What the entries of a model share: all that one of them has, once, in the
// order of the entries.
struct SharedSignature {
  std::vector<SizeInfo> sizes; // the batch first
  std::vector<TensorInfo> states;
  std::vector<ScheduledScale> scales;

  // The number of what has this name, or -1.
  int64_t size(llvm::StringRef name) const;
  int64_t state(llvm::StringRef name) const;
  int64_t scale(llvm::StringRef name) const;
};

// The entries of a model, or of the model in a module, in order: the first is
// the one that runs where none is named.
llvm::SmallVector<mlir::func::FuncOp> entriesOf(mlir::Operation *model);
// The entry of that name (empty: the first), or null.
mlir::func::FuncOp entryOf(mlir::Operation *model, llvm::StringRef name);
// The first entry, or null.
mlir::func::FuncOp forwardOf(mlir::Operation *model);

// The shape of an input or result of `type`: `declared` where that is a shape,
// else by the type: [batch, tokens, ...].
Shape portShape(mlir::Type type, mlir::Attribute declared);

// How many arguments before the inputs are sizes of the run. Each says its
// name: `kernel.size`.
unsigned sizeArguments(mlir::func::FuncOp entry);
// The name of argument `number`, "" where it is no size.
llvm::StringRef sizeName(mlir::func::FuncOp entry, unsigned number);
// The argument that is the size of this name, or null.
mlir::BlockArgument sizeArgument(mlir::func::FuncOp entry,
                                 llvm::StringRef name);

// The arena of a planned `forward`, off its attributes.
struct ArenaSizes {
  int64_t bytesPerRow = 0;
  int64_t fixedTokens = 0; // the most rows per sequence that no run changes
  int64_t slots = 1;       // the most rows of a buffer per row
  bool stateRows = false;  // a buffer has as many rows as a state
};
ArenaSizes arenaSizesOf(mlir::func::FuncOp forward);

// Which rows of padding a run may leave out, off the attributes of `forward`;
// mirrors mille_model's padding_ends and mask_input.
struct RemovablePadding {
  static constexpr int64_t after = 1, before = 2;
  int64_t ends = 0; // of a sequence
  int64_t maskInput = 0;
};
RemovablePadding removablePaddingOf(mlir::func::FuncOp forward);

// Works on tensors (results are outputs) and, after planning, on memrefs (the
// last arguments are). What `kernel.keep` and `kernel.similarity` write comes
// after the results.
Signature signatureOf(mlir::func::FuncOp forward);
SharedSignature sharedSignatureOf(mlir::Operation *model);

// Whether argument `number` is a state: memory that outlives a run.
bool isState(mlir::func::FuncOp entry, unsigned number);

// The argument that says which tokens are no padding, i32 [batch, tokens] with
// ones as its default; null where an entry has none.
mlir::BlockArgument maskOf(mlir::func::FuncOp entry);

} // namespace mille::kernel
