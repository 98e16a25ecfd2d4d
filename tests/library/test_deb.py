"""The Debian package holds the program and all that belongs to it, asks for the libraries that it links, and for no other."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

from outside import BUILD, expect, finish, output


def main():
    if not all(shutil.which(name) for name in ("cpack", "dpkg-deb", "dpkg-shlibdeps")):
        print("no dpkg-deb, or no dpkg-shlibdeps (Debian package dpkg-dev)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        output("cpack", "-G", "DEB", "-B", folder, cwd=BUILD)
        (package,) = glob.glob(os.path.join(folder, "*.deb"))
        expect(re.fullmatch(r"paceline_[\d.]+_[a-z0-9]+\.deb", os.path.basename(package)), package)
        needs = {item.split()[0] for item in output("dpkg-deb", "-f", package, "Depends").split(", ")}
        root = os.path.join(folder, "root")
        output("dpkg-deb", "-x", package, root)
        program = os.path.join(root, "usr", "bin", "paceline")
        linked = re.findall(r"NEEDED.*\[(.*)\]", output("readelf", "-d", program))
        owners = {"libc.so.6": "libc6", "libz.so.1": "zlib1g", "libzstd.so.1": "libzstd1", "libyaml-0.so.2": "libyaml-0-2"}
        for library, owner in owners.items():
            expect(library in linked and owner in needs, library, linked, needs)
        expect(not [name for name in needs if re.search("mpi|blas|dnnl|cuda", name)], needs)
        names = output("dpkg-deb", "-c", package)
        expect(all(line.split()[5].startswith("./usr/") for line in names.splitlines()), names)
        expect("./usr/share/zsh/vendor-completions/_paceline" in names and "lib/paceline/" not in names, names)
        pages = [line for line in names.splitlines() if "/man1/" in line and not line.endswith("/")]
        expect(len(pages) > 10 and all(line.endswith(".1.gz") for line in pages), pages)
        for name in ("copyright", "changelog.gz", "CHANGELOG.md"):
            expect(f"./usr/share/doc/paceline/{name}\n" in names + "\n", name, "is not in the package")
        done = subprocess.run([program, "machines", "h100-80-sxm"], capture_output=True, text=True, cwd="/", env={})
        expect(done.returncode == 0 and done.stdout.startswith("h100-80-sxm (NVIDIA)"), done)
    return finish()


sys.exit(main())
