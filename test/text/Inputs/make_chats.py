"""Writes what jinja2 makes of chat templates, as transformers sets it up.

By hand, where jinja2 is installed: make_chats.py FILE [TEMPLATE.jinja...]. The
templates in here say what the families' own say of plain conversations; tools and
documents are left out."""
import datetime
import json
import os
import sys

from jinja2.exceptions import TemplateError
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

DAY = datetime.date(2026, 11, 24)
ALTERNATE = ("{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
             "{{ raise_exception('roles must alternate') }}{% endif %}")
SPLIT = ("{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}"
         "{% set system_message = messages[0]['content'] %}{% else %}"
         "{% set loop_messages = messages %}{% set system_message = false %}{% endif %}")
LOOSE = ("{%- if messages[0]['role'] == 'system' %}\n    {%- set system_message = "
         "messages[0]['content'] %}\n    {%- set loop_messages = messages[1:] %}\n"
         "{%- else %}\n    {%- set loop_messages = messages %}\n{%- endif %}\n")
USER = "{% if message['role'] == 'user' %}"
ASSISTANT = "{% elif message['role'] == 'assistant' %}"
CHATML = (r"{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}"
          r"{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")
USUAL = (r"{%% if loop.first and messages[0]['role'] != 'system' %%}"
         r"{{ '<|im_start|>system\n%s<|im_end|>\n' }}{%% endif %%}")
LLAMA3_TURN = (r"'<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n'+ "
               r"message['content'] | trim + '<|eot_id|>'")
LLAMA3_ANSWER = r"{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}"


def llama31(date):
    return (
        "{{- bos_token }}\n" + date +
        "{%- if messages[0]['role'] == 'system' %}\n"
        "    {%- set system_message = messages[0]['content']|trim %}\n"
        "    {%- set messages = messages[1:] %}\n{%- else %}\n"
        "    {%- set system_message = \"\" %}\n{%- endif %}\n"
        r'{{- "<|start_header_id|>system<|end_header_id|>\n\n" }}' "\n"
        r'{{- "Cutting Knowledge Date: December 2023\n" }}' "\n"
        r'{{- "Today Date: " + date_string + "\n\n" }}' "\n"
        '{{- system_message }}\n{{- "<|eot_id|>" }}\n'
        "{%- for message in messages %}\n    {{- " + LLAMA3_TURN + " }}\n{%- endfor %}\n"
        "{%- if add_generation_prompt %}\n    {{- "
        r"'<|start_header_id|>assistant<|end_header_id|>\n\n'" " }}\n{%- endif %}\n")


def mistral(open_user, assistant):
    return ('{%- if messages[0]["role"] == "system" %}\n    {%- set system_message = '
            'messages[0]["content"] %}\n    {%- set loop_messages = messages[1:] %}\n'
            "{%- else %}\n    {%- set loop_messages = messages %}\n{%- endif %}\n"
            "{{- bos_token }}\n{%- if tools is defined %}{{- '{\"it\\'s\": {' + tools + '}}' }}"
            "{%- endif %}\n{%- for message in loop_messages %}\n" + ALTERNATE.replace("{%", "{%-") +
            '    {%- if message["role"] == "user" %}\n'
            "        {%- if loop.last and system_message is defined %}\n            {{- \"" +
            open_user + r'" + system_message + "\n\n" + message["content"] + "[/INST]" }}'
            "\n        {%- else %}\n            {{- \"" + open_user +
            '" + message["content"] + "[/INST]" }}\n        {%- endif %}\n'
            '    {%- elif message["role"] == "assistant" %}\n        {{- ' + assistant +
            " }}\n    {%- endif %}\n{%- endfor %}\n")


def granite4(usual, otherwise):
    return ("{%- set ns = namespace(system_message='') %}\n" + usual +
            "{%- if messages[0].role == 'system' %}\n"
            "    {%- set ns.system_message = messages[0].content %}\n{%- endif %}\n"
            "{%- if ns.system_message %}\n    {{- '<|start_of_role|>system<|end_of_role|>' + "
            r"ns.system_message + '<|end_of_text|>\n' }}" "\n" + otherwise + "{%- endif %}\n"
            "{%- for message in messages %}\n    {%- set content = namespace(val=message.content) %}\n"
            "    {%- if not (message.role == 'system' and loop.first) %}\n"
            "        {{- '<|start_of_role|>' + message.role + '<|end_of_role|>' + content.val + "
            r"'<|end_of_text|>\n' }}" "\n    {%- endif %}\n{%- endfor %}\n"
            "{%- if add_generation_prompt %}\n"
            "    {{- '<|start_of_role|>assistant<|end_of_role|>' }}\n{%- endif %}\n")


TEMPLATES = {
    "chatml": "{% for message in messages %}" + CHATML,
    "chatml, usual system": "{% for message in messages %}" +
        USUAL % "You are a helpful assistant." + CHATML,
    "chatml, bos": "{{ bos_token }}{% for message in messages %}" + CHATML,
    "qwen3": (
        "{%- set ns = namespace(last_query_index=0) %}\n{%- for message in messages %}\n"
        "    {%- if message.role == 'user' %}\n"
        "        {%- set ns.last_query_index = loop.index0 %}\n    {%- endif %}\n"
        "{%- endfor %}\n{%- for message in messages %}\n"
        "    {%- set content = message.content %}\n    {%- set thoughts = '' %}\n"
        "    {%- if message.role == 'assistant' and '</think>' in content %}\n"
        r"        {%- set thoughts = content.split('</think>')[0].split('<think>')[-1] %}" "\n"
        r"        {%- set content = content.split('</think>')[-1].lstrip('\n') %}" "\n"
        "    {%- endif %}\n    {%- if loop.index0 > ns.last_query_index and loop.last %}\n"
        r"        {{- '<|im_start|>' + message.role + '\n<think>\n' + thoughts.strip('\n') "
        r"+ '\n</think>\n\n' + content.lstrip('\n') }}" "\n    {%- else %}\n"
        r"        {{- '<|im_start|>' + message.role + '\n' + content }}" "\n    {%- endif %}\n"
        r"    {{- '<|im_end|>\n' }}" "\n{%- endfor %}\n{%- if add_generation_prompt %}\n"
        r"    {{- '<|im_start|>assistant\n' }}" "\n"
        "    {%- if enable_thinking is defined and enable_thinking is false %}\n"
        r"        {{- '<think>\n\n</think>\n\n' }}" "\n    {%- endif %}\n{%- endif %}"),
    "phi4": ("{% for message in messages %}{% if (message['role'] == 'system') %}"
             "{{'<|im_start|>system<|im_sep|>' + message['content'] + '<|im_end|>'}}"
             "{% elif (message['role'] == 'user') %}{{'<|im_start|>user<|im_sep|>' + "
             "message['content'] + '<|im_end|>'}}{% elif (message['role'] == 'assistant') %}"
             "{{'<|im_start|>assistant<|im_sep|>' + message['content'] + '<|im_end|>'}}"
             "{% endif %}{% endfor %}{% if add_generation_prompt %}"
             "{{ '<|im_start|>assistant<|im_sep|>' }}{% endif %}"),
    "phi4-answers": (
        "{% for message in messages %}" + USER + "{{'<|im_start|>user<|im_sep|>' + "
        "message['content'] + '<|im_end|><|im_start|>assistant<|im_sep|>'}}" + ASSISTANT +
        "{{message['content'] + '<|im_end|>'}}{% else %}{{'<|im_start|>system<|im_sep|>' + "
        "message['content'] + '<|im_end|>'}}{% endif %}{% endfor %}"),
    "lfm2": (
        '{{- bos_token -}}{%- set ns = namespace(system_prompt="") -%}'
        '{%- if messages[0]["role"] == "system" -%}'
        '{%- set ns.system_prompt = messages[0]["content"] -%}{%- set messages = messages[1:] -%}'
        '{%- endif -%}{%- if tools -%}{{- "<|tool_list_start|>" -}}{%- endif -%}'
        r'{%- if ns.system_prompt -%}{{- "<|im_start|>system\n" + ns.system_prompt + "<|im_end|>\n" -}}'
        r'{%- endif -%}{%- for message in messages -%}{{- "<|im_start|>" + message["role"] + "\n" -}}'
        r'{%- set content = message["content"] -%}{{- content + "<|im_end|>\n" -}}{%- endfor -%}'
        r'{%- if add_generation_prompt -%}{{- "<|im_start|>assistant\n" -}}{%- endif -%}'),
    "llama2": (SPLIT + "{% for message in loop_messages %}" + ALTERNATE +
               "{% if loop.index0 == 0 and system_message != false %}"
               r"{% set content = '<<SYS>>\n' + system_message + '\n<</SYS>>\n\n' + message['content'] %}"
               "{% else %}{% set content = message['content'] %}{% endif %}" + USER +
               "{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}" + ASSISTANT +
               "{{ ' '  + content.strip() + ' ' + eos_token }}{% endif %}{% endfor %}"),
    "llama3": ("{% set loop_messages = messages %}{% for message in loop_messages %}"
               "{% set content = " + LLAMA3_TURN + " %}{% if loop.index0 == 0 %}"
               "{% set content = bos_token + content %}{% endif %}{{ content }}{% endfor %}" +
               LLAMA3_ANSWER),
    "llama3, asks": ("{{ bos_token }}{% for message in messages %}{{ " + LLAMA3_TURN +
                     " }}{% endfor %}{% if add_generation_prompt %}" + LLAMA3_ANSWER + "{% endif %}"),
    "llama3.1": llama31('{%- set date_string = "26 Jul 2024" %}\n'),
    "llama3.2": llama31('{%- if strftime_now is defined %}\n'
                        '    {%- set date_string = strftime_now("%d %b %Y") %}\n'
                        '{%- else %}\n    {%- set date_string = "26 Jul 2024" %}\n{%- endif %}\n'),
    "gemma": ("{{ bos_token }}{% if messages[0]['role'] == 'system' %}"
              "{{ raise_exception('System role not supported') }}{% endif %}"
              "{% for message in messages %}" + ALTERNATE +
              "{% if (message['role'] == 'assistant') %}{% set role = 'model' %}{% else %}"
              "{% set role = message['role'] %}{% endif %}"
              r"{{ '<start_of_turn>' + role + '\n' + message['content'] | trim + '<end_of_turn>\n' }}"
              r"{% endfor %}{% if add_generation_prompt %}{{'<start_of_turn>model\n'}}{% endif %}"),
    "gemma3": ("{{ bos_token }}\n{%- if messages[0]['role'] == 'system' -%}\n"
               r"    {%- set first_user_prefix = messages[0]['content'] + '\n\n' -%}" "\n"
               "    {%- set loop_messages = messages[1:] -%}\n{%- else -%}\n"
               "    {%- set first_user_prefix = \"\" -%}\n"
               "    {%- set loop_messages = messages -%}\n{%- endif -%}\n"
               "{%- for message in loop_messages -%}\n" + ALTERNATE.replace("{%", "{%-") +
               "    {%- if (message['role'] == 'assistant') -%}\n        {%- set role = \"model\" -%}\n"
               "    {%- else -%}\n        {%- set role = message['role'] -%}\n    {%- endif -%}\n"
               "    {{ '<start_of_turn>' + role + '\\n' + (first_user_prefix if loop.first else \"\") }}\n"
               "    {{- message['content'] | trim }}\n"
               "    {{ '<end_of_turn>\\n' }}\n{%- endfor -%}\n{%- if add_generation_prompt -%}\n"
               "    {{'<start_of_turn>model\\n'}}\n{%- endif -%}\n")
              .replace("    {{ '<end_of_turn>", "    {{- '<end_of_turn>"),
    "phi3": ("{% for message in messages %}{% if message['role'] == 'system' %}"
             r"{{'<|system|>\n' + message['content'] + '<|end|>\n'}}"
             r"{% elif message['role'] == 'user' %}{{'<|user|>\n' + message['content'] + '<|end|>\n'}}" +
             ASSISTANT + r"{{'<|assistant|>\n' + message['content'] + '<|end|>\n'}}{% endif %}"
             r"{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>\n' }}"
             "{% else %}{{ eos_token }}{% endif %}"),
    "phi3.5": (
        "{% for message in messages %}{% if message['role'] == 'system' and message['content'] %}"
        r"{{'<|system|>\n' + message['content'] + '<|end|>\n'}}{% elif message['role'] == 'user' %}"
        r"{{'<|user|>\n' + message['content'] + '<|end|>\n'}}" + ASSISTANT +
        r"{{'<|assistant|>\n' + message['content'] + '<|end|>\n'}}{% endif %}{% endfor %}"
        r"{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% else %}{{ eos_token }}{% endif %}"),
    "phi3-answers": (
        "{{ bos_token }}{% for message in messages %}" + USER +
        r"{{'<|user|>' + '\n' + message['content'] + '<|end|>' + '\n' + '<|assistant|>' + '\n'}}" +
        ASSISTANT + r"{{message['content'] + '<|end|>' + '\n'}}{% endif %}{% endfor %}"),
    "mistral-v1": ("{{ bos_token }}{% for message in messages %}" + ALTERNATE + USER +
                   "{{ '[INST] ' + message['content'] + ' [/INST]' }}" + ASSISTANT +
                   "{{ message['content'] + eos_token}}{% else %}{{ raise_exception("
                   "'Only user and assistant roles are supported!') }}{% endif %}{% endfor %}"),
    "mistral-v1-system": (
        LOOSE + "\n{{- bos_token }}\n{%- for message in loop_messages %}\n" +
        ALTERNATE.replace("{%", "{%-") + "    {%- if message['role'] == 'user' %}\n"
        "        {%- if loop.first and system_message is defined %}\n"
        r"            {{- ' [INST] ' + system_message + '\n\n' + message['content'] + ' [/INST]' }}"
        "\n        {%- else %}\n            {{- ' [INST] ' + message['content'] + ' [/INST]' }}\n"
        "        {%- endif %}\n    {%- elif message['role'] == 'assistant' %}\n"
        "        {{- ' ' + message['content'] + eos_token}}\n    {%- endif %}\n{%- endfor %}\n"),
    "mistral-v3": mistral("[INST] ", '" " + message["content"]|trim + eos_token'),
    "mistral-v3-tekken": mistral("[INST]", 'message["content"] + eos_token'),
    "zephyr": ("{% for message in messages %}\n{% if message['role'] == 'user' %}\n"
               r"{{ '<|user|>\n' + message['content'] + eos_token }}" "\n"
               "{% elif message['role'] == 'system' %}\n"
               r"{{ '<|system|>\n' + message['content'] + eos_token }}" "\n"
               "{% elif message['role'] == 'assistant' %}\n"
               r"{{ '<|assistant|>\n'  + message['content'] + eos_token }}" "\n{% endif %}\n"
               "{% if loop.last and add_generation_prompt %}\n{{ '<|assistant|>' }}\n"
               "{% endif %}\n{% endfor %}"),
    "granite": ("{%- for message in messages %}\n    {%- if message['role'] == 'system' %}\n"
                r"    {{- '<|start_of_role|>system<|end_of_role|>' + message['content'] + '<|end_of_text|>\n' }}"
                "\n    {%- elif message['role'] == 'user' %}\n"
                r"    {{- '<|start_of_role|>user<|end_of_role|>' + message['content'] + '<|end_of_text|>\n' }}"
                "\n    {%- elif message['role'] == 'assistant' %}\n"
                r"    {{- '<|start_of_role|>assistant<|end_of_role|>'  + message['content'] + '<|end_of_text|>\n' }}"
                "\n    {%- endif %}\n    {%- if loop.last and add_generation_prompt %}\n"
                "    {{- '<|start_of_role|>assistant<|end_of_role|>' }}\n    {%- endif %}\n{%- endfor %}"),
    "granite3.3": (
        LOOSE.replace("{%- else %}", "{%- else %}\n    {%- set system_message = "
                      "\"Knowledge Cutoff Date: April 2024. Today's Date: \" + strftime_now("
                      "'%B %d, %Y') + \". You are Granite, developed by IBM.\" %}\n    {%- set "
                      "system_message = system_message + \" You are a helpful AI assistant.\" %}") +
        r"{{- '<|start_of_role|>system<|end_of_role|>' + system_message + '<|end_of_text|>\n' }}" "\n"
        "{%- for message in loop_messages %}\n    {{- '<|start_of_role|>' + message['role'] + "
        r"'<|end_of_role|>' + message['content'] + '<|end_of_text|>\n' }}" "\n"
        "    {%- if loop.last and add_generation_prompt %}\n"
        "        {{- '<|start_of_role|>assistant<|end_of_role|>' }}\n    {%- endif %}\n"
        "{%- endfor %}\n"),
    "granite4": granite4(
        "{%- set ns.default_system_message = 'You are a helpful assistant. Please ensure "
        "responses are professional, accurate, and safe.' %}\n",
        "{%- else %}\n    {{- '<|start_of_role|>system<|end_of_role|>' + "
        r"ns.default_system_message + '<|end_of_text|>\n' }}" "\n"),
    "granite4.1": granite4("", ""),
    "olmo2": ("{{ bos_token }}{% for message in messages %}{% if message['role'] == 'system' %}"
              r"{{ '<|system|>\n' + message['content'] + '\n' }}{% elif message['role'] == 'user' %}"
              r"{{ '<|user|>\n' + message['content'] + '\n' }}" + ASSISTANT +
              r"{% if not loop.last %}{{ '<|assistant|>\n'  + message['content'] + eos_token + '\n' }}"
              r"{% else %}{{ '<|assistant|>\n'  + message['content'] + eos_token }}{% endif %}{% endif %}"
              r"{% if loop.last and add_generation_prompt %}{{ '<|assistant|>\n' }}{% endif %}{% endfor %}"),
    "command-r": ("{{ bos_token }}" + SPLIT.replace(
        "{% else %}", "{% elif false == true %}{% set system_message = 'You are C.' %}{% else %}") +
        "{% if system_message != false %}{{ '<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>' + system_message"
        " + '<|END_OF_TURN_TOKEN|>' }}{% endif %}{% for message in loop_messages %}" + ALTERNATE +
        "{% set content = message['content'] %}" + USER +
        "{{ '<|START_OF_TURN_TOKEN|><|USER_TOKEN|>' + content.strip() + '<|END_OF_TURN_TOKEN|>' }}" +
        ASSISTANT + "{{ '<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>'  + content.strip() + "
        "'<|END_OF_TURN_TOKEN|>' }}{% endif %}{% endfor %}{% if add_generation_prompt %}"
        "{{ '<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>' }}{% endif %}"),
    "gpt-oss": (
        "{%- macro identity() -%}\n"
        r'    {{- "You are ChatGPT, a large language model trained by OpenAI.\n" }}' "\n"
        r'    {{- "Knowledge cutoff: 2024-06\n" }}' "\n"
        r'    {{- "Current date: " + strftime_now("%Y-%m-%d") + "\n\n" }}' "\n"
        r'    {{- "Reasoning: " + "medium" + "\n\n" }}' "\n"
        '    {{- "# Valid channels: analysis, commentary, final. Channel must be included for every message." }}\n'
        "{%- endmacro -%}\n"
        '{{- "<|start|>system<|message|>" }}\n{{- identity() }}\n{{- "<|end|>" }}\n'
        "{%- if messages[0].role == \"system\" %}\n    {%- set developer = messages[0].content %}\n"
        "    {%- set loop_messages = messages[1:] %}\n{%- else %}\n    {%- set developer = \"\" %}\n"
        "    {%- set loop_messages = messages %}\n{%- endif %}\n{%- if developer %}\n"
        '    {{- "<|start|>developer<|message|>" }}\n'
        r'    {{- "# Instructions\n\n" }}' "\n    {{- developer }}\n"
        r'    {{- "\n\n" }}' '\n    {{- "<|end|>" }}\n{%- endif %}\n'
        "{%- for message in loop_messages -%}\n    {%- if message.role == 'assistant' -%}\n"
        "        {%- if loop.last and not add_generation_prompt %}\n"
        '            {{- "<|start|>assistant<|channel|>final<|message|>" + message.content + "<|return|>" }}\n'
        "        {%- else %}\n"
        '            {{- "<|start|>assistant<|channel|>final<|message|>" + message.content + "<|end|>" }}\n'
        "        {%- endif %}\n    {%- elif message.role == 'user' -%}\n"
        '        {{- "<|start|>user<|message|>" + message.content + "<|end|>" }}\n'
        "    {%- endif -%}\n{%- endfor -%}\n{%- if add_generation_prompt -%}\n<|start|>assistant\n{%- endif -%}"),
    "unknown": "{% for message in messages %}{{ '[' + message['role'] + '] ' + message['content'] }}{% endfor %}",
    "chatml that trims": "{% for message in messages %}" +
        CHATML.replace("message['content']", "message['content'] | trim"),
    "chatml, text outside": "{% for message in messages %}" + CHATML + "\nThink!",
    "chatml, another usual system": "{%- set system_message = 'Be.' %}{% for message in messages %}" +
        "{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\\n' + "
        "system_message + '<|im_end|>\\n' }}{% endif %}" + CHATML,
    "granite that replaces": "{{'<|start_of_role|>user<|end_of_role|>' + messages[0]['content']"
        r".replace('\n', ' ') + '<|end_of_text|>\n'}}",
    "granite with a date": "{{ strftime_now('%Y') }}<|start_of_role|>user<|end_of_role|><|end_of_text|>\n",
}

USERS = [["user", "Hello"]]
LONG = [["user", " Hi,\nyou \n"], ["assistant", "  I am here. "], ["user", "Wie geht's?\t"]]
SYSTEM = ["system", " Be brief.\n "]
CONVERSATIONS = [USERS, LONG, [SYSTEM] + USERS, [SYSTEM] + LONG,
                 LONG + [["assistant", " Gut. "]], [SYSTEM] + LONG + [["assistant", "Gut."]],
                 LONG[:1] + [["assistant", "<think>\nhm\n</think>\n\nYes."], ["user", "So?"]],
                 USERS + USERS, LONG[:2] + [SYSTEM] + USERS, [SYSTEM],
                 [["system", ""], ["user", ""], ["assistant", "\x1c\u2003a\x1d\x1f\x85"],
                  ["user", "\u200b \u00fc\u3000"]],
                 LONG[:2] + [["system", ""]] + USERS]


def environment():
    def refuse(message):
        raise TemplateError(message)

    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                        extensions=[loopcontrols])
    env.globals["raise_exception"] = refuse
    env.globals["strftime_now"] = DAY.strftime
    return env


def render(env, template, turns, answer):
    """The text, or nothing where the template refuses."""
    try:
        return env.from_string(template).render(
            messages=[{"role": role, "content": content} for role, content in turns],
            add_generation_prompt=answer, bos_token="<s>", eos_token="</s>")
    except (TemplateError, TypeError):
        return None


def given():
    """The templates of the command line, or our own."""
    if len(sys.argv) == 2:
        yield from TEMPLATES.items()
    for path in sys.argv[2:]:
        with open(path) as file:
            yield os.path.basename(path), file.read()


def main():
    env = environment()
    with open(sys.argv[1], "w") as file:
        for name, template in given():
            cases = [{"turns": turns, "answer": answer,
                      "text": render(env, template, turns, bool(answer))}
                     for turns in CONVERSATIONS for answer in (0, 1)]
            file.write(json.dumps({"name": name, "template": template, "cases": cases}) + "\n")


if __name__ == "__main__":
    main()
