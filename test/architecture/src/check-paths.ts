import { posix } from 'node:path';

/** A relative path that begins with `..` or `./..`, as far as its names are literal. */
const UPWARDS = /(?<![\w./$}-])(?:\.\/)?\.\.(?:\/[\w.@-]+)*(?![\w.])/g;

/** What developers have had beside their clone, in whatever way a text names it. */
const BESIDE = /(?<![\w-])(?:\.\.\/)+shared\b|\bchain-data\b/g;

/** The kernels have a folder of that name themselves. */
const KERNELS = 'packages/kernels/kernel/';

/**
 * Relative paths in imports, URLs, other strings and links that lead out of the repository, and names of what is beside
 * it on some machines: a clone has neither. A variable names what is read from elsewhere.
 */
export function checkPaths({ path, text }: { path: string; text: string }): string[] {
  const folder = posix.dirname(path);
  const outside = [...text.matchAll(UPWARDS)]
    .map(([found]) => found)
    .filter((found) => posix.join(folder, found).startsWith('..'));
  const beside = path.startsWith(KERNELS) ? [] : [...text.matchAll(BESIDE)].map(([found]) => found);
  return [...new Set([...outside, ...beside])].map(
    (found) => `${path} names ${found}, which a clone does not have: let a variable name it`,
  );
}
