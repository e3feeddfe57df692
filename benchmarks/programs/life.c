#define N 16
unsigned char g[N][N];
void life(void) {
    unsigned char h[N][N];
    for (int t = 0; t < 8; t++) {
        for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) {
            int n = 0;
            for (int di = -1; di <= 1; di++) for (int dj = -1; dj <= 1; dj++) if (di || dj) n += g[(i + di + N) % N][(j + dj + N) % N];
            h[i][j] = n == 3 || (n == 2 && g[i][j]);
        }
        for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) g[i][j] = h[i][j];
    }
}
