"""Hard texts, as bytes: scripts, emoji, white space, code, what is no UTF-8."""

SPECIALS = ["<|im_start|>", "<|im_end|>", "<|endoftext|>", "<s>", "</s>",
            "[CLS]", "[SEP]", "[MASK]", "<mask>", "<pad>"]

TEXTS = [
    "", " ", "  ", "\n", "\t", "a", "\r\n", "\n\n\n", " \n ", "\u00a0",
    "The capital of France is Paris.",
    "Hello, world! How are you today?",
    "It's we'll DON'T I'M you've they'RE 'tis rock'n'roll she'd",
    "  leading and trailing  \n\n\ttabs\tand\r\nlines \r\n",
    "one  two   three    four     five" + " " * 40 + "six",
    "x" * 200, "ab" * 150, " " * 64, "\n" * 17, "." * 33, "0" * 30,
    "antidisestablishmentarianism floccinaucinihilipilification",
    "1 12 123 1234 12345 1,000,000.50 3.14e-10 0x1F 2024-11-24 \u00bd \u00b2 \u2167",
    "def f(n):\n    if n < 2:\n        return n\n    return f(n-1) + f(n-2)\n",
    "for (int i = 0; i < n; ++i) { a[i] = b[i] * c[i]; }  // sum\n",
    "SELECT * FROM t WHERE x_y >= 'it''s' AND z != \"q\";",
    "camelCaseWord PascalCaseWord HTTPServerError snake_case_word kebab-case",
    "$ % ^ & * ( ) _ + = [ ] { } | \\ : ; \" ' < > , . / ? ~ ` @ # !",
    "https://example.org/a/b?c=d&e=f#g user@example.org C:\\dir\\file.txt",
    "na\u00efve caf\u00e9 \u2013 \u201cquotes\u201d \u2018single\u2019 \u2026 \u20ac \u00a9 \u2122",
    "\u4e2d\u6587\u5206\u8bcd\u5f88\u96be\uff0c\u4f46\u662f\u5f88\u6709\u8da3\u3002\u4f60\u597d\u4e16\u754c\uff01",
    "\u6771\u4eac\u90fd\u306f\u65e5\u672c\u306e\u9996\u90fd\u3067\u3059\u3002\u30ab\u30bf\u30ab\u30ca\uff76\uff85",
    "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645 \u0661\u0662\u0663 \u0627\u0644\u0644\u064f\u0651\u063a\u064e\u0629\u064f",
    "\u0928\u092e\u0938\u094d\u0924\u0947 \u0926\u0941\u0928\u093f\u092f\u093e \u0915\u094d\u0937\u0924\u094d\u0930\u093f\u092f \u0967\u0968\u0969",
    "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35\u0e0a\u0e32\u0e27\u0e42\u0e25\u0e01 \u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22",
    "\uc548\ub155\ud558\uc138\uc694 \uc138\uacc4 \u1112\u1161\u11ab\u1100\u116e\u11a8",
    "\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440! \u0401\u043b\u043a\u0430 \u03a9\u03bc\u03ad\u03b3\u03b1 \u039f\u0394\u039f\u03a3 \u05e9\u05dc\u05d5\u05dd",
    "e\u0301 e\u0301\u0302 \u00e9 A\u030a \u212b \u1e69 s\u0323\u0307 s\u0307\u0323 \u0130stanbul \u0131 \u00df \u1e9e \u017f K",
    "\ufb01 \ufb03 \uff21\uff22\uff23 \u2460 \u33a1 \u1d400 \u2102 \u00b5 \u3392 \uff61 \u2f00",
    "\U0001f600 \U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f44d\U0001f3fd \U0001f1eb\U0001f1f7\U0001f1ef\U0001f1f5 \u2764\ufe0f #\ufe0f\u20e3 \U0001f3f4\U000e0067\U000e0062\U000e007f",
    "\U0001d54f\U0001d556 \U00020000\U0002a6d6 \U0001f9ff\U0001fae0 \U000f0000",
    "\u0000\u0001\u0002\u0007\u0008\u000b\u000c\u001b[31m\u007f\u0085\u009f",
    "\u200b\u200c\u200d\u200e\ufeff\u2028\u2029\u3000\u1680\u180e\u2003\u202f\u205f\u00ad",
    "a\u200bb\u3000c\u00a0d\u2003e\u2028f\u180eg\u0085h",
    "\ufffd \ufffe \uffff \U0010ffff",
    "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n",
    "<s>[INST] hello [/INST] hi</s><s>", "<|endoftext|><|endoftext|> a <|endoftext|>",
    "[CLS] a [MASK] b[SEP] <mask> x <mask>y z<mask>", "< |im_end| > <|im_end|x <s",
    "<pad><pad> <tool>x</tool> word<tool>word <tool> word\u00e9<tool>",
    "Prepend \u2581 and \u2581\u2581lower\u2581one _ \u2581", "\u0120 \u010a \u2581",
    "MiXeD CaSe TEXT wItH \u00c9\u00c8\u00ca \u00c4\u00d6\u00dc \u010c\u017d",
    "do not  n't 's 've . , ! ? a ' b", "<0x0A> <0xE2><0x82> <0xZZ>",
    "a.b,c;d:e!f?g-h_i/j\\k|l(m)n[o]p{q}r'st'ss\"t",
    "\u4e00\u4e8c3\u56db5 \u3042a\u3044b 12\u5e74\u670834 \u2c00 \u10d0\u10d1 \u1200\u1201",
    "word\u0301word \u0301start \u064b \u0903\u0903 x\u20dd",
    "    indented\n\tand\ttabbed\n\n\n  mixed \t \n end",
]

# What is no UTF-8 becomes U+FFFD, as Python's "replace" does it.
MALFORMED = [
    b"\xff", b"\xc3", b"a\xc3", b"\xc3(", b"\xe2\x82", b"\xe2\x82x\xe2\x82\xac",
    b"\xf0\x9f\x98", b"\xf0\x9f\x98 \xf0\x9f\x98\x80", b"\xed\xa0\x80\xed\xb0\x80",
    b"\xc0\x80\xc1\xbf", b"\xf4\x90\x80\x80\xf5", b"ab\x80cd\xbf\xbfef",
    b"\xe0\x80\x80\xf0\x80\x80\x80", b"\xfe\xfe\xff\xff tail",
    bytes(range(128, 256)), b"ok \xf0\x9f ok \xe2 ok",
]


def corpus():
    return [text.encode() for text in TEXTS] + MALFORMED
