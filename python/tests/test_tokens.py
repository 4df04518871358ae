"""Classes of tokens, and long texts in windows. As test_text.py."""
import numpy as np
import pytest
import tokenizers
from test_text import cache  # noqa: F401
from tiny import POSITIONS, bert, sentences

import mille

LABELS = ["O", "B-COL", "I-COL", "B-OBJ", "I-OBJ"]
TEXT = "blueish house green reds zzz tree"
IDS = [2, 5, 11, 8, 6, 7, 12, 1, 9, 3]
SPANS = [(0, 4), (4, 7), (8, 13), (14, 19), (20, 23), (23, 24), (25, 28),
         (29, 33)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return bert(tmp_path_factory.mktemp("models") / "tags", labels=5, seed=11,
                tokens=True,
                id2label={str(i): name for i, name in enumerate(LABELS)})


@pytest.fixture(scope="module")
def tagger(folder):
    return mille.TokenClassifier(folder)


def softmax(logits):
    raised = np.exp(logits.astype(np.float64))
    return raised / raised.sum(axis=-1, keepdims=True)


def test_tokens(folder, tagger, tmp_path):
    session = mille.compile(folder, tmp_path / "p").session(
        batch=1, tokens=POSITIONS, threads=1)
    scores = softmax(session(input_ids=np.array([IDS]))["logits"][0])
    answer = tagger(TEXT, ignore_labels=[])
    assert [(one["start"], one["end"]) for one in answer] == SPANS
    assert [one["index"] for one in answer] == list(range(1, 9))
    assert [one["word"] for one in answer] == [
        "blue", "##ish", "house", "green", "red", "##s", "zzz", "tree"]
    for one, row in zip(answer, scores[1:-1]):
        assert one["entity"] == LABELS[row.argmax()]
        assert one["score"] == pytest.approx(row.max(), abs=1e-6)
    assert len({one["entity"] for one in answer}) > 1
    texts = [TEXT, "", "red", TEXT + " tree"]
    whole = tagger(texts, ignore_labels=[])
    assert whole[0] == answer and whole[1] == []
    assert whole == [tagger(text, ignore_labels=[]) for text in texts]
    assert tagger([]) == []
    seen = answer[0]["entity"]
    assert tagger(TEXT, ignore_labels=[seen]) == [
        one for one in answer if one["entity"] != seen]


# Of each token of TEXT: the class, its logit, and another class with logit 1.
MADE = [("B-COL", 2, "O"), ("O", 3, "B-COL"), ("B-OBJ", 2, "O"),
        ("I-COL", 2, "O"), ("I-COL", 1.5, "B-OBJ"), ("B-OBJ", 4, "I-COL"),
        ("B-OBJ", 2, "O"), ("O", 2, "I-OBJ")]


def given(tagger, monkeypatch):
    logits = np.full((1, len(IDS), len(LABELS)), -9, np.float32)
    for row, (best, value, other) in zip(logits[0, 1:], MADE):
        row[LABELS.index(best)] = value
        row[LABELS.index(other)] = 1
    monkeypatch.setattr(
        tagger._runner, "batches", lambda encodings, _: iter(
            [(range(len(encodings)), encodings, {"logits": logits})]))


# What the pipeline of transformers 5.24 answers of these logits: class, word,
# place and score.
GROUPS = {
    "simple": [("COL", "blue", 0, 4, 0.73103), ("OBJ", "house", 8, 13, 0.73103),
               ("COL", "green red", 14, 23, 0.67673),
               ("OBJ", "##s", 23, 24, 0.95257),
               ("OBJ", "zzz", 25, 28, 0.73103)],
    "first": [("COL", "blueish", 0, 7, 0.73103),
              ("OBJ", "house", 8, 13, 0.73103),
              ("COL", "green reds", 14, 24, 0.67673),
              ("OBJ", "zzz", 25, 28, 0.73103)],
    "average": [("OBJ", "house", 8, 13, 0.73103),
                ("COL", "green", 14, 19, 0.73103),
                ("OBJ", "reds", 20, 24, 0.66504),
                ("OBJ", "zzz", 25, 28, 0.73103)],
    "max": [("OBJ", "house", 8, 13, 0.73103),
            ("COL", "green", 14, 19, 0.73103),
            ("OBJ", "reds", 20, 24, 0.95257),
            ("OBJ", "zzz", 25, 28, 0.73103)],
}


@pytest.mark.parametrize("strategy", GROUPS)
def test_strategies(tagger, monkeypatch, strategy):
    given(tagger, monkeypatch)
    answer = tagger(TEXT, aggregation_strategy=strategy)
    wanted = GROUPS[strategy]
    assert [(one["entity_group"], one["word"], one["start"], one["end"])
            for one in answer] == [one[:-1] for one in wanted]
    for one, (*_, score) in zip(answer, wanted):
        assert one["score"] == pytest.approx(score, abs=1e-5)


LONG = "blueish house green reds zzz tree : " * 6


@pytest.mark.parametrize("stride", [0, 1, 5])
def test_windows_are_those_of_tokenizers(folder, stride):
    runner = mille.TokenClassifier(folder, max_length=9)._runner
    own = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    own.no_padding()
    own.enable_truncation(9, stride=stride)
    for count in range(1, 40):
        text = " ".join(LONG.split()[:count])
        first = own.encode(text)
        wanted = [first, *first.overflowing]
        windows, = runner.all_windows([text], stride)
        for part in ("ids", "type_ids", "offsets", "attention_mask",
                     "special_tokens_mask"):
            assert [getattr(one, part) for one in windows] == \
                [getattr(one, part) for one in wanted]


def test_long_texts_of_tokens(folder, tagger):
    with pytest.raises(mille.InvalidArgument, match="stride needs"):
        tagger(LONG, stride=2)
    short = mille.TokenClassifier(folder, max_length=9)
    cut = short(LONG, aggregation_strategy="first", ignore_labels=[])
    whole = short(LONG, aggregation_strategy="first", ignore_labels=[],
                  stride=4)
    assert max(one["end"] for one in cut) < 60
    assert max(one["end"] for one in whole) == len(LONG.strip())
    starts = [one["start"] for one in whole]
    assert starts == sorted(set(starts))
    assert whole == short([LONG, "red"], aggregation_strategy="first",
                          ignore_labels=[], stride=4, batch_size=1)[0]
    with pytest.raises(mille.InvalidArgument, match="less than 7"):
        short(LONG, aggregation_strategy="first", stride=7)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return mille.Encoder(sentences(
        bert(tmp_path_factory.mktemp("models") / "bert"),
        {"pooling_mode_mean_tokens": True}, length=9))


def test_long_texts_of_the_encoder(encoder):
    words = "blue house green red tree : blue blue red house tree".split()
    texts = ["red", " ".join(words), "green tree", ""]
    vectors = encoder.encode(texts, stride=2)
    plain = encoder.encode(texts)
    for i in (0, 2, 3):  # those that fit have the bits they have without
        assert np.array_equal(vectors[i], plain[i])
    parts = [words[0:7], words[5:11]]  # 7 tokens beside [CLS] and [SEP]
    own = encoder.encode([" ".join(part) for part in parts])
    wanted = (own[0] * 9 + own[1] * 8) / 17
    assert np.allclose(vectors[1], wanted, rtol=0, atol=1e-6)
    assert not np.allclose(plain[1], wanted, rtol=0, atol=1e-3)
    assert np.array_equal(vectors, encoder.encode(texts, stride=2,
                                                  batch_size=1))
    unit = encoder.encode(texts[1], stride=2, normalize_embeddings=True)
    assert np.allclose(unit, wanted / np.linalg.norm(wanted), atol=1e-6)


def test_each_window_has_the_prompt(encoder):
    words = "blue house green red tree blue house green".split()
    vector = encoder.encode(" ".join(words), prompt="query: ", stride=1)
    parts = [words[0:5], words[4:8]]
    own = encoder.encode([" ".join(part) for part in parts], prompt="query: ")
    wanted = (own[0] * 9 + own[1] * 8) / 17
    assert np.allclose(vector, wanted, rtol=0, atol=1e-6)
    for stride, sentence in ((-1, "stride is -1"), (7, "less than 7"),
                             (1.5, "stride is 1.5")):
        with pytest.raises(mille.InvalidArgument, match=sentence):
            encoder.encode(" ".join(words), stride=stride)
