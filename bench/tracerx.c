/* TRACER-X's own functions that its examples call. They query the tool for measurements and have no effect on the program. */
int tracerx_check(void) { return 0; }
int tracerx_mark(void) { return 0; }
int tracerx_memo(void) { return 0; }
int tracerx_memo_check(void) { return 0; }
int tracerx_half_speculation(void) { return 0; }
