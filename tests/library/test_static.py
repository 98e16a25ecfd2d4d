"""The static program is one small file: alone in a folder, without environment and where possible in a root of its own, it answers
every sort of question, and says which package would bring what it lacks."""
import os
import shutil
import subprocess
import sys
import tempfile

from outside import BUILD, DEMO, expect, finish, output

PROGRAM = os.path.join(BUILD, "static", "paceline")


def may_change_root(folder):
    return subprocess.run(["unshare", "-r", "chroot", folder, "/paceline", "--version"], capture_output=True).returncode == 0


def main():
    if "paceline_static" not in output("cmake", "--build", BUILD, "--target", "help"):
        print("the archives of zlib, zstd, libyaml and SQLite are not all here")
        return 77
    output("cmake", "--build", BUILD, "--target", "paceline_static")
    expect(os.path.getsize(PROGRAM) < 9.5e6, os.path.getsize(PROGRAM), "bytes")
    expect("NEEDED" not in output("readelf", "-d", PROGRAM), "it needs a shared library")
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(PROGRAM, folder)
        shutil.copy(DEMO, folder)
        os.mkdir(os.path.join(folder, "tmp"))  # cases of validate write there
        alone = bool(shutil.which("unshare")) and may_change_root(folder)
        print("in a root of its own" if alone else "without a root of its own: unshare is not permitted")
        start = ["unshare", "-r", "chroot", folder, "/paceline"] if alone else [os.path.join(folder, "paceline")]

        def ask(*words, status=0, env=None):
            done = subprocess.run([*start, *words], capture_output=True, text=True, cwd=folder, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", **(env or {})})
            expect(done.returncode == status, words, done.returncode, done.stderr)
            return done.stdout + done.stderr

        expect("A step takes" in ask("analyze", "demo.json.gz", "--store", "runs.sqlite"), "analyze")
        expect("one run of" in ask("history", "runs.sqlite"), "history")
        ask("analyze", "demo.json.gz", "-o", "page.html")
        ask("compare", "demo.json.gz", "demo.json.gz", "-o", "compared.json.gz")
        ask("slice", "demo.json.gz", "-o", "cut.json.gz")
        ask("convert", "demo.json.gz", "-o", "out.et")
        expect("The step would take" in ask("predict", "resnet50", "--on", "v100-sxm2-16"), "predict")
        ask("fleet", "--synthesize", "1000", "-o", "jobs.csv")
        expect("1,000 jobs" in ask("fleet", "jobs.csv"), "fleet")
        expect("h100-80-sxm (NVIDIA)" in ask("machines", "h100-80-sxm"), "machines")
        ask("models", "resnet50")
        expect("bars hold" in ask("validate", "--data", ".", "fleet/synthetic-*"), "validate")
        expect("nvcc" in ask("calibrate", "cuda", status=4), "cuda")
        for family, package in (("gemm", "libopenblas-dev"), ("convolution", "libdnnl-dev")):
            expect(package in ask("calibrate", "--quick", "--family", family, "-o", "rows.csv", status=4), family)
        expect("libopenmpi-dev" in ask("fleet", "jobs.csv", status=4, env={"OMPI_COMM_WORLD_SIZE": "2"}), "mpi")
    return finish()


sys.exit(main())
