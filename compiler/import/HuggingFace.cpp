// The parts that all families share: model_type, architectures, keys that never
// matter, and finding a parameter by the file's name and layout.
#include "compiler/import/HuggingFace.h"
#include "compiler/import/families/Families.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

// Keys about training, generation, labels and file versions, which do not
// change the forward pass.
static constexpr StringRef neverMatter[] = {"_attn_implementation_autoset",
                                            "_commit_hash",
                                            "_name_or_path",
                                            "activation_dropout",
                                            "architectures",
                                            "attention_dropout",
                                            "attn_pdrop",
                                            "attention_probs_dropout_prob",
                                            "auto_map",
                                            "bad_words_ids",
                                            "begin_suppress_tokens",
                                            "bos_token_id",
                                            "chunk_size_feed_forward",
                                            "cross_attention_hidden_size",
                                            "decoder_start_token_id",
                                            "diversity_penalty",
                                            "do_sample",
                                            "dtype",
                                            "early_stopping",
                                            "encoder_no_repeat_ngram_size",
                                            "eos_token_id",
                                            "exponential_decay_length_penalty",
                                            "finetuning_task",
                                            "forced_bos_token_id",
                                            "forced_eos_token_id",
                                            "gradient_checkpointing",
                                            "id2label",
                                            "initializer_range",
                                            "keys_to_ignore_at_inference",
                                            "label2id",
                                            "length_penalty",
                                            "max_length",
                                            "min_length",
                                            "model_type",
                                            "no_repeat_ngram_size",
                                            "num_beam_groups",
                                            "num_beams",
                                            "num_labels",
                                            "num_return_sequences",
                                            "output_attentions",
                                            "output_hidden_states",
                                            "output_past",
                                            "output_scores",
                                            "pad_token_id",
                                            "prefix",
                                            "problem_type",
                                            "remove_invalid_values",
                                            "repetition_penalty",
                                            "return_dict",
                                            "return_dict_in_generate",
                                            "sep_token_id",
                                            "suppress_tokens",
                                            "task_specific_params",
                                            "temperature",
                                            "tf_legacy_loss",
                                            "tie_encoder_decoder",
                                            "tokenizer_class",
                                            "top_k",
                                            "top_p",
                                            "torch_dtype",
                                            "torchscript",
                                            "transformers_version",
                                            "typical_p",
                                            "use_bfloat16",
                                            "use_cache",
                                            "cls_token_id",
                                            "mask_token_id",
                                            "unk_token_id",
                                            "cache_implementation",
                                            "classifier_dropout",
                                            "dropout",
                                            "embd_pdrop",
                                            "embed_dropout",
                                            "embedding_dropout",
                                            "hidden_dropout",
                                            "hidden_dropout_prob",
                                            "init_std",
                                            "initializer_factor",
                                            "layerdrop",
                                            "max_position_embeddings",
                                            "output_router_logits",
                                            "pretraining_tp",
                                            "resid_dropout",
                                            "resid_pdrop",
                                            "residual_dropout",
                                            "router_aux_loss_coef",
                                            "router_jitter_noise"};

static std::string listed(ArrayRef<std::string> words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return text;
}

const Family *mille::import::familyOf(Config &config, Problems &problems) {
  std::string type = config.text("model_type", "");
  std::vector<std::string> known;
  std::vector<StringRef> words;
  for (const Family *family : families()) {
    if (family->modelType == type)
      return family;
    known.push_back(family->modelType.str());
    words.push_back(family->modelType);
  }
  auto &problem =
      problems.error(config.at("model_type"),
                     (type.empty() ? std::string("the config has no model_type")
                                   : "model_type is \"" + type + "\"") +
                         " but Mille knows " + listed(known));
  if (auto near = json::nearest(type, words))
    problem.help("did you mean \"" + *near + "\"?");
  else
    problem.help("a model of another family can be written as a native spec, "
                 "docs/spec.md");
  return nullptr;
}

// The first architecture. A class whose head Mille does not support is refused,
// since the model would lose its outputs.
static void readArchitecture(Config &config, const Family &family) {
  const json::Value *list = config.list("architectures");
  if (!list || list->items.empty())
    return;
  const json::Value &first = list->items[0];
  config.architecture = first.text;
  if (llvm::is_contained(family.architectures, first.text))
    return;
  std::vector<std::string> known;
  for (StringRef name : family.architectures)
    known.push_back(name.str());
  config
      .error("architectures", "architectures is " + list->describe() +
                                  " but of " + family.modelType +
                                  " Mille does " + listed(known))
      .help("\"architectures\": [\"" + family.architectures[0] +
            "\"] gives the model without its head");
}

void mille::import::ignoreUsual(Config &config, ArrayRef<StringRef> silent) {
  for (StringRef key : {"is_decoder", "tie_word_embeddings"})
    config.ignore(key);
  for (StringRef key : neverMatter)
    config.ignore(key);
  for (StringRef key : silent)
    config.ignore(key);
  config.noteRest();
}

// What transformers would train the model by.
static void readLoss(Config &config, ModelSpec &model) {
  const std::string problem = config.text("problem_type", "");
  Loss loss = Loss::by_output;
  if (problem == "regression")
    loss = Loss::mean_squared_error;
  else if (problem == "multi_label_classification")
    loss = Loss::binary_cross_entropy;
  else
    return;
  if (!model.training)
    model.training.emplace();
  model.training->loss = loss;
}

void mille::import::readConfig(Config &config, const Family &family,
                               ModelSpec &model) {
  model.family = family.modelType.str();
  model.at = config.at();
  readArchitecture(config, family);
  family.describe(config, model);
  readLoss(config, model);
  if (family.encoderDecoder) {
    config.ignore("is_encoder_decoder");
    config.ignore("add_cross_attention");
  } else {
    config.mustBe("is_encoder_decoder", {"false"});
    config.mustBe("add_cross_attention", {"false"});
  }
  config.mustBe("pruned_heads", {"{}"});
  if (const json::Value *scheme = config.take("quantization_config"))
    config.error("quantization_config", "quantization_config is " +
                                            scheme->describe() +
                                            " but Mille does not do that yet");
  ignoreUsual(config, family.silentKeys);
}

// "layers.3.attn.q.weight" -> "layers.*.attn.q.weight" and "3".
static std::string starred(StringRef name,
                           llvm::SmallVectorImpl<std::string> &numbers) {
  std::string pattern;
  llvm::SmallVector<StringRef> parts;
  name.split(parts, '.');
  for (StringRef part : parts) {
    bool digits = !part.empty() && llvm::all_of(part, llvm::isDigit);
    if (digits)
      numbers.push_back(part.str());
    pattern += (pattern.empty() ? "" : ".") + (digits ? "*" : part.str());
  }
  return pattern;
}

// The file's name with a number for each star.
static std::string numbered(StringRef file, ArrayRef<std::string> numbers) {
  std::string name;
  for (char c : file) {
    if (c != '*') {
      name += c;
    } else if (!numbers.empty()) {
      name += numbers.front();
      numbers = numbers.drop_front();
    }
  }
  return name;
}

// Replaces `%` by a number.
static std::string counted(StringRef file, int64_t number) {
  auto [before, after] = file.split('%');
  return before.size() == file.size() ? file.str()
                                      : (before + Twine(number) + after).str();
}

FamilyWeights::FamilyWeights(const Family &family, StoredTensors &tensors,
                             mlir::LocationAttr at, Problems &problems,
                             mlir::MLIRContext &context)
    : family(family), tensors(tensors), at(at), problems(problems),
      context(context) {
  for (const TensorName &name : family.tensors)
    names[name.mille].push_back(&name);
  for (const TensorName &name : family.usual)
    names[name.mille].push_back(&name);
}

// Finds a tensor with or without the base model's prefix, and under the old
// names of norms.
StoredTensors::Entry *FamilyWeights::find(StringRef name) {
  StringRef bare = name;
  bool based = bare.consume_front(family.prefix);
  for (StringRef tried : {name, bare}) {
    if (auto *entry = tensors.find(tried))
      return entry;
    std::string old = tried.str();
    if (StringRef(old).ends_with("LayerNorm.weight"))
      old.replace(old.size() - 6, 6, "gamma");
    else if (StringRef(old).ends_with("LayerNorm.bias"))
      old.replace(old.size() - 4, 4, "beta");
    if (auto *entry = tensors.find(old))
      return entry;
    if (!based)
      break;
  }
  return nullptr;
}

// A parameter's entry in the table and its name in the file: the first entry
// whose tensor the files hold, else the first entry.
const TensorName *FamilyWeights::lookUp(StringRef parameter,
                                        std::string &file) {
  llvm::SmallVector<std::string> numbers;
  std::string pattern = starred(parameter, numbers), suffix;
  auto found = names.find(pattern);
  if (found == names.end()) {
    auto [stem, last] = StringRef(pattern).rsplit('.');
    found = names.find(stem);
    suffix = "." + last.str();
  }
  if (found == names.end())
    return nullptr;
  const TensorName *name = found->second.front();
  for (const TensorName *tried : llvm::reverse(found->second))
    if (find(counted(numbered(tried->file, numbers) + suffix, 0)))
      name = tried;
  file = numbered(name->file, numbers) + suffix;
  return name;
}

// Compares shapes without extents of 1: [1, n, c] equals [n, c], and [] equals
// [1].
mlir::Attribute FamilyWeights::storedButOnes(const StoredTensors::Entry &entry,
                                             ArrayRef<Dimension> shape) {
  llvm::SmallVector<Dimension, 4> stored;
  llvm::SmallVector<int64_t> wanted;
  auto next = shape.begin();
  auto skipOnes = [&] {
    for (; next != shape.end() && next->size == 1; ++next)
      ;
  };
  bool same = true;
  for (int64_t extent : entry.tensor->shape) {
    if (extent != 1)
      skipOnes();
    if (extent == 1)
      stored.push_back({1, {}});
    else if (next != shape.end() && next->size == extent)
      stored.push_back(*next++);
    else
      same = false;
  }
  skipOnes();
  for (const Dimension &dimension : shape)
    wanted.push_back(dimension.size);
  if (!same || next != shape.end() ||
      ArrayRef(entry.tensor->shape) == ArrayRef(wanted))
    return storedValue(entry, shape, problems, context);
  mlir::Attribute value = storedValue(entry, stored, problems, context);
  return value
             ? ReshapeAttr::get(&context, value,
                                mlir::DenseI64ArrayAttr::get(&context, wanted))
             : value;
}

mlir::Attribute FamilyWeights::value(const Wanted &wanted) {
  std::string file;
  const TensorName *name = lookUp(wanted.name, file);
  if (!name) {
    // No test has this: a family's table that lacks a name is a fault of ours.
    problems.error(at, "parameter '" + wanted.name + "' has no name in " +
                           family.modelType + " files");
    return {};
  }
  if (!StringRef(file).contains('%'))
    return stored(file, *name, wanted.shape);
  llvm::SmallVector<mlir::Attribute> all;
  for (int64_t i = 0; i < wanted.shape[0].size; ++i) {
    llvm::SmallVector<Dimension, 2> one(llvm::drop_begin(wanted.shape));
    mlir::Attribute value = stored(counted(file, i), *name, one);
    if (!value)
      return {};
    all.push_back(value);
  }
  return StackAttr::get(&context, all);
}

// The expression that makes a parameter of shape `shape` from a stored tensor.
mlir::Attribute FamilyWeights::stored(StringRef file, const TensorName &name,
                                      llvm::SmallVector<Dimension, 2> shape) {
  // The stored shape: that of all parts together, in the file's order.
  const size_t rank = shape.size();
  const bool transposed = name.transposed && rank >= 2;
  const int64_t out = shape[0].size;
  shape[0].size = out * name.parts;
  if (transposed)
    std::swap(shape[rank - 2], shape[rank - 1]);
  if (name.leadingOne)
    shape.insert(shape.begin(), Dimension{1, {}});

  StoredTensors::Entry *entry = find(file);
  if (!entry)
    entry = tensors.findOrInvent(file, shape);
  if (!entry) {
    missingTensor(file, shape, tensors, at, problems);
    return {};
  }
  entry->used = true;
  mlir::Attribute value = storedButOnes(*entry, shape);
  if (value && name.leadingOne) {
    llvm::SmallVector<int64_t> bare;
    for (const Dimension &dimension : llvm::drop_begin(shape))
      bare.push_back(dimension.size);
    value = ReshapeAttr::get(&context, value,
                             mlir::DenseI64ArrayAttr::get(&context, bare));
  }
  if (value && name.parts > 1)
    value = SliceAttr::get(&context, value, transposed ? 1 : 0, name.part * out,
                           out, 1);
  if (!value || !transposed)
    return value;
  if (rank == 2)
    return TransposeAttr::get(&context, value);
  return PermuteAttr::get(&context, value,
                          mlir::DenseI64ArrayAttr::get(&context, {0, 2, 1}));
}

// If the files hold both of two tied tensors and these differ, the model is not
// tied.
bool FamilyWeights::differ(StringRef tied, StringRef to) {
  std::string file, other;
  if (!lookUp(tied, file) || !lookUp(to, other))
    return false;
  const StoredTensors::Entry *one = find(file), *two = find(other);
  if (!one || !two || one == two)
    return false;
  const StoredTensor &a = *one->tensor, &b = *two->tensor;
  if (a.type == b.type && a.shape == b.shape && a.bytes == b.bytes)
    return false;
  problems.note(mlir::FileLineColLoc::get(&context, one->path, 0, 0),
                "tensor '" + a.name + "' is not '" + b.name +
                    "', with which the config ties it: both are taken as they "
                    "are");
  return true;
}

void FamilyWeights::noteUnused() {
  constexpr size_t most = 8;
  llvm::StringSet<> known;
  for (StringRef name : family.otherTensors)
    known.insert(name);
  size_t unknown = 0;
  for (const StoredTensors::Entry *entry : tensors.unused()) {
    llvm::SmallVector<std::string> numbers;
    std::string pattern = starred(entry->tensor->name, numbers);
    StringRef bare = pattern;
    bare.consume_front(family.prefix);
    if (known.contains(pattern) || known.contains(bare) ||
        bare == "lm_head.weight" || bare == "lm_head.bias" || // a head not used
        bare.ends_with("rotary_emb.inv_freq")) // computed from the config
      continue;
    if (++unknown <= most)
      problems.note(mlir::FileLineColLoc::get(&context, entry->path, 0, 0),
                    "tensor '" + entry->tensor->name +
                        "' is no part of the model and is left out");
  }
  if (unknown > most)
    problems.note(at, Twine(unknown - most) +
                          " more tensors are no part of the model");
}
