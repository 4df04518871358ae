// The words of `mille tokens`, and which of them go together.
// Must not do what they ask for.
#include "compiler/driver/TextOptions.h"

#include "compiler/driver/OptionChecks.h"

using namespace mille;

void mille::addTokens(CLI::App &root, TokensOptions &o) {
  CLI::App *app = root.add_subcommand(
      "tokens", "ids of a text, or the text of ids, by a model's tokenizer");
  app->add_option("DIR|MODEL", o.subject,
                  "a package with a NAME.tokens, or a Hugging Face folder "
                  "with a tokenizer.json")
      ->required();
  CLI::Option *encode =
      app->add_option("--encode", o.encode, "print the ids of this text")
          ->type_name("TEXT");
  CLI::Option *file = app->add_option("--encode-file", o.encodeFile,
                                      "print the ids of this file's text")
                          ->type_name("FILE")
                          ->excludes(encode);
  app->add_option("--decode", o.decode, "print the text of these ids")
      ->delimiter(',')
      ->type_name("LIST")
      ->check(numberFrom(0, INT32_MAX))
      ->expected(1)
      ->take_all()
      ->excludes(encode)
      ->excludes(file);
  app->add_flag("--no-special", o.noSpecial,
                "special tokens in a text are text; special tokens among ids "
                "are left out");
  app->add_flag("--no-ends", o.noEnds,
                "without the tokens that stand before and after every text");
  app->add_flag("--pieces", o.pieces,
                "a line for each token: its id, and its bytes in quotes");
  app->footer("Examples:\n"
              "  mille tokens out --encode='The capital of France is'\n"
              "  mille tokens minilm/ --encode-file=page.txt --pieces\n"
              "  mille tokens out --decode=464,3139,286");
  app->parse_complete_callback([&o] {
    if (!o.encode && !o.encodeFile && !o.decode)
      throw CLI::ValidationError("--encode",
                                 "is required, or --encode-file, or --decode");
  });
}
