"""schema.py SCHEMA TREE: holds the specs of the tree against a JSON Schema.

Knows the words that the schema uses and no others: an unknown one is an error.
"""
import glob
import json
import os
import sys

KNOWN = {"$schema", "$defs", "$ref", "title", "description", "type", "properties",
         "additionalProperties", "items", "anyOf", "enum", "minimum",
         "exclusiveMinimum"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool,
         "null": type(None)}


def fits(value, schema, root):
    assert set(schema) <= KNOWN, set(schema) - KNOWN
    if "$ref" in schema:
        return fits(value, root["$defs"][schema["$ref"].split("/")[-1]], root)
    if "anyOf" in schema:
        return any(fits(value, form, root) for form in schema["anyOf"])
    if "enum" in schema:
        return value in schema["enum"]
    kind = schema["type"]
    if kind in ("integer", "number"):
        number = int if kind == "integer" else (int, float)
        return (isinstance(value, number) and not isinstance(value, bool)
                and value >= schema.get("minimum", value)
                and ("exclusiveMinimum" not in schema
                     or value > schema["exclusiveMinimum"]))
    if not isinstance(value, TYPES[kind]):
        return False
    if kind == "object":
        return all(key in schema["properties"]
                   and fits(part, schema["properties"][key], root)
                   for key, part in value.items())
    if kind == "array":
        return all(fits(part, schema["items"], root) for part in value)
    return True


def main():
    schema = json.load(open(sys.argv[1]))
    specs = sorted(glob.glob(os.path.join(sys.argv[2], "test/conformance/native/*/spec.json"))
                   + glob.glob(os.path.join(sys.argv[2], "examples/*/*.json")))
    for path in specs:
        if not fits(json.load(open(path)), schema, schema):
            sys.exit("%s does not fit" % path)
    good = json.load(open(specs[0]))
    mistakes = [dict(good, layers=0), dict(good, hidden_sise=8),
                dict(good, units={}), dict(good, head={"tied": 1}),
                dict(good, final_norm={"kind": "layernorm"})]
    refused = sum(not fits(one, schema, schema) for one in mistakes)
    print("%d specs fit, %d of %d mistakes do not" % (len(specs), refused, len(mistakes)))


main()
