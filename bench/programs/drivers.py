"""The drivers: bitcode, options of the symbolic environment, the program's arguments. The sizes and texts are the benchmarks' own."""

from pathlib import Path

# What KLEE did with the same drivers (3.2, LLVM 16, STP, depth first, CPU seconds; recorded elsewhere): paths, instructions, seconds.
KLEE = {
    "m4": (2727, 183e6, 300),
    "sqlite": (44, 16.3e6, 161),
    "apr": (0, 42e3, 175),
}


def text(path: Path) -> str:
    """A file with unknown places, as the benchmarks' own engine takes it."""
    return path.read_text(encoding="utf-8")


def drivers(sources: Path) -> dict[str, tuple[str, list[str], list[str]]]:
    """Name → bitcode, options, arguments of the program."""
    mm, cache = sources / "klee-mm-benchmarks", sources / "smt-cache-benchmarks"
    # Unknown bytes of standard input are between these two in the benchmarks' engine (runtime/POSIX/fd_init.c); those of files are not.
    stdin = ["--sym-like-range", "Az", "--sym-stdin-like"]
    return {
        "m4": ("m4", ["--sym-files", "1", "1", *stdin, text(mm / "m4/m4.input")], ["-H37", "-G"]),
        "m4-split": ("m4", ["--sym-files", "1", "1", *stdin, text(mm / "m4/m4_2.input")], ["-G"]),
        "m4-cache": ("m4", [*stdin, text(cache / "m4/m4.input")], ["-H37", "-G"]),
        "make": ("make", ["--sym-files-like", "1", text(mm / "make/make.input")], ["-r", "-n", "-R", "-f", "A"]),
        "make-split": ("make_split", ["--sym-files-like", "1", text(mm / "make/make.input")], ["-r", "-n", "-R", "-f", "A"]),
        "sqlite": ("sqlite", [], ["15"]),
        "apr": ("apr", [], ["15"]),
        "gas": ("gas", ["--sym-files-like", "1", text(mm / "binutils/gas.input"), "--sym-like-range", "fg"], ["A"]),
        "libxml2": ("libxml2", [], ["4"]),
        "libxml2-url": ("libxml2_url", [], ["3"]),
        "expat": ("expat", [], ["10"]),
        "bash": ("bash", ["--sym-files-like", "1", text(cache / "bash/bash.input")], ["A"]),
        "json": ("json", [], []),
        "libosip": ("libosip", [], ["20"]),
        "libyaml": ("libyaml", [], ["10"]),
    }
