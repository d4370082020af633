/** ` (did you mean "x"?)` with the known word nearest to `word`; empty if none is near enough. */
export function didYouMean(word: string, known: readonly string[]): string {
  const limit = Math.max(1, Math.floor(word.length / 3));
  let best: string | undefined;
  let least = limit + 1;
  for (const candidate of known) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase(), limit);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best === undefined ? '' : ` (did you mean "${best}"?)`;
}

/** Letters to insert, delete or replace; anything beyond `limit` is `limit + 1`. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const replaced = (previous[column - 1] as number) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const moved = Math.min(previous[column] as number, current[column - 1] as number) + 1;
      current.push(Math.min(replaced, moved));
    }
    previous = current;
  }
  return Math.min(previous[b.length] as number, limit + 1);
}
