"""An installed tree, moved afterwards, is whole: the program answers from another folder with an empty environment; manual pages
and completions name every verb and option; nothing lies outside of the usual folders; `./run install` says what it lacks."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

from outside import BUILD, DEMO, SOURCE, expect, finish, output, verbs

MUST = ["bin/paceline", "include/paceline/paceline.h", "include/paceline/calibrate.h", "lib*/libpaceline.so.1", "lib*/libpaceline.a",
        "lib*/pkgconfig/paceline.pc", "lib*/cmake/Paceline/PacelineConfig.cmake", "share/man/man1/paceline.1",
        "share/bash-completion/completions/paceline", "share/zsh/site-functions/_paceline",
        "share/fish/vendor_completions.d/paceline.fish", "share/paceline/catalog/devices.yaml",
        "share/paceline/catalog/models/resnet.yaml", "share/paceline/schemas/*.json", "share/doc/paceline/LICENSE"]


def program(prefix, *words, **options):
    return output(os.path.join(prefix, "bin", "paceline"), *words, cwd="/", env={}, **options)


def check_answers(prefix):
    expect(program(prefix, "machines", "h100-80-sxm").startswith("h100-80-sxm (NVIDIA)"), "machines")
    expect("A step takes" in program(prefix, "analyze", DEMO), "analyze")
    expect("The step would take" in program(prefix, "predict", "resnet50", "--on", "v100-sxm2-16"), "predict")
    expect("bars hold" in program(prefix, "validate", "--data", "/", "fleet/synthetic-*"), "the cases of validate are inside")
    catalogue = os.path.join(prefix, "share", "paceline", "catalog")
    own = output(os.path.join(prefix, "bin", "paceline"), "machines", cwd="/", env={"PACELINE_CATALOG": catalogue})
    expect(own == program(prefix, "machines"), "the installed catalogue differs from the one inside")


def check_modules(prefix):
    """A file in the place of a module is found, and said to be none, wherever the prefix lies."""
    (libraries,) = {os.path.dirname(path) for path in glob.glob(os.path.join(prefix, "lib*", "libpaceline.so.1"))}
    os.makedirs(os.path.join(libraries, "paceline"), exist_ok=True)
    path = os.path.join(libraries, "paceline", "paceline-cuda.so")
    with open(path, "w") as file:
        file.write("no library")
    done = subprocess.run([os.path.join(prefix, "bin", "paceline"), "calibrate", "cuda"], capture_output=True, text=True, cwd="/", env={})
    expect(done.returncode == 4 and "paceline-cuda.so" in done.stderr, done)


def options_of(prefix, verb):
    return set(re.findall(r"--[a-z][a-z-]*", re.sub(r"(?m)^ {10,}.*$", "", re.sub(r"(?m)^(  .{28}).*$", r"\1", program(prefix, verb, "--help")))))


def check_manual(prefix):
    folder = os.path.join(prefix, "share", "man", "man1")
    known = verbs(os.path.join(prefix, "bin", "paceline"))
    expect(len(known) > 10, known)
    expect(sorted(os.listdir(folder)) == sorted(["paceline.1"] + [f"paceline-{verb}.1" for verb in known]), os.listdir(folder))
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if shutil.which("mandoc"):
            said = subprocess.run(["mandoc", "-T", "lint", "-W", "error", path], capture_output=True, text=True)
            expect(said.returncode == 0 and not said.stdout, name, said.stdout)
        if shutil.which("man"):
            shown = output("man", "--warnings", "-l", path, env=dict(os.environ, MANPAGER="cat", LC_ALL="C.UTF-8"))
            expect("EXIT STATUS" in re.sub(".\b", "", shown), name)


def check_completions(prefix):
    share = os.path.join(prefix, "share")
    files = {"bash": "bash-completion/completions/paceline", "zsh": "zsh/site-functions/_paceline",
             "fish": "fish/vendor_completions.d/paceline.fish"}
    for shell, name in files.items():
        path = os.path.join(share, name)
        with open(path) as file:
            text = file.read()
        for verb in verbs(os.path.join(prefix, "bin", "paceline")):
            expect(re.search(rf"\b{verb}\b", text), shell, verb)
            for option in options_of(prefix, verb) - {"--help"}:
                expect(re.search(rf"(--|-l ){option[2:]}\b", text), shell, verb, option)
        if shutil.which(shell):
            done = subprocess.run([shell, "-n", path], capture_output=True, text=True)
            expect(done.returncode == 0 and not done.stderr, shell, done.stderr)
    script = f". {share}/{files['bash']}; COMP_WORDS=(paceline predict --pre); COMP_CWORD=2; _paceline paceline --pre predict; echo ${{COMPREPLY[*]}}"
    expect(output("bash", "-c", script).split() == ["--precision"], "bash completes --pre")
    path = dict(os.environ, PATH=os.path.join(prefix, "bin") + os.pathsep + os.environ["PATH"])
    for words, last, wanted in (("predict --on dgx-h1", "--on", "dgx-h100"), ("plan --on h100", "--on", "h100-80-sxm"), ("models llama3.1-8", "models", "llama3.1-8b"),
                                ("machines a100-4", "machines", "a100-40-sxm"), ("predict resnet5", "predict", "resnet50")):
        script = f". {share}/{files['bash']}; COMP_WORDS=(paceline {words}); COMP_CWORD=$((${{#COMP_WORDS[@]}}-1)); _paceline paceline {words.split()[-1]} {last}; echo ${{COMPREPLY[*]}}"
        expect(wanted in output("bash", "-c", script, env=path, cwd="/").split(), "bash completes", words)
        if shutil.which("fish"):
            shown = output("fish", "--no-config", "-c", f"source {share}/{files['fish']}; complete -C 'paceline {words}'", cwd="/", env=path)
            expect(wanted in shown.split(), "fish completes", words, shown)
    if shutil.which("fish"):
        shown = output("fish", "--no-config", "-c", f"source {share}/{files['fish']}; complete -C 'paceline predict --pre'", cwd="/")
        expect(shown.split()[0] == "--precision", "fish completes --pre", shown)
    if shutil.which("zsh"):
        script = f"autoload -Uz compinit; fpath=({share}/zsh/site-functions $fpath); compinit -D -u; print $_comps[paceline]"
        expect(output("zsh", "-f", "-c", script).split() == ["_paceline"], "zsh knows the completion")


def check_run(folder):
    """Without build tools, by their packages' names; into no folder that is none."""
    tools = os.path.join(folder, "tools")
    os.mkdir(tools)
    for name in ("sh", "dirname", "id", "sed", "sort", "head", "cat", "printf", "env", "cmake"):
        os.symlink(shutil.which(name), os.path.join(tools, name))
    done = subprocess.run([os.path.join(SOURCE, "run"), "install", os.path.join(folder, "x")], capture_output=True, text=True,
                          env={"PATH": tools})
    expect(done.returncode == 4 and all(f" {name}" in done.stderr for name in ("ninja-build", "gcc", "libyaml-dev")), done)
    expect(" cmake" not in done.stderr and not os.path.exists(os.path.join(folder, "x")), done)
    done = subprocess.run([os.path.join(SOURCE, "run"), "install", __file__ + "/x"], capture_output=True, text=True)
    expect(done.returncode == 3 and "cannot be written to" in done.stderr, done)


def main():
    with tempfile.TemporaryDirectory() as folder:
        installed, prefix = os.path.join(folder, "installed"), os.path.join(folder, "moved here")
        output("cmake", "--install", BUILD, "--prefix", installed)
        expect(sorted(os.listdir(folder)) == ["installed"], os.listdir(folder))
        expect({name.replace("lib64", "lib") for name in os.listdir(installed)} == {"bin", "include", "lib", "share"}, os.listdir(installed))
        shutil.move(installed, prefix)
        for name in MUST:
            expect(glob.glob(os.path.join(glob.escape(prefix), name)), name, "is missing")
        check_answers(prefix)
        check_modules(prefix)
        check_manual(prefix)
        spaceless = shutil.move(prefix, os.path.join(folder, "again"))
        check_completions(spaceless)
        check_run(folder)
    return finish()


sys.exit(main())
