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
  alwaysSystem = 256,    // adds an empty system turn if none is given
  lastUnlessAsked = 512, // writes lastAssistant only if no answer is asked for
  needsDate = 1024,
  dropsThoughts = 2048, // drops an assistant's text up to </think>
  onlyOneSystem = 4096, // only the first turn may be a system turn
};

// In all texts {bos} and {eos} stand for the texts of these tokens, and {date}
// for the date.
struct ChatFormat {
  const char *name;
  // Texts that the template must contain, and texts that it must not contain.
  // \n matches a line break and the escape of one.
  const char *marks[4], *lacks[4];
  const char *begin; // before all turns; has {bos} if the template names it
  Wrapping system, user, assistant;
  const char *answer;        // at the end: makes the model answer
  const char *closing;       // replaces `answer` if none is asked for
  const char *lastAssistant; // follows the text of an assistant's last turn;
                             // null: assistant.after does
  const char *dateForm;      // for strftime; null: the date as it is given
  unsigned flags;
};

// Returns null if the template has no known format.
const ChatFormat *recognizeChat(View chatTemplate);

extern const ChatFormat chatFormats[];
extern const size_t chatFormatCount;

} // namespace mille::text
