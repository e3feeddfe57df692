float a[6], sum[6];
void kern(void) {
    float s = 0;
    for (int i = 0; i < 6; i++) { /* fault: flow through s */
#ifdef FIXED
        s = 0;
#endif
        s += a[i];
        sum[i] = s;
    }
}
