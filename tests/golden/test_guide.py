"""docs/guide.md names every kind of layer and every key of devices and machines that the program reads, and no other."""
import os
import re
import sys

from checks import SOURCE, expect, finish


def read(*path):
    with open(os.path.join(SOURCE, *path)) as file:
        return file.read()


def keys_of_table(text):
    """What stands between backticks in the first cells of tables, without values."""
    cells = re.findall(r"(?m)^\| (`.*?) \|", text)
    return {key.split(":")[0] for cell in cells for key in re.findall(r"`([^`]*)`", cell)}


def main():
    _, device, machine, model = re.split(r"(?m)^## ", read("docs", "guide.md"))
    entry = read("src", "machine", "device_entry.c")
    reads = set(re.findall(r'\{"([a-z0-9_]+)", offsetof', entry)) | set(re.findall(r'strcmp\(key, "([a-z_]+)"\)', entry))
    reads |= set(re.findall(r'"([a-z]+)"', re.search(r"text_keys\[\] = \{(.*?)\};", entry).group(1))) - {"value"}
    documented = keys_of_table(device)
    expect(documented == reads - {"value"}, "devices", documented ^ (reads - {"value"}))
    for precision in re.findall(r'\[PACE_[A-Z0-9_]+\] = "([a-z0-9_]+)"', entry):
        expect(f" {precision}" in device.replace("`", " "), "precision", precision)
    for key in keys_of_table(machine):
        expect(f'"{key}"' in read("src", "machine", "machine_read.c"), "machines have no key", key)
    rules = read("src", "model", "layer_rules.c")
    words = set(re.findall(r'(?m)^    (?:\{|ACTIVATION\(|LOSS\()"([a-z0-9_]+)"', rules))
    expect(len(words) > 30, "kinds of layers were found", words)
    for word in words:
        expect(f"`{word}`" in model, "kind of layer", word)
    return finish()


sys.exit(main())
