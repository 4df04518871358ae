// The patterns behind the names in `tokenizer.ggml.pre`, taken from the
// families' own tokenizer.json. Must not hold an untested pattern.
#include "compiler/text/Gguf.h"

using namespace mille;

// Parts that patterns share.
#define GPT2                                                                   \
  "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|"         \
  "\\s+(?!\\S)|\\s+"
#define SUFFIX "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define AFTER_DIGITS                                                           \
  "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define UPPER "\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}"
#define LOWER "\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}"
#define CASED(suffix)                                                          \
  "[^\\r\\n\\p{L}\\p{N}]?[" UPPER "]*[" LOWER "]+" suffix                      \
  "|[^\\r\\n\\p{L}\\p{N}]?[" UPPER "]+[" LOWER "]*" suffix
#define AFTER_CASED                                                            \
  "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

static const GgufSplit splits[] = {
    {"gpt-2 phi-2 mpt olmo jina-v1-en jina-v2-code jina-es jina-de roberta-bpe "
     "modern-bert granite-docling",
     {GPT2},
     false,
     false},
    {"starcoder refact command-r smollm codeshell exaone minerva-7b",
     {"\\p{N}", GPT2},
     false,
     false},
    {"qwen2 stablelm2 deepseek-r1-qwen",
     {SUFFIX "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}" AFTER_DIGITS},
     false,
     false},
    {"qwen35",
     {SUFFIX "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}"
             "| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|"
             "\\s+(?!\\S)|\\s+"},
     false,
     false},
    {"llama-bpe llama3 llama-v3 falcon3",
     {SUFFIX "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}" AFTER_DIGITS},
     true,
     true},
    {"dbrx smaug-bpe glm4 chatglm-bpe",
     {SUFFIX "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}" AFTER_DIGITS},
     false,
     false},
    {"gpt-4o llama4",
     {CASED(SUFFIX "?") "|\\p{N}{1,3}" AFTER_CASED},
     false,
     false},
    {"tekken", {CASED("") "|\\p{N}" AFTER_CASED}, true, true},
    {"deepseek-llm",
     {"[\\r\\n]", "\\s?[\\p{Lu}\\p{Ll}\\p{Lt}]+",
      "\\s?[!-/:-~\\uff01-\\uff0f\\uff1a-\\uff5e\\u2018-\\u201f"
      "\\u3000-\\u3002]+",
      "\\s+$", "[\\u4e00-\\u9fa5\\u0800-\\u4e00\\uac00-\\ud7ff]+", "\\p{N}+"},
     false,
     false},
    {"deepseek-coder",
     {"[\\r\\n]", "\\s?\\p{L}+", "\\s?\\p{P}+",
      "[\\u4e00-\\u9fa5\\u0800-\\u4e00\\uac00-\\ud7ff]+", "\\p{N}"},
     false,
     false},
    {"deepseek-v3",
     {"\\p{N}{1,3}", "[\\u4e00-\\u9fa5\\u3040-\\u309f\\u30a0-\\u30ff]+",
      "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|"
      "[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*|"
      "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},
     false,
     false},
    {"falcon", {"[\\p{P}$+<=>^~|`]+", GPT2, "[0-9][0-9][0-9]"}, false, false},
};

const GgufSplit *mille::findGgufSplit(const std::string &pre) {
  for (const GgufSplit &split : splits)
    if (!pre.empty() && pre.find(' ') == std::string::npos &&
        (" " + std::string(split.names) + " ").find(" " + pre + " ") !=
            std::string::npos)
      return &split;
  return nullptr;
}

std::string mille::ggufSplitNames() {
  std::string names;
  for (const GgufSplit &split : splits)
    names += (names.empty() ? "" : " ") + std::string(split.names);
  return names;
}
