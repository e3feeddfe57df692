int a[6];
void kern(void) {
    int t[4];
    t[0] = a[0], t[1] = a[1], t[3] = a[3];
#ifdef FIXED
    t[2] = a[2];
#endif
    for (int i = 0; i < 4; i++)
        a[i] = 2 * t[i]; /* fault: 't' is read before anything is written to it, where i = 2 */
}
