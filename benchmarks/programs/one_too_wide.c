/* Scores that may leave 16 bits by one: half lanes would be wrong. */
#define N 64

signed char a[N], b[N];
int best;

void one_too_wide(void) {
    int row[N + 1];
    for (int j = 0; j <= N; j++) row[j] = 32768 - N + j;
    for (int i = 0; i < N; i++) {
        int diagonal = row[0];
        for (int j = 0; j < N; j++) {
            int score = diagonal + (a[i] == b[j]);
            diagonal = row[j + 1];
            if (row[j] > score) score = row[j];
            row[j + 1] = score;
        }
    }
    best = row[N];
}
