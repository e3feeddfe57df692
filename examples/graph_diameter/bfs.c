/* Breadth-first search from every vertex, one after the other: the usual way for unweighted graphs. Neighbours of v:
   neighbour[first[v]] to neighbour[first[v + 1] - 1]. queue: room for n vertices. d: n * n, as long as can be. */
void bfs(int n, const int *first, const int *neighbour, int *queue, short *d)
{
    for (int s = 0; s < n; s++) {
        short *row = d + (long)s * n;
        int head = 0, tail = 0;
        row[s] = 0;
        queue[tail++] = s;
        while (head < tail) {
            int v = queue[head++];
            for (int e = first[v]; e < first[v + 1]; e++)
                if (row[neighbour[e]] > row[v] + 1) {
                    row[neighbour[e]] = row[v] + 1;
                    queue[tail++] = neighbour[e];
                }
        }
    }
}
