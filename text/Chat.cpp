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

const ChatFormat *recognizeChat(View chatTemplate) {
  Array<char> plain;
  unescape(chatTemplate, plain);
  for (size_t i = 0; i < chatFormatCount; ++i) {
    bool fits = !plain.lost() && !plain.empty();
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

View trimmed(View text) {
  unsigned bytes = 0;
  while (text.size && isSpace(codeOf(text, 0, bytes)))
    text = text.from(bytes);
  while (text.size) {
    size_t last = text.size - 1;
    while (last && (uint8_t(text.data[last]) & 0xc0) == 0x80)
      --last;
    if (!isSpace(codeOf(text, last, bytes)))
      break;
    text.size = last;
  }
  return text;
}

const char *const months[12] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

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
    append(spelledDate, given.from(8));
    spelledDate.push(' ');
    append(spelledDate, viewOf(months[number[0] - 1]));
    spelledDate.push(' ');
    append(spelledDate, given.cut(0, 4));
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
    if (hasSystem && !(format.flags & (inFirstUser | inLastUser))) {
      system(textOf(0));
      first = 1;
    } else if (hasSystem) {
      first = 1;
    } else if (format.flags & alwaysSystem) {
      system({});
    } else if (View usual; findUsualSystem(usual)) {
      system(usual);
    }
  }

  void system(View text) {
    // gpt-oss has no turn for an empty text.
    if (!text.size && (format.flags & onlyOneSystem) &&
        !(format.flags & alwaysSystem))
      return;
    expand(format.system.before);
    append(out, format.flags & trimsSystem ? trimmed(text) : text);
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
