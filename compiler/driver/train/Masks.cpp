// Must not trust an id of a tokenizer: the model may have fewer.
#include "compiler/driver/train/Masks.h"

#include "compiler/driver/Console.h"
#include "compiler/driver/package/PackageText.h"
#include "compiler/driver/package/Reference.h"
#include "dialects/transformer/Training.h"
#include "runtime/abi.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

#include <charconv>

using namespace mille;

namespace {

// The fewest digits that give the number back.
std::string textOf(double number) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, number).ptr);
}

// Asks the package's tokenizer for its mask, unless `mask` is known, and adds
// its special tokens to `never`.
Status askTokenizer(const Package &package, mlir::MLIRContext &context,
                    std::optional<int32_t> &mask, std::vector<int32_t> &never) {
  if (!llvm::sys::fs::exists(package.file("tokens")))
    return Status::done;
  OpenText text(nullptr, mille_text_close);
  if (Status status = openText(package, context, text); failed(status))
    return status;
  int32_t id = 0;
  if (!mask && mille_text_role(text.get(), "mask", &id) == MILLE_TEXT_OK)
    mask = id;
  size_t count = 0;
  mille_text_count(text.get(), &count);
  for (int32_t token = 0; token < int32_t(count); ++token) {
    const char *bytes = nullptr;
    size_t size = 0;
    int special = 0;
    if (mille_text_token(text.get(), token, &bytes, &size, &special) ==
            MILLE_TEXT_OK &&
        special)
      never.push_back(token);
  }
  return Status::done;
}

// A hidden token is guessed from those on both sides of it.
Status checkSight(const Package &package, mlir::MLIRContext &context) {
  Reference reference;
  if (Status status = Reference::read(package, context, reference);
      failed(status))
    return status;
  transformer::AttendOp causal;
  reference.model()->walk([&](transformer::AttendOp op) {
    if (!causal && op.getMask() == transformer::Mask::causal && !op.getPrefix())
      causal = op;
  });
  if (!causal)
    return Status::done;
  return refuseOptions("--mask is given but a token of " + package.name +
                           " sees the tokens before it alone: its attention "
                           "is causal",
                       "without --mask a token's label is the next one");
}

} // namespace

Status Masks::open(const MaskOptions &options, const TrainedPackage &trained,
                   mlir::MLIRContext &context, Masks &masks) {
  const Package &package = trained.package;
  if (Status status = checkSight(package, context); failed(status))
    return status;
  std::optional<int32_t> id = options.id;
  masks.never = options.never;
  if (Status status = askTokenizer(package, context, id, masks.never);
      failed(status))
    return status;
  if (!id)
    return refuseOptions("--mask is given but package " + package.name +
                             " has no tokenizer with a mask",
                         "--mask-id=ID says which token hides others");
  int64_t ids = 0;
  for (const mille_tensor &input : trained.inputs())
    if (llvm::StringRef(input.name) == "input_ids")
      ids = input.below;
  if (*id >= ids)
    return refuseOptions("the mask's id is " + llvm::Twine(*id) +
                             " but package " + package.name + " has " +
                             llvm::Twine(ids) + " ids",
                         "--mask-id=ID says which token hides others");
  masks.never.push_back(*id);
  llvm::sort(masks.never);
  masks.never.erase(llvm::unique(masks.never), masks.never.end());
  masks.how = {options.rate, options.replaced, options.random, *id,
               int32_t(ids)};
  masks.api = &trained.functions();
  return Status::done;
}

std::string Masks::text() const {
  constexpr size_t most = 8; // ids in the text; a hash stands for more
  std::string ids;
  if (never.size() > most)
    ids = std::to_string(never.size()) + " ids (" +
          llvm::utohexstr(mille_weights_hash(MILLE_HASH_START, never.data(),
                                             never.size() * sizeof(int32_t)),
                          /*LowerCase=*/true) +
          ")";
  else
    ids = llvm::join(
        llvm::map_range(never, [](int32_t id) { return std::to_string(id); }),
        " ");
  return textOf(how.rate) + ", " + textOf(how.replaced) + " by " +
         std::to_string(how.id) + ", " + textOf(how.random) +
         " at random, never " + ids;
}
