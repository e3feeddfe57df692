#define N 48
signed char x[N], y[N], score;
void needleman_wunsch(void) {
    signed char row[N + 1];
    for (int j = 0; j <= N; j++) row[j] = -j;
    for (int i = 1; i <= N; i++) {
        signed char diag = row[0]; row[0] = -i;
        for (int j = 1; j <= N; j++) {
            signed char up = row[j], s = diag + (x[i - 1] == y[j - 1] ? 1 : -1);
            signed char g = up - 1, h = row[j - 1] - 1;
            if (g > s) s = g;
            if (h > s) s = h;
            row[j] = s; diag = up;
        }
    }
    score = row[N];
}
