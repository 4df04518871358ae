"""Chat templates as transformers renders them: each answer is what
`apply_chat_template` of transformers 5.24 gives."""
import datetime
import json

import pytest

import mille

pytest.importorskip("jinja2")

CHAT = [{"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi <b>\u00fc</b>"},
        {"role": "assistant", "content": "Yes?"},
        {"role": "user", "content": "So"}]


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    from mille.serving import templates
    monkeypatch.setattr(templates, "today",
                        lambda: datetime.datetime(2026, 11, 4, 5, 6))


def chat_of(folder, template=None, **about):
    from mille.serving.templates import ChatTemplate
    if template is not None:
        about["chat_template"] = template
    (folder / "tokenizer_config.json").write_text(json.dumps(about))
    return ChatTemplate("small", str(folder))


@pytest.mark.parametrize("template, text", [
    # As gpt-oss's, Granite's and Llama 3.2's templates say the date.
    ('{{ strftime_now("%Y-%m-%d") }}|{{ strftime_now("%B %d, %Y") }}'
     '{% if strftime_now is defined %}|{{ strftime_now("%d %b %Y") }}{% endif %}',
     "2026-11-04|November 04, 2026|04 Nov 2026"),
    ("{%- macro say(m) -%}{{ '<|start|>' + m.role + '<|message|>' + m.content "
     "+ '<|end|>' }}{%- endmacro -%}{% for m in messages %}{{ say(m) }}{% endfor %}"
     "{%- if add_generation_prompt %}<|start|>assistant{% endif %}",
     "<|start|>system<|message|>Be brief.<|end|><|start|>user<|message|>Hi "
     "<b>\u00fc</b><|end|><|start|>assistant<|message|>Yes?<|end|><|start|>user"
     "<|message|>So<|end|><|start|>assistant"),
    ("{% for m in messages %}{% if loop.first %}{% continue %}{% endif %}"
     "{% if m.role == 'assistant' %}{% break %}{% endif %}{{ m.content }}"
     "{% endfor %}", "Hi <b>\u00fc</b>"),
    ("{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}"
     "{{ m.content }}{{ eos_token }}{% endgeneration %}{% endif %}{% endfor %}",
     "Yes?</s>"),
    ("{{ messages[1] | tojson }}{{ [1, {'b': 2, 'a': '<'}] | tojson(sort_keys="
     "true, separators=(',', ':')) }}{{ {'a': 1} | tojson(indent=1) }}",
     '{"role": "user", "content": "Hi <b>\u00fc</b>"}[1,{"a":"<","b":2}]'
     '{\n "a": 1\n}'),
    # What transformers does not say is none, or not defined.
    ("{{ tools is none }} {{ documents is none }} {{ thinking is defined }} "
     "{{ pad_token is defined }} {{ add_bos_token is defined }} {{ bos_token }}",
     "True True False False False <s>"),
    ("  {% if true %}\n  a\n  {% endif %}\nb\n", "  a\nb"),
])
def test_renders_as_transformers(tmp_path, template, text):
    made = chat_of(tmp_path, template, bos_token="<s>", pad_token=None,
                   add_bos_token=True, eos_token={"content": "</s>"})
    assert made.render(CHAT) == text


def test_the_default_of_a_list(tmp_path):
    """Command-R has a template for tools and one for documents too."""
    named = [{"name": "tool_use", "template": "tools"},
             {"name": "default", "template": "{{ messages[3].content }}"}]
    assert chat_of(tmp_path, named).render(CHAT) == "So"
    with pytest.raises(mille.InvalidArgument, match="small has the chat "
                       "templates tool_use but none named default"):
        chat_of(tmp_path, named[:1]).render(CHAT)


def test_a_file_of_its_own(tmp_path):
    """chat_template.jinja counts before tokenizer_config.json."""
    (tmp_path / "chat_template.jinja").write_text("{{ messages[0].content }}!")
    assert chat_of(tmp_path, "other").render(CHAT) == "Be brief.!"


@pytest.mark.parametrize("template, why", [
    (None, "the model small has no chat template"),
    ("{% for %}", "the chat template of the model small cannot be read"),
    ("{{ raise_exception('no system') }}", "refuses the messages: no system"),
    ("{{ messages[0].content + none }}", "refuses the messages: can only conc"),
    ("{{ messages.append(1) }}", "refuses the messages: .*append"),
    ("{{ ''.__class__.__mro__ }}", "refuses the messages: access to attribute"),
])
def test_refusals(tmp_path, template, why):
    with pytest.raises(mille.InvalidArgument, match=why):
        chat_of(tmp_path, template).render(CHAT)


def test_a_gguf_is_refused_by_its_reason(tmp_path):
    """A package of one has its template in NAME.tokens, which Python does not
    read; that of a folder beside it is read."""
    from mille import folders
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF")
    with pytest.raises(NotADirectoryError, match="model.gguf is no folder: of a "
                       "GGUF file `mille generate` alone reads tokens and the"):
        folders.find(file, None, "f32", None)
    package = tmp_path / "package"
    package.mkdir()
    (package / "m.weights").touch()
    (package / "m.json").write_text(json.dumps({"mille_package": {"model": {
        "path": str(file), "folder": str(tmp_path)}}}))
    with pytest.raises(FileNotFoundError, match="the package .*package is of "
                       ".*model.gguf: of a GGUF file `mille generate` alone"):
        folders.find(package, None, "f32", None)
