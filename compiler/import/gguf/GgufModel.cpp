// The parts that all architectures share: the vocabulary, the head, RoPE's
// factors, types.
#include "compiler/import/gguf/GgufModel.h"

using namespace mille;
using namespace mille::import;
using llvm::StringRef;
using llvm::Twine;

// Checks the number of rows of the word table against the tokenizer and the
// key.
void GgufModel::compareVocabulary() {
  const StoredTensors::Entry *embed = tensors.find("token_embd.weight");
  if (!embed || embed->tensor->shape.size() != 2) {
    words->error("the file has no tensor 'token_embd.weight' [vocabulary, "
                 "width]");
    return;
  }
  const int64_t rows = embed->tensor->shape[0];
  words->say("vocab_size", Twine(rows));
  constexpr StringRef list = "tokenizer.ggml.tokens";
  if (const GgufKey *tokens = file.key(list);
      tokens && tokens->count != uint64_t(rows))
    words->error(list + " has " + Twine(tokens->count) +
                 " tokens but token_embd.weight has " + Twine(rows) + " rows");
  if (int64_t size = words->integer("vocab_size", rows); size != rows)
    words->error(words->whole("vocab_size") + " is " + Twine(size) +
                 " but token_embd.weight has " + Twine(rows) + " rows");
}

// Types of blocks that no kernel reads.
void GgufModel::noteTypes() {
  for (Encoding type : {Encoding::q2_k, Encoding::q3_k}) {
    size_t count = tensors.count(type);
    if (count)
      words->note(Twine(count) +
                  (count == 1 ? " tensor is " : " tensors are ") +
                  nameOf(type) + ", which is dequantised");
  }
}

void GgufModel::sayWords() {
  const Architecture &a = *architecture;
  words->say("model_type", "\"" + a.family->modelType + "\"");
  words->say("architectures", "[\"" + a.model + "\"]");
  words->say("tie_word_embeddings",
             words->holds("output.weight") ? "false" : "true");
  for (const KeyWord &word : a.usual)
    words->say(word);
  for (const KeyWord &word : a.words)
    words->say(word);
  for (auto [word, tensor] : a.flags)
    words->say(word, words->holds(tensor) ? "true" : "false");
  a.further(*words);
  compareVocabulary();
  const bool causal = !a.has(bidirectional);
  words->ignore("attention.causal");
  if (file.flag(words->whole("attention.causal")).value_or(causal) != causal)
    words->error(words->whole("attention.causal") + " is " +
                 (causal ? "false" : "true") + " but Mille does only " +
                 (causal ? "true" : "false") + " for " + a.name);
}

bool GgufModel::read() {
  std::optional<StringRef> name = file.text("general.architecture");
  words = std::make_unique<Words>(file, tensors, name.value_or(""), problems,
                                  context);
  if (!name) {
    const GgufKey *given = file.key("general.architecture");
    words->error(given ? "general.architecture is " + file.describe(*given) +
                             " but must be a text"
                       : "the file has no key general.architecture");
    return false;
  }
  architecture = architectureOf(*name, *words);
  if (!architecture)
    return false;
  sayWords();
  ropeFactors = words->factors("rope_freqs.weight");
  words->ignore("context_length");
  words->noteRest();
  noteTypes();
  if (problems.any())
    return false;
  config = words->config(context);
  return config != nullptr;
}

void GgufModel::adjust(ModelSpec &model) const {
  if (!architecture->has(apartExperts))
    return;
  for (Unit &unit : model.units)
    for (Branch &branch : unit.branches)
      for (FeedForward &feedForward : branch.feedForward.all)
        if (feedForward.experts)
          feedForward.experts->layout = GateLayout::separate;
}
