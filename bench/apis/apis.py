"""Functions of three libraries that get inputs of unknown size: where the sources come from, and how each is compiled with its driver."""

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

    def command(self, root: Path, pleach) -> list[str]:
        """Arguments that name the driver and the library, which is compiled once."""
        own = [f"-I{HERE}", *self.library.flags(root)]
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
SUBJECTS = [
    Subject(
        Library("libosip", "git:https://github.com/aurelihein/osip", ("src/osipparser2/*.c",), ("include",), ("HAVE_CONFIG_H",)),
        tuple("uri_headers uri_params via uri call_id cseq content_type from content_length contact content_disposition authorization message sdp_to_str".split()),
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
    ),
    Subject(
        Library("libpng", "debian:libpng1.6", tuple(f"{f}.c" for f in PNG.split())),
        tuple("signature number keyword text palette transparency scale unknown calibration histogram".split()),
    ),
]


def prepare(root: Path):
    """What the libraries' own builds would copy."""
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
