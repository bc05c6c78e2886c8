//! Texts below the lists of flags: examples for `-h`, and with `--help` what does not belong to one flag.

pub const MAIN: &str = "\
Examples:
  pleach test prog.c                              find the inputs that break a program
  pleach verify prog.c --property memsafety       prove a property, or show a counterexample
  pleach reach prog.c --target prog.c:42          find an input that reaches a line

`pleach COMMAND -h` shows the most used flags of a command, `pleach COMMAND --help` all of them.

Commands that take the arguments of other tools:
  cc, c++  Compile and link like clang-19 (CC=\"pleach cc\"); objects and programs carry their bitcode
  klee     Take KLEE's command line and write KLEE's files";

pub const MAIN_EXIT: &str = "\
Exit status:
  0    no error was found (the summary says whether the exploration was complete); all replays agree
  1    errors were found in the program, or a replay disagrees
  2    the input or the command line is wrong, or results could not be written
  3    nothing could be checked, or the answer is unknown
  4    verify, reach: decided under the assumptions that are listed
  70   internal error; the results found so far have been written
  128+ test: this number plus that of the signal that ended the run, if no error was found";

pub const TEST: &str = "\
Examples:
  pleach test prog.c                                     all paths of main
  pleach test --entry parse --param text:string[8] prog.c    one function, its parameters symbolic
  pleach test prog.c --sym-args 0 2 4 --sym-stdin 8      symbolic arguments and standard input

`pleach test --help` shows all flags.";

pub const TEST_LONG: &str = "\
Symbolic environment (before or after `--`, with one dash or two):
  --sym-arg N            one argument of up to N symbolic characters
  --sym-args MIN MAX N   MIN to MAX such arguments
  --sym-files COUNT N    files A, B, ... of N symbolic bytes each
  --sym-stdin N          N symbolic bytes on standard input
  --sym-files-like COUNT TEXT, --sym-stdin-like TEXT
                         the bytes of TEXT, symbolic where it has a `?`
  --sym-like-range AZ    restrict these symbolic bytes to `A`..`Z`
  --sym-stdout           keep what is written to standard output
  --max-fail N           let up to N system calls fail

Examples:
  pleach test prog.c                                     all paths of main
  pleach test --entry parse --param text:string[8] prog.c    one function, its parameters symbolic
  pleach test prog.c --sym-args 0 2 4 --sym-stdin 8      symbolic arguments and standard input

Exit status:
  0    no error was found on the explored paths (see --require-complete)
  1    errors were found in the program
  2    the input or the command line is wrong, or results could not be written
  3    nothing could be checked (time was up before the program was compiled), or something was cut with
       --require-complete
  70   internal error; the results found so far have been written
  128+ this number plus that of the signal that ended the run, if no error was found";

pub const VERIFY: &str = "\
Examples:
  pleach verify prog.c                                   none of the errors that `pleach test` reports
  pleach verify prog.c --property memsafety              memory safety
  pleach verify prog.c --property no-overflow.prp --data-model ILP32    a task of SV-COMP

`pleach verify --help` shows all flags and properties.";

pub const VERIFY_LONG: &str = "\
Properties:
  errors            none of the errors that `pleach test` reports by default (the default property)
  unreach-call      reach_error and __VERIFIER_error are never called, assertions hold
  memsafety         valid-free, valid-deref and valid-memtrack together
  valid-free        only heap blocks are freed, and only once
  valid-deref       every access is to live memory
  valid-memtrack    no heap block is lost
  valid-memcleanup  every heap block is freed before the program ends
  no-overflow       signed arithmetic does not overflow
  FILE.prp          the property in the file, in the syntax of SV-COMP

Examples:
  pleach verify prog.c                                   none of the errors that `pleach test` reports
  pleach verify prog.c --property memsafety              memory safety
  pleach verify prog.c --property no-overflow.prp --data-model ILP32    a task of SV-COMP

Exit status:
  0   safe: no execution violates the property
  1   unsafe: one execution does; it is shown, and replayed natively if possible
  2   the input or the command line is wrong
  3   unknown: the reasons are listed
  4   safe under the assumptions that are listed (about arguments, sizes of inputs, the environment)
  70  internal error; the results found so far have been written";

pub const REACH: &str = "\
Examples:
  pleach reach prog.c --target prog.c:42                 a line
  pleach reach prog.c --target parse,label:ERROR         a function and a label
  pleach reach prog.c --all-asserts --max-time=1min      every assertion that can fail

`pleach reach --help` shows all flags and kinds of targets.";

pub const REACH_LONG: &str = "\
Targets:
  file.c:42   the line: any code of it
  label:NAME  the label, in any function
  NAME        the function; if it is only declared, its calls

Examples:
  pleach reach prog.c --target prog.c:42                 a line
  pleach reach prog.c --target parse,label:ERROR         a function and a label
  pleach reach prog.c --all-asserts --max-time=1min      every assertion that can fail

Exit status:
  0   every target was found to be reachable or unreachable
  2   the input or the command line is wrong, or a target names nothing in the program
  3   some target is unknown: the reasons are listed
  4   every target was decided, some as unreachable under the assumptions that are listed
  70  internal error; the results found so far have been written";
