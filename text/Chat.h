// The format of a conversation, recognised by what is in a chat template.
// Must not interpret the template.
#pragma once
#include "text/Bytes.h"

namespace mille::text {

struct ChatFormat;

// Null where the template is of no format that is known.
const ChatFormat *recognizeChat(View chatTemplate);

} // namespace mille::text
