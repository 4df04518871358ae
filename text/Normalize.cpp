// The normalizers of `tokenizers`, each a function from text to text; forms and
// categories are utf8proc's. Must not change what no step names.
#include "text/Normalize.h"

#include <utf8proc.h>

namespace mille::text {

bool isSpace(uint32_t code) {
  return (code >= 9 && code <= 13) || code == 0x20 || code == 0x85 ||
         code == 0xa0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200a) ||
         code == 0x2028 || code == 0x2029 || code == 0x202f || code == 0x205f ||
         code == 0x3000;
}

namespace {

// Calls `each` with every character and the bytes that it stands in.
template <typename Each> void forCharacters(View text, Each each) {
  for (size_t at = 0; at < text.size;) {
    unsigned bytes = 0;
    uint32_t code = codeOf(text, at, bytes);
    each(code, text.cut(at, at + bytes));
    at += bytes;
  }
}

bool isAscii(View text) {
  for (size_t i = 0; i < text.size; ++i)
    if (uint8_t(text.data[i]) >= 0x80)
      return false;
  return true;
}

Status transform(View text, int options, Array<char> &out) {
  if (isAscii(text)) { // as it is in every form
    append(out, text);
    return MILLE_TEXT_OK;
  }
  utf8proc_uint8_t *result = nullptr;
  utf8proc_ssize_t size = utf8proc_map(
      reinterpret_cast<const utf8proc_uint8_t *>(text.data),
      utf8proc_ssize_t(text.size), &result, utf8proc_option_t(options));
  if (size < 0)
    return outOfMemory(); // the text is UTF-8: nothing else can be wrong
  append(out, {reinterpret_cast<const char *>(result), size_t(size)});
  free(result);
  return MILLE_TEXT_OK;
}

Status compose(View text, uint32_t form, Array<char> &out) {
  const int options[4] = {
      UTF8PROC_STABLE | UTF8PROC_COMPOSE, UTF8PROC_STABLE | UTF8PROC_DECOMPOSE,
      UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT,
      UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT};
  return transform(text, options[form], out);
}

// One character at a time: no sigma is final. U+0130 is the only one that
// becomes two.
void lowercase(View text, Array<char> &out) {
  forCharacters(text, [&](uint32_t code, View) {
    if (code == 0x130)
      append(out, {"i\xcc\x87", 3});
    else
      appendCode(out, uint32_t(utf8proc_tolower(utf8proc_int32_t(code))));
  });
}

utf8proc_category_t categoryOf(uint32_t code) {
  return utf8proc_category(utf8proc_int32_t(code));
}

bool isMark(uint32_t code) {
  utf8proc_category_t category = categoryOf(code);
  return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC ||
         category == UTF8PROC_CATEGORY_ME;
}

void removeMarks(View text, Array<char> &out) {
  forCharacters(text, [&](uint32_t code, View bytes) {
    if (!isMark(code))
      append(out, bytes);
  });
}

void strip(View text, uint32_t sides, Array<char> &out) {
  size_t begin = SIZE_MAX, end = 0;
  forCharacters(text, [&](uint32_t code, View bytes) {
    if (isSpace(code))
      return;
    size_t at = size_t(bytes.data - text.data);
    begin = begin == SIZE_MAX ? at : begin;
    end = at + bytes.size;
  });
  begin = begin == SIZE_MAX ? text.size : begin;
  if (!(sides & 1))
    begin = 0;
  else if (!end) // nothing but white space
    return;
  append(out, text.cut(begin, sides & 2 ? end : text.size));
}

void replace(View text, View what, View by, Array<char> &out) {
  size_t at = 0;
  for (size_t found; (found = text.find(what, at)) != SIZE_MAX;) {
    append(out, text.cut(at, found));
    append(out, by);
    at = found + what.size;
  }
  append(out, text.from(at));
}

Status replaceAll(View text, const ReadyStep &step, Matching &matching,
                  Array<char> &out) {
  Status status = MILLE_TEXT_OK;
  size_t at = 0, begin = 0, end = 0;
  Matches matches(matching, step.pattern, text);
  while (matches.next(begin, end, status)) {
    append(out, text.cut(at, begin));
    append(out, step.second);
    at = end;
  }
  append(out, text.from(at));
  return status;
}

// As BERT's own code has the ranges, and `tokenizers` after it.
bool isChinese(uint32_t code) {
  return (code >= 0x4e00 && code <= 0x9fff) ||
         (code >= 0x3400 && code <= 0x4dbf) ||
         (code >= 0x20000 && code <= 0x2a6df) ||
         (code >= 0x2a700 && code <= 0x2b73f) ||
         (code >= 0x2b740 && code <= 0x2b81f) ||
         (code >= 0x2b920 && code <= 0x2ceaf) ||
         (code >= 0xf900 && code <= 0xfaff) ||
         (code >= 0x2f800 && code <= 0x2fa1f);
}

bool isControl(uint32_t code) {
  if (code == '\t' || code == '\n' || code == '\r')
    return false;
  utf8proc_category_t category = categoryOf(code);
  return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF ||
         category == UTF8PROC_CATEGORY_CO || category == UTF8PROC_CATEGORY_CS;
}

void cleanForBert(View text, Array<char> &out) {
  forCharacters(text, [&](uint32_t code, View bytes) {
    if (code == 0 || code == 0xfffd || isControl(code))
      return;
    append(out, isSpace(code) ? View(" ", 1) : bytes);
  });
}

void spaceChinese(View text, Array<char> &out) {
  forCharacters(text, [&](uint32_t code, View bytes) {
    bool alone = isChinese(code);
    append(out, {" ", alone ? size_t(1) : 0});
    append(out, bytes);
    append(out, {" ", alone ? size_t(1) : 0});
  });
}

void removeAccents(View text, Array<char> &out) {
  forCharacters(text, [&](uint32_t code, View bytes) {
    if (categoryOf(code) != UTF8PROC_CATEGORY_MN)
      append(out, bytes);
  });
}

Status bert(View text, uint32_t what, Array<char> &out) {
  Array<char> one, other;
  append(one, text);
  Array<char> *from = &one, *into = &other;
  auto turn = [&] {
    Array<char> *full = into;
    into = from;
    into->clear();
    from = full;
  };
  if (what & 1) {
    cleanForBert(*from, *into);
    turn();
  }
  if (what & 2) {
    spaceChinese(*from, *into);
    turn();
  }
  if (what & 4) {
    if (Status status = compose(*from, nfd, *into))
      return status;
    turn();
    removeAccents(*from, *into);
    turn();
  }
  if (what & 8)
    lowercase(*from, out);
  else
    append(out, *from);
  return one.lost() || other.lost() ? outOfMemory() : MILLE_TEXT_OK;
}

// The rules of SentencePiece's nmt_nfkc: controls go, some characters become
// spaces.
void clean(View text, Array<char> &out) {
  forCharacters(text, [&](uint32_t code, View bytes) {
    if ((code >= 1 && code <= 8) || code == 0xb ||
        (code >= 0xe && code <= 0x1f) || code == 0x7f || code == 0x8f ||
        code == 0x9f)
      return;
    bool space = code == 9 || code == 0xa || code == 0xc || code == 0xd ||
                 code == 0x1680 || (code >= 0x200b && code <= 0x200f) ||
                 code == 0x2028 || code == 0x2029 || code == 0x2581 ||
                 code == 0xfeff || code == 0xfffd;
    append(out, space ? View(" ", 1) : bytes);
  });
}

Status take(const ReadyStep &step, View text, Matching &matching,
            Array<char> &out) {
  switch (step.kind) {
  case composeStep:
    return compose(text, step.number, out);
  case lowercaseStep:
    lowercase(text, out);
    break;
  case noMarksStep:
    removeMarks(text, out);
    break;
  case stripStep:
    strip(text, step.number, out);
    break;
  case replaceStep:
    replace(text, step.first, step.second, out);
    break;
  case replaceAllStep:
    return replaceAll(text, step, matching, out);
  case prependStep:
    append(out, {step.first.data, text.size ? step.first.size : 0});
    append(out, text);
    break;
  case charsmapStep: {
    Array<char> mapped; // the map's texts may be anything
    step.charsmap.apply(text, mapped);
    appendRepaired(out, mapped);
    return mapped.lost() ? outOfMemory() : MILLE_TEXT_OK;
  }
  case bertStep:
    return bert(text, step.number, out);
  case cleanStep:
    clean(text, out);
    break;
  }
  return MILLE_TEXT_OK;
}

} // namespace

Status normalize(const mille_text &tokenizer, View text, Matching &matching,
                 Array<char> &out) {
  Array<char> one, other;
  Array<char> *full = &one, *free = &other;
  View now = text;
  for (size_t i = 0; i < tokenizer.stepCount; ++i) {
    const ReadyStep &step = tokenizer.steps[i];
    if (step.kind >= splitStep)
      break;
    free->clear();
    if (Status status = take(step, now, matching, *free))
      return status;
    if (free->lost())
      return outOfMemory();
    if (free->size() > mostFileBytes)
      return say(MILLE_TEXT_TOO_LARGE,
                 "the normalized text has %zu bytes but may have at most %llu",
                 free->size(), (unsigned long long)mostFileBytes);
    Array<char> *next = full;
    full = free;
    free = next;
    now = *full;
  }
  append(out, now);
  return out.lost() ? outOfMemory() : MILLE_TEXT_OK;
}

} // namespace mille::text
