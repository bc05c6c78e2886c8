"""Functions of seven libraries that get inputs of unknown size: where the sources come from, and how each is compiled with its driver."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "libraries"))
from libraries import Library  # noqa: E402


@dataclass(frozen=True)
class Subject:
    library: Library
    functions: tuple[str, ...]
    # bytes of an input at most (Memory, Table 6.2)
    capacity: int
    # only measured with patterns (Memory, ch. 6)
    only_patterns: bool = False
    # a header of the library that comes before everything
    before: str = ""

    def command(self, root: Path, pleach) -> list[str]:
        """Arguments that name the driver and the library, which is compiled once."""
        own = [*self.library.flags(root), f"-I{HERE}"]
        if self.before:
            own += ["-include", root / self.library.name / self.before]
        objects = root / f"{self.library.name}.objects"
        objects.mkdir(exist_ok=True)
        made = []
        for source in self.library.files(root):
            made.append(objects / f"{source.stem}.o")
            if not made[-1].exists():
                command = [pleach, "cc", "-g", "-w", "-c", *own, "-o", made[-1], source]
                subprocess.run([str(c) for c in command], check=True)
        return [str(x) for x in [*own, HERE / f"{self.library.name}.c", *made]]


PNG = "png pngerror pngget pngmem pngset pngtrans pngwio pngwrite pngwtran pngwutil pngrio pngread pngrtran pngrutil pngpread"
BUSYBOX = "simplify_path trim percent_decode str_tolower skip_whitespace get_last_path_component replace bb_strtonum process_escape_sequence"
BUSYBOX += " endofname strrstr parse_mode printable_string compare_string_array xfuncs_printf xfunc_die last_char_is"
BUSYBOX_DEFINES = ("_GNU_SOURCE", "NDEBUG", "BB_VER=0")
SUBJECTS = [
    Subject(
        Library("libosip", "git:https://github.com/aurelihein/osip", ("src/osipparser2/*.c",), ("include",), ("HAVE_CONFIG_H",)),
        tuple("uri_headers uri_params via uri call_id cseq content_type from content_length contact content_disposition authorization message sdp_to_str".split()),
        10,
    ),
    Subject(
        Library(
            "libtasn1",
            "debian:libtasn1-6",
            tuple(f"lib/{f}.c" for f in "coding decoding element errors gstr parser_aux structure version".split()),
            ("lib/includes", "lib", "lib/gl"),
            ("HAVE_CONFIG_H",),
        ),
        tuple("length_der length_ber tag_der octet_der bit_der object_id_der simple_decode simple_encode octet_encode bit_encode".split()),
        100,
    ),
    Subject(
        Library("libpng", "debian:libpng1.6", tuple(f"{f}.c" for f in PNG.split())),
        tuple("signature number keyword text palette transparency scale unknown calibration histogram".split()),
        200,
    ),
    Subject(
        Library(
            "wget",
            "debian:wget",
            (*(f"src/{f}.c" for f in "utils hash res html-parse".split()), *(f"lib/{f}.c" for f in "xmalloc c-ctype c-strcasecmp c-strncasecmp".split())),
            ("src", "lib"),
            ("HAVE_CONFIG_H",),
        ),
        tuple("parse escape unescape simplify scheme shorthand directory element html_suffix tail separate base64 merge robots html".split()),
        200,
        True,
    ),
    Subject(
        Library(
            "apr",
            "debian:apr",
            ("strings/*.c", "tables/*.c", "memory/unix/*.c", "misc/unix/start.c", "file_io/unix/filepath*.c", "atomic/unix/builtins*.c"),
            ("include", "include/arch/unix"),
        ),
        tuple("collapse copy arguments name newlines natural match is_pattern token tokenize split number prefix root merge concat".split()),
        50,
        True,
    ),
    Subject(
        Library("json-c", "debian:json-c", ("*.c",), without=("libjson.c", "json_object_iterator.c")),
        tuple("parse print integer real equal pointer boolean assign".split()),
        100,
        True,
    ),
    Subject(
        Library("busybox", "debian:busybox", tuple(f"libbb/{f}.c" for f in BUSYBOX.split()), ("include", "libbb"), BUSYBOX_DEFINES),
        tuple("path trimmed decode lower blanks words component count number escapes name_end last_of lines mode printable pairs".split()),
        100,
        True,
        "include/autoconf.h",
    ),
]


# What makes the headers of a library that has no small set of them, and the last one it makes
CONFIGURE = {
    "apr": ("include/apr.h", [["./configure", "--disable-threads"]]),
    "wget": ("src/config.h", [["./configure", "--without-ssl", "--without-zlib", "--without-libpsl", "--without-metalink", "--disable-nls", "--disable-iri"]]),
    "busybox": ("include/autoconf.h", [["make", "-s", "defconfig"], ["make", "-s", "include/autoconf.h"]]),
}


def prepare(root: Path):
    """What the libraries' own builds would copy or make."""
    for name, (made, commands) in CONFIGURE.items():
        if (root / name).exists() and not (root / name / made).exists():
            for c in commands:
                subprocess.run(c, cwd=root / name, check=True, stdin=subprocess.DEVNULL, capture_output=True)
    prebuilt, wanted = root / "libpng/scripts/pnglibconf.h.prebuilt", root / "libpng/pnglibconf.h"
    if prebuilt.exists() and not wanted.exists():
        wanted.write_bytes(prebuilt.read_bytes())


def fetch(root: Path):
    """Gets what is missing, as bench/libraries/fetch does."""
    names = [s.library for s in SUBJECTS if not (root / s.library.name).exists()]
    if names:
        program = "import runpy, sys, libraries; sys.argv = sys.argv[1:]; import apis; libraries.LIBRARIES[:] = [s.library for s in apis.SUBJECTS]; "
        program += "runpy.run_path(sys.argv[0], run_name='__main__')"
        command = [sys.executable, "-c", program, str(HERE.parent / "libraries/fetch"), str(root), *(n.name for n in names)]
        path = f"{HERE}:{HERE.parent / 'libraries'}"
        subprocess.run(command, check=True, env={"PYTHONPATH": path, "PATH": "/usr/bin:/bin", "HOME": str(Path.home())})
    prepare(root)
