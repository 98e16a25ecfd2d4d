"""The program of docs/api.md compiles without a warning, runs, and prints the step that the command line predicts."""
import json
import os
import re
import subprocess
import sys
import tempfile

SOURCE, BUILD = os.environ["PACELINE_SOURCE"], os.environ["PACELINE_BUILD"]
PACELINE = os.environ["PACELINE"]


def main():
    with open(os.path.join(SOURCE, "docs", "api.md")) as file:
        program = re.search(r"```c\n(.*?)```", file.read(), re.S).group(1)
    with tempfile.TemporaryDirectory() as folder:
        source, compiled = os.path.join(folder, "example.c"), os.path.join(folder, "example")
        with open(source, "w") as file:
            file.write(program)
        subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I" + os.path.join(SOURCE, "include"), source, "-o", compiled,
                        "-L" + BUILD, "-lpaceline"], check=True)
        printed = subprocess.run([compiled], capture_output=True, text=True, env=dict(os.environ, LD_LIBRARY_PATH=BUILD)).stdout
    words = [PACELINE, "predict", "gpt2", "--on", "dgx-h100*2", "--set", "dp=16", "--format", "json"]
    found = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    wanted = f"{found['scenarios'][0]['step_ns'] / 1e6:.3f} ms\n"
    if printed != wanted:
        print("wrong:", printed, wanted)
    return printed != wanted


sys.exit(main())
