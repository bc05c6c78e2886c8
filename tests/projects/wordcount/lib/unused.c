/* Would clash if it were linked: the linker takes out of a library only what is needed. */
int no_such_function(const char *text);

int never_called(void) { return no_such_function(""); }
