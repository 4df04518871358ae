// The sentence of an error, one a thread.
// Must not allocate: it also says that memory is out.
#pragma once
#include "text/mille_text.h"

namespace mille::text {

using Status = mille_text_status;

__attribute__((format(printf, 2, 3))) Status say(Status status,
                                                 const char *format, ...);
Status outOfMemory();

} // namespace mille::text
