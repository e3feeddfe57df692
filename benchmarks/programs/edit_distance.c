/* Edit distance of two strings of N characters: how many insertions, deletions and replacements make one the other.
 *
 * Wagner and Fischer's table, of which two rows are kept.
 */
#define N 32

static int min(int x, int y) {
    return x < y ? x : y;
}

int edit_distance(const unsigned char a[N], const unsigned char b[N]) {
    int row[2][N + 1];
    for (int j = 0; j <= N; j++)
        row[0][j] = j;
    for (int i = 1; i <= N; i++) {
        int now = i % 2, before = 1 - now;
        row[now][0] = i;
        for (int j = 1; j <= N; j++) {
            int replace = row[before][j - 1] + (a[i - 1] != b[j - 1]);
            row[now][j] = min(replace, min(row[before][j], row[now][j - 1]) + 1);
        }
    }
    return row[N % 2][N];
}
