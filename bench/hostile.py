"""Programs that try to take more time or memory than allowed: many steps, one long step, hard queries, long compilations, many states to end."""

from dataclasses import dataclass

HEAD = "#include <klee/klee.h>\n#include <stdlib.h>\n#include <string.h>\n"
INDEX = "unsigned {0} = klee_int(\"{0}\"); if ({0} >= N) return 0;"


@dataclass(frozen=True)
class Program:
    name: str
    source: str
    flags: tuple[str, ...] = ()
    suffix: str = ".c"
    command: str = "test"


def main(body, before=""):
    return f"{HEAD}{before}\nint main(void) {{\n{body}\n  return 0;\n}}\n"


def bulk():
    """One step over many bytes."""
    makes = {
        "malloc": "char *p = malloc(N);",
        "calloc": "char *p = calloc(N, 1);",
        "filled": "char *p = malloc(N); memset(p, 7, N);",
        "mixed": "char *p = malloc(N); for (unsigned k = 0; k < N; k += 4096) p[k] = k;",
        "input": "char *p = malloc(N); klee_make_symbolic(p, N, \"p\");",
        "global": "char *p = g;",
    }
    steps = {
        "store": INDEX.format("i") + " p[i] = 1; return p[i / 2];",
        "load": INDEX.format("i") + " if (p[i] == 3) return 1;",
        "copy": "char *q = malloc(N); memcpy(q, p, N); return q[N - 1];",
        "shift": "memmove(p + 1, p, N - 1); return p[N - 1];",
        "set": "int x = klee_int(\"x\"); memset(p, x, N); return p[N / 2];",
        "symbolic_offset": INDEX.format("i") + " memcpy(p + i / 2, p, N / 2);",
    }
    for size in (1 << 22, 500_000_000):
        for make, how in makes.items():
            for step, what in steps.items():
                yield Program(f"{step}-{make}-{size >> 20}M", main(how + what, f"enum {{ N = {size} }};\nstatic char g[N];"))


def states():
    """Many states, to be ended when the time is up."""
    loops = {
        "one": "if (c > 9) s++;",
        "three": "if (c > 9) s++; if (c == 3) s--; if (c * c == 49) s += 2;",
        "nested": "if (c > 9) { if (c > 20) { if (c > 40) s++; else s += 3; } else s--; }",
        "table": "s += table[c % 64];",
        "product": "if (c * s % 7 == 3) s++; else s += c;",
    }
    searches = ("--search=bfs", "--search=dfs", "--search=random-path", "--prune", "--write-all-tests")
    for name, body in loops.items():
        for search in searches:
            yield Program(
                f"states-{name}-{search.strip('-').replace('=', '-')}",
                main(f"  unsigned s = 1;\n  for (;;) {{ unsigned char c; klee_make_symbolic(&c, 1, \"c\"); {body} }}", "static int table[64];"),
                (search,),
            )


def queries():
    """Queries without a quick answer."""
    asks = {
        "factor": "unsigned long a = klee_int(\"a\"), b = klee_int(\"b\"); if (a > 1 && b > 1 && a * b == 1000000016000000063ul) return 1;",
        "hash": "unsigned h = 17; char in[24]; klee_make_symbolic(in, 24, \"in\"); for (int i = 0; i < 24; i++) h = (h ^ in[i]) * 16777619u; if (h == 42) return 1;",
        "divide": "int a = klee_int(\"a\"), b = klee_int(\"b\"), c = klee_int(\"c\"); if (b && c && a / b % c == 12345 && a % c / b == 54321) return 1;",
        "square": "unsigned long x = klee_int(\"x\"), y = x; for (int i = 0; i < 40; i++) { y = y * y + x; if (y == 77) return i; }",
        "float": "float f; klee_make_symbolic(&f, 4, \"f\"); double d = f; for (int i = 0; i < 8; i++) d = d * d - f / (d + 3); if (d == 0.25) return 1;",
        "array": "unsigned char t[4096]; klee_make_symbolic(t, 4096, \"t\"); unsigned i = t[0]; for (int k = 0; k < 64; k++) i = t[(i * 31 + k) % 4096] + i; if (i == 4711) return 1;",
        "terms": "unsigned long x = klee_int(\"x\"), y = 1; for (long i = 0; i < 100000000; i++) y = y * 3 + (x ^ i);",
        "wide": "unsigned __int128 x = klee_int(\"x\"), y = x; for (long i = 0; i < 100000000; i++) y = y * x + (y >> 7);",
    }
    for name, body in asks.items():
        yield Program(f"query-{name}", main("  " + body))
        yield Program(f"query-{name}-verify", main("  " + body), ("--no-replay",), command="verify")


def steps():
    """Long without a fork."""
    bodies = {
        "loop": "volatile long s = 0; for (;;) s++;",
        "allocations": "for (;;) { char *p = malloc(100); p[0] = 1; }",
        "list": "struct n { struct n *next; char b[5000]; } *l = 0; for (;;) { struct n *m = malloc(sizeof *m); memset(m, 1, sizeof *m); m->next = l; l = m; }",
        "grow": "size_t n = 16; char *p = malloc(n); for (;;) { n *= 2; p = realloc(p, n); if (!p) return 1; memset(p, n >> 4, n); }",
        "spread": "for (;;) { char *p = malloc(1 << 20); for (int i = 0; i < 1 << 20; i += 4096) p[i] = i; }",
        "inputs": "for (;;) { char *p = malloc(1 << 20); klee_make_symbolic(p, 1 << 20, \"p\"); if (p[5] == 3) return 1; }",
        "long-trace": "int x = klee_int(\"x\"); if (x) x = 3; for (long i = 0; i < 3000000; i++) x += i & 3; if (x == 5) abort();",
        "pointers": "char *t[4000]; for (int i = 0; i < 4000; i++) t[i] = malloc(8); unsigned i = klee_int(\"i\"); if (i >= 4000) return 0; for (int k = 0; k < 8; k++) { *t[i] = k; i = (i * 7 + *t[i]) % 4000; }",
    }
    for name, body in bodies.items():
        for flags in ((), ("--prune",)):
            yield Program(f"long-{name}{''.join(flags)}", main("  " + body), flags)
    recursion = "static int f(int n, int x) { char b[64]; b[n & 63] = x; return x > n ? f(n + 1, x) + b[0] : f(n + 2, x - 1) + f(n + 1, x); }"
    yield Program("long-recursion", main("  return f(0, klee_int(\"x\"));", recursion))
    for policy in ("ite", "segments-dynamic", "segments-static"):
        yield Program(f"long-pointers-{policy}", main("  " + bodies["pointers"]), (f"--resolution={policy}",))
    body = "char *p = calloc(1 << 28, 1); unsigned i = klee_int(\"i\"); if (i >= 1 << 28) return 0; p[i] = 1; return p[i ^ 1];"
    yield Program("long-split", main("  " + body), ("--split-objects",))
    yield Program("long-segment", main("  char *q = malloc(1 << 28); char *p = klee_int(\"c\") ? q : calloc(1 << 28, 1); unsigned i = klee_int(\"i\"); if (i >= 1 << 28) return 0; p[i] = 1;"), ("--resolution=segments-dynamic",))


def compilations():
    """Work for the front end."""
    doubling = "#define A x+x+x+x\n" + "".join(f"#define {b} {a},{a},{a},{a},{a},{a},{a},{a}\n" for a, b in zip("ABCDEFGH", "BCDEFGHI"))
    yield Program("compile-macros", doubling + "int x; int main(void) { return (I); }\n")
    yield Program("compile-functions", "".join(f"int f{i}(int x) {{ return x > {i} ? x * {i} : f{i - 1}(x); }}\n" if i else "int f0(int x) { return x; }\n" for i in range(60000)) + "int main(void) { return f59999(3); }\n")
    template = "template <int N, int M> struct F { static const int v = F<N - 1, M>::v + F<N - 1, M + N>::v; };\n" \
        "template <int M> struct F<0, M> { static const int v = M; };\nint main() { return F<22, 0>::v; }\n"
    yield Program("compile-templates", template, suffix=".cpp")
    yield Program("compile-table", "char t[400000000] = {1};\nint main(void) { return t[5]; }\n")
    yield Program("compile-constexpr", "constexpr long f(long n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\nconstexpr long x = f(40);\nint main() { return x; }\n", ("--cc-arg=-fconstexpr-steps=2000000000",), suffix=".cpp")


def all_programs():
    return [*bulk(), *states(), *queries(), *steps(), *compilations()]
