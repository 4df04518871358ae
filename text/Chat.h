// The format of a conversation, recognised by texts in its chat template.
// Must not interpret the template.
#pragma once
#include "text/Bytes.h"

namespace mille::text {

// The texts before and after each text of a role.
struct Wrapping {
  const char *before, *after;
};

enum : unsigned {
  inFirstUser = 1, // the system's text stands in the first user's turn
  inLastUser = 2,  // ... in the last user's turn, if no turn follows it
  noSystem = 4,    // the template refuses a system turn
  alternates = 8,  // it refuses turns other than user, assistant, user, ...
  trims = 16,      // removes white space around users' and assistants' texts
  trimsAssistant = 32, // ... around assistants' texts only
  trimsSystem = 64,
  trimsBoth = 128,       // around the system's and the user's text together
  emptyIsNone = 256,     // a first system turn without text counts as none
  lastUnlessAsked = 512, // writes lastAssistant only if no answer is asked for
  needsDate = 1024,
  dropsThoughts = 2048, // drops an assistant's text up to </think>
  onlyOneSystem = 4096, // only the first turn may be a system turn
  skipsEmpty = 8192,    // leaves out every system turn without text
  answersTurns = 16384, // asks for an answer only behind a turn that is no
                        // first system turn
};

// In all texts {bos} and {eos} stand for the texts of these tokens, and {date}
// for the date.
struct ChatFormat {
  const char *name;
  // Texts that the template must contain, and texts that it must not contain.
  // \n matches a line break and the escape of one.
  const char *marks[5], *lacks[8];
  const char *begin; // before all turns; has {bos} if the template names it
  Wrapping system, user, assistant;
  const char *answer;        // at the end: makes the model answer
  const char *closing;       // replaces `answer` if none is asked for
  const char *lastAssistant; // follows the text of an assistant's last turn;
                             // null: assistant.after does
  const char *dateForm; // of %d, %b, %B and %Y; null: the date as it is given
  unsigned flags;
  const char *usual = nullptr; // the system's text where none is given; null:
                               // what the template says, or no turn
};

// Returns null if the template has no known format.
const ChatFormat *recognizeChat(View chatTemplate);

extern const ChatFormat chatFormats[];
extern const size_t chatFormatCount;

} // namespace mille::text
