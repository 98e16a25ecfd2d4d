"""The scripts of a page: plain ES2019, each one parses, and what stands in a page is them in order."""
import os
import re
import shutil
import subprocess
import sys

SOURCE = os.environ.get("PACELINE_SOURCE", ".")
FOLDER = os.path.join(SOURCE, "src", "report", "render", "page")
LATER = {"optional chaining": r"\?\.[a-zA-Z_(\[]", "nullish operator": r"\?\?", "private member": r"\bthis\.#", "bigint": r"\b\d+n\b",
         "replaceAll": r"\.replaceAll\(", "at()": r"\.at\(-", "import": r"^\s*import\b", "eval": r"\beval\(|new Function\(",
         "markup": r"innerHTML|outerHTML|insertAdjacentHTML|document\.write"}


def read(path):
    with open(path) as file:
        return file.read()


def main():
    names = [n for n in re.search(r"pace_page_files\s+(.*?)\)", read(os.path.join(SOURCE, "CMakeLists.txt")), re.S)[1].split()]
    assert sorted(names) == sorted(os.listdir(FOLDER)), "CMakeLists.txt lists the files of src/report/render/page"
    for name in names:
        text = read(os.path.join(FOLDER, name))
        assert "http:" not in text and "https:" not in text and "</" not in text and "url(" not in text, name
        if name.endswith(".js"):
            code = re.sub(r"/\*.*?\*/|'[^'\n]*'", "''", text, flags=re.S)
            found = [what for what, pattern in LATER.items() if re.search(pattern, code, re.M)]
            assert not found, (name, found)
    page = subprocess.run([os.environ["PACELINE"], "analyze", "--format", "html", os.path.join(SOURCE, "tests", "data", "demo.json.gz")],
                          capture_output=True, text=True, check=True).stdout
    places = [page.index(read(os.path.join(FOLDER, name))) for suffix in (".css", ".js") for name in names if name.endswith(suffix)]
    assert places == sorted(places), "they stand in the page whole and in order"
    plain = subprocess.run([os.environ["PACELINE"], "machines", "--format", "html"], capture_output=True, text=True, check=True).stdout
    assert read(os.path.join(FOLDER, "tables.js")) in plain and read(os.path.join(FOLDER, "timeline.js")) not in plain
    node = shutil.which("node")
    if not node:
        print("node is not installed: the scripts are not parsed")
        return 0
    for name in names:
        if name.endswith(".js"):
            subprocess.run([node, "--check", os.path.join(FOLDER, name)], check=True)
    script = re.findall(r"<script>\n(.*?)</script>", page, re.S)
    subprocess.run([node, "--check", "-"], input=script[-1], text=True, check=True)
    return 0


sys.exit(main())
