int words(const char *text);
