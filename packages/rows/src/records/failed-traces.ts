/** Says of traces in their order, by their paths as JSON, whether they or one around them failed: what they changed was undone. */
export function createFailedPaths(): (path: string | null, failed: boolean) => boolean {
  /** What the paths within the call that failed begin with. */
  let within: string | null = null;
  return (path, failed) => {
    const isRoot = path === null || path === '[]';
    if (within !== null && !isRoot && path.startsWith(within)) return true;
    within = failed ? (isRoot ? '[' : `${path.slice(0, -1)},`) : null;
    return failed;
  };
}
