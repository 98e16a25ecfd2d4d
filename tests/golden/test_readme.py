"""The output that README.md and the pages of docs/ show is what the program prints."""
import os
import subprocess
import sys

SOURCE = os.environ.get("PACELINE_SOURCE", ".")
sys.exit(subprocess.run([sys.executable, "-B", os.path.join(SOURCE, "tools", "refresh_readme.py"), os.environ["PACELINE"], "--check"]).returncode)
