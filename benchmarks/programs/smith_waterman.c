#define N 48
unsigned char q[N], d[N]; int best;
void smith_waterman(void) {
    int row[N + 1] = {0}, m = 0;
    for (int i = 0; i < N; i++) {
        int diag = 0;
        for (int j = 0; j < N; j++) {
            int up = row[j + 1], s = diag + (q[i] == d[j] ? 3 : -2), l = row[j] - 2;
            if (up - 2 > s) s = up - 2;
            if (l > s) s = l;
            if (s < 0) s = 0;
            if (s > m) m = s;
            row[j + 1] = s; diag = up;
        }
    }
    best = m;
}
