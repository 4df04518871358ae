"""Makes a spec small: reduced(spec, fails) gives one of which nothing can be left out
so that it still fails. Used by random_specs.py; by itself it shows one: of a spec that
fails where an attention has a softcap."""
import json


def places(value, path=()):
    """Every key and every element, the outer ones first."""
    inner = list(value.items() if isinstance(value, dict) else
                 enumerate(value) if isinstance(value, list) else ())
    for key, _ in inner:
        yield path + (key,)
    for key, one in inner:
        yield from places(one, path + (key,))


def without(value, path):
    """A copy without what stands there; none where that is there no more."""
    copy = json.loads(json.dumps(value))
    inner = copy
    try:
        for key in path[:-1]:
            inner = inner[key]
        del inner[path[-1]]
    except (KeyError, IndexError, TypeError):
        return None
    return copy


def smaller(value):
    """Specs with fewer layers."""
    for path in places(value):
        if path[-1] != "layers":
            continue
        copy = json.loads(json.dumps(value))
        inner = copy
        for key in path[:-1]:
            inner = inner[key]
        if inner["layers"] > 1:
            inner["layers"] = 1
            yield copy


def reduced(spec, fails):
    """`fails` is false of a spec that is none. It is called for each try."""
    again = True
    while again:
        again = False
        for fewer in smaller(spec):
            if fails(fewer):
                spec, again = fewer, True
        for path in sorted(places(spec), key=len):
            fewer = without(spec, path)
            if fewer is not None and fails(fewer):
                spec, again = fewer, True
    return spec


def main():
    spec = {"layers": 3, "hidden_size": 8, "units": [
        {"name": "ffn", "branches": [{"kind": "ffn"}], "in_norm": {"kind": "rms_norm"}},
        {"branches": [{"kind": "attention", "softcap": 2.0, "rope": {"theta": 1.0}}]}]}

    def fails(value):
        return bool(value.get("layers")) and '"softcap": 2' in json.dumps(
            [unit.get("branches") for unit in value.get("units", [])])

    print(json.dumps(reduced(spec, fails)))


if __name__ == "__main__":
    main()
