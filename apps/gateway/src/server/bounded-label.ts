/** Keys that are told apart: series live as long as the process. */
const MAX_KEYS = 1_000;

/** Makes the label of a key: its prefix, for the first thousand that come. */
export function createBoundedLabel(most = MAX_KEYS): (prefix: string) => string {
  const seen = new Set<string>();
  return (prefix) => {
    if (prefix === '' || seen.has(prefix)) return prefix;
    if (seen.size >= most) return 'other';
    seen.add(prefix);
    return prefix;
  };
}
