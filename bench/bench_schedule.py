"""Tasks a second through the schedule, and operations a second through the prices, on a generated step of 10 M tasks.

Usage: bench_schedule.py [TASKS]. The budgets are of one core that nothing else uses; quote the ratio to the budget.
"""
import os
import subprocess
import sys

BUILD = os.environ.get("PACELINE_BUILD", os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "build", "release"))
tasks = sys.argv[1] if len(sys.argv) > 1 else "10000000"
sys.exit(subprocess.run([os.path.join(BUILD, "tests", "bench_schedule"), tasks]).returncode)
