// Writes docs/spec.md and docs/spec.schema.json.
#include "compiler/import/pages/SpecPage.h"
#include "compiler/import/spec/SpecKeys.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace mille::import;
using llvm::StringRef;
namespace js = llvm::json;

static constexpr StringRef specIntroduction =
    R"page(# Native specs: a model as JSON

Written by `mille-spec-page` from the table that the importer reads by
(`compiler/import/spec/SpecKeys.cpp`). `docs/spec.schema.json` is the same for editors:
name it in a spec's `$schema` or in the editor's settings.

A native spec says any stack of residual units:

    u_i = in_norm_i(x)            r = x, or u_1 where residual_tap is "normed"
    y   = stream_scale * out_norm(skip_scale * r + sum_i branch_scale * branch_norm_i(F_i(u_i)))

```
{
  "layers": 24, "hidden_size": 512, "vocab_size": 8192,
  "embedding": { "position": "learned", "position_size": 512 },
  "units": [
    { "out_norm": { "kind": "layer_norm" },
      "skip_scale": { "kind": "const", "formula": "(2*layers)^(1/4)" },
      "branches": [{ "kind": "attention", "heads": 8 }] },
    { "out_norm": { "kind": "layer_norm" },
      "skip_scale": { "kind": "const", "formula": "(2*layers)^(1/4)" },
      "branches": [{ "kind": "ffn", "intermediate_size": 2048, "act": "relu" }] }
  ],
  "init": { "scheme": "deepnorm", "seed": 1 }
}
```

`mille compile spec.json -o DIR` takes `model.safetensors` beside the spec where
there is one, else makes weights by `init`. An unknown key is an error. `null` is
the same as leaving the key out. `examples/own-family` writes two families of the
Hub as specs.

Inside attention: project, clip or activate, norm queries and keys (or after RoPE),
RoPE, qk_gain, scores, scale, softcap, position bias, mask, softmax with sink, values,
inner_norm, output gate, output projection.

Weights: `embed.weight`, `position.weight`, `token_type.weight`, `embed_norm.*`,
`layers.0.attn.q.weight` [out, in] with `.k .v .o .gate`, `.q_norm .k_norm
.inner_norm`, `.sink`, `.logit_scale`, `.in_norm .branch_norm .out_norm`,
`.skip_scale .branch_scale`, `layers.0.ffn.in.weight` (up; fused when gate_layout is
concat or interleaved), `.gate`, `.out`, `final_norm.*`, `head.weight`. A shared input
norm is `layers.0.block.in_norm`, a scalar shared by a layer `layers.0.branch_scale`;
a name that is missing is named in the error with its shape.
)page";

static std::string kindInWords(const SpecKey &key) {
  auto either = [](StringRef list) {
    llvm::SmallVector<StringRef> words;
    list.split(words, '|');
    std::string text;
    for (StringRef word : words)
      text += (text.empty() ? "`" : ", `") + word.str() + "`";
    return text;
  };
  auto link = [](StringRef name) {
    return "[" + name.str() + "](#" + name.str() + ")";
  };
  switch (key.kind) {
  case KeyKind::whole:
    return "whole number from 1";
  case KeyKind::integer:
    return "whole number from 0";
  case KeyKind::number:
    return "number";
  case KeyKind::positive:
    return "number > 0";
  case KeyKind::flag:
    return "true or false";
  case KeyKind::text:
    return "string";
  case KeyKind::word:
    return either(key.of);
  case KeyKind::object:
    return link(key.of);
  case KeyKind::objects:
    return "list of " + link(key.of);
  case KeyKind::wordOrObject: {
    auto [words, name] = key.of.split(' ');
    return either(words) + ", or " + link(name);
  }
  case KeyKind::numbers:
    return "list of numbers";
  case KeyKind::integers:
    return "list of whole numbers";
  }
  return "";
}

static std::string cell(std::string text) {
  std::string escaped;
  for (char c : text)
    escaped += c == '|' ? "\\|" : std::string(1, c);
  return escaped;
}

void mille::import::writeSpecPage(llvm::raw_ostream &out) {
  out << specIntroduction;
  for (const SpecObject &object : specObjects()) {
    out << "\n## " << object.name << "\n\n"
        << object.says
        << "\n\n| key | value | default | |\n|---|---|---|---|\n";
    for (const SpecKey &key : object.keys)
      out << "| `" << key.key << "` | "
          << cell(kindInWords(key) +
                  (key.perLayer ? "; or a list, one per layer" : ""))
          << " | " << cell(key.absent.str()) << " | " << cell(key.says.str())
          << " |\n";
  }
}

static js::Object reference(StringRef name) {
  return js::Object{{"$ref", ("#/$defs/" + name).str()}};
}

static js::Array words(StringRef list) {
  llvm::SmallVector<StringRef> parts;
  list.split(parts, '|');
  js::Array all;
  for (StringRef part : parts)
    all.push_back(part);
  return all;
}

static js::Object schemaOf(const SpecKey &key) {
  auto listOf = [](js::Object items) {
    return js::Object{{"type", "array"}, {"items", std::move(items)}};
  };
  switch (key.kind) {
  case KeyKind::whole:
    return js::Object{{"type", "integer"}, {"minimum", 1}};
  case KeyKind::integer:
    return js::Object{{"type", "integer"}, {"minimum", 0}};
  case KeyKind::number:
    return js::Object{{"type", "number"}};
  case KeyKind::positive:
    return js::Object{{"type", "number"}, {"exclusiveMinimum", 0}};
  case KeyKind::flag:
    return js::Object{{"type", "boolean"}};
  case KeyKind::text:
    return js::Object{{"type", "string"}};
  case KeyKind::word:
    return js::Object{{"enum", words(key.of)}};
  case KeyKind::object:
    return reference(key.of);
  case KeyKind::objects:
    return listOf(reference(key.of));
  case KeyKind::wordOrObject: {
    auto [list, name] = key.of.split(' ');
    return js::Object{{"anyOf", js::Array{js::Object{{"enum", words(list)}},
                                          reference(name)}}};
  }
  case KeyKind::numbers:
    return listOf(js::Object{{"type", "number"}});
  case KeyKind::integers:
    return listOf(js::Object{{"type", "integer"}, {"minimum", 0}});
  }
  return {};
}

// null means the same as absent, also in lists by layer.
static js::Object keySchema(const SpecKey &key) {
  js::Array forms{schemaOf(key)};
  if (key.perLayer)
    forms.push_back(js::Object{
        {"type", "array"},
        {"items",
         js::Object{{"anyOf", js::Array{schemaOf(key),
                                        js::Object{{"type", "null"}}}}}}});
  forms.push_back(js::Object{{"type", "null"}});
  return js::Object{
      {"anyOf", std::move(forms)},
      {"description", (key.says + " (default: " + key.absent + ")").str()}};
}

static js::Object objectSchema(const SpecObject &object) {
  js::Object properties;
  for (const SpecKey &key : object.keys)
    properties[key.key] = keySchema(key);
  return js::Object{{"type", "object"},
                    {"description", object.says},
                    {"properties", std::move(properties)},
                    {"additionalProperties", false}};
}

void mille::import::writeSpecSchema(llvm::raw_ostream &out) {
  js::Object definitions;
  for (const SpecObject &object : specObjects().drop_front())
    definitions[object.name] = objectSchema(object);
  js::Object root = objectSchema(specObjects().front());
  root["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  root["title"] = "Mille native spec";
  root["$defs"] = std::move(definitions);
  out << llvm::formatv("{0:2}", js::Value(std::move(root))) << '\n';
}
