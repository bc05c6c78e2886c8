"""The fifteen libraries: where their sources come from, and how each is compiled together with its driver."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Library:
    name: str
    # "debian:PACKAGE", "crate:NAME@VERSION" or "git:URL"
    origin: str
    # relative to the library's directory, with wildcards
    sources: tuple[str, ...] = ()
    includes: tuple[str, ...] = (".",)
    defines: tuple[str, ...] = ()
    # matched by `sources` but not part of the library
    without: tuple[str, ...] = ()

    def files(self, root: Path) -> list[Path]:
        found = [f for pattern in self.sources for f in sorted((root / self.name).glob(pattern))]
        return [f for f in found if f.name not in self.without]

    def flags(self, root: Path) -> list[str]:
        return [*(f"-I{root / self.name / i}" for i in self.includes), *(f"-D{d}" for d in self.defines)]


LIBRARIES = [
    Library("jsmn", "debian:jsmn"),
    Library("inih", "debian:libinih", ("ini.c",)),
    Library("cjson", "debian:cjson", ("cJSON.c",)),
    Library("tinyexpr", "git:https://github.com/codeplea/tinyexpr", ("tinyexpr.c",)),
    Library("lz4", "debian:lz4", ("lib/lz4.c",), ("lib",)),
    Library("zlib", "debian:zlib", ("adler32.c", "crc32.c", "inf*.c", "zutil.c"), without=("infback.c",)),
    Library("http-parser", "debian:http-parser", ("http_parser.c",)),
    Library(
        "libyaml",
        "debian:libyaml",
        ("src/api.c", "src/parser.c", "src/reader.c", "src/scanner.c"),
        ("include", "src"),
        ('YAML_VERSION_STRING="0"', "YAML_VERSION_MAJOR=0", "YAML_VERSION_MINOR=2", "YAML_VERSION_PATCH=5"),
    ),
    Library("uriparser", "debian:uriparser", ("src/*.c",), ("include", "src"), ("URI_STATIC_BUILD",)),
    Library(
        "expat",
        "debian:expat",
        ("expat/lib/xmlparse.c", "expat/lib/xmlrole.c", "expat/lib/xmltok.c"),
        ("expat/lib",),
        ("HAVE_EXPAT_CONFIG_H",),
    ),
    Library("utf8proc", "debian:utf8proc", ("utf8proc.c",)),
    Library("jansson", "debian:jansson", ("src/*.c",), ("src",), ("HAVE_CONFIG_H",)),
    Library(
        "lua",
        "debian:lua5.4",
        ("src/*.c",),
        ("src",),
        without=("lua.c", "luac.c", "linit.c", *(f"l{m}.c" for m in "baselib corolib dblib iolib mathlib oadlib oslib strlib tablib utf8lib".split())),
    ),
    Library("stb_image", "debian:libstb"),
    Library("miniz", "crate:miniz-sys@0.1.12", ("miniz.c",), defines=("MINIZ_NO_STDIO", "MINIZ_NO_TIME")),
]
