"""ptxopt, an optimiser for PTX, the assembly text of NVIDIA GPUs.

The commands are installed with this package; here is where they are, and a function for programs that generate PTX or
are about to load it. `python -m ptxopt` is the command `ptxopt`.
"""

import os
import subprocess
import sys
import sysconfig
import warnings
from typing import Optional, Sequence, TypeVar

__all__ = ["Error", "command", "optimize", "ptxas"]

_Text = TypeVar("_Text", str, bytes)

# Exit status: a bug of ptxopt, which left a function as it was. The text is good.
_BUG = 4


# Options of the command with which standard output is not the result.
_NOT_FOR_RESULTS = ("-o", "--output", "--out-dir", "--check-output", "-h", "--help", "-V", "--version")


class Error(ValueError):
    """What stands against optimising a text, with the line in question."""


def command() -> str:
    """The path of `ptxopt`."""
    return _script("ptxopt")


def ptxas() -> str:
    """The path of `ptxopt-ptxas`, which stands for NVIDIA's assembler: for `TRITON_PTXAS_PATH` and its like."""
    return _script("ptxopt-ptxas")


def optimize(ptx: _Text, gpu: Optional[str] = None, options: Sequence[str] = ()) -> _Text:
    """Makes a module cheaper for a GPU such as `sm_90`, or for its own `.target`.

    Everything else stays as it is, byte for byte. `options` are those of the command, but for those that name an
    output: the result is returned. Raises `Error` for what is not PTX, or does not run on the GPU, and `ValueError` for
    an option that cannot be meant.
    """
    for option in options:
        if option.split("=")[0] in _NOT_FOR_RESULTS or option.startswith("-o"):
            raise ValueError(f"optimize() has no option {option!r}: it returns the result")
    # Said here, the output can be said nowhere else, as in `-vo`.
    arguments = [command(), "-", "--output=-", *(["--gpu", gpu] if gpu else []), *options]
    text = ptx.encode("utf-8", "surrogateescape") if isinstance(ptx, str) else ptx
    run = subprocess.run(arguments, input=text, capture_output=True)
    said = run.stderr.decode("utf-8", "replace")
    if run.returncode not in (0, _BUG):
        raise Error(said)
    if said:
        warnings.warn(said, stacklevel=2)
    return run.stdout.decode("utf-8", "surrogateescape") if isinstance(ptx, str) else run.stdout


def _script(name: str) -> str:
    """The path of a command that was installed with this package."""
    name += sysconfig.get_config_var("EXE") or ""
    here = os.path.dirname(os.path.abspath(__file__))
    folders = [
        sysconfig.get_path("scripts"),
        # `pip install --user`, and `pip install --target`.
        sysconfig.get_path("scripts", scheme=sysconfig.get_preferred_scheme("user")) if sys.version_info >= (3, 10) else None,
        os.path.join(os.path.dirname(here), "bin"),
    ]
    paths = [os.path.join(folder, name) for folder in folders if folder]
    for path in paths:
        if os.path.isfile(path):
            return path
    raise FileNotFoundError(f"the command {name} is in none of: {', '.join(paths)}")
