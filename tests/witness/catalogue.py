"""The catalogue of measurements lists its rows: each file is read, and no name stands for two rows.

    python tests/witness/catalogue.py
"""

import collections
import subprocess
import sys

done = subprocess.run([sys.executable, "bench/catalogue/run.py", "--list"], capture_output=True, text=True)
rows = [line.split()[0] for line in done.stdout.splitlines()]
twice = [name for name, count in collections.Counter(rows).items() if count > 1]
if done.returncode != 0 or len(rows) < 900 or twice:
    print(f"FAILED {len(rows)} rows, twice {twice}: {done.stderr[-2000:]}\n0 passed, 1 failed")
    sys.exit(1)
print("1 passed, 0 failed")
