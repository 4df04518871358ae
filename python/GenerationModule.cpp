// The classes of Generation.h for Python: names, types and documentation. Must
// not do their work.
#include "Generation.h"
#include <nanobind/stl/pair.h>

using namespace mille_python;

static void bindAnswer(nb::module_ &m) {
  nb::class_<Answer>(m, "Answer",
                     R"(The ids that continue a prompt, one for each step of an
iteration. Its sequence is closed at the end, by `close`, or with the object. A
step that fails, or that Ctrl-C stops, runs again at the next one.)")
      .def(
          "__iter__", [](nb::object self) { return self; },
          nb::sig("def __iter__(self) -> Answer"))
      .def("__next__", &Answer::next)
      .def(
          "close", [](Answer &answer) { answer.close(); },
          "Closes the sequence; what is asked for afterwards is over.");
}

static void bindSequences(nb::class_<Generation> &generation) {
  generation
      .def("open", &Generation::open,
           R"(The number of a new, empty sequence. TooLarge: `sequences` are
open already.)")
      .def("close", &Generation::close, nb::arg("sequence"),
           R"(Forgets a sequence and makes room for another. InvalidArgument:
it is not open.)")
      .def("append", &Generation::append, nb::arg("sequence"), nb::arg("ids"),
           nb::sig("def append(self, sequence: int, "
                   "ids: collections.abc.Iterable[int]) -> None"),
           R"(Puts ids behind those that the sequence holds; they run in the
next decode. InvalidArgument: one is not in [0, vocabulary). TooLarge: the
sequence would have more than `context`.)")
      .def("follow", &Generation::follow, nb::arg("sequence"), nb::arg("ids"),
           nb::sig("def follow(self, sequence: int, "
                   "ids: collections.abc.Iterable[int]) -> int"),
           R"(Holds these ids from now on. The first ones that it held already
stay and do not run again: how many. Errors as for append.)")
      .def("rewind", &Generation::rewind, nb::arg("sequence"),
           nb::arg("length"),
           R"(Forgets all ids but the first `length`. InvalidArgument: it does
not hold so many.)")
      .def("fork", &Generation::fork, nb::arg("sequence"),
           nb::arg("length") = nb::none(),
           R"(The number of a new sequence that holds the first `length` ids
(None: all) of another one; they do not run again. InvalidArgument: there are
not so many. TooLarge: `sequences` are open already.)")
      .def("source", &Generation::source, nb::arg("sequence"), nb::arg("given"),
           nb::sig("def source(self, sequence: int, "
                   "given: collections.abc.Iterable[int] | "
                   "numpy.typing.NDArray[numpy.float32]) -> None"),
           R"(Encodes what the sequence answers, of a model with an encoder:
ids, or a float32 array in the shape of the encoder's input without batch
([mels, frames]). The sequence is empty then. InvalidArgument: the model has no
encoder, or the numbers are not as many as it takes. TooLarge: there is no room
for so many.)")
      .def("ids", &Generation::ids, nb::arg("sequence"),
           R"(The ids that the sequence holds. InvalidArgument: it is not
open.)")
      .def("save", &Generation::save, nb::arg("sequence"), nb::arg("path"),
           nb::sig("def save(self, sequence: int, "
                   "path: str | bytes | os.PathLike[str]) -> None"),
           R"(Writes the sequence to a file, whole or not at all. FileError: it
cannot be written.)")
      .def("load", &Generation::load, nb::arg("path"),
           nb::sig("def load(self, "
                   "path: str | bytes | os.PathLike[str]) -> int"),
           R"(The number of a new sequence, of a file that save wrote. In a
generation of another context its ids run again, which gives the same bits.
FileError: it cannot be read. InvalidArgument: it is damaged, or of another
model. TooLarge: there is no room for it.)");
}

static void bindLogits(nb::class_<Generation> &generation) {
  generation
      .def("logits", &Generation::logits, nb::arg("sequence"),
           nb::sig("def logits(self, sequence: int) -> "
                   "numpy.typing.NDArray[numpy.float32]"),
           R"([vocabulary] float32, a copy: the logits behind the sequence's
last id, of the model alone. InvalidArgument: it has not run.)")
      .def("output", &Generation::output, nb::arg("sequence"), nb::arg("name"),
           nb::sig("def output(self, sequence: int, name: str) -> "
                   "numpy.typing.NDArray[numpy.float32]"),
           R"([n] float32, a copy: what an output of the package says of the
sequence's last id: "logits", "last_hidden_state", or "hidden_states", one state
after the other, of a package that was compiled with --hidden-states.
InvalidArgument: it has not run, or there is no such output.)")
      .def("likeliest", &Generation::likeliest, nb::arg("sequence"),
           nb::arg("count"),
           R"((id, natural logarithm of its probability) of the `count`
likeliest next ids, the likeliest first, of the model alone. InvalidArgument: the
sequence has not run, or there are not so many ids.)")
      .def("logprob", &Generation::logprob, nb::arg("sequence"), nb::arg("id"),
           R"(The natural logarithm of the probability that `id` comes next, of
the model alone. InvalidArgument: the sequence has not run, or there is no such
id.)")
      .def(
          "sample",
          [](Generation &self, int64_t sequence, const nb::kwargs &options) {
            const Sampling sampling(options, self.vocabulary());
            return self.sample(sequence, sampling);
          },
          nb::arg("sequence"), nb::arg("sampling"),
          nb::sig("def sample(self, sequence: int, "
                  "**sampling: typing.Any) -> int"),
          R"(The next id, which is not appended. It depends on the sequence,
the seed and the options alone:

temperature=0.8         from 0; 0 is the likeliest id
top_k=40                only so many of the likeliest; 0: all
typical=1.0             only those nearest to the expected surprise, with this
                        share, in (0, 1]
top_p=0.95              only the fewest with this share, in (0, 1]
min_p=0.05              only those with this share of the likeliest's
repetition_penalty=1.0  by which logits of ids that were there are divided
presence_penalty=0.0    which is taken from them
frequency_penalty=0.0   which is taken from them as often as they were there
repeat_last=0           the ids that penalties look at; 0: all
seed=0                  a whole number of 64 bits
bias={id: number}       added to logits
allowed=ids             the only ids that may come

InvalidArgument: the sequence has not run, or an option has no such value.)");
}

static void bindSearches(nb::class_<Generation> &generation) {
  generation
      .def("beams", &Generation::beams, nb::arg("sequence"),
           nb::arg("beams") = 4, nb::arg("max_tokens") = 64, nb::kw_only(),
           nb::arg("end") = nb::tuple(), nb::arg("length_penalty") = 1.0,
           nb::arg("early_stopping") = false,
           nb::sig("def beams(self, sequence: int, beams: int = 4, "
                   "max_tokens: int = 64, *, "
                   "end: collections.abc.Iterable[int] = (), "
                   "length_penalty: float = 1.0, "
                   "early_stopping: bool | str = False) "
                   "-> tuple[list[int], float]"),
           R"((ids, score) of the best continuation that a search side by side
finds, as transformers' generate with num_beams. The score is the sum of the
logarithms of the ids' probabilities, divided by their number to the power of
length_penalty. It ends with an id of `end`, or has `max_tokens`. The sequence
stays as it is; `beams` - 1 more must not be open. early_stopping: True ends at
as many ends as beams, False where none is likely to become better, "never"
where none can. InvalidArgument: an option has no such value. TooLarge: there is
no room. Cancelled: `cancel` was called.)")
      .def("generate", &Generation::generate, nb::arg("ids"),
           nb::arg("max_tokens") = 256, nb::kw_only(),
           nb::arg("end") = nb::tuple(), nb::arg("sampling"),
           nb::keep_alive<0, 1>(),
           nb::sig("def generate(self, ids: collections.abc.Iterable[int], "
                   "max_tokens: int = 256, *, "
                   "end: collections.abc.Iterable[int] = (), "
                   "**sampling: typing.Any) -> Answer"),
           R"(Yields the ids that continue these, up to `max_tokens` or an id
of `end`, which is not yielded, in a sequence of its own. Options and errors as
for `sample` and `append`. TooLarge: `sequences` are open already.)");
}

void mille_python::bindGeneration(nb::module_ &m) {
  bindAnswer(m);
  nb::class_<Generation> generation(
      m, "Generation",
      R"(Sequences that a model continues, token by token. Calls of several
threads run one after the other.)");
  generation
      .def_prop_ro("context", &Generation::context,
                   "The most tokens of a sequence.")
      .def_prop_ro("vocabulary", &Generation::vocabulary,
                   "How many ids there are: each is in [0, vocabulary).")
      .def("decode", &Generation::decode,
           R"(Runs what was appended to any sequence, of all in one step.
Cancelled: `cancel` was called; called again, it goes on. InvalidArgument: a
sequence of a model with an encoder has no source.)")
      .def("cancel", &Generation::cancel,
           "Stops decode and beams, from any thread.");
  bindSequences(generation);
  bindLogits(generation);
  bindSearches(generation);
}
