#!/usr/bin/env python3
"""Makes tests/corpus/modules from tests/corpus/src with real compilers.

    python3 tests/corpus/make.py [PRODUCER...]     (default: all of them)

Producers: nvrtc, triton, gcc, clang, llc, rustc; idioms, which makes
tests/corpus/idioms from tests/corpus/src/idioms with several of them; and
intrinsics, which makes tests/intrinsics.  README.md beside this file says what
must be installed.  The modules are checked in, so only somebody who
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
IDIOMS = HERE / "idioms"
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

# Idioms of byte-wise code: all sources, each compiled for the targets that its
# compilers are still used for.
IDIOM_TARGETS = {"11.8": ["35"], "12.9": ["61"], "13.5": ["90", "120f"]}
CLANG_IDIOMS = "clang-19"
# clang 19 stops with an error on vectors of halves that its vectoriser makes.
CLANG_IDIOM_OPTIONS = {"halves": ["-fno-slp-vectorize"]}
TRITON_IDIOM_TARGET = "80"

# --- checks and output -------------------------------------------------------


def run(*command, cwd=None, env=None):
    """The standard output of a command, which must succeed."""
    done = subprocess.run([str(c) for c in command], cwd=cwd, env=env, text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def dwarf_text(ptx):
    """The bytes of .b8 lines as text: where a compiler hides its paths."""
    numbers = re.findall(r"^\s*\.b8\s+([^/\n]*)", ptx, re.M)
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


def save(producer, name, ptx, scratch, kind="modules"):
    """Checks a module and writes it, as the same bytes every time."""
    for text in (ptx, dwarf_text(ptx)):
        if found := re.search(r"/(work|root|tmp|home|usr|build)\b[^\s\"]*", text):
            sys.exit(f"{producer}/{name}: names {found[0]}")
    file = scratch / "module.ptx"
    file.write_text(ptx)
    ptxas, target = assembler(ptx)
    run(ptxas, "--compile-only", f"-arch={target}", "-o", scratch / "module.cubin", file)
    folder = scratch / kind / producer
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


def triton(scratch, script, targets):
    """What a script of Triton kernels writes for some targets."""
    packages = TARGET / f"triton-{TRITON[0]}"
    if not packages.exists():
        run(sys.executable, "-m", "pip", "install", "--quiet", "--target", packages,
            f"triton=={TRITON[0]}")
    env = os.environ | {
        "PYTHONPATH": str(packages),
        "TRITON_CACHE_DIR": str(scratch / "cache"),
        "TRITON_DEFAULT_FP_FUSION": "1",
    }
    run(sys.executable, script.name, scratch / "triton", *targets, cwd=script.parent, env=env)
    files = sorted((scratch / "triton").glob("*.ptx"))
    texts = [(file.stem, file.read_text()) for file in files]
    shutil.rmtree(scratch / "triton")
    return texts


def make_triton(scratch):
    version, targets = TRITON
    for name, ptx in triton(scratch, SRC / "triton/kernels.py", targets):
        save(f"triton-{version}", name, ptx, scratch)


# --- idioms ------------------------------------------------------------------


def make_idioms(scratch):
    run("sh", HERE.parent.parent / ".ci/tools", "--nvrtc", TARGET)
    shared = (SRC / "idioms/lanes.h").read_text()
    for file in sorted((SRC / "idioms").glob("*.cu")):
        # NVIDIA's compiler is given one text.
        text = file.read_text().replace('#include "lanes.h"\n', shared)
        for version, targets in IDIOM_TARGETS.items():
            nvrtc = Nvrtc(NVIDIA / version / NVRTC[version][0])
            for target in targets:
                ptx = nvrtc.compile(file.name, text, [f"--gpu-architecture=compute_{target}", "--std=c++17"])
                save(f"nvrtc-{version}", f"{file.stem}.sm_{target}", ptx, scratch, "idioms")
        options = ["-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "-include", "clang.h", "-O2"]
        options += ["--cuda-gpu-arch=sm_61", "-Wno-unknown-cuda-version", *CLANG_IDIOM_OPTIONS.get(file.stem, [])]
        ptx = run(CLANG_IDIOMS, *options, "-S", "-o", "-", file.name, cwd=file.parent)
        save(CLANG_IDIOMS, f"{file.stem}.sm_61", ptx, scratch, "idioms")
    for name, ptx in triton(scratch, SRC / "idioms/triton_kernels.py", [TRITON_IDIOM_TARGET]):
        save(f"triton-{TRITON[0]}", name, ptx, scratch, "idioms")


# --- the SIMD intrinsics of CUDA ---------------------------------------------

INTRINSICS = HERE.parent / "intrinsics"
INTRINSIC_TARGETS = {"11.8": ["35", "61"], "12.9": ["61"], "13.5": ["90", "120f"]}


def intrinsics_source():
    """A kernel for each function: of one word or two, by bytes and by halves."""
    one = ["abs", "absss", "neg", "negss"]
    two = ["absdiffs", "absdiffu", "add", "addss", "addus", "avgs", "avgu", "haddu", "maxs", "maxu", "mins", "minu"]
    two += ["sads", "sadu", "sub", "subss", "subus"]
    comparisons = ["eq", "ges", "geu", "gts", "gtu", "les", "leu", "lts", "ltu", "ne"]
    two += [kind + comparison for kind in ("cmp", "set") for comparison in comparisons]
    calls = [(f"v{name}{lanes}", "p[0]") for name in one for lanes in "24"]
    calls += [(f"v{name}{lanes}", "p[0], p[1]") for name in two for lanes in "24"]
    kernel = 'extern "C" __global__ void {0}(const unsigned *p, unsigned *o) {{ o[0] = __{0}({1}); }}\n'
    return "".join(kernel.format(*call) for call in calls)


def make_intrinsics(_scratch):
    """As text, for a target that knows all of it, without comments and blanks: tests read it by kernels."""
    run("sh", HERE.parent.parent / ".ci/tools", "--nvrtc", TARGET)
    for version, targets in INTRINSIC_TARGETS.items():
        nvrtc = Nvrtc(NVIDIA / version / NVRTC[version][0])
        for target in targets:
            ptx = nvrtc.compile("intrinsics.cu", intrinsics_source(), [f"--gpu-architecture=compute_{target}"])
            kernels = re.sub(r"//.*", "", ptx).split(".visible .entry ")[1:]
            text = f"// The SIMD-in-a-word intrinsics of CUDA, as NVRTC {version} compiles them for compute_{target}; "
            text += "comments and blanks are left out.\n.version 8.0\n.target sm_90\n.address_size 64\n"
            for kernel in kernels:
                head, body = kernel.split("{", 1)
                head = " ".join(head.split()).replace("( ", "(").replace(" )", ")")
                head = head.replace(" .ptr .align 1", "")  # newer than that version of PTX
                lines = [" ".join(line.split()) for line in body.strip().removesuffix("}").splitlines()]
                text += f"\n.visible .entry {head}\n{{\n" + "".join(f"    {line}\n" for line in lines if line) + "}\n"
            (INTRINSICS / f"nvrtc-{version}-compute_{target}.ptx").write_text(text)


MAKERS = {
    "nvrtc": make_nvrtc, "triton": make_triton, "gcc": make_gcc,
    "clang": make_clang, "llc": make_llc, "rustc": make_rustc,
    "idioms": make_idioms, "intrinsics": make_intrinsics,
}


def main():
    wanted = sys.argv[1:] or list(MAKERS)
    if unknown := [w for w in wanted if w not in MAKERS]:
        sys.exit(f"unknown producer {unknown[0]}; there are {', '.join(MAKERS)}")
    with tempfile.TemporaryDirectory() as scratch:
        for producer in wanted:
            MAKERS[producer](Path(scratch))
            for old in IDIOMS.glob("*-[0-9]*") if producer == "idioms" else MODULES.glob(f"{producer}-*"):
                shutil.rmtree(old)
        for made, folder in ((Path(scratch) / "modules", MODULES), (Path(scratch) / "idioms", IDIOMS)):
            if made.exists():
                shutil.copytree(made, folder, dirs_exist_ok=True)
    sizes = [f.stat().st_size for folder in (MODULES, IDIOMS) for f in folder.rglob("*.ptx.gz")]
    print(f"{len(sizes)} modules, {sum(sizes)} bytes packed")


if __name__ == "__main__":
    main()
