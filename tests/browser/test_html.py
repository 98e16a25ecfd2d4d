"""The HTML report in headless Chromium: it loads without errors, draws its pictures, and its script sorts a table."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

PACELINE = os.environ["PACELINE"]
SOURCE = os.environ.get("PACELINE_SOURCE", ".")
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
if not BROWSER:
    print("skipped: chromium is not installed")
    sys.exit(77)

with tempfile.TemporaryDirectory() as folder:
    page = os.path.join(folder, "report.html")
    subprocess.run([PACELINE, "analyze", "-o", page, os.path.join(SOURCE, "tests", "data", "demo.json.gz")], check=True)
    # A click on a heading sorts its table; the probe leaves what it saw in the title.
    probe = """<script>
    addEventListener('error', e => document.title = 'error: ' + e.message);
    addEventListener('load', () => {
      const table = [...document.querySelectorAll('table')].find(t => t.rows.length > 6 && t.tHead);
      const before = [...table.tBodies[0].rows].map(r => r.cells[0].textContent).join('|');
      table.tHead.rows[0].cells[0].click();
      const after = [...table.tBodies[0].rows].map(r => r.cells[0].textContent).join('|');
      document.title = 'sorted=' + (before !== after) + ' rects=' + document.querySelectorAll('svg rect').length;
    });
    </script></body>"""
    with open(page) as file:
        html = file.read()
    assert html.count("</body>") == 1
    with open(page, "w") as file:
        file.write(html.replace("</body>", probe))
    run = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000", "--dump-dom",
                          "--user-data-dir=" + os.path.join(folder, "profile"), "file://" + page], capture_output=True, text=True,
                         timeout=240)
    title = re.search(r"<title>(.*?)</title>", run.stdout, re.S)
    title = title.group(1) if title else "no title"
    print(title)
    seen = re.match(r"sorted=true rects=(\d+)$", title)
    sys.exit(0 if seen and int(seen.group(1)) > 100 else 1)
