int a[6], b[6];
void kern(void) {
    int last = 0;
    for (int i = 0; i < 6; i++) { /* fault: flow through last, conditional */
#ifdef FIXED
        last = 0;
#endif
        if (a[i] > 3) last = a[i];
        b[i] = last;
    }
}
