// Builds the tree from simdjson's On-Demand parser, which knows where each
// token stands. Must not recurse deeper than `deepest`, nor trust any length.
#include "compiler/json/Json.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <simdjson.h>

#include <cstring>

using namespace mille::json;
namespace od = simdjson::ondemand;

namespace {

// Offsets to lines and columns, for offsets that mostly grow.
class Cursor {
public:
  Cursor(llvm::StringRef text, unsigned firstColumn)
      : text(text), firstColumn(firstColumn) {}

  Position at(size_t offset) {
    offset = std::min(offset, text.size());
    if (offset < reached)
      reached = lineStart = 0, line = 1;
    while (const void *found =
               std::memchr(text.data() + reached, '\n', offset - reached)) {
      reached = lineStart = static_cast<const char *>(found) - text.data() + 1;
      ++line;
    }
    reached = offset;
    unsigned column = unsigned(offset - lineStart) + 1;
    return {line, line == 1 ? column + firstColumn - 1 : column};
  }

private:
  llvm::StringRef text;
  unsigned firstColumn;
  size_t reached = 0, lineStart = 0;
  unsigned line = 1;
};

llvm::StringRef sentence(simdjson::error_code error) {
  switch (error) {
  case simdjson::EMPTY:
    return "the file is empty where an object was expected";
  case simdjson::UTF8_ERROR:
    return "the text is not UTF-8";
  case simdjson::UNCLOSED_STRING:
    return "a string is not closed";
  case simdjson::UNESCAPED_CHARS:
    return "a string holds a control character";
  case simdjson::STRING_ERROR:
    return "a string has a malformed escape";
  case simdjson::NUMBER_ERROR:
  case simdjson::NUMBER_OUT_OF_RANGE:
    return "a number is malformed or too large for a double";
  case simdjson::T_ATOM_ERROR:
  case simdjson::F_ATOM_ERROR:
  case simdjson::N_ATOM_ERROR:
    return "a word is none of true, false and null";
  case simdjson::INCOMPLETE_ARRAY_OR_OBJECT:
    return "an array or object is not closed";
  case simdjson::CAPACITY:
  case simdjson::MEMALLOC:
    return "the file is too large to parse";
  default:
    return "the text is not JSON from here on";
  }
}

// Beside a text, simdjson needs memory of about seven times its size.
constexpr size_t mostTextBytes = 24 << 20;
constexpr size_t mostTreeBytes = 64 << 20;

// How many parts each array and object has, in the order in which they open, so
// that the tree takes no more memory than it needs. Of a text that is no JSON
// the numbers mean nothing, but there are not more parts than bytes.
struct PartCounts {
  std::vector<uint32_t> counts;
  size_t tooMany = llvm::StringRef::npos; // where the tree is too large

  explicit PartCounts(llvm::StringRef text) {
    struct Open {
      size_t number;
      bool isObject, empty;
    };
    std::vector<Open> open;
    size_t bytes = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      char c = text[i];
      bool closes = c == ']' || c == '}';
      if (closes && !open.empty()) {
        counts[open.back().number] += !open.back().empty;
        open.pop_back();
        continue;
      }
      if (c == ' ' || c == '\n' || c == '\r' || c == '\t' || closes)
        continue;
      if (!open.empty() && (open.back().empty || c == ',')) {
        bytes += open.back().isObject ? sizeof(Member) : sizeof(Value);
        counts[open.back().number] += c == ',';
        open.back().empty = false;
        if (bytes > mostTreeBytes) {
          tooMany = i;
          return;
        }
      }
      if (c == '[' || c == '{') {
        open.push_back({counts.size(), c == '{', true});
        counts.push_back(0);
      } else if (c == '"') {
        for (++i; i < text.size() && text[i] != '"'; ++i)
          i += text[i] == '\\';
      }
    }
  }
};

class Builder {
public:
  Builder(llvm::StringRef text, llvm::StringRef path,
          mlir::MLIRContext &context, unsigned firstColumn)
      : source(text), padded(text.data(), text.size()),
        cursor(text, firstColumn), context(context),
        document(std::make_unique<Document>()) {
    document->path = path.str();
  }

  std::unique_ptr<Document> run() {
    size_t first = source.find_first_not_of(" \t\r\n");
    if (first == llvm::StringRef::npos)
      return fail(0, sentence(simdjson::EMPTY));
    if (source[first] != '{')
      return fail(first, "an object was expected here");
    PartCounts parts(source);
    if (parts.tooMany != llvm::StringRef::npos)
      return fail(parts.tooMany, "the values up to here take more than the " +
                                     llvm::Twine(mostTreeBytes) +
                                     " bytes that a file's may take");
    counts = std::move(parts.counts);
    od::parser parser;
    od::document parsed;
    if (auto error = parser.iterate(padded).get(parsed))
      return fail(whereOf(error), sentence(error));
    document->root.kind = Kind::object;
    document->root.at = cursor.at(first);
    od::object root;
    if (auto error = parsed.get_object().get(root))
      return fail(first, sentence(error));
    live = &parsed;
    if (!object(root, document->root, 1))
      return nullptr;
    const char *more = nullptr;
    if (!parsed.current_location().get(more))
      return fail(offsetOf(more), "the object is closed but more text follows");
    return std::move(document);
  }

private:
  size_t offsetOf(const char *at) const {
    const char *begin = padded.data();
    return at >= begin && at <= begin + padded.size() ? at - begin : last;
  }
  size_t here() {
    const char *at = nullptr;
    if (!live || live->current_location().get(at))
      return source.size();
    return offsetOf(at);
  }

  // The whole-text checks of simdjson do not say where; look again.
  size_t whereOf(simdjson::error_code error) {
    if (error == simdjson::UTF8_ERROR) {
      auto *at = reinterpret_cast<const llvm::UTF8 *>(source.begin());
      llvm::isLegalUTF8String(
          &at, reinterpret_cast<const llvm::UTF8 *>(source.end()));
      return reinterpret_cast<const char *>(at) - source.begin();
    }
    bool inside = false;
    size_t opened = 0;
    for (size_t i = 0; i < source.size(); ++i) {
      if (inside && source[i] == '\\')
        ++i;
      else if (inside && uint8_t(source[i]) < 0x20 &&
               error == simdjson::UNESCAPED_CHARS)
        return i;
      else if (source[i] == '"')
        opened = i, inside = !inside;
    }
    return inside ? opened : source.size();
  }

  std::nullptr_t fail(size_t offset, const llvm::Twine &text) {
    mlir::emitError(document->locate(cursor.at(offset), context)) << text;
    return nullptr;
  }
  bool no(simdjson::error_code error, size_t offset) {
    fail(offset, sentence(error));
    return false;
  }

  // The number of items in the array or object that is read next.
  size_t nextCount() { return opened < counts.size() ? counts[opened++] : 0; }

  bool object(od::object from, Value &into, unsigned depth) {
    llvm::StringMap<size_t> seen;
    into.members.reserve(nextCount());
    for (auto field : from) {
      od::field member;
      if (auto error = std::move(field).get(member))
        return no(error, here());
      size_t keyAt = offsetOf(member.key().raw()) - 1; // the opening quote
      last = keyAt;
      into.members.emplace_back();
      Position at = cursor.at(keyAt);
      into.members.back().at = at;
      std::string_view key;
      if (auto error = member.unescaped_key().get(key))
        return no(error, keyAt);
      into.members.back().key = std::string(key);
      auto [found, fresh] = seen.try_emplace(
          llvm::StringRef(key.data(), key.size()), into.members.size() - 1);
      if (!fresh) {
        mlir::InFlightDiagnostic error =
            mlir::emitError(document->locate(at, context))
            << "key '" << found->first() << "' is given twice";
        error.attachNote(
            document->locate(into.members[found->second].at, context))
            << "first given here";
        return false;
      }
      if (!value(member.value(), into.members.back().value, depth))
        return false;
    }
    return true;
  }

  bool value(od::value from, Value &into, unsigned depth) {
    std::string_view token = from.raw_json_token();
    size_t at = last = offsetOf(token.data());
    into.at = cursor.at(at);
    char head = token.empty() ? 0 : token[0];
    if ((head == '{' || head == '[') && depth >= deepest) {
      fail(at, "values nest more than " + llvm::Twine(deepest) + " deep");
      return false;
    }
    simdjson::error_code error;
    switch (head) {
    case '{': {
      into.kind = Kind::object;
      od::object object;
      if ((error = from.get_object().get(object)))
        return no(error, at);
      return this->object(object, into, depth + 1);
    }
    case '[': {
      into.kind = Kind::array;
      od::array array;
      if ((error = from.get_array().get(array)))
        return no(error, at);
      into.items.reserve(nextCount());
      for (auto element : array) {
        od::value item;
        if ((error = std::move(element).get(item)))
          return no(error, here());
        into.items.emplace_back();
        if (!value(item, into.items.back(), depth + 1))
          return false;
      }
      return true;
    }
    case '"': {
      into.kind = Kind::string;
      std::string_view text;
      if ((error = from.get_string().get(text)))
        return no(error, at);
      into.text = std::string(text);
      return true;
    }
    case 't':
    case 'f':
      into.kind = Kind::boolean;
      if ((error = from.get_bool().get(into.boolean)))
        return no(error, at);
      return true;
    case 'n': {
      bool null = false;
      if ((error = from.is_null().get(null)) || !null)
        return no(simdjson::N_ATOM_ERROR, at);
      return true;
    }
    default:
      return number(from, token, into, at);
    }
  }

  bool number(od::value from, std::string_view token, Value &into, size_t at) {
    if (token.empty() ||
        !(token[0] == '-' || (token[0] >= '0' && token[0] <= '9')))
      return no(simdjson::TAPE_ERROR, at);
    into.kind = Kind::number;
    od::number parsed;
    if (!from.get_number().get(parsed)) {
      into.whole = parsed.is_int64();
      into.integer = into.whole ? parsed.get_int64() : 0;
      into.number = parsed.as_double();
      return true;
    }
    // An integer of more than 64 bits is a number all the same.
    if (auto error = from.get_double().get(into.number))
      return no(error, at);
    return true;
  }

  llvm::StringRef source;
  simdjson::padded_string padded;
  Cursor cursor;
  mlir::MLIRContext &context;
  std::unique_ptr<Document> document;
  od::document *live = nullptr;
  std::vector<uint32_t> counts; // of parts, see PartCounts
  size_t last = 0, opened = 0;
};

} // namespace

const Member *Value::find(llvm::StringRef key) const {
  for (const Member &member : members)
    if (member.key == key)
      return &member;
  return nullptr;
}

std::string Value::describe() const {
  auto join = [](const auto &parts, auto &&one, char open, char close) {
    std::string all(1, open);
    for (const auto &part : parts) {
      all += (all.size() > 1 ? ", " : "") + one(part);
      if (all.size() > 60)
        return std::string(1, open) + "..." + close;
    }
    return all + close;
  };
  switch (kind) {
  case Kind::null:
    return "null";
  case Kind::boolean:
    return boolean ? "true" : "false";
  case Kind::number: {
    if (whole)
      return std::to_string(integer);
    char shortest[32];
    for (int digits = 1; digits <= 17; ++digits) {
      snprintf(shortest, sizeof shortest, "%.*g", digits, number);
      if (strtod(shortest, nullptr) == number)
        break;
    }
    return shortest;
  }
  case Kind::string:
    return text.size() > 60 ? "\"" + text.substr(0, 57) + "...\""
                            : "\"" + text + "\"";
  case Kind::array:
    return join(items, [](const Value &v) { return v.describe(); }, '[', ']');
  case Kind::object:
    return join(
        members,
        [](const Member &m) {
          return "\"" + m.key + "\": " + m.value.describe();
        },
        '{', '}');
  }
  return "";
}

mlir::Location Document::locate(Position at, mlir::MLIRContext &context) const {
  return mlir::FileLineColLoc::get(&context, path, at.line, at.column);
}

std::unique_ptr<Document> mille::json::parse(llvm::StringRef text,
                                             llvm::StringRef path,
                                             mlir::MLIRContext &context,
                                             unsigned firstColumn) {
  if (text.size() <= mostTextBytes)
    return Builder(text, path, context, firstColumn).run();
  mlir::emitError(mlir::FileLineColLoc::get(&context, path, 0, 0))
      << "the text has " << text.size() << " bytes but at most "
      << mostTextBytes << " are read";
  return nullptr;
}

std::unique_ptr<Document> mille::json::parseFile(llvm::StringRef path,
                                                 mlir::MLIRContext &context,
                                                 uint64_t mostBytes) {
  mlir::Location at = mlir::FileLineColLoc::get(&context, path, 0, 0);
  llvm::sys::fs::file_status status;
  if (std::error_code error = llvm::sys::fs::status(path, status)) {
    mlir::emitError(at) << "cannot read the file: " << error.message();
    return nullptr;
  }
  if (!llvm::sys::fs::is_regular_file(status)) {
    mlir::emitError(at) << "is not a regular file";
    return nullptr;
  }
  if (status.getSize() > mostBytes) {
    mlir::emitError(at) << "the file has " << status.getSize()
                        << " bytes but at most " << mostBytes << " are read";
    return nullptr;
  }
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer) {
    mlir::emitError(at) << "cannot read the file: "
                        << buffer.getError().message();
    return nullptr;
  }
  return parse((*buffer)->getBuffer(), path, context);
}

std::optional<llvm::StringRef>
mille::json::nearest(llvm::StringRef word,
                     llvm::ArrayRef<llvm::StringRef> words) {
  std::optional<llvm::StringRef> best;
  // A word cut short or drawn out is meant before one with other letters.
  size_t least = SIZE_MAX;
  for (llvm::StringRef candidate : words)
    if (std::min(word.size(), candidate.size()) >= 3 &&
        (candidate.starts_with(word) || word.starts_with(candidate)) &&
        candidate.size() < least)
      least = candidate.size(), best = candidate;
  if (best)
    return best;
  unsigned allowed = std::max<size_t>(2, (word.size() + 1) / 2);
  for (llvm::StringRef candidate : words) {
    unsigned distance =
        word.edit_distance(candidate, /*AllowReplacements=*/true, allowed);
    if (distance < allowed)
      allowed = distance, best = candidate;
  }
  return best;
}
