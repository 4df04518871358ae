// Renders conversations by the table of formats.
// Must not guess: a template that no row knows is refused by name.
#include "text/Chat.h"

#include "text/Normalize.h"
#include "text/Tokenizer.h"

namespace mille::text {

// Returns the template with line breaks in place of their escapes.
static void unescape(View from, Array<char> &into) {
  size_t at = 0;
  for (size_t found; (found = from.find({"\\n", 2}, at)) != SIZE_MAX;) {
    append(into, from.cut(at, found));
    into.push('\n');
    at = found + 2;
  }
  append(into, from.from(at));
}

static View viewOf(const char *text) { return {text, strlen(text)}; }

// What Python's str.strip takes for white space: four separators too.
static bool isBlank(uint32_t code) {
  return isSpace(code) || (code >= 0x1c && code <= 0x1f);
}

static View trimmed(View text) {
  unsigned bytes = 0;
  while (text.size && isBlank(codeOf(text, 0, bytes)))
    text = text.from(bytes);
  while (text.size) {
    size_t last = text.size - 1;
    while (last && (uint8_t(text.data[last]) & 0xc0) == 0x80)
      --last;
    if (!isBlank(codeOf(text, last, bytes)))
      break;
    text.size = last;
  }
  return text;
}

// Returns whether the format does what those words of a template say that would
// change its texts. So a template that differs from a format in what
// its marks do not say is refused, and not rendered wrongly.
static bool allows(const ChatFormat &format, View plain) {
  const unsigned trim = trims | trimsAssistant | trimsSystem | trimsBoth;
  const struct {
    const char *word;
    unsigned does;
  } words[] = {{"trim", format.flags & trim},
               {"strip", format.flags & (trim | dropsThoughts)},
               {"split", format.flags & dropsThoughts},
               {"strftime_now", format.dateForm || (format.flags & needsDate)},
               {"raise_exception",
                format.flags & (alternates | noSystem | onlyOneSystem)},
               {"replace", 0},
               {"upper", 0},
               {"lower", 0},
               {"title", 0},
               {"capitalize", 0},
               {"reverse", 0},
               {"truncate", 0}};
  for (const auto &each : words)
    if (!each.does && plain.find(viewOf(each.word)) != SIZE_MAX)
      return false;
  return true;
}

// Whether some text of the format has `part` in it.
static bool writes(const ChatFormat &format, View part) {
  const char *const texts[] = {
      format.begin,           format.system.before, format.system.after,
      format.user.before,     format.user.after,    format.assistant.before,
      format.assistant.after, format.answer,        format.closing,
      format.lastAssistant,   format.usual};
  for (const char *text : texts)
    if (text && viewOf(text).find(part) != SIZE_MAX)
      return true;
  return false;
}

// Where `close` stands in a tag, but for strings in it.
static size_t endOfTag(View tag, View close) {
  if (close.data[0] == '#')
    return tag.find(close);
  char quote = 0;
  for (size_t at = 2; at < tag.size; ++at) {
    char c = tag.data[at];
    if (quote && c == '\\')
      ++at;
    else if (quote)
      quote = c == quote ? 0 : quote;
    else if (c == '\'' || c == '"')
      quote = c;
    else if (tag.from(at).startsWith(close))
      return at;
  }
  return SIZE_MAX;
}

// Returns whether the format writes all that a template has outside of its
// tags.
static bool writesPlainText(const ChatFormat &format, View rest) {
  const View opens[] = {{"{{", 2}, {"{%", 2}, {"{#", 2}};
  const View closes[] = {{"}}", 2}, {"%}", 2}, {"#}", 2}};
  while (rest.size) {
    size_t at = rest.size, which = 0;
    for (size_t i = 0; i < 3; ++i)
      if (size_t found = rest.find(opens[i]); found < at)
        at = found, which = i;
    View outside = trimmed(rest.cut(0, at));
    if (outside.size && !writes(format, outside))
      return false;
    rest = rest.from(at);
    size_t end = endOfTag(rest, closes[which]);
    if (end == SIZE_MAX)
      return !rest.size;
    rest = rest.from(end + 2);
  }
  return true;
}

const ChatFormat *recognizeChat(View chatTemplate) {
  Array<char> plain;
  unescape(chatTemplate, plain);
  for (size_t i = 0; i < chatFormatCount; ++i) {
    bool fits = !plain.lost() && !plain.empty() &&
                allows(chatFormats[i], View(plain)) &&
                writesPlainText(chatFormats[i], View(plain));
    for (const char *mark : chatFormats[i].marks)
      fits = fits && (!mark || View(plain).find(viewOf(mark)) != SIZE_MAX);
    for (const char *lack : chatFormats[i].lacks)
      fits = fits && (!lack || View(plain).find(viewOf(lack)) == SIZE_MAX);
    if (fits)
      return &chatFormats[i];
  }
  return nullptr;
}

namespace {

const char *const months[12] = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};

class Conversation {
public:
  Conversation(const mille_text &tokenizer, const mille_text_turn *turns,
               size_t count, bool answer, const char *date, Array<char> &out)
      : tokenizer(tokenizer), format(*tokenizer.chat), turns(turns),
        count(count), answer(answer), date(date), out(out) {}

  Status run() {
    if (Status status = check())
      return status;
    if (Status status = readDate())
      return status;
    begin();
    for (size_t i = first; i < count; ++i)
      turn(i);
    // A template that does not ask always makes the model answer.
    bool asks =
        tokenizer.chatTemplate.find({"add_generation_prompt", 21}) != SIZE_MAX;
    bool answers = answer || !asks;
    if (answers && (format.flags & answersTurns) && first == count)
      return out.lost() ? outOfMemory() : MILLE_TEXT_OK;
    expand(answers ? format.answer : format.closing);
    return out.lost() ? outOfMemory() : MILLE_TEXT_OK;
  }

private:
  bool is(size_t i, const char *role) const {
    return !strcmp(turns[i].role, role);
  }
  View textOf(size_t i) const { return {turns[i].bytes, turns[i].size}; }

  Status refuse(size_t i, const char *why) {
    return say(MILLE_TEXT_INVALID_INPUT, "turn %zu is of '%s' but %s %s", i + 1,
               turns[i].role, format.name, why);
  }

  Status check() {
    for (size_t i = 0; i < count; ++i) {
      if (!turns[i].role || (!turns[i].bytes && turns[i].size))
        return say(MILLE_TEXT_INVALID_ARGUMENT,
                   "mille_text_chat: a pointer is null");
      if (!is(i, "system") && !is(i, "user") && !is(i, "assistant"))
        return refuse(i, "has system, user and assistant");
    }
    hasSystem = count && is(0, "system");
    const unsigned special =
        inFirstUser | inLastUser | alternates | onlyOneSystem;
    if (hasSystem && (format.flags & noSystem))
      return refuse(0, "has no system turn");
    for (size_t i = 1; i < count; ++i)
      if (is(i, "system") && (format.flags & special))
        return refuse(i, "has a system turn at the beginning only");
    size_t from = hasSystem ? 1 : 0;
    for (size_t i = from; (format.flags & alternates) && i < count; ++i)
      if (is(i, "user") != ((i - from) % 2 == 0))
        return refuse(i, "has user and assistant by turns");
    // Templates differ in what they keep of the thoughts in a last turn.
    if ((format.flags & dropsThoughts) && count && is(count - 1, "assistant"))
      return refuse(count - 1, "ends in a turn of the user");
    return MILLE_TEXT_OK;
  }

  // "2026-11-24", written as the format wants it.
  Status readDate() {
    View form = format.dateForm ? viewOf(format.dateForm) : View();
    // Templates that ask for no date have one of their own.
    bool asks = (format.flags & needsDate) ||
                (form.size &&
                 tokenizer.chatTemplate.find({"strftime_now", 12}) != SIZE_MAX);
    if (!asks) {
      append(spelledDate, {"26 Jul 2024", 11});
      return MILLE_TEXT_OK;
    }
    View given = date ? viewOf(date) : View();
    bool good =
        given.size == 10 && given.data[4] == '-' && given.data[7] == '-';
    unsigned number[2] = {0, 0}; // month, day
    for (size_t i = 0; good && i < 10; ++i) {
      if (i == 4 || i == 7)
        continue;
      good = given.data[i] >= '0' && given.data[i] <= '9';
      if (i > 4)
        number[i > 7] = number[i > 7] * 10 + unsigned(given.data[i] - '0');
    }
    if (!good || number[0] < 1 || number[0] > 12 || number[1] < 1 ||
        number[1] > 31)
      return say(MILLE_TEXT_INVALID_ARGUMENT,
                 "%s says today's date: date is '%s' but must be as 2026-11-24",
                 format.name, date ? date : "");
    if (!form.size) {
      append(spelledDate, given);
      return MILLE_TEXT_OK;
    }
    for (const char *at = format.dateForm; *at; ++at) {
      if (*at != '%') {
        spelledDate.push(*at);
        continue;
      }
      View month = viewOf(months[number[0] - 1]);
      ++at;
      append(spelledDate, *at == 'd'   ? given.from(8)
                          : *at == 'Y' ? given.cut(0, 4)
                          : *at == 'b' ? month.cut(0, 3)
                                       : month);
    }
    return MILLE_TEXT_OK;
  }

  // Appends `text` with the values of {bos}, {eos} and {date}.
  void expand(const char *text) {
    const struct {
      View key, value;
    } values[3] = {{{"{bos}", 5}, tokenizer.bosText},
                   {{"{eos}", 5}, tokenizer.eosText},
                   {{"{date}", 6}, spelledDate}};
    View rest = viewOf(text);
    while (rest.size) {
      size_t step = 1;
      View put = rest.cut(0, 1);
      for (const auto &value : values)
        if (rest.startsWith(value.key)) {
          put = value.value;
          step = value.key.size;
        }
      append(out, put);
      rest = rest.from(step);
    }
  }

  void begin() {
    // A template that does not name bos_token leaves it to who encodes.
    bool names = tokenizer.chatTemplate.find({"bos_token", 9}) != SIZE_MAX;
    if (viewOf(format.begin) == View("{bos}", 5)) {
      if (names)
        expand(format.begin);
    } else {
      expand(format.begin);
    }
    first = hasSystem ? 1 : 0;
    if (hasSystem && (format.flags & (inFirstUser | inLastUser)))
      return;
    bool given = hasSystem && (turns[0].size || !(format.flags & emptyIsNone));
    if (given)
      system(textOf(0));
    else if (format.usual)
      usualSystem(format.usual);
    else if (View usual; !hasSystem && findUsualSystem(usual))
      system(usual);
  }

  void system(View text) {
    if (!text.size && (format.flags & skipsEmpty))
      return;
    expand(format.system.before);
    append(out, format.flags & trimsSystem ? trimmed(text) : text);
    expand(format.system.after);
  }

  void usualSystem(const char *text) {
    expand(format.system.before);
    expand(text);
    expand(format.system.after);
  }

  // The text that a template gives the system where the conversation has none:
  // between what stands around a system's turn, with nothing to compute in it.
  bool findUsualSystem(View &found) {
    if (format.flags & (inFirstUser | inLastUser | noSystem | onlyOneSystem))
      return false;
    unescape(tokenizer.chatTemplate, plain);
    View all(plain), before = viewOf(format.system.before);
    View after = viewOf(format.system.after);
    if (after.size && after.data[after.size - 1] == '\n')
      --after.size;
    if (!before.size || !after.size || after.data[0] == '{')
      return false;
    for (size_t at = 0; (at = all.find(before, at)) != SIZE_MAX;) {
      at += before.size;
      size_t end = all.find(after, at);
      if (end == SIZE_MAX)
        return false;
      found = all.cut(at, end);
      if (found.size && !memchr(found.data, '\'', found.size) &&
          !memchr(found.data, '"', found.size) &&
          !memchr(found.data, '{', found.size))
        return true;
    }
    return false;
  }

  void turn(size_t i) {
    bool user = is(i, "user");
    bool last = i + 1 == count;
    if (is(i, "system"))
      return system(textOf(i));
    const Wrapping &around = user ? format.user : format.assistant;
    expand(around.before);
    View text = textOf(i);
    bool trim =
        (format.flags & trims) || (!user && (format.flags & trimsAssistant));
    bool holdsSystem = hasSystem && user &&
                       (((format.flags & inFirstUser) && i == 1) ||
                        ((format.flags & inLastUser) && last));
    size_t begin = out.size();
    if (holdsSystem) {
      expand(format.system.before);
      append(out, textOf(0));
      expand(format.system.after);
    }
    bool together = holdsSystem && (format.flags & trimsBoth);
    if (!user && (format.flags & dropsThoughts))
      text = withoutThoughts(text);
    append(out, trim && !together ? trimmed(text) : text);
    if (together && !out.lost())
      out.shrink(begin + trimmedEnd(View(out).from(begin)));
    bool ends = !user && last && format.lastAssistant &&
                !(answer && (format.flags & lastUnlessAsked));
    expand(ends ? format.lastAssistant : around.after);
  }
  // Where the white space at the end of `text` begins.
  static size_t trimmedEnd(View text) {
    View kept = trimmed(text);
    return kept.size ? size_t(kept.data - text.data) + kept.size : 0;
  }
  static View withoutThoughts(View text) {
    const View end("</think>", 8);
    size_t from = SIZE_MAX;
    for (size_t at = 0; (at = text.find(end, at)) != SIZE_MAX; at += end.size)
      from = at + end.size;
    if (from == SIZE_MAX)
      return text;
    text = text.from(from);
    while (text.size && text.data[0] == '\n')
      text = text.from(1);
    return text;
  }

  const mille_text &tokenizer;
  const ChatFormat &format;
  const mille_text_turn *turns;
  const size_t count;
  const bool answer;
  const char *date;
  Array<char> &out;
  Array<char> spelledDate, plain;
  bool hasSystem = false;
  size_t first = 0;
};

Status noFormat(const mille_text &text) {
  if (!text.chatTemplate.size)
    return say(MILLE_TEXT_UNSUPPORTED, "the vocabulary has no chat template");
  // The message shows the template's beginning in one line, so that a reader
  // can recognise the model.
  Array<char> shown;
  for (size_t at = 0; at < text.chatTemplate.size && shown.size() < 60;) {
    unsigned bytes = 0;
    uint32_t code = codeOf(text.chatTemplate, at, bytes);
    append(shown,
           code < ' ' ? View(" ", 1) : text.chatTemplate.cut(at, at + bytes));
    at += bytes;
  }
  Array<char> names;
  for (size_t i = 0; i < chatFormatCount; ++i) {
    append(names, {", ", i ? size_t(2) : 0});
    append(names, viewOf(chatFormats[i].name));
  }
  return say(MILLE_TEXT_UNSUPPORTED,
             "the chat template '%.*s' is of no format that is known: %.*s",
             int(shown.size()), shown.data(), int(names.size()), names.data());
}

} // namespace
} // namespace mille::text

using namespace mille::text;

mille_text_status mille_text_template(const mille_text *text,
                                      const char **bytes, size_t *size) {
  if (!text || !bytes || !size)
    return say(MILLE_TEXT_INVALID_ARGUMENT,
               "mille_text_template: a pointer is null");
  *bytes = text->chatTemplate.data;
  *size = text->chatTemplate.size;
  return MILLE_TEXT_OK;
}

mille_text_status mille_text_chat_format(const mille_text *text,
                                         const char **name) {
  if (!text || !name)
    return say(MILLE_TEXT_INVALID_ARGUMENT,
               "mille_text_chat_format: a pointer is null");
  if (!text->chat)
    return noFormat(*text);
  *name = text->chat->name;
  return MILLE_TEXT_OK;
}

mille_text_status mille_text_chat(const mille_text *text,
                                  const mille_text_turn *turns, size_t count,
                                  int answer, const char *date, char *bytes,
                                  size_t room, size_t *size) {
  if (!text || (!turns && count) || (!bytes && room) || !size)
    return say(MILLE_TEXT_INVALID_ARGUMENT,
               "mille_text_chat: a pointer is null");
  *size = 0;
  if (!text->chat)
    return noFormat(*text);
  Array<char> out;
  if (Status status =
          Conversation(*text, turns, count, answer != 0, date, out).run())
    return status;
  *size = out.size();
  if (size_t most = out.size() < room ? out.size() : room)
    memcpy(bytes, out.data(), most);
  return MILLE_TEXT_OK;
}
