# SPDX-License-Identifier: Apache-2.0
"""What a function's job runs: python -m starling.job FOLDER. FOLDER/call.pkl has the function and its arguments, and
FOLDER/result.pkl gets (True, what it returned) or (False, its traceback), whole or not at all. Of several workers the
first one's is kept."""

import os
import pickle
import sys
import traceback


def main(folder):
    with open(os.path.join(folder, "call.pkl"), "rb") as file:
        path, call = pickle.load(file)
    sys.path[:] = path + [entry for entry in sys.path if entry not in path]
    try:
        function, args, keywords = pickle.loads(call)
        said = True, function(*args, **keywords)
        written = pickle.dumps(said)
    except Exception:
        said = False, traceback.format_exc()
        written = pickle.dumps(said)
    if int(os.environ.get("RANK", "0")) == 0:
        half = os.path.join(folder, f"result.pkl.{os.getpid()}")
        with open(half, "wb") as file:
            file.write(written)
        os.replace(half, os.path.join(folder, "result.pkl"))
    if not said[0]:
        sys.stderr.write(said[1])
    return 0 if said[0] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
