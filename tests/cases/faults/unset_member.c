struct Pair { int x, y; };
int a[2];
void kern(void) {
    struct Pair p, q;
    p.x = a[0];
#ifdef FIXED
    p.y = a[1];
#endif
    q = p;
    a[0] = q.x;
    a[1] = p.y; /* fault: 'p.y' is read before anything is written to it */
}
