import type { Repository } from './repository.js';

/** The compiler's map and npm's map are one: references are the dependencies on workspaces, and the root builds all. */
export function checkReferences(repository: Repository): string[] {
  const folderOf = new Map(repository.workspaces.map((workspace) => [workspace.name, workspace.folder]));
  const breaches = repository.workspaces.flatMap((workspace) => {
    const wanted = workspace.dependencies.flatMap((name) => folderOf.get(name) ?? []);
    const missing = wanted.filter((folder) => !workspace.references.includes(folder));
    const spare = workspace.references.filter((folder) => !wanted.includes(folder));
    return [
      ...missing.map(
        (folder) => `${workspace.folder}/tsconfig.json does not reference ${folder}, its dependency`,
      ),
      ...spare.map(
        (folder) => `${workspace.folder}/tsconfig.json references ${folder}, which is no dependency`,
      ),
    ];
  });
  const unbuilt = [...folderOf.values()].filter((folder) => !repository.built.includes(folder));
  return [...breaches, ...unbuilt.map((folder) => `tsconfig.json does not build ${folder}`)];
}
