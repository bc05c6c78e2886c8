"""The programs, and in which checkout each is found."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    name: str
    # which directory: "programs", "tx" or "klee"
    home: str
    path: str
    # text of the source exchanged before it is compiled
    replace: tuple[str, str] | None = None
    # member of the growth series of this name
    series: str | None = None
    # also run by the peer
    peer: bool = True
    # only run when asked for
    long: bool = False


def _own(name):
    return Row(name, "programs", f"{name}.c")


def _tx(path, **kw):
    return Row(path.rsplit("/", 1)[-1].removesuffix(".c"), "tx", path, **kw)


ROWS = [
    _own("loop50m"),
    _own("sieve"),
    _own("bubble6"),
    _own("hashtable"),
    _own("symptr"),
    Row("regexp", "klee", "examples/regexp/Regexp.c"),
    _tx("scalability/insertsort7.c"),
    _tx("scalability/pointer_struct5-8.c"),
    _tx("basic/pointer_struct5.c"),
    _tx("scalability/nsichneu.c"),
    _tx("scalability/malloc9.c", series="malloc"),
    _tx("scalability/malloc18.c", series="malloc"),
    Row(
        "malloc21",
        "tx",
        "scalability/malloc18.c",
        replace=("#define MAX 18", "#define MAX 21"),
        series="malloc",
        peer=False,
        long=True,
    ),
    _tx("wp/knapsack.c"),
    _tx("wp/fly_by_wire.c"),
    _tx("wp/tcas.c"),
    _tx("wp/sumsubset.c"),
    _tx("basic/regexp_iterative.c"),
    _tx("scalability/send-more-money.c"),
]
