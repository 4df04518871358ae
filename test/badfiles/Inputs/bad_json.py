"""Texts that are no JSON, or more JSON than is good."""
from files import *


def text(content):
    return lambda folder: native(folder, model=content, weights=False)


CASES = [
    ("empty", text(""), ["spec.json:1:1: error: the file is empty where an object was expected"]),
    ("blank", text(" \n\n "), ["error: the file is empty where an object was expected"]),
    ("array", text("[1, 2]"), [":1:1: error: an object was expected here"]),
    ("deep", text('{"units": ' + "[" * 100_000 + "]" * 100_000 + "}"), [":1:74: error: values nest more than 64 deep"]),
    ("deep_unclosed", text('{"units": ' + "[" * 100_000), [":1:1: error: an array or object is not closed"]),
    ("deep_objects", text('{"a":' * 100_000 + "1" + "}" * 100_000), ["error: values nest more than 64 deep"]),
    ("duplicate", text('{"layers": 1,\n "layers": 2}'),
     [":2:2: error: key 'layers' is given twice", ":1:2: note: first given here"]),
    ("duplicate_escaped", text('{"layers": 1, "l\\u0061yers": 2}'), ["error: key 'layers' is given twice"]),
    ("duplicate_deep", text('{"units": [{"name": "a", "branches": [{"kind": 1, "kind": 1}]}]}'),
     ["error: key 'kind' is given twice"]),
    ("nan", text('{"layers": NaN}'), [":1:12: error: the text is not JSON from here on"]),
    ("infinity", text('{"layers": -Infinity}'), [":1:12: error: the text is not JSON from here on"]),
    ("nulls", text('{"layers": nulls}'), [":1:12: error: a word is none of true, false and null"]),
    ("python_true", text('{"tied": True}'), [":1:10: error: the text is not JSON from here on"]),
    ("truth", text('{"tied": truth}'), [":1:10: error: the text is not JSON from here on"]),
    ("huge_number", text('{"layers": 1e999}'), [":1:12: error: a number is malformed or too large for a double"]),
    ("leading_zero", text('{"layers": 012}'), [":1:12: error: a number is malformed"]),
    ("two_numbers", text('{"layers": 1 2}'), [":1:14: error: the text is not JSON from here on"]),
    ("no_comma", text('{"a": 1\n "b": 2}'), [":2:2: error: the text is not JSON from here on"]),
    ("no_colon", text('{"a" 1}'), [":1:6: error: the text is not JSON from here on"]),
    ("trailing_comma", text('{"a": 1,}'), [":1:9: error: the text is not JSON from here on"]),
    ("comment", text('{"a": 1} // all'), ["error: an array or object is not closed"]),
    ("two_objects", text("{}{}"), [":1:3: error: the object is closed but more text follows"]),
    ("unclosed_object", text('{"a": 1'), [":1:1: error: an array or object is not closed"]),
    ("unclosed_array", text('{"a": [1, 2}'), [":1:12: error: the text is not JSON from here on"]),
    ("unclosed_string", text('{"a": "b}'), [":1:7: error: a string is not closed"]),
    ("control_character", text('{"a": "b\nc"}'), [":1:9: error: a string holds a control character"]),
    ("bad_escape", text('{"a": "\\q"}'), [":1:7: error: a string has a malformed escape"]),
    ("half_surrogate", text('{"a": "\\ud800"}'), [":1:7: error: a string has a malformed escape"]),
    ("not_utf8", text(b'{"a": "\xc3\x28"}'), [":1:8: error: the text is not UTF-8"]),
    ("zero_bytes", text(b"\0" * 64), [":1:1: error: an object was expected here"]),
    ("byte_order_mark", text(b"\xef\xbb\xbf[]"), ["error: an object was expected here"]),
    ("many_values", text('{"units": [' + "0," * 4_100_000 + "0]}"),
     ["error: the values up to here take more than the 67108864 bytes that a file's may take"]),
    ("many_values_unclosed", text('{"units": [' + "0," * 4_100_000), ["error: the values up to here take more than"]),
    ("many_objects", text('{"units": [' + "{}," * 2_000_000 + "{}]}"), ["error: the values up to here take more than"]),
    ("many_members", text("{" + ",".join('"%d":0' % i for i in range(1_000_000)) + "}"),
     ["error: the values up to here take more than"]),
    ("many_errors", text('{"units": [' + "0," * 550_000 + "0]}"), ["error: the spec has no layers", "there are 1649985 more errors"]),
    ("long_text", text('{"name": "' + "x" * (24 << 20) + '"}'),
     ["error: the text has 25165836 bytes but at most 25165824 are read"]),
    ("long_string", text('{"name": "' + "x" * 25_000_000 + '"}'), ["error: the spec has no layers"]),
]
