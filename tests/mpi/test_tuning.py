"""Tables of measured choices: what they say is done, the environment comes first, and what is wrong with them is said on all ranks."""
import os
import re
import subprocess
import tempfile

from under_mpirun import BUILD, EVERYTHING, expect, finish, mpirun, program

TUNE = os.path.join(BUILD, "collective", "paceline-tune-collective")


def machine():
    """Python's own reading of what the table must name."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = re.search(r"^model name\s*: (.*)$", file.read(), re.M)
    return f"{model[1] if model else 'unknown processor'}, {os.sysconf('SC_NPROCESSORS_ONLN')} processors"


def choices(text, ranks=2, setting=""):
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(text)
        file.flush()
        return mpirun(ranks, program("check_failure"), "choice", PACELINE_COLLECTIVE_TABLE=file.name, PACELINE_COLLECTIVE=setting)


HEAD = f"paceline-collective 1\nmachine {machine()}\n"
TABLE = HEAD + "ranks 2\nallreduce=staged:64K,ring\nbroadcast=chain\n# more\nranks 4\nallreduce=binomial\n"
GOOD = [(TABLE, 2, "", "small staged, large ring, broadcast chain"),
        (TABLE, 3, "allreduce=flat", "small flat, large flat, broadcast chain"),
        (TABLE, 4, "", "small binomial, large binomial, broadcast flat"),
        (HEAD, 2, "allreduce=knomial", "small knomial, large knomial, broadcast flat")]
for text, ranks, setting, words in GOOD if EVERYTHING else GOOD[:2]:
    code, out = choices(text, ranks, setting)
    expect(code == 0 and out.count(words) == ranks, ranks, setting, code, out[-1000:])
# The environment's shared memory comes before the table's: "flat" needs it.
for said in ("", "shm=memfd"):
    code, out = choices(HEAD + "ranks 2\nshm=none\n", 2, ";".join(one for one in (said, "allreduce=flat") if one))
    expect(code == 0 and out.count("small flat") == (2 if said else 0), "shared memory", said, code, out[-1000:])
BAD = [(HEAD + "ranks 2.5\n", ":3: expected a number of ranks, found '2.5'"), (HEAD.replace(machine(), "Another, 3 processors") + "ranks 2\n", "was measured on another machine (Another, 3 processors; this is "),
       (HEAD + "ranks 2\nallreduce=fast\n", ":4: expected an algorithm"), ("{}", ":1: expected paceline-collective 1, found '{}'"),
       (HEAD + "ranks many\n", ":3: expected a number of ranks"), (HEAD + "allreduce=flat\n", ":3: expected ranks"),
       ("", ":1: expected"), ("paceline-collective 1\n", ":1: expected the machine"), (HEAD + "x" * 2000, ":3: expected lines of"),
       (HEAD + "\0", "is no table of collectives"), ("paceline-collective 1\n" * 9000, "is no table of collectives")]
for text, words in BAD if EVERYTHING else BAD[:2]:
    code, out = choices(text)
    expect(code != 0 and out.count(words) == 2, text[:60], code, out[-1000:])
if EVERYTHING:
    with tempfile.TemporaryDirectory(prefix="paceline-tune-") as folder:
        path = os.path.join(folder, "new", "table.txt")
        for ranks in (2, 3):
            code, out = mpirun(ranks, TUNE, path, timeout=600)
            expect(code == 0, code, out[-1000:])
        text = open(path, encoding="utf-8").read()
        expect(text.startswith(HEAD) and sorted(re.findall(r"^ranks (\d)$", text, re.M)) == ["2", "3"], text)
        told = [line.split()[5:] for line in text.splitlines() if line.startswith("# measured")]
        expect(len(told) == 2 * 4 * 12 and all(float(own) <= float(usual) for own, usual in told), "never slower than the built-in choice, as measured", told)
        code, out = choices(text)
        expect(code == 0, code, out[-1000:])
        done = subprocess.run([os.environ["PACELINE"], "tune", path, "-f", "csv", "-t", "sizes"], capture_output=True, text=True, check=False)
        expect(done.returncode == 0 and len(done.stdout.splitlines()) == 1 + 2 * 4 * 12, done.returncode, done.stderr, len(done.stdout.splitlines()))
    expect(subprocess.run([TUNE], capture_output=True, check=False).returncode == 2, "one rank")
finish()
