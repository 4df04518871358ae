// The layout of NAME.tokens, for its writer and its reader. Must not need more
// than C: the reader has no C++ library. All numbers are little-endian.
#pragma once
#include <stdint.h>

namespace mille::text {

constexpr char fileMagic[8] = {'M', 'I', 'L', 'L', 'T', 'O', 'K', '\n'};
constexpr uint32_t fileVersion = 1;
constexpr uint32_t none = 0xffffffff;

enum Model : uint32_t { bpeModel = 0, unigramModel = 1, wordPieceModel = 2 };

// Flags of the whole model.
enum : uint32_t {
  byteLevel = 1,      // tokens are bytes, and every byte is one
  byteFallback = 2,   // unknown characters become tokens <0x00> to <0xFF>
  fuseUnknown = 4,    // adjacent unknown characters are one token
  wholeWordFirst = 8, // a word that is a token becomes it without merges
};

enum Role : uint32_t {
  bosRole,
  eosRole,
  unknownRole,
  paddingRole,
  separatorRole,
  classRole,
  maskRole,
  endOfTurnRole,
  roles
};

// A part of the file, or of its strings.
struct Span {
  uint64_t offset, bytes;
};

enum Part : uint32_t {
  tokenEnds,   // u32 each: where a token ends in tokenBytes
  tokenBytes,  //
  tokenKinds,  // u8 each
  tokenScores, // f64 each, for unigram models
  mergeTable,  // Merge
  addedTable,  // Added
  stepTable,   // Step, in the order in which they are applied
  firstIds,    // u32: put before every text
  lastIds,     // u32: put after every text
  strings,     // the bytes that all Spans point into
  parts
};

// Flags of one token.
enum : uint8_t {
  present = 1,   // not set for an id without a token
  reachable = 2, // the model can make it from text
  special = 4,   // decode may leave it out
};

struct Merge {
  uint32_t left, right, result, rank; // ids; the lowest rank merges first
};

enum : uint32_t {
  addedSpecial = 1,
  eatsLeft = 2,  // and the white space before it
  eatsRight = 4, // and the white space after it
  singleWord = 8,
  normalized = 16, // found in the normalized text
};

struct Added {
  uint32_t id, flags;
  Span text;
};

enum StepKind : uint32_t {
  // Text to text.
  composeStep = 0,    // number: Form
  lowercaseStep = 1,  //
  noMarksStep = 2,    // removes characters of category M
  stripStep = 3,      // number: 1 left, 2 right
  replaceStep = 4,    // the text `first` becomes `second`
  replaceAllStep = 5, // what matches the pattern `first` becomes `second`
  prependStep = 6,    // `first`, unless the text is empty
  charsmapStep = 7,   // first: SentencePiece's precompiled map
  bertStep = 8,       // number: 1 clean, 2 Chinese, 4 accents, 8 lower case
  cleanStep = 9,      // SentencePiece's nmt rules
  // Text to pieces.
  splitStep = 32,     // by the pattern `first`; number: Keep, + 256: inverted
  metaspaceStep = 33, // spaces are `first`; number: Prefix, + 256: split there
  prefixSpaceStep = 34, // adds a space before a piece that has none
  // Tokens to text.
  decodeBytesStep = 64,
  decodeReplaceStep = 65,   // the text `first` becomes `second`
  decodeFallbackStep = 66,  // a token <0x41> is the byte 0x41
  decodeFuseStep = 67,      // later steps see all tokens as one
  decodeStripStep = 68,     // removes the character `first`: up to `number` at
                            // the start, up to `other` at the end
  decodePiecesStep = 69,    // first: prefix of a token that continues a word;
                            // number: clean up
  decodeMetaspaceStep = 70, // first: the character for a space; number: Prefix
  decodeSuffixStep = 71,    // first: suffix of a token that ends a word
  decodeSpacesStep = 72,    // a space between two tokens
};

enum Form : uint32_t { nfc, nfd, nfkc, nfkd };
enum Keep : uint32_t {
  isolated,   // matches are pieces
  removed,    // matches vanish
  contiguous, // adjacent matches are one piece
  withPrevious,
  withNext
};
enum Prefix : uint32_t { always, first, never };

struct Step {
  uint32_t kind, number, other, reserved;
  Span first, second;
};

struct Header {
  char magic[8];
  uint32_t version, model, flags, tokens, longestWord, reserved;
  uint64_t fileBytes;
  uint64_t hash; // of the file with 0 in this field
  uint32_t role[roles];
  Span part[parts];
  Span continues, endsWord, unknownText, chatTemplate, bosText, eosText;
};

constexpr uint64_t mostFileBytes = uint64_t(1) << 30;
constexpr uint32_t mostTokens = 1 << 24;

// Hashes the bytes as words of eight; zeros fill up the last word.
inline uint64_t hashOf(const unsigned char *bytes, uint64_t size) {
  uint64_t hash = 0x9e3779b97f4a7c15u ^ size;
  for (uint64_t i = 0; i < size; i += 8) {
    uint64_t word = 0;
    uint64_t left = size - i < 8 ? size - i : 8;
    __builtin_memcpy(&word, bytes + i, left);
    hash = (hash ^ word) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return hash;
}

} // namespace mille::text
