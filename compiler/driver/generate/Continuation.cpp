// Feeds a session of the entry `next`: a prompt in pieces, then single tokens.
// Must not know how the next token is chosen.
#include "compiler/driver/generate/Continuation.h"
#include "dialects/kernel/Signature.h"

using namespace mille;

namespace {

// The most tokens of a run. A longer prompt runs in pieces, so that the arena
// of a session does not grow with its context.
constexpr int64_t mostTokens = 512;

} // namespace

Status Continuation::open(const Package &package, mlir::MLIRContext &context,
                          unsigned threads, int64_t tokens,
                          std::unique_ptr<Continuation> &continuation) {
  continuation = std::make_unique<Continuation>();
  Compiled::Wishes wishes;
  wishes.entry = "next";
  wishes.context = tokens;
  if (Status status =
          Compiled::open(package, "", context, continuation->compiled, wishes);
      failed(status))
    return status;
  if (Status status = continuation->findPorts(context); failed(status))
    return status;
  return continuation->compiled->createSession(
      {{sizes::batch.str(), 1},
       {sizes::tokens.str(), std::min(tokens, mostTokens)},
       {sizes::context.str(), tokens}},
      threads);
}

Status Continuation::findPorts(mlir::MLIRContext &context) {
  bool hasIds = false, hasLogits = false;
  auto wrong = [&](const llvm::Twine &what) {
    mlir::emitError(mlir::UnknownLoc::get(&context))
        << "entry next " << what << ", so no text can be generated";
    return Status::input;
  };
  for (auto [i, input] : llvm::enumerate(compiled->inputList())) {
    llvm::StringRef name = input.name;
    if (name == "input_ids")
      idsInput = i, hasIds = true;
    else if (name == kernel::pastName)
      pastInput = i;
    else if (!input.optional)
      return wrong("wants the input " + name);
  }
  for (auto [i, output] : llvm::enumerate(compiled->outputList())) {
    if (llvm::StringRef(output.name) == "logits")
      logitsOutput = i, hasLogits = true;
    outputs.emplace_back(output.shape[output.rank - 1]);
  }
  if (!hasIds || !hasLogits)
    return wrong(hasIds ? "has no logits" : "has no input_ids");
  return Status::done;
}

llvm::ArrayRef<float> Continuation::logits() const {
  return outputs[logitsOutput];
}

int64_t Continuation::vocabulary() const {
  return outputs[logitsOutput].size();
}

Status Continuation::append(llvm::ArrayRef<int32_t> more) {
  for (; !more.empty();
       more = more.drop_front(std::min<size_t>(more.size(), mostTokens)))
    if (Status status = run(more.take_front(mostTokens)); failed(status))
      return status;
  return Status::done;
}

Status Continuation::follow(llvm::ArrayRef<int32_t> all, size_t &ran) {
  size_t same = 0;
  while (same < ids.size() && same + 1 < all.size() && ids[same] == all[same])
    ++same;
  ids.resize(same); // the states forget what stands behind it
  ran = all.size() - same;
  return append(all.drop_front(same));
}

Status Continuation::run(llvm::ArrayRef<int32_t> piece) {
  const int32_t past = ids.size();
  std::vector<const void *> inputs(compiled->inputList().size());
  inputs[idsInput] = piece.data();
  inputs[pastInput] = &past;
  std::vector<float *> into;
  for (std::vector<float> &output : outputs)
    into.push_back(output.data());
  const mille_size sizes[] = {{"batch", 1}, {"tokens", int64_t(piece.size())}};
  ids.insert(ids.end(), piece.begin(), piece.end());
  return compiled->runOn(sizes, inputs.data(), into.data());
}
