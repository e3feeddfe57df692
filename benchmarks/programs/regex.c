/* Regular expressions of characters, '.', '*', '^' and '$', matched as in Kernighan and Pike, The Practice of
   Programming. */
char re[12], text[48];
int found;

static int matchhere(const char *re, const char *at);
static int matchstar(int c, const char *re, const char *at) {
    do { if (matchhere(re, at)) return 1; } while (*at != '\0' && (*at++ == c || c == '.'));
    return 0;
}
static int matchhere(const char *re, const char *at) {
    if (re[0] == '\0') return 1;
    if (re[1] == '*') return matchstar(re[0], re + 2, at);
    if (re[0] == '$' && re[1] == '\0') return *at == '\0';
    if (*at != '\0' && (re[0] == '.' || re[0] == *at)) return matchhere(re + 1, at + 1);
    return 0;
}
void regex(void) {
    const char *at = text;
    found = 0;
    if (re[0] == '^') {
        found = matchhere(re + 1, at);
        return;
    }
    do {
        if (matchhere(re, at)) {
            found = 1;
            return;
        }
    } while (*at++ != '\0');
}
