"""Traces written and read by the tests, packed where the name says so. One text at a time: json.dump() writes token by token, ten times
as slowly; nor is it worth the time to pack well what is read once."""
import gzip
import json


def opened(path, mode):
    packed = {"compresslevel": 1} if "w" in mode else {}
    return gzip.open(path, mode, **packed) if path.endswith(".gz") else open(path, mode)


def read(path):
    with opened(path, "rt") as file:
        return json.loads(file.read())


def write(path, document):
    with opened(path, "wt") as file:
        file.write(json.dumps(document))
    return path
