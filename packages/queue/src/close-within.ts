/**
 * Awaits `closing` for at most `ms` milliseconds, then calls `force` and goes on: a server that is gone must not
 * keep a process from ending. Never throws.
 */
export async function closeWithin(
  ms: number,
  closing: Promise<unknown>,
  force: () => unknown,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), ms);
  });
  const settled = closing.then(
    () => 'closed' as const,
    () => 'failed' as const,
  );
  const outcome = await Promise.race([settled, late]);
  clearTimeout(timer);
  if (outcome === 'closed') return;
  try {
    await force();
  } catch {
    // It is gone already, which is what was wanted.
  }
}
