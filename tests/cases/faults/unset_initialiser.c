float a[3];
void kern(void) {
    float t[3];
    t[0] = a[0];
    t[1] = a[1];
#ifdef FIXED
    t[2] = 0;
#endif
    for (int i = 0; i < 3; i++) {
        float x = t[i]; /* fault: 't' is read before anything is written to it, where i = 2 */
        a[i] = x + 1;
    }
}
