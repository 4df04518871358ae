// Compares a manifest with the table of its keys.
#include "compiler/driver/package/ManifestKeys.h"

#include "dialects/transformer/Dtype.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <limits>

using namespace mille;
using llvm::StringRef;
using llvm::Twine;

namespace {

enum class Holds {
  text,
  word,    // one of `words`
  dtype,   // the text of a DtypeChoice
  whole,   // least to most
  real,    // least or more
  flag,    // true or false
  object,  // its keys are the rows whose `in` is this row's path
  objects, // a list of at least `least` such objects
  texts,   // a list of strings
  ids,     // a list of whole numbers, least to most
  shape    // a list of whole numbers and of names that `sizes` has
};

struct Key {
  StringRef in, name; // in: the path of the object; "": mille_package itself
  Holds holds;
  bool required = true;
  int64_t least = 0, most = std::numeric_limits<int64_t>::max();
  StringRef words = "";
  bool open = false; // it may have keys that no row names

  std::string path() const {
    return (in.empty() ? name : in + "." + name).str();
  }
};

constexpr int64_t most32 = std::numeric_limits<int32_t>::max();
constexpr bool optional = false;

// Lists that passes write are open: they have keys that nobody reads.
const Key keys[] = {
    {"", "version", Holds::whole, true, 1, most32},
    {"", "compiler", Holds::text},
    {"", "name", Holds::text},
    {"", "model", Holds::object},
    {"model", "path", Holds::text},
    {"model", "folder", Holds::text},
    {"model", "hash", Holds::text},
    {"", "entries", Holds::objects, true, 1},
    {"entries", "name", Holds::text},
    {"entries", "inputs", Holds::objects},
    {"entries.inputs", "name", Holds::text},
    {"entries.inputs", "type", Holds::word, true, 0, 0, "f32 i32"},
    {"entries.inputs", "shape", Holds::shape, true, 0, most32},
    {"entries.inputs", "default", Holds::word, optional, 0, 0,
     "ones zeros positions last none"},
    {"entries.inputs", "below", Holds::whole, optional, 1, int64_t(most32) + 1},
    {"entries", "outputs", Holds::objects},
    {"entries.outputs", "name", Holds::text},
    {"entries.outputs", "type", Holds::word, true, 0, 0, "f32 i32"},
    {"entries.outputs", "shape", Holds::shape, true, 0, most32},
    {"entries", "states", Holds::objects, optional},
    {"entries.states", "name", Holds::text},
    {"entries.states", "type", Holds::word, true, 0, 0, "f32 bf16 i32 i8 f16"},
    {"entries.states", "shape", Holds::shape, true, 0, most32},
    {"entries", "arena_bytes_per_row", Holds::whole},
    {"entries", "arena_fixed_bytes", Holds::whole, optional},
    {"entries", "fixed_tokens", Holds::whole, optional, 1, most32},
    {"entries", "steps", Holds::objects, optional},
    {"entries.steps", "kernel", Holds::text},
    {"entries.steps", "layers", Holds::text, optional},
    {"entries", "buffers", Holds::objects, optional},
    {"entries.buffers", "offset", Holds::whole},
    {"entries.buffers", "bytes", Holds::whole},
    {"entries.buffers", "first", Holds::whole},
    {"entries.buffers", "last", Holds::whole},
    {"", "scales", Holds::objects, optional},
    {"scales", "name", Holds::text},
    {"scales", "from", Holds::real, true, std::numeric_limits<int64_t>::min()},
    {"scales", "to", Holds::real, true, std::numeric_limits<int64_t>::min()},
    {"scales", "steps", Holds::whole, true, 1},
    {"", "dtype", Holds::dtype},
    {"", "cache", Holds::word, optional, 0, 0, "int8 f16"},
    {"", "calibrate", Holds::text, optional},
    {"", "hidden_states", Holds::flag},
    {"", "sizes", Holds::objects},
    {"sizes", "name", Holds::text},
    {"sizes", "most", Holds::whole, optional, 1, most32},
    {"sizes", "own", Holds::whole, optional, 1, most32},
    {"sizes", "multiple", Holds::whole, optional, 1, most32},
    {"sizes", "least", Holds::whole, optional, 1, most32},
    {"sizes", "each", Holds::whole, optional, 1, most32},
    {"sizes", "rounded_up", Holds::flag, optional},
    {"sizes", "prefix", Holds::whole, optional, 0, most32},
    {"sizes", "from", Holds::objects, optional},
    {"sizes.from", "size", Holds::text},
    {"sizes.from", "step", Holds::whole, true, 1, most32},
    {"", "isas", Holds::objects},
    {"isas", "name", Holds::text},
    {"isas", "needs", Holds::text},
    {"", "kernels", Holds::objects},
    {"kernels", "name", Holds::text},
    {"kernels", "does", Holds::text},
    {"kernels", "places", Holds::whole},
    {"kernels", "flops_per_row", Holds::whole},
    {"kernels", "weight_bytes", Holds::whole},
    {"kernels", "row_bytes", Holds::whole, optional},
    {"kernels", "tiles", Holds::objects},
    {"kernels.tiles", "isa", Holds::text},
    {"kernels.tiles", "tile", Holds::text},
    {"kernels.tiles", "rank", Holds::whole, true, 0, most32},
    {"kernels", "makers", Holds::objects, /*required=*/false},
    {"kernels.makers", "isa", Holds::text},
    {"kernels.makers", "generator", Holds::text},
    {"", "rewrites", Holds::objects, true, 0, 0, "", /*open=*/true},
    {"rewrites", "name", Holds::text},
    {"rewrites", "unit", Holds::text},
    {"rewrites", "layers", Holds::text},
    {"rewrites", "status", Holds::text},
    {"rewrites", "reason", Holds::text},
    {"rewrites", "law", Holds::text},
    {"rewrites", "bound", Holds::text},
    {"rewrites", "roundings", Holds::whole, optional},
    {"", "fusions", Holds::objects, true, 0, 0, "", /*open=*/true},
    {"fusions", "boundary", Holds::text},
    {"fusions", "unit", Holds::text},
    {"fusions", "layers", Holds::text},
    {"fusions", "status", Holds::text},
    {"fusions", "reason", Holds::text},
    {"fusions", "bytes_saved", Holds::whole},
    {"fusions", "launches_saved", Holds::whole},
    {"", "bodies", Holds::objects, true, 0, 0, "", /*open=*/true},
    {"bodies", "stack", Holds::whole},
    {"bodies", "body", Holds::whole},
    {"bodies", "layers", Holds::text},
    {"bodies", "difference", Holds::text},
    {"", "certificate", Holds::object},
    {"certificate", "asked_for", Holds::texts, optional},
    {"certificate", "bit_exact", Holds::flag},
    {"certificate", "fold_schedules", Holds::flag},
    {"certificate", "layers", Holds::whole},
    {"certificate", "of_layers", Holds::whole},
    {"certificate", "note", Holds::text, optional},
    {"certificate", "measured", Holds::objects, true, 0, 0, "", /*open=*/true},
    {"certificate.measured", "what", Holds::text},
    {"certificate.measured", "inputs", Holds::text},
    {"certificate.measured", "type", Holds::text},
    {"certificate.measured", "error", Holds::real},
    {"certificate.measured", "allowed", Holds::real},
    {"", "traffic", Holds::object},
    {"traffic", "kernels", Holds::whole},
    {"traffic", "launches", Holds::whole},
    {"traffic", "bytes_per_row", Holds::whole},
    {"traffic", "weight_bytes", Holds::whole},
    {"", "traffic_unscaled", Holds::object, optional},
    {"traffic_unscaled", "kernels", Holds::whole},
    {"traffic_unscaled", "launches", Holds::whole},
    {"traffic_unscaled", "bytes_per_row", Holds::whole},
    {"traffic_unscaled", "weight_bytes", Holds::whole},
    {"", "generation", Holds::object, optional},
    {"generation", "start", Holds::whole, optional, 0, most32},
    {"generation", "first", Holds::whole, optional, 0, most32},
    {"generation", "last", Holds::whole, optional, 0, most32},
    {"generation", "ends", Holds::ids, optional, 0, most32},
    {"generation", "banned", Holds::ids, optional, 0, most32},
    {"generation", "banned_first", Holds::ids, optional, 0, most32},
    {"generation", "least", Holds::whole},
    {"generation", "no_repeat", Holds::whole},
    {"generation", "beams", Holds::whole, true, 1, 8},
    {"generation", "length_penalty", Holds::real, true,
     std::numeric_limits<int64_t>::min()},
    {"generation", "stop", Holds::word, true, 0, 0, "likely early never"},
    {"", "scratch_bytes_per_thread", Holds::whole},
    {"", "scratch_bytes_per_thread_and_token", Holds::whole},
    {"", "parameters", Holds::whole},
    {"", "weights_bytes", Holds::whole},
    {"", "weights_embedded", Holds::flag},
    {"", "code_bytes", Holds::whole},
    {"", "tokens", Holds::flag, optional},
    {"", "tokenizer_hash", Holds::text, optional},
};

class Checker {
public:
  Checker(const json::Document &document, mlir::MLIRContext &context)
      : document(document), context(context) {}

  // Checks the members of `value`, whose place is `where`, against the rows of
  // `in`.
  void object(const json::Value &value, StringRef in, const std::string &where,
              bool open) {
    for (const Key &key : keys) {
      if (key.in != in)
        continue;
      std::string path = where + key.name.str();
      if (const json::Member *member = value.find(key.name))
        check(member->value, key, path);
      else if (key.required)
        refuse(value.at, "key '" + path + "' is missing");
    }
    for (const json::Member &member : value.members)
      if (!open && llvm::none_of(keys, [&](const Key &key) {
            return key.in == in && key.name == member.key;
          }))
        refuse(member.at, "key '" + where + member.key + "' is not known");
  }

  unsigned errors = 0;

private:
  void refuse(json::Position at, const Twine &text) {
    ++errors;
    mlir::emitError(document.locate(at, context)) << text;
  }
  void refuse(const json::Value &value, const std::string &path,
              const Twine &must) {
    refuse(value.at, "key '" + path + "' is " + value.describe() +
                         " but must be " + must);
  }
  static std::string listed(StringRef words) {
    llvm::SmallVector<StringRef> each;
    words.split(each, ' ');
    return llvm::join(each, ", ");
  }
  static bool among(const json::Value &value, StringRef words) {
    llvm::SmallVector<StringRef> each;
    words.split(each, ' ');
    return value.kind == json::Kind::string &&
           llvm::is_contained(each, StringRef(value.text));
  }
  bool isSize(const json::Value &value) const {
    const json::Member *sizes =
        document.root.find("mille_package")->value.find("sizes");
    return value.kind == json::Kind::string && sizes &&
           llvm::any_of(sizes->value.items, [&](const json::Value &size) {
             const json::Member *name = size.find("name");
             return name && name->value.text == value.text;
           });
  }
  static bool within(const json::Value &value, const Key &key) {
    return value.kind == json::Kind::number && value.whole &&
           value.integer >= key.least && value.integer <= key.most;
  }
  static std::string range(const Key &key) {
    std::string most = key.most == std::numeric_limits<int64_t>::max()
                           ? " on"
                           : " to " + std::to_string(key.most);
    return "a whole number from " + std::to_string(key.least) + most;
  }

  void check(const json::Value &value, const Key &key,
             const std::string &path) {
    switch (key.holds) {
    case Holds::text:
      if (value.kind != json::Kind::string)
        refuse(value, path, "a string");
      return;
    case Holds::word:
      if (!among(value, key.words))
        refuse(value, path, "one of " + listed(key.words));
      return;
    case Holds::dtype:
      if (std::string must; !DtypeChoice::parse(value.text, must))
        refuse(value, path, must);
      return;
    case Holds::whole:
      if (!within(value, key))
        refuse(value, path, range(key));
      return;
    case Holds::real:
      if (value.kind != json::Kind::number || value.number < double(key.least))
        refuse(value, path, key.least ? "a number" : "a number from 0 on");
      return;
    case Holds::flag:
      if (value.kind != json::Kind::boolean)
        refuse(value, path, "true or false");
      return;
    case Holds::object:
      if (value.kind != json::Kind::object)
        return refuse(value, path, "an object");
      return object(value, key.path(), path + ".", key.open);
    case Holds::objects:
    case Holds::texts:
    case Holds::ids:
    case Holds::shape:
      if (value.kind != json::Kind::array)
        return refuse(value, path, "a list");
      return list(value, key, path);
    }
  }

  void list(const json::Value &value, const Key &key, const std::string &path) {
    int64_t numbers = 1; // the product of the fixed extents
    for (const auto &[index, item] : llvm::enumerate(value.items)) {
      std::string at = path + "[" + std::to_string(index) + "]";
      if (key.holds == Holds::shape && !within(item, key) && !isSize(item))
        refuse(item, at, range(key) + ", or a name of 'sizes'");
      else if (key.holds == Holds::ids && !within(item, key))
        refuse(item, at, range(key));
      else if (key.holds == Holds::texts && item.kind != json::Kind::string)
        refuse(item, at, "a string");
      else if (key.holds == Holds::objects && item.kind != json::Kind::object)
        refuse(item, at, "an object");
      else if (key.holds == Holds::objects)
        object(item, key.path(), at + ".", key.open);
      else if (key.holds == Holds::shape && item.whole && numbers <= most32)
        numbers *= item.integer; // no overflow: both have at most 31 bits
    }
    if (key.holds == Holds::objects && int64_t(value.items.size()) < key.least)
      refuse(value, path, "a list of at least " + Twine(key.least));
    if (key.holds != Holds::shape)
      return;
    if (value.items.empty() || value.items.size() > 4)
      refuse(value, path, "a list of 1 to 4 extents");
    else if (numbers > most32)
      refuse(value, path,
             "of at most " + Twine(most32) + " numbers a sequence");
  }

  const json::Document &document;
  mlir::MLIRContext &context;
};

} // namespace

bool mille::checkManifest(const json::Document &document,
                          mlir::MLIRContext &context) {
  const json::Member *body = document.root.find("mille_package");
  Checker checker(document, context);
  if (body->value.kind == json::Kind::object)
    checker.object(body->value, "", "", /*open=*/false);
  else
    mlir::emitError(document.locate(body->value.at, context))
        << "mille_package is " << body->value.describe()
        << " but must be an object";
  return body->value.kind == json::Kind::object && checker.errors == 0;
}
