"""`python -m ptxopt` is the command `ptxopt`."""

import os
import subprocess
import sys

from . import command

if __name__ == "__main__":
    arguments = [command(), *sys.argv[1:]]
    if os.name == "posix":
        os.execv(arguments[0], arguments)
    sys.exit(subprocess.run(arguments).returncode)
