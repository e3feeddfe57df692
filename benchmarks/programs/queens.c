#define N 8
unsigned char blocked[N]; int found;
void queens(void) {
    int pos[N], r = 0; found = 0; pos[0] = -1;
    while (r >= 0) {
        int p = pos[r] + 1, ok = 0;
        for (; p < N && !ok; p++) {
            if (blocked[r] >> p & 1) continue;
            ok = 1;
            for (int i = 0; i < r; i++) if (pos[i] == p || pos[i] - p == r - i || p - pos[i] == r - i) { ok = 0; break; }
            if (ok) break;
        }
        if (p < N && ok) { pos[r] = p; if (r == N - 1) found++; else { r++; pos[r] = -1; } }
        else r--;
    }
}
