// Reads the branches of a native spec: their kind and their pattern by layer.
#include "compiler/import/spec/Spec.h"

#include <deque>

using namespace mille;
using namespace mille::import;

namespace {

// The branch's keys, with those of a pattern's entry replacing them.
json::Value merged(const json::Value &branch, const json::Value &entry) {
  json::Value whole = branch;
  llvm::erase_if(whole.members, [&](const json::Member &member) {
    return member.key == "pattern" || entry.find(member.key);
  });
  for (const json::Member &member : entry.members)
    whole.members.push_back(member);
  return whole;
}

// Reads the layers of one kind; nothing if the kind is unknown.
void readAs(SpecFields &fields, const Stack &stack, size_t kind,
            PerLayer<Attention> &attention,
            PerLayer<FeedForward> &feedForward) {
  if (kind == 0)
    attention.all.push_back(readAttention(fields, stack));
  else
    feedForward.all.push_back(readFeedForward(fields));
}

// Reads a pattern layer by layer; each entry's keys replace those of the
// branch.
void readPattern(SpecFields &fields, const json::Value &self,
                 const json::Value &pattern, const Stack &stack, size_t kind,
                 Branch &branch) {
  Branch entries;
  for (const json::Value &entry : pattern.items) {
    json::Value whole = merged(self, entry);
    SpecFields layer = fields.as(whole, "branch", "a branch");
    if (layer.choice("kind") != kind)
      layer.error("kind", "kind differs from the branch's own, which is \"" +
                              std::string(kind == 0 ? "attention" : "ffn") +
                              "\"");
    layer.ignore("name");
    readAs(layer, stack, kind, entries.attention, entries.feedForward);
    layer.refuseRest();
  }
  for (int64_t layer = 0; layer < stack.layers.value; ++layer) {
    size_t entry = layer % pattern.items.size();
    if (kind == 0)
      branch.attention.all.push_back(entries.attention.all[entry]);
    else
      branch.feedForward.all.push_back(entries.feedForward.all[entry]);
  }
}

} // namespace

Branch mille::import::readBranch(SpecFields &fields, const json::Value &self,
                                 const Stack &stack) {
  Branch branch;
  branch.at = fields.at();
  const size_t before = fields.problems.count();
  size_t kind = fields.choice("kind");
  branch.name = fields.text("name", kind == 0 ? "attn" : "ffn");
  if (fields.problems.count() > before) { // the other keys depend on this one
    branch.name = fields.text("name", "branch");
    fields.ignoreRest();
    return branch;
  }
  const json::Value *pattern = fields.list("pattern");
  if (pattern && !pattern->items.empty()) {
    readPattern(fields, self, *pattern, stack, kind, branch);
    fields.ignoreRest(); // reading the entries has reported unknown keys
    return branch;
  }
  readAs(fields, stack, kind, branch.attention, branch.feedForward);
  return branch;
}
