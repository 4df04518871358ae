// Opens the files of a model and compares wanted shapes with stored ones.
// Must not read a number.
#include "compiler/import/StoredTensors.h"
#include "compiler/json/Json.h"
#include "dialects/transformer/Shape.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mille;
using namespace mille::import;
using llvm::StringRef;

namespace {

mlir::Location fileAt(StringRef path, mlir::MLIRContext &context) {
  return mlir::FileLineColLoc::get(&context, path, 0, 0);
}

std::string wantedText(llvm::ArrayRef<Dimension> shape) {
  return shapeText(llvm::map_to_vector(
      shape, [](const Dimension &extent) { return extent.size; }));
}

// Adds a note for each key that makes an extent, first for extents that differ.
void noteKeys(Problems::Problem &problem, llvm::ArrayRef<Dimension> shape,
              llvm::ArrayRef<int64_t> found) {
  llvm::SmallVector<const Extent *> told;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (found.size() == shape.size() && found[i] == shape[i].size)
      continue;
    for (const Extent *extent : shape[i].from) {
      if (llvm::is_contained(told, extent) || !extent->at)
        continue;
      told.push_back(extent);
      problem.note(extent->at,
                   extent->key + " is " + llvm::Twine(extent->value) + " here");
    }
  }
}

mlir::Type elementTypeOf(Encoding type, mlir::MLIRContext &context) {
  switch (type) {
  case Encoding::f64:
    return mlir::Float64Type::get(&context);
  case Encoding::f32:
    return mlir::Float32Type::get(&context);
  case Encoding::f16:
    return mlir::Float16Type::get(&context);
  case Encoding::bf16:
    return mlir::BFloat16Type::get(&context);
  default: // the numbers of blocks count as f32
    return isBlocks(type) ? mlir::Type(mlir::Float32Type::get(&context))
                          : mlir::Type();
  }
}

} // namespace

bool StoredTensors::addFile(StringRef path, StringRef shownAs,
                            mlir::MLIRContext &context) {
  auto file = TensorFile::open(path, context);
  if (!file)
    return false;
  add(std::move(file), shownAs);
  return true;
}

void StoredTensors::add(std::unique_ptr<TensorFile> file, StringRef shownAs) {
  for (const StoredTensor &tensor : file->tensors()) {
    auto [found, fresh] = entries.try_emplace(
        tensor.name, Entry{shownAs.str(), file->path(), &tensor});
    if (fresh)
      order.push_back(tensor.name);
  }
  files.push_back(std::move(file));
}

bool StoredTensors::addFolder(StringRef folder, mlir::MLIRContext &context) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, "model.safetensors");
  if (llvm::sys::fs::exists(path))
    return addFile(path, "model.safetensors", context);
  path += ".index.json";
  return !llvm::sys::fs::exists(path) || addShards(folder, path, context);
}

bool StoredTensors::addShards(StringRef folder, StringRef index,
                              mlir::MLIRContext &context) {
  auto document = json::parseFile(index, context, 256 << 20);
  if (!document)
    return false;
  const json::Member *map = document->root.find("weight_map");
  if (!map || map->value.kind != json::Kind::object) {
    mlir::emitError(document->locate({1, 1}, context))
        << "the index has no weight_map object";
    return false;
  }
  llvm::StringMap<size_t> opened;
  for (const json::Member &member : map->value.members) {
    auto problem = [&] {
      return mlir::emitError(document->locate(member.value.at, context));
    };
    StringRef shard = member.value.text;
    // A shard must be a file of this folder: paths to other folders are
    // refused.
    if (member.value.kind != json::Kind::string || shard.empty() ||
        shard.contains('/') || shard.contains('\0') || shard == "..") {
      problem() << "tensor '" << member.key << "' is in "
                << member.value.describe()
                << " but a shard is the name of a file in this folder";
      return false;
    }
    auto [place, fresh] = opened.try_emplace(shard, files.size());
    if (fresh) {
      llvm::SmallString<128> path(folder);
      llvm::sys::path::append(path, shard);
      if (!llvm::sys::fs::exists(path)) {
        problem() << "tensor '" << member.key << "' is in "
                  << member.value.describe() << " but there is no such file";
        return false;
      }
      auto file = TensorFile::open(path, context);
      if (!file)
        return false;
      files.push_back(std::move(file));
    }
    const StoredTensor *tensor = files[place->second]->find(member.key);
    if (!tensor) {
      problem() << "tensor '" << member.key << "' is in "
                << member.value.describe()
                << " by the index but that file does not have it";
      return false;
    }
    entries[member.key] =
        Entry{shard.str(), files[place->second]->path(), tensor};
    order.push_back(member.key);
  }
  return true;
}

StoredTensors::Entry *StoredTensors::find(StringRef name) {
  auto found = entries.find(name);
  return found == entries.end() ? nullptr : &found->second;
}

StoredTensors::Entry *
StoredTensors::findOrInvent(StringRef name, llvm::ArrayRef<Dimension> shape) {
  if (Entry *entry = find(name); entry || !invents)
    return entry;
  StoredTensor tensor{name.str(), Encoding::f32, {}, {}};
  for (const Dimension &dimension : shape)
    tensor.shape.push_back(dimension.size);
  invented.push_back(std::move(tensor));
  order.push_back(name.str());
  return &(entries[name] = Entry{"", "", &invented.back()});
}

size_t StoredTensors::count(Encoding type) const {
  return llvm::count_if(entries, [&](const auto &entry) {
    return entry.second.tensor->type == type;
  });
}

std::vector<const StoredTensors::Entry *> StoredTensors::unused() const {
  std::vector<const Entry *> all;
  for (const std::string &name : order)
    if (const Entry &entry = entries.find(name)->second; !entry.used)
      all.push_back(&entry);
  return all;
}

std::string StoredTensors::where() const {
  return files.size() == 1 ? llvm::sys::path::filename(files[0]->path()).str()
                           : "the " + std::to_string(files.size()) + " shards";
}

mlir::Attribute mille::import::storedValue(const StoredTensors::Entry &entry,
                                           llvm::ArrayRef<Dimension> shape,
                                           Problems &problems,
                                           mlir::MLIRContext &context) {
  const StoredTensor &tensor = *entry.tensor;
  bool same = shape.size() == tensor.shape.size();
  for (size_t i = 0; same && i < shape.size(); ++i)
    same = shape[i].size == tensor.shape[i];
  if (!same) {
    auto &problem = problems.error(
        fileAt(entry.path, context),
        "tensor '" + tensor.name + "' is " + shapeText(tensor.shape) +
            " but the model needs " + wantedText(shape));
    noteKeys(problem, shape, tensor.shape);
    return {};
  }
  mlir::Type element = elementTypeOf(tensor.type, context);
  if (!element) {
    problems.error(fileAt(entry.path, context),
                   "tensor '" + tensor.name + "' is " + nameOf(tensor.type) +
                       " but weights are F32, F16, BF16 or F64");
    return {};
  }
  return transformer::StoredAttr::get(
      &context, entry.file, tensor.name,
      mlir::RankedTensorType::get(tensor.shape, element),
      isBlocks(tensor.type) ? tensor.type : Encoding::f32);
}

void mille::import::missingTensor(StringRef name,
                                  llvm::ArrayRef<Dimension> shape,
                                  const StoredTensors &tensors,
                                  mlir::LocationAttr at, Problems &problems) {
  auto &problem =
      problems.error(at, "tensor '" + name + "' " + wantedText(shape) +
                             " is not in " + tensors.where());
  noteKeys(problem, shape, {});
}

mlir::Attribute NativeWeights::value(const Wanted &wanted) {
  StoredTensors::Entry *entry = tensors.find(wanted.name);
  if (!entry) {
    missingTensor(wanted.name, wanted.shape, tensors, at, problems);
    return {};
  }
  entry->used = true;
  return storedValue(*entry, wanted.shape, problems, context);
}

bool StoredTensors::haveOwnNames() const {
  return llvm::any_of(files, [](const std::unique_ptr<TensorFile> &file) {
    return file->note("names") == "mille";
  });
}
