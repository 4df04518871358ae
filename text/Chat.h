// The format of a conversation, recognised by what is in a chat template.
// Must not interpret the template.
#pragma once
#include "text/Bytes.h"

namespace mille::text {

// What stands around a text of one role.
struct Wrapping {
  const char *before, *after;
};

enum : unsigned {
  inFirstUser = 1,     // the system's text stands in the first user's turn
  inLastUser = 2,      // ... in the last one, where that ends the conversation
  noSystem = 4,        // the template refuses a system turn
  alternates = 8,      // ... and turns that are not user, assistant, user, ...
  trims = 16,          // white space around a user's or assistant's text goes
  trimsAssistant = 32, // ... around an assistant's only
  trimsSystem = 64,
  trimsBoth = 128,       // around the system's and the user's text together
  alwaysSystem = 256,    // a system turn without text where none is given
  lastUnlessAsked = 512, // lastAssistant where no answer is asked for
  needsDate = 1024,
  dropsThoughts = 2048, // an assistant's text begins after </think>
  onlyOneSystem = 4096, // it must be the first turn
};

// In all texts {bos} and {eos} are the tokens' own, {date} is the date.
struct ChatFormat {
  const char *name;
  // Texts that the template must have, and must not have; \n stands for a line
  // break and for its escape alike.
  const char *marks[4], *lacks[4];
  const char *begin; // before all turns; {bos} where the template names it
  Wrapping system, user, assistant;
  const char *answer;        // what makes the model answer
  const char *closing;       // in its place, where it is not asked to
  const char *lastAssistant; // after an assistant's text at the end, where that
                             // differs; null: as ever
  const char *dateForm;      // of strftime; null: the date as it is given
  unsigned flags;
};

// Null where the template is of no format that is known.
const ChatFormat *recognizeChat(View chatTemplate);

extern const ChatFormat chatFormats[];
extern const size_t chatFormatCount;

} // namespace mille::text
