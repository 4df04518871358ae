// Writes NAME.json: the contents of a package, for people and tools.
// Must not write anything that differs between two compiles of the same model,
// except for tiles that were measured.
#include "compiler/driver/package/Manifest.h"

#include "compiler/driver/Generators.h"
#include "compiler/driver/Version.h"
#include "compiler/driver/machine/Machine.h"
#include "compiler/driver/program/Memory.h"
#include "dialects/kernel/Signature.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"

using namespace mille;
using llvm::json::OStream;

static void writeTensors(OStream &json,
                         llvm::ArrayRef<kernel::TensorInfo> tensors) {
  for (const kernel::TensorInfo &tensor : tensors)
    json.object([&] {
      json.attribute("name", tensor.name);
      json.attribute("type", wordOf(tensor.element));
      json.attributeArray("shape", [&] {
        for (const ShapeExtent &extent : tensor.shape)
          if (extent.isSize())
            json.value(extent.size);
          else
            json.value(extent.count);
      });
      if (!tensor.fallback.empty())
        json.attribute("default", tensor.fallback);
      if (tensor.below)
        json.attribute("below", tensor.below);
    });
}

// Writes an attribute, such as an item of `kernel.fusions` or `kernel.bodies`,
// as JSON.
static void writeAttribute(OStream &json, mlir::Attribute value) {
  if (auto text = llvm::dyn_cast<mlir::StringAttr>(value))
    json.value(text.getValue());
  else if (auto flag = llvm::dyn_cast<mlir::BoolAttr>(value))
    json.value(flag.getValue());
  else if (auto number = llvm::dyn_cast<mlir::IntegerAttr>(value))
    json.value(number.getInt());
  else if (auto real = llvm::dyn_cast<mlir::FloatAttr>(value))
    json.value(real.getValueAsDouble());
  else if (auto numbers = llvm::dyn_cast<mlir::DenseI64ArrayAttr>(value))
    json.array([&] {
      for (int64_t number : numbers.asArrayRef())
        json.value(number);
    });
  else if (auto list = llvm::dyn_cast<mlir::ArrayAttr>(value))
    json.array([&] {
      for (mlir::Attribute part : list)
        writeAttribute(json, part);
    });
  else if (auto dictionary = llvm::dyn_cast<mlir::DictionaryAttr>(value))
    json.object([&] {
      for (mlir::NamedAttribute part : dictionary) {
        json.attributeBegin(part.getName().getValue());
        writeAttribute(json, part.getValue());
        json.attributeEnd();
      }
    });
  else
    json.value(nullptr);
}

// Writes a list attribute that passes left on the entries, under its name
// without the dialect's. An item of another entry than the first names it.
static void writeList(OStream &json, mlir::Operation *model,
                      llvm::StringRef name) {
  json.attributeArray(name.split('.').second, [&] {
    for (auto [number, entry] : llvm::enumerate(kernel::entriesOf(model)))
      if (auto list = entry->getAttrOfType<mlir::ArrayAttr>(name))
        for (mlir::Attribute item : list) {
          mlir::NamedAttrList fields(llvm::cast<mlir::DictionaryAttr>(item));
          if (number)
            fields.set("entry", entry.getNameAttr());
          writeAttribute(json, fields.getDictionary(model->getContext()));
        }
  });
}

static void writeCertificate(OStream &json, const Certificate &certificate) {
  if (certificate.wishes.names)
    json.attributeArray("asked_for", [&] {
      for (const std::string &name : *certificate.wishes.names)
        json.value(name);
    });
  json.attribute("bit_exact", certificate.wishes.bitExact);
  json.attribute("fold_schedules", certificate.wishes.foldSchedules);
  json.attribute("layers", certificate.sample.layers);
  json.attribute("of_layers", certificate.sample.ofLayers);
  if (!certificate.note.empty())
    json.attribute("note", certificate.note);
  json.attributeArray("measured", [&] {
    for (const Finding &one : certificate.measured)
      json.object([&] {
        json.attribute("what", one.what);
        json.attribute("inputs", one.inputs);
        json.attribute("type", one.type);
        json.attribute("error", one.error);
        json.attribute("allowed", one.allowed);
      });
  });
}

static void writeTraffic(OStream &json, const Traffic &traffic) {
  json.attribute("kernels", traffic.kernels);
  json.attribute("launches", traffic.launches);
  json.attribute("bytes_per_row", traffic.bytesPerRow);
  json.attribute("weight_bytes", traffic.weightBytes);
}

// Writes the tile for each instruction set, and its rank if that is not 0.
static void writeTiles(OStream &json, const DistinctKernel &kernel,
                       const ManifestInput &input) {
  json.attributeArray("tiles", [&] {
    for (const Target &isa : input.isas) {
      std::vector<std::string> tiles = generators().tiles(kernel.op, isa);
      if (tiles.empty())
        continue;
      unsigned rank = input.tiles.of(kernel.info.name, isa.name);
      rank = rank < tiles.size() ? rank : 0;
      json.object([&] {
        json.attribute("isa", isa.name);
        json.attribute("tile", tiles[rank]);
        json.attribute("rank", int64_t(rank));
      });
    }
  });
}

// Writes who makes the kernel, for targets that several generators serve.
static void writeMakers(OStream &json, const DistinctKernel &kernel,
                        const ManifestInput &input) {
  json.attributeArray("makers", [&] {
    for (const Target &isa : input.isas) {
      std::string maker = generators().maker(kernel.op, isa);
      if (maker.empty())
        continue;
      json.object([&] {
        json.attribute("isa", isa.name);
        json.attribute("generator", maker);
      });
    }
  });
}

static void writeKernels(OStream &json, const ManifestInput &input) {
  for (const DistinctKernel &kernel : input.kernels)
    json.object([&] {
      json.attribute("name", kernel.info.name);
      json.attribute("does", describeInWords(kernel.op));
      json.attribute("places", kernel.places);
      json.attribute("flops_per_row", int64_t(kernel.info.flopsPerRow));
      json.attribute("weight_bytes", int64_t(kernel.info.bytesWeights));
      json.attribute("row_bytes", rowBytesOf(kernel.op));
      writeTiles(json, kernel, input);
      if (llvm::any_of(input.isas, [](const Target &isa) {
            return generators().serving(isa) > 1;
          }))
        writeMakers(json, kernel, input);
    });
}

static void writeScales(OStream &json, const kernel::SharedSignature &shared) {
  for (const kernel::ScheduledScale &scale : shared.scales)
    json.object([&] {
      json.attribute("name", scale.name);
      json.attribute("from", scale.from);
      json.attribute("to", scale.to);
      json.attribute("steps", scale.steps);
    });
}

static void writeScratch(OStream &json, const ManifestInput &input) {
  uint64_t scratch = 0, perToken = 0;
  for (const DistinctKernel &kernel : input.kernels) {
    scratch = std::max(scratch, kernel.info.scratchBytes);
    perToken = std::max(perToken, kernel.info.scratchBytesPerToken);
  }
  json.attribute("scratch_bytes_per_thread", int64_t(scratch));
  json.attribute("scratch_bytes_per_thread_and_token", int64_t(perToken));
}

// Writes the kernels in their order, and the buffers of the arena.
static void writeMemory(OStream &json, mlir::func::FuncOp entry) {
  MemoryUse use = memoryOf(entry, [](mlir::Operation *op) {
    return generators().describe(op).name;
  });
  json.attributeArray("steps", [&] {
    for (const MemoryUse::Step &step : use.steps)
      json.object([&] {
        json.attribute("kernel", step.kernel);
        if (!step.layers.empty())
          json.attribute("layers", step.layers);
      });
  });
  json.attributeArray("buffers", [&] {
    for (const MemoryUse::Buffer &buffer : use.buffers)
      json.object([&] {
        json.attribute("offset", buffer.offset);
        json.attribute("bytes", buffer.bytes);
        json.attribute("first", buffer.first);
        json.attribute("last", buffer.last);
      });
  });
}

static void writeEntry(OStream &json, mlir::func::FuncOp entry) {
  kernel::Signature signature = kernel::signatureOf(entry);
  json.attribute("name", entry.getName());
  json.attributeArray("inputs", [&] { writeTensors(json, signature.inputs); });
  json.attributeArray("outputs",
                      [&] { writeTensors(json, signature.outputs); });
  if (!signature.states.empty())
    json.attributeArray("states",
                        [&] { writeTensors(json, signature.states); });
  kernel::ArenaSizes arena = kernel::arenaSizesOf(entry);
  json.attribute("arena_bytes_per_row", arena.bytesPerRow);
  if (arena.fixedBytes)
    json.attribute("arena_fixed_bytes", arena.fixedBytes);
  if (arena.fixedTokens)
    json.attribute("fixed_tokens", arena.fixedTokens);
  writeMemory(json, entry);
}

int64_t mille::countParameters(mlir::Operation *model) {
  int64_t count = 0;
  model->walk([&](transformer::ParameterOp parameter) {
    auto type = llvm::cast<mlir::ShapedType>(parameter.getType());
    count += type.getNumElements();
  });
  return count;
}

// A size, and how it follows from others.
static void writeSize(OStream &json, const kernel::SizeInfo &size) {
  json.attribute("name", size.name);
  if (size.most)
    json.attribute("most", size.most);
  if (size.own) {
    json.attribute("own", size.own);
    json.attribute("multiple", size.multiple);
    json.attribute("least", size.least);
  }
  if (const auto &rule = size.rule) {
    json.attribute("prefix", rule->prefix);
    if (rule->up) {
      json.attribute("each", rule->each);
      json.attribute("rounded_up", true);
    }
    json.attributeArray("from", [&] {
      for (unsigned side : {0, 1})
        json.object([&] {
          json.attribute("size", rule->from[side]);
          json.attribute("step", rule->step[side]);
        });
    });
  }
}

std::string mille::writeManifest(const ManifestInput &input,
                                 const PackageFacts &facts) {
  kernel::SharedSignature shared = kernel::sharedSignatureOf(input.model);
  std::string text;
  llvm::raw_string_ostream stream(text);
  OStream json(stream, 2);
  json.object([&] {
    json.attributeObject("mille_package", [&] {
      json.attribute("version", packageVersion);
      json.attribute("compiler", MILLE_VERSION);
      json.attribute("name", input.name);
      json.attributeObject("model", [&] {
        json.attribute("path", input.path);
        json.attribute("folder", input.folder);
        json.attribute("hash", input.hash);
      });
      json.attributeArray("entries", [&] {
        for (mlir::func::FuncOp entry : kernel::entriesOf(input.model))
          json.object([&] { writeEntry(json, entry); });
      });
      if (!shared.scales.empty())
        json.attributeArray("scales", [&] { writeScales(json, shared); });
      json.attribute("dtype", input.dtype);
      if (!input.cache.empty())
        json.attribute("cache", input.cache);
      if (!input.calibrate.empty())
        json.attribute("calibrate", input.calibrate);
      json.attribute("hidden_states", input.hiddenStates);
      json.attributeArray("sizes", [&] {
        for (const kernel::SizeInfo &size : shared.sizes)
          json.object([&] { writeSize(json, size); });
      });
      json.attributeArray("isas", [&] {
        for (const Target &isa : input.isas)
          json.object([&] {
            json.attribute("name", isa.name);
            json.attribute("needs", featureNames(isa.features));
          });
      });
      json.attributeArray("kernels", [&] { writeKernels(json, input); });
      for (llvm::StringRef list :
           {"transformer.rewrites", "kernel.fusions", "kernel.bodies"})
        writeList(json, input.model, list);
      json.attributeObject("certificate",
                           [&] { writeCertificate(json, input.certificate); });
      json.attributeObject("traffic",
                           [&] { writeTraffic(json, input.traffic); });
      if (input.unscaled)
        json.attributeObject("traffic_unscaled",
                             [&] { writeTraffic(json, *input.unscaled); });
      writeScratch(json, input);
      json.attribute("parameters", input.parameters);
      json.attribute("weights_bytes", int64_t(facts.weights.bytes));
      json.attribute("weights_embedded", input.embedWeights);
      json.attribute("code_bytes", int64_t(facts.codeBytes));
      if (input.generation)
        json.attributeObject("generation",
                             [&] { writeRules(json, *input.generation); });
      if (!input.tokens.bytes.empty())
        json.attribute("tokens", true);
      if (!input.tokens.sourceHash.empty())
        json.attribute("tokenizer_hash", input.tokens.sourceHash);
    });
  });
  stream << '\n';
  return text;
}
