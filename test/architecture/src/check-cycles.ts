import { posix } from 'node:path';
import type { Repository, Workspace } from './repository.js';

/** Circles of files that import each other when they run; imports of types alone are erased and do not count. */
export function checkCycles(repository: Repository): string[] {
  return repository.workspaces.flatMap(cyclesOf);
}

function cyclesOf(workspace: Workspace): string[] {
  const paths = new Set(workspace.files.map((file) => file.path));
  const edges = new Map(
    workspace.files.map((file) => [
      file.path,
      file.imports
        .filter(({ specifier, typeOnly }) => specifier.startsWith('.') && !typeOnly)
        .map(({ specifier }) => posix.join(posix.dirname(file.path), specifier).replace(/\.js$/, '.ts'))
        .filter((path) => paths.has(path)),
    ]),
  );
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, trail: string[]): void => {
    const begun = trail.indexOf(path);
    if (begun !== -1) cycles.push(`${[...trail.slice(begun), path].join(' → ')} is a circle of imports`);
    if (begun !== -1 || done.has(path)) return;
    for (const next of edges.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of edges.keys()) visit(path, []);
  return cycles;
}
