"""Texts, on tiny BERT folders. MILLE: the command that compiles."""
import json
import os
import shutil
import subprocess
import sys
import types

import numpy as np
import pytest
from tiny import H, POSITIONS, TEXTS, WORDS, bert, own_cache, sentences

import mille


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MILLE_COMPILER", os.environ["MILLE"])
        cache = own_cache(tmp_path_factory.mktemp("text"))
        patch.setenv("XDG_CACHE_HOME", str(cache))
        yield cache / "mille" / "packages"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return sentences(bert(tmp_path_factory.mktemp("models") / "bert"),
                     {"pooling_mode_mean_tokens": True})


@pytest.fixture(scope="module")
def session(folder, tmp_path_factory):
    """The package by hand, without mille.Encoder."""
    package = mille.compile(folder, tmp_path_factory.mktemp("by-hand") / "p")
    return package.session(batch=1, tokens=POSITIONS, threads=1)


def ids(text, length=8):
    words = text.replace(":", " :").split()
    return [2] + [WORDS.index(word) for word in words][:length - 2] + [3]


def states(session, text, length=8):
    array = np.array([ids(text, length)], np.int32)
    return session(input_ids=array)["last_hidden_state"][0]


def by_hand(mode, h, first=0):
    """The definitions, in double."""
    h = h.astype(np.float64)
    place = np.arange(1, len(h) + 1)[:, None]
    h, place = h[first:], place[first:]
    return {"cls": h[0], "lasttoken": h[-1], "max": h.max(0),
            "mean": h.mean(0), "mean_sqrt_len_tokens":
            h.sum(0) / len(h) ** .5,
            "weightedmean": (h * place).sum(0) / place.sum()}[mode]


@pytest.mark.parametrize("mode", ["cls", "lasttoken", "max", "mean",
                                  "mean_sqrt_len_tokens", "weightedmean"])
def test_pooling(folder, session, mode):
    encoder = mille.Encoder(folder, pooling=mode)
    for text, vector in zip(TEXTS, encoder.encode(TEXTS)):
        wanted = by_hand(mode, states(session, text))
        assert np.allclose(vector, wanted, rtol=0, atol=1e-6)


def test_same_bits_in_order(folder):
    encoder = mille.Encoder(folder)
    whole = encoder.encode(TEXTS)
    assert whole.shape == (5, H) and whole.dtype == np.float32
    assert len(np.unique(whole, axis=0)) == 5
    for size in (1, 2, 3):
        assert np.array_equal(whole, encoder.encode(TEXTS, batch_size=size))
    for text, vector in zip(TEXTS, whole):
        alone = encoder.encode(text)
        assert alone.shape == (H,) and np.array_equal(alone, vector)
    assert np.array_equal(whole[::-1], encoder.encode(TEXTS[::-1]))
    listed = encoder.encode(TEXTS, convert_to_numpy=False)
    assert isinstance(listed, list) and np.array_equal(whole, listed)


def test_a_tensor_of_torch(folder, monkeypatch):
    """Of the array itself, without a copy."""
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(
        from_numpy=lambda array: ("tensor", array)))
    encoder = mille.Encoder(folder)
    for texts in (TEXTS, "red"):
        kind, array = encoder.encode(texts, convert_to_tensor=True)
        assert kind == "tensor" and array.dtype == np.float32
        assert np.array_equal(array, encoder.encode(texts))


def test_a_tensor_for_tensors(folder, monkeypatch):
    """Of similarity, as sentence-transformers gives it; an array for arrays."""
    encoder = mille.Encoder(folder)
    vectors = encoder.encode(TEXTS)
    wanted = encoder.similarity(vectors, vectors[1:])
    pairs = encoder.similarity_pairwise(vectors, vectors[::-1])
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(
        Tensor=Tensor, from_numpy=lambda array: array.view(Tensor)))
    tensors = vectors.view(Tensor)
    for a, b in ((tensors, vectors[1:]), (vectors, tensors[1:]),
                 (list(tensors), vectors[1:]), (tensors, list(tensors[1:]))):
        found = encoder.similarity(a, b)
        assert isinstance(found, Tensor) and np.array_equal(found, wanted)
    found = encoder.similarity_pairwise(tensors, tensors[::-1])
    assert isinstance(found, Tensor) and np.array_equal(found, pairs)
    for made in (encoder.similarity(vectors, list(vectors)),
                 encoder.similarity_pairwise(vectors, vectors)):
        assert type(made) is np.ndarray


def test_the_places_of_arguments(folder):
    """Those of sentence-transformers' encode."""
    encoder = mille.Encoder(folder)
    found = encoder.encode(["red"], None, "query: ", 1, False,
                           "sentence_embedding", "ubinary", False, False,
                           "cpu", True, 9)
    assert isinstance(found, list) and np.array_equal(
        found, encoder.encode(["query: red"], precision="ubinary",
                              truncate_dim=9))
    assert np.array_equal(encoder.encode(["red"], "query"),
                          encoder.encode_query(["red"], None, None, 1))
    assert np.array_equal(
        encoder.encode(["red"], None, "", 1, None, "sentence_embedding",
                       "float32", True, False, None, True),
        encoder.encode_document(["red"], None, None, 1, None,
                                "sentence_embedding", "float32", True, False,
                                None, True))
    with pytest.raises(mille.InvalidArgument, match="must be 'sentence_embedd"):
        encoder.encode(["red"], output_value="token_embeddings")
    with pytest.raises(mille.InvalidArgument, match="'cuda' but must be 'cpu'"):
        encoder.encode(["red"], device="cuda")


def test_no_text(folder):
    assert mille.Encoder(folder).encode([]).shape == (0, H)


def test_normalized(folder, tmp_path):
    plain = mille.Encoder(folder).encode(TEXTS)
    wanted = plain / np.linalg.norm(plain, axis=1, keepdims=True)
    asked = mille.Encoder(folder).encode(TEXTS, normalize_embeddings=True)
    copy = shutil.copytree(folder, tmp_path / "copy")
    always = mille.Encoder(sentences(copy, {"pooling_mode": "mean"},
                                     normalize=True)).encode(TEXTS)
    assert np.allclose(asked, wanted, rtol=0, atol=1e-6)
    assert np.array_equal(asked, always)


def test_long_text_is_cut(folder, session):
    encoder = mille.Encoder(folder)
    assert encoder.max_seq_length == 8
    long = "blue tree " * 50
    cut = encoder.encode(long)
    assert np.array_equal(cut, encoder.encode("blue tree " * 3))
    assert not np.array_equal(cut, encoder.encode("blue tree " * 2))
    wide = mille.Encoder(folder, max_length=10 ** 9)
    assert wide.max_seq_length == POSITIONS
    assert np.allclose(wide.encode(long), rtol=0, atol=1e-6, b=by_hand(
        "mean", states(session, long, POSITIONS)))


def test_prompts(folder, session, tmp_path):
    encoder = mille.Encoder(folder)
    wanted = encoder.encode(["query: red"])
    assert np.array_equal(wanted, encoder.encode(["red"], prompt="query: "))
    assert np.array_equal(wanted, encoder.encode(["red"], prompt_name="query"))
    assert not np.array_equal(wanted, encoder.encode(["red"]))
    with pytest.raises(mille.InvalidArgument, match="no prompt 'other'"):
        encoder.encode(["red"], prompt_name="other")
    copy = shutil.copytree(folder, tmp_path / "copy")
    for mode in ("mean", "weightedmean", "cls"):
        without = mille.Encoder(sentences(copy, {"pooling_mode": mode,
                                                 "include_prompt": False}))
        assert np.allclose(
            without.encode("red", prompt_name="query"), rtol=0, atol=1e-6,
            b=by_hand(mode, states(session, "query: red"), first=3))


def test_queries_and_documents(folder, tmp_path):
    """Their prompts are those of these names, then the default one."""
    known = mille.Encoder(folder)
    says = lambda prompt: known.encode(["red"], prompt=prompt)
    assert not np.array_equal(says("query: "), says(""))
    assert np.array_equal(known.encode_query(["red"]), says("query: "))
    assert np.array_equal(known.encode_query("red"), says("query: ")[0])
    assert np.array_equal(known.encode_query(["red"], prompt=""), says(""))
    assert np.array_equal(known.encode_document(["red"]), says(""))
    copy = shutil.copytree(folder, tmp_path / "copy")
    (copy / "config_sentence_transformers.json").write_text(json.dumps({
        "prompts": {"corpus": "green ", "passage": "blue ", "other": "tree ",
                    "query": None},
        "default_prompt_name": "other", "similarity_fn_name": "dot"}))
    both = mille.Encoder(copy)
    assert np.array_equal(both.encode_document(["red"]), says("blue "))
    assert np.array_equal(both.encode_document(["red"], "corpus"),
                          says("green "))
    assert np.array_equal(both.encode_query(["red"]), says("tree "))
    assert np.array_equal(both.encode(["red"]), says("tree "))
    assert both.similarity_fn_name == "dot"


def test_fewer_numbers_of_a_vector(folder, tmp_path):
    encoder = mille.Encoder(folder)
    whole = encoder.encode(TEXTS)
    assert np.array_equal(encoder.encode(TEXTS, truncate_dim=5), whole[:, :5])
    assert encoder.encode("red", truncate_dim=99).shape == (H,)
    short = mille.Encoder(folder, truncate_dim=5)
    assert short.get_embedding_dimension() == 5
    assert short.get_sentence_embedding_dimension() == 5
    assert np.array_equal(short.encode(TEXTS), whole[:, :5])
    assert np.array_equal(short.encode(TEXTS, truncate_dim=3), whole[:, :3])
    own = short.encode(TEXTS, normalize_embeddings=True)
    assert np.allclose(np.linalg.norm(own, axis=1), 1, rtol=0, atol=1e-6)
    # A folder's Normalize comes before the cut, what the call asks for after.
    always = mille.Encoder(sentences(
        shutil.copytree(folder, tmp_path / "copy"), {"pooling_mode": "mean"},
        normalize=True), truncate_dim=5)
    unit = whole / np.linalg.norm(whole, axis=1, keepdims=True)
    assert np.allclose(always.encode(TEXTS), unit[:, :5], rtol=0, atol=1e-6)
    assert np.allclose(always.encode(TEXTS, normalize_embeddings=True), own,
                       rtol=0, atol=1e-6)
    for wrong in (0, 2.5, "5", True):
        with pytest.raises(mille.InvalidArgument, match="truncate_dim is"):
            encoder.encode(TEXTS, truncate_dim=wrong)
        with pytest.raises(mille.InvalidArgument, match="truncate_dim is"):
            mille.Encoder(folder, truncate_dim=wrong)


def test_bits_of_a_vector(folder):
    encoder = mille.Encoder(folder)
    signs = encoder.encode(TEXTS) > 0
    bits = encoder.encode(TEXTS, precision="ubinary")
    assert bits.dtype == np.uint8 and bits.shape == (5, H // 8)
    for row, wanted in zip(bits, signs):
        assert [byte >> (7 - i) & 1 for byte in row for i in range(8)] == \
            list(wanted)
    found = encoder.encode(TEXTS, precision="binary")
    assert found.dtype == np.int8
    assert np.array_equal(found.astype(int) + 128, bits)
    # Of 9 numbers the last has a byte of its own in each row.
    assert encoder.encode(TEXTS, precision="ubinary",
                          truncate_dim=9).shape == (5, 2)
    with pytest.raises(mille.InvalidArgument, match="quantise all vectors by"):
        encoder.encode(TEXTS, precision="int8")
    with pytest.raises(mille.InvalidArgument, match="'half' but must be one"):
        encoder.encode(TEXTS, precision="half")


@pytest.mark.parametrize("name, by_definition", [
    (None, lambda a, b: a @ b / np.linalg.norm(a) / np.linalg.norm(b)),
    ("dot", lambda a, b: a @ b),
    ("euclidean", lambda a, b: -np.linalg.norm(a - b)),
    ("manhattan", lambda a, b: -abs(a - b).sum())])
def test_similarity(folder, name, by_definition):
    encoder = mille.Encoder(folder, similarity_fn_name=name)
    vectors = encoder.encode(TEXTS)
    a, b = vectors[:3], vectors[1:]
    wide = vectors.astype(np.float64)
    wanted = [[by_definition(x, y) for y in wide[1:]] for x in wide[:3]]
    found = encoder.similarity(a, b)
    assert found.dtype == np.float32 and found.shape == (3, 4)
    assert np.allclose(found, wanted, rtol=0, atol=1e-5)
    assert np.allclose(encoder.similarity_pairwise(a, b[:3]),
                       np.diagonal(wanted), rtol=0, atol=1e-5)
    assert np.array_equal(encoder.similarity(vectors[0], list(b)), found[:1])
    with pytest.raises(mille.InvalidArgument, match="have 16 channels but the "
                       "second 5"):
        encoder.similarity(a, b[:, :5])
    with pytest.raises(mille.InvalidArgument, match="3 first vectors but 4"):
        encoder.similarity_pairwise(a, b)
    with pytest.raises(mille.InvalidArgument, match="first vectors are no vec"):
        encoder.similarity(["red"], b)
    with pytest.raises(mille.InvalidArgument, match="'angle' but must be one"):
        mille.Encoder(folder, similarity_fn_name="angle")


def test_poolings_are_joined(folder, tmp_path):
    copy = sentences(shutil.copytree(folder, tmp_path / "copy"),
                     {"pooling_mode_cls_token": True,
                      "pooling_mode_max_tokens": True})
    encoder = mille.Encoder(copy)
    assert encoder.get_sentence_embedding_dimension() == 2 * H
    assert np.array_equal(encoder.encode("red"), np.concatenate(
        [mille.Encoder(folder, pooling=mode).encode("red")
         for mode in ("cls", "max")]))


def test_package_and_cache(folder, cache, tmp_path):
    wanted = mille.Encoder(folder).encode(TEXTS)
    made = sorted(cache.iterdir())
    stamp = os.stat(made[0]).st_mtime_ns
    mille.Encoder(folder)
    assert sorted(cache.iterdir()) == made
    assert os.stat(made[0]).st_mtime_ns == stamp
    moved = shutil.copytree(folder, tmp_path / "model")
    mille.compile(moved, tmp_path / "package")
    assert np.array_equal(
        wanted, mille.Encoder(tmp_path / "package").encode(TEXTS))
    moved.rename(tmp_path / "elsewhere")
    with pytest.raises(mille.FileError, match="give model_dir"):
        mille.Encoder(tmp_path / "package")
    assert np.array_equal(wanted, mille.Encoder(
        tmp_path / "package", tmp_path / "elsewhere").encode(TEXTS))
    with open(tmp_path / "elsewhere" / "config.json", "a") as file:
        file.write("\n")
    mille.Encoder(tmp_path / "elsewhere")
    assert len(list(cache.iterdir())) == len(made) + 1


def test_bad_folders(folder, tmp_path):
    with pytest.raises(mille.FileError, match="holds neither a package"):
        mille.Encoder(tmp_path)
    with pytest.raises(FileNotFoundError, match="no folder"):
        mille.Encoder(tmp_path / "missing")
    copy = shutil.copytree(folder, tmp_path / "copy")
    sentences(copy, {"pooling_mode": "median"})
    with pytest.raises(mille.InvalidArgument, match="'median' but must"):
        mille.Encoder(copy)
    modules = json.loads((copy / "modules.json").read_text())
    modules[1]["type"] = "sentence_transformers.models.Dense"
    (copy / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(mille.InvalidArgument, match="the module Dense"):
        mille.Encoder(copy)
    (copy / "modules.json").unlink()
    with pytest.raises(mille.InvalidArgument, match="give pooling='mean'"):
        mille.Encoder(copy)
    (copy / "tokenizer.json").write_text("{}")
    with pytest.raises(mille.InvalidArgument, match="tokenizer.json: "):
        mille.Encoder(copy, pooling="mean")
    (copy / "tokenizer.json").unlink()
    with pytest.raises(mille.FileError, match="has no tokenizer.json"):
        mille.Encoder(copy, pooling="mean")
    with pytest.raises(mille.InvalidArgument, match="needs logits of 2"):
        mille.Classifier(folder)


def test_bad_calls(folder):
    encoder = mille.Encoder(folder)
    with pytest.raises(mille.InvalidArgument, match="number 1 is a int"):
        encoder.encode(["red", 3])
    with pytest.raises(mille.InvalidArgument, match="batch_size is 0"):
        encoder.encode(["red"], batch_size=0)


def test_import_needs_no_tokenizers():
    done = subprocess.run(
        [sys.executable, "-c", "import sys; sys.modules['tokenizers'] = None\n"
         "import mille.tokens; mille.tokens.read(None)"],
        stderr=subprocess.PIPE, text=True)
    assert "pip install 'mille[text]'" in done.stderr


def pair_logits(folder, tmp_path, pairs, second_type=1):
    """One pair at a time through the package by hand."""
    session = mille.compile(folder, tmp_path / "by-hand").session(
        batch=1, tokens=POSITIONS, threads=1)
    rows = []
    for a, b in pairs:
        first, second = ids(a, POSITIONS), ids(b, POSITIONS)[1:]
        types = [0] * len(first) + [second_type] * len(second)
        rows.append(session(
            input_ids=np.array([first + second], np.int32),
            token_type_ids=np.array([types], np.int32))["logits"][0])
    return np.array(rows)


def test_cross_encoder(tmp_path):
    folder = bert(tmp_path / "cross", labels=1)
    pairs = [("red", text) for text in TEXTS]
    logits = pair_logits(folder, tmp_path, pairs)[:, 0]
    encoder = mille.CrossEncoder(folder)
    scores = encoder.predict(pairs)
    assert np.allclose(scores, 1 / (1 + np.exp(-logits)), rtol=0, atol=1e-6)
    assert scores.shape == (5,) and len(set(scores)) == 5
    assert np.array_equal(scores, encoder.predict(pairs, batch_size=2))
    assert encoder.predict(pairs[3]) == scores[3]
    ranked = encoder.rank("red", TEXTS, top_k=3, return_documents=True)
    order = sorted(range(5), key=lambda i: -scores[i])[:3]
    assert [one["corpus_id"] for one in ranked] == order
    assert [one["text"] for one in ranked] == [TEXTS[i] for i in order]
    assert [one["score"] for one in ranked] == [scores[i] for i in order]
    assert encoder.predict([]).shape == (0,) and encoder.rank("red", []) == []
    with pytest.raises(mille.InvalidArgument, match="must be a pair"):
        encoder.predict(["red"])
    raw = bert(tmp_path / "raw", labels=1, sentence_transformers={
        "activation_fn": "torch.nn.modules.linear.Identity"})
    assert np.array_equal(mille.CrossEncoder(raw).predict(pairs), logits)
    odd = bert(tmp_path / "odd", labels=1, sentence_transformers={
        "activation_fn": "torch.nn.Tanh"})
    with pytest.raises(mille.InvalidArgument, match="torch.nn.Tanh but must"):
        mille.CrossEncoder(odd)


class Tensor(np.ndarray):
    """Of torch, as far as scores go through it."""

    def detach(self):
        return self


class Doubled:
    """A module of torch."""

    def __call__(self, logits):
        assert isinstance(logits, Tensor)
        return 2 * logits


def test_activation_of_a_call(tmp_path, monkeypatch):
    folder = bert(tmp_path / "cross", labels=1)
    pairs = [("red", text) for text in TEXTS]
    encoder = mille.CrossEncoder(folder)
    logits = encoder.predict(pairs, activation_fn="none")
    assert np.array_equal(logits, pair_logits(folder, tmp_path, pairs)[:, 0])
    assert np.array_equal(logits + 3, encoder.predict(
        pairs, activation_fn=lambda logits: logits + 3))
    assert np.array_equal(encoder.predict(pairs, apply_softmax=True),
                          encoder.predict(pairs))  # of one class: as it is
    always = mille.CrossEncoder(folder, activation_fn="none")
    assert np.array_equal(logits, always.predict(pairs))
    first = encoder.rank("red", TEXTS, activation_fn=lambda logits: -logits)[0]
    assert first["corpus_id"] == logits.argmin()
    listed = encoder.predict(pairs, convert_to_numpy=False)
    assert isinstance(listed, list) and len(listed) == 5
    for wrong, why in (("tanh", "'tanh' but must"), (3, "is 3 but must be a"),
                       (lambda logits: logits[:, 0], r"gives \[5\] numbers")):
        with pytest.raises(mille.InvalidArgument, match=why):
            encoder.predict(pairs, activation_fn=wrong)
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(
        from_numpy=lambda array: array.view(Tensor),
        nn=types.SimpleNamespace(Module=Doubled)))
    assert np.array_equal(encoder.predict(pairs, activation_fn=Doubled()),
                          2 * logits)
    made = encoder.predict(pairs, convert_to_tensor=True)
    assert isinstance(made, Tensor)
    assert np.array_equal(made, encoder.predict(pairs))
    (folder / "config_sentence_transformers.json").write_text(json.dumps(
        {"activation_fn": "torch.nn.modules.linear.Identity"}))
    assert np.array_equal(mille.CrossEncoder(folder).predict(pairs), logits)


@pytest.mark.parametrize("config, second_type", [
    ({"tokenizer_class": "BertTokenizer"}, 1),
    ({"tokenizer_class": "PreTrainedTokenizerFast"}, 0),
    ({"model_input_names": ["input_ids", "attention_mask"]}, 0),
    ({"tokenizer_class": "PreTrainedTokenizerFast",
      "model_input_names": ["input_ids", "token_type_ids"]}, 1),
])
def test_token_types(tmp_path, config, second_type):
    folder = bert(tmp_path / "cross", labels=3)
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    pairs = [("red", text) for text in TEXTS]
    assert np.array_equal(mille.CrossEncoder(folder).predict(pairs),
                          pair_logits(folder, tmp_path, pairs, second_type))


def test_classifier(tmp_path):
    folder = bert(tmp_path / "classes", labels=3)
    session = mille.compile(folder, tmp_path / "by-hand").session(
        batch=1, tokens=POSITIONS, threads=1)
    logits = np.array([session(input_ids=np.array([ids(t, POSITIONS)],
                                                  np.int32))["logits"][0]
                       for t in TEXTS])
    wanted = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    classifier = mille.Classifier(folder)
    for row, answer, best in zip(wanted, classifier(TEXTS, top_k=None),
                                 classifier(TEXTS)):
        assert [one["label"] for one in answer] == \
            [f"class {i}" for i in np.argsort(-row)]
        assert np.allclose([one["score"] for one in answer],
                           np.sort(row)[::-1], rtol=0, atol=1e-6)
        assert best == answer[0]
    assert classifier("red") == classifier(["red"])
    assert classifier("red", top_k=2) == classifier(["red"], top_k=2)[0]
    assert classifier([]) == []
    assert classifier(["red"], top_k=1) == [classifier("red")]
    pair = {"text": "red", "text_pair": TEXTS[0]}
    row = pair_logits(folder, tmp_path, [("red", TEXTS[0])])[0]
    for found in (classifier(pair, function_to_apply="none"),
                  classifier([pair], function_to_apply="none")):
        assert found == [{"label": f"class {row.argmax()}",
                          "score": float(row.max())}]
    assert classifier({"text": "red"}) == classifier("red")
    for wrong in (3, {"text_pair": "red"}, {"text": "red", "texts": "red"}):
        with pytest.raises(mille.InvalidArgument, match="number 1 is .* but "
                           "must be a text, or "):
            classifier(["red", wrong])
    raw = classifier(TEXTS, function_to_apply="none")
    assert np.array_equal([one["score"] for one in raw], logits.max(axis=1))
    with pytest.raises(mille.InvalidArgument, match="'tanh' but must be"):
        classifier("red", function_to_apply="tanh")
    with pytest.raises(mille.InvalidArgument, match="top_k is 0"):
        classifier("red", top_k=0)
    several = bert(tmp_path / "several", labels=3,
                   problem_type="multi_label_classification")
    for row, answer in zip(logits, mille.Classifier(several)(TEXTS)):
        assert abs(answer["score"] - 1 / (1 + np.exp(-row.max()))) < 1e-6
