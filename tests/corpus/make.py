#!/usr/bin/env python3
"""Makes tests/corpus/modules from tests/corpus/src with real compilers.

    python3 tests/corpus/make.py [PRODUCER...]     (default: all of them)

Producers: nvrtc, triton, gcc, clang, llc, rustc.  README.md beside this file
says what must be installed.  The modules are checked in, so only somebody who
changes a source or wants another compiler needs this script.

Every module must be accepted by NVIDIA's assembler, and must name no path of
the machine it was made on; otherwise the script stops.
"""

import ctypes
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SRC = HERE / "src"
MODULES = HERE / "modules"
TARGET = HERE.parent.parent / "target"
NVIDIA = TARGET / "nvidia"

# --- what is compiled by what ------------------------------------------------

# NVIDIA's run-time compiler: library and headers, below target/nvidia/VERSION,
# and the targets that most sources are compiled for.
NVRTC = {
    "11.8": (
        "nvrtc/nvidia/cuda_nvrtc/lib/libnvrtc.so.11.2",
        ["nvrtc/nvidia/cuda_runtime/include", "nvidia/cuda_nvcc/include"],
        ["35", "52"],
    ),
    "12.9": (
        "nvrtc/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
        ["nvrtc/nvidia/cuda_runtime/include", "nvrtc/nvidia/cuda_cccl/include"],
        ["61", "75"],
    ),
    "13.5": (
        "nvrtc/nvidia/cu13/lib/libnvrtc.so.13",
        ["nvrtc/nvidia/cu13/include", "nvrtc/nvidia/cu13/include/cccl"],
        ["75", "90", "120"],
    ),
}

# Options of single CUDA sources; a source may appear in more than one way.
CUDA_VARIANTS = {
    "debug": {
        "debug-lineinfo": ["--generate-line-info"],
        "debug-full": ["--device-debug"],
    },
    "templates": {"templates": [], "templates-rdc": ["--relocatable-device-code=true"]},
    "numeric": {"numeric": ["--device-int128"], "numeric-fast": ["--device-int128", "--use_fast_math"]},
}

# Sources that need other targets than the rest, with the reason.
CUDA_TARGETS = {
    "ampere": (
        {"11.8": ["80", "86"], "13.5": ["80", "90", "120"]},
        "cp.async, mbarrier, mma of bf16: sm_80 and up",
    ),
    "hopper": (
        {"12.9": ["90a"], "13.5": ["90a"]},
        "wgmma and clusters: sm_90a, unknown to 11.8",
    ),
    "cooperative": (
        {"11.8": ["52", "70"], "12.9": ["75"], "13.5": ["90"]},
        "tile shuffles: sm_50 and up; 13.5 for one target, the header is long",
    ),
    "keccak": (
        {"11.8": ["35"], "13.5": ["90"]},
        "the long module, 24 rounds three times: two of them are enough",
    ),
    "rare": (
        {"11.8": ["75"], "12.9": ["75"], "13.5": ["75", "90", "120"]},
        "bmsk, szext and tanh: sm_75 and up at most",
    ),
    "matrices": ({"11.8": ["75"], "13.5": ["80"]}, "wmma of bytes: sm_72 and up"),
    "texture_refs": ({"11.8": ["35", "61"]}, "texture references: gone since 12.0"),
    "packed_halves": (
        {"12.9": ["90"], "13.5": ["90", "120f"]},
        "u16x2 arithmetic: sm_90 and up; u8x4: sm_120f",
    ),
}

LLC = {  # llc 14: source -> processors
    "bytes": ["sm_20", "sm_35", "sm_60", "sm_80"],
    "vectors": ["sm_35", "sm_70"],
    "control": ["sm_30", "sm_75"],
    "data": ["sm_35", "sm_86"],
    "atomics": ["sm_70", "sm_86"],
    "debug": ["sm_52", "sm_80"],
}
LLC_OPTIONS = {"debug": ["-mattr=+ptx75"]}  # which labels in .section need

CLANG = {  # clang 14: source -> (processor, options)...
    "filter.cl": [("sm_35", ["-O2"]), ("sm_70", ["-O1"]), ("sm_75", ["-O2", "-gline-tables-only"])],
    "checksum.cu": [("sm_37", ["-O0"]), ("sm_80", ["-O2"])],
}

GCC = {  # gcc 12: source -> (-misa, options)...
    "image.c": [("sm_30", ["-O2", "-fopenmp"]), ("sm_75", ["-O2", "-fopenmp"])],
    "solver.c": [("sm_35", ["-O2", "-fopenacc"]), ("sm_80", ["-O1", "-fopenacc"])],
    "strings.c": [("sm_35", ["-O2", "-fopenmp"]), ("sm_53", ["-O0", "-fopenmp"])],
}

RUSTC = {  # source -> (processor, options)...
    "kernels.rs": [("sm_70", ["-Copt-level=3"]), ("sm_80", ["-Copt-level=0"]), ("sm_90", ["-Copt-level=2"])],
}

TRITON = ("3.9.0", ["80", "90", "100", "120"])

# --- checks and output -------------------------------------------------------


def run(*command, cwd=None, env=None):
    """The standard output of a command, which must succeed."""
    done = subprocess.run([str(c) for c in command], cwd=cwd, env=env, text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def dwarf_text(ptx):
    """The bytes of .b8 lines as text: where a compiler hides its paths."""
    numbers = re.findall(r"^\s*\.b8\s+(.*)$", ptx, re.M)
    return bytes(int(n, 0) & 255 for line in numbers for n in re.findall(r"\d\w*", line)).decode("latin-1")


def assembler(ptx):
    """The oldest ptxas that knows the module's target, and that target."""
    target = re.search(r"\.target\s+sm_(\d+)(\w?)", ptx)
    number = max(int(target[1]), 35)
    version = float(re.search(r"\.version\s+([\d.]+)", ptx)[1])
    newest = "11.8" if number < 50 else "12.9" if number < 75 else "13.5"
    if version > 8.8:
        newest = "13.5"
    return NVIDIA / newest / "ptxas", f"sm_{number}{target[2]}"


def save(producer, name, ptx, scratch):
    """Checks a module and writes it, as the same bytes every time."""
    for text in (ptx, dwarf_text(ptx)):
        if found := re.search(r"/(work|root|tmp|home|usr|build)\b[^\s\"]*", text):
            sys.exit(f"{producer}/{name}: names {found[0]}")
    file = scratch / "module.ptx"
    file.write_text(ptx)
    ptxas, target = assembler(ptx)
    run(ptxas, "--compile-only", f"-arch={target}", "-o", scratch / "module.cubin", file)
    folder = scratch / "modules" / producer
    folder.mkdir(parents=True, exist_ok=True)
    packed = gzip.compress(ptx.encode(), 9, mtime=0)
    (folder / f"{name}.ptx.gz").write_bytes(packed)
    print(f"{producer}/{name}: {len(ptx)} bytes, {len(packed)} packed", flush=True)


# --- NVRTC -------------------------------------------------------------------


class Nvrtc:
    """The five calls of NVIDIA's run-time compiler that are needed here."""

    def __init__(self, library):
        self.lib = ctypes.CDLL(str(library))

    def text(self, program, what):
        size = ctypes.c_size_t()
        getattr(self.lib, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        getattr(self.lib, f"nvrtcGet{what}")(program, buffer)
        return buffer.value.decode()

    def compile(self, name, source, options):
        program = ctypes.c_void_p()
        self.lib.nvrtcCreateProgram(ctypes.byref(program), source.encode(), name.encode(), 0, None, None)
        array = (ctypes.c_char_p * len(options))(*(o.encode() for o in options))
        failed = self.lib.nvrtcCompileProgram(program, len(options), array)
        if failed:
            sys.exit(f"{name} {options}\n{self.text(program, 'ProgramLog')}")
        ptx = self.text(program, "PTX")
        self.lib.nvrtcDestroyProgram(ctypes.byref(program))
        return ptx


def make_nvrtc(scratch):
    run("sh", HERE.parent.parent / ".ci/tools", "--nvrtc", TARGET)
    os.chdir("/")  # which debug information records
    for version, (library, includes, usual) in NVRTC.items():
        base = NVIDIA / version
        nvrtc = Nvrtc(base / library)
        for file in sorted((SRC / "cuda").glob("*.cu")):
            targets = CUDA_TARGETS[file.stem][0].get(version, []) if file.stem in CUDA_TARGETS else usual
            for target in targets:
                for name, extra in CUDA_VARIANTS.get(file.stem, {file.stem: []}).items():
                    options = [f"--gpu-architecture=compute_{target}", "--std=c++17"]
                    if "#include" in file.read_text():
                        options += [f"--include-path={base / folder}" for folder in includes]
                    ptx = nvrtc.compile(file.name, file.read_text(), options + extra)
                    save(f"nvrtc-{version}", f"{name}.sm_{target}", ptx, scratch)


# --- the other compilers -----------------------------------------------------


def make_llc(scratch):
    for stem, processors in LLC.items():
        for cpu in processors:
            options = [f"-mcpu={cpu}", *LLC_OPTIONS.get(stem, [])]
            ptx = run("llc-14", "-march=nvptx64", *options, "-o", "-", f"{stem}.ll", cwd=SRC / "llvm")
            save("llc-14", f"{stem}.{cpu}", ptx, scratch)


def make_clang(scratch):
    for source, ways in CLANG.items():
        for cpu, options in ways:
            language = ["-x", "cl", "-cl-std=CL1.2", "-target", "nvptx64-nvidia-cuda"]
            language += ["-Xclang", "-target-cpu", "-Xclang", cpu]
            if source.endswith(".cu"):
                language = ["--cuda-device-only", "-nocudainc", "-nocudalib", f"--cuda-gpu-arch={cpu}"]
                language += ["-Xclang", "-target-feature", "-Xclang", "+ptx70", "-Wno-unknown-cuda-version"]
            language += ["-fdebug-compilation-dir=.", "-fno-dwarf-directory-asm"]
            ptx = run("clang-14", *language, *options, "-S", "-o", "-", source, cwd=SRC / "clang")
            save("clang-14", f"{Path(source).stem}{options[0]}.{cpu}", ptx, scratch)


def make_gcc(scratch):
    """The objects of the accelerator: PTX before it is linked with its libraries."""
    for source, ways in GCC.items():
        for isa, options in ways:
            folder = scratch / "gcc"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            shutil.copy(SRC / "gcc" / source, folder)
            run("gcc-12", *options, "-foffload=nvptx-none", f"-foffload-options=-misa={isa} -save-temps -lm",
                "-save-temps", "-w", "-o", "a.out", source, "-lm", cwd=folder)
            (listing,) = folder.glob("*.mkoffload.o")
            save("gcc-12", f"{Path(source).stem}{options[0]}.{isa}", listing.read_text(), scratch)


def make_rustc(scratch):
    for source, ways in RUSTC.items():
        for cpu, options in ways:
            run("rustc", "--target=nvptx64-nvidia-cuda", "--crate-type=rlib", "--edition=2021", "--emit=asm",
                f"-Ctarget-cpu={cpu}", "-Ccodegen-units=1",
                "--remap-path-prefix", f"{SRC}=.", *options, "-o", scratch / "rust.s", SRC / "rust" / source,
                env=os.environ | {"RUSTC_BOOTSTRAP": "1"})
            version = run("rustc", "--version").split()[1]
            save(f"rustc-{version}", f"{Path(source).stem}.{cpu}", (scratch / "rust.s").read_text(), scratch)


def make_triton(scratch):
    version, targets = TRITON
    packages = TARGET / f"triton-{version}"
    if not packages.exists():
        run(sys.executable, "-m", "pip", "install", "--quiet", "--target", packages,
            f"triton=={version}")
    env = os.environ | {
        "PYTHONPATH": str(packages),
        "TRITON_CACHE_DIR": str(scratch / "cache"),
        "TRITON_DEFAULT_FP_FUSION": "1",
    }
    run(sys.executable, "kernels.py", scratch / "triton", *targets, cwd=SRC / "triton", env=env)
    for file in sorted((scratch / "triton").glob("*.ptx")):
        save(f"triton-{version}", file.stem, file.read_text(), scratch)


MAKERS = {
    "nvrtc": make_nvrtc, "triton": make_triton, "gcc": make_gcc,
    "clang": make_clang, "llc": make_llc, "rustc": make_rustc,
}


def main():
    wanted = sys.argv[1:] or list(MAKERS)
    if unknown := [w for w in wanted if w not in MAKERS]:
        sys.exit(f"unknown producer {unknown[0]}; there are {', '.join(MAKERS)}")
    with tempfile.TemporaryDirectory() as scratch:
        for producer in wanted:
            MAKERS[producer](Path(scratch))
            for old in MODULES.glob(f"{producer}-*"):
                shutil.rmtree(old)
        shutil.copytree(Path(scratch) / "modules", MODULES, dirs_exist_ok=True)
    sizes = [f.stat().st_size for f in MODULES.rglob("*.ptx.gz")]
    print(f"{len(sizes)} modules, {sum(sizes)} bytes packed")


if __name__ == "__main__":
    main()
