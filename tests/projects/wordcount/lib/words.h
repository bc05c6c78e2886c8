int words(const char *text);

/* Where it is optimised, nobody needs the definition in the library. */
inline int space(char c) { return c == ' ' || (c >= 9 && c <= 13); }
