/* The model of the operating system as one unit; the front end links it with the C library. */
#include "signals.c"
#include "system.c"
#include "random.c"
#include "surroundings.c"
#include "names.c"
#include "calls.c"
#include "files.c"
#include "start.c"
