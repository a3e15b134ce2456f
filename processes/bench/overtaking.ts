/** Counts how often requests were overtaken. */

/**
 * Returns how often the most overtaken request was overtaken: how many requests with a later place were granted before
 * it. A place is a ticket, or the time at which a request was made. `places` are in the order in which the requests
 * were granted.
 */
export function largestBypass(places: readonly number[]): number {
  const order = places.map((_, i) => i).sort((a, b) => (places[a] as number) - (places[b] as number) || a - b);
  const ranks = new Array<number>(places.length);
  order.forEach((index, rank) => {
    ranks[index] = rank;
  });
  // A Fenwick tree over the ranks of the requests that were granted so far.
  const tree = new Uint32Array(places.length + 1);
  let largest = 0;
  ranks.forEach((rank, granted) => {
    let notLater = 0;
    for (let i = rank + 1; i > 0; i -= i & -i) notLater += tree[i] as number;
    largest = Math.max(largest, granted - notLater);
    for (let i = rank + 1; i < tree.length; i += i & -i) (tree[i] as number)++;
  });
  return largest;
}
