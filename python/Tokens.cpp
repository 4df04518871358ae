// Texts to ids by the text room, with its errors. Must not hold the
// interpreter's lock while it reads a file or a text.
#include "Tokens.h"
#include "text/Layout.h"
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

using namespace mille_python;

namespace {

// The text room's statuses that a file or a text brings about.
[[noreturn]] void fail(mille_text_status status, const std::string &sentence) {
  check(status == MILLE_TEXT_FILE_ERROR      ? MILLE_FILE_ERROR
        : status == MILLE_TEXT_OUT_OF_MEMORY ? MILLE_OUT_OF_MEMORY
        : status == MILLE_TEXT_TOO_LARGE     ? MILLE_TOO_LARGE
                                             : MILLE_INVALID_ARGUMENT,
        sentence.c_str());
  refuse(sentence);
}

// Whether all versions of Unicode since 5.0 say the same of a text: what its
// letters are, which are upper and lower case, how they decompose. Newer
// characters may be unknown to us or to `tokenizers`, with tables of several
// versions. These are ASCII, Latin to U+024F, the dashes, quotes and dots of
// U+2010 to U+2027, and the euro.
bool isSettled(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto at = [&](size_t k) { return uint8_t(text[i + k]); };
    if (at(0) < 0x80)
      continue;
    if (at(0) < 0xc9 || (at(0) == 0xc9 && at(1) < 0x90)) {
      i += 1;
      continue;
    }
    if (at(0) != 0xe2 || !((at(1) == 0x80 && at(2) >= 0x90 && at(2) < 0xa8) ||
                           (at(1) == 0x82 && at(2) == 0xac)))
      return false;
    i += 2;
  }
  return true;
}

// The UTF-8 of Python's text, which lives as long as it; none where it has
// half of a surrogate pair.
std::optional<std::string_view> utf8(nb::handle text) {
  Py_ssize_t size = 0;
  if (const char *bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size))
    return std::string_view(bytes, size_t(size));
  PyErr_Clear();
  return std::nullopt;
}

} // namespace

Tokens::Tokens(const nb::object &given) {
  const std::string path = takePath(given);
  mille_text_status status;
  std::string why;
  {
    nb::gil_scoped_release released;
    status = mille_text_open(path.c_str(), &text);
    why = mille_text_message(); // of this thread
  }
  if (status == MILLE_TEXT_BAD_FILE)
    why = path + ": " + why;
  if (status)
    fail(status, why);
  mille_text_ends(text, &before, &after);
}

mille_text_status Tokens::encodeOne(std::string_view bytes, size_t most,
                                    std::vector<int32_t> &ids) const {
  size_t count = 0;
  ids.resize(bytes.size() + ends()); // a text rarely has more
  mille_text_status status = MILLE_TEXT_OK;
  do {
    ids.resize(std::max(ids.size(), count));
    status = mille_text_encode(text, bytes.data(), bytes.size(),
                               MILLE_TEXT_SPECIAL | MILLE_TEXT_ENDS, ids.data(),
                               ids.size(), &count);
  } while (!status && count > ids.size());
  ids.resize(count);
  if (count > most) // what is cut is the text, never its ends
    ids.erase(ids.begin() + ptrdiff_t(most - after),
              ids.end() - ptrdiff_t(after));
  return status;
}

nb::list Tokens::encode(const nb::list &texts, size_t most) const {
  if (most < ends())
    refuse("the longest text is " + std::to_string(most) +
           " tokens but each text gets " + std::to_string(ends()));
  struct One {
    nb::object text; // holds the bytes
    std::optional<std::string_view> bytes;
    std::vector<int32_t> ids;
  };
  std::vector<One> all;
  for (nb::handle each : texts) {
    auto bytes = utf8(each);
    all.push_back({nb::borrow(each),
                   bytes && isSettled(*bytes) ? bytes : std::nullopt,
                   {}});
  }
  mille_text_status status = MILLE_TEXT_OK;
  std::string why;
  {
    nb::gil_scoped_release released;
    std::vector<int32_t> ids;
    for (One &one : all) {
      if (!one.bytes)
        continue;
      status = encodeOne(*one.bytes, most, ids);
      one.ids.assign(ids.begin(), ids.end());
      // This room cannot read the text: a match takes too many steps, or a
      // character has no token. `tokenizers` reads it, or says what is wrong.
      if (status == MILLE_TEXT_UNSUPPORTED) {
        one.bytes.reset();
      } else if (status) {
        why = mille_text_message(); // of this thread
        break;
      }
      status = MILLE_TEXT_OK;
    }
  }
  if (status)
    fail(status, why);
  nb::list lists;
  for (const One &one : all)
    lists.append(one.bytes ? nb::cast(one.ids) : nb::none());
  return lists;
}

std::string mille_python::hashOfFile(const nb::object &given) {
  const std::string path = takePath(given);
  std::string whole;
  bool good = false;
  {
    nb::gil_scoped_release released;
    if (FILE *file = fopen(path.c_str(), "rb")) {
      char buffer[1 << 16];
      while (const size_t got = fread(buffer, 1, sizeof buffer, file))
        whole.append(buffer, got);
      good = !ferror(file);
      const int number = errno;
      fclose(file);
      errno = number;
    }
  }
  if (!good)
    check(MILLE_FILE_ERROR, (path + ": " + strerror(errno)).c_str());
  char text[17];
  snprintf(text, sizeof text, "%016llx",
           static_cast<unsigned long long>(mille::text::hashOf(
               reinterpret_cast<const unsigned char *>(whole.data()),
               whole.size())));
  return text;
}
