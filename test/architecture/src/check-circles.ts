import { posix } from 'node:path';
import { importedPath, isDoor, type Repository, type SourceFile } from './repository.js';

/** Which node leads to which, each with one import that says so. */
type Graph = Map<string, Map<string, string>>;

/** Imports on a circle of files. An import of types counts too: a reader follows it like any other. */
export function checkFileCircles(repository: Repository): string[] {
  return repository.workspaces.flatMap((workspace) => {
    const paths = new Map(workspace.files.map(({ path }) => [path, path]));
    const graph = getGraph(workspace.files, paths);
    return arrowsOnCircles(graph).map(
      ({ from, to, back }) =>
        `${workspace.folder}: ${posix.basename(from)} imports ${posix.basename(to)}, which leads back to it` +
        ` — ${back.join(' → ')}`,
    );
  });
}

/**
 * Imports on a circle of folders: from `a/` into `b/` while `b/` needs `a/`, directly or through others, or from a folder
 * back up. `src` itself is a folder too. Doors (index.ts, main.ts) and tests may import from everywhere.
 */
export function checkFolderCircles(repository: Repository): string[] {
  return repository.workspaces.flatMap((workspace) => {
    const files = workspace.files.filter((file) => !file.isTest && !isDoor(file.path));
    const folders = new Map(files.map(({ path }) => [path, posix.dirname(path)]));
    const graph = getGraph(files, folders);
    return arrowsOnCircles(graph).map(
      ({ from, to, back, example }) =>
        `${from} imports from ${to}, which leads back to it` +
        ` — ${example}; ${back.map((folder) => posix.relative(workspace.folder, folder)).join(' → ')}`,
    );
  });
}

/** `nodes`: by the paths of their files. */
function getGraph(files: readonly SourceFile[], nodes: ReadonlyMap<string, string>): Graph {
  const graph: Graph = new Map();
  for (const file of files) {
    const from = nodes.get(file.path);
    for (const { specifier } of file.imports) {
      const target = importedPath(file, specifier, nodes);
      const to = target === undefined ? undefined : nodes.get(target);
      if (from === undefined || to === undefined || from === to) continue;
      const arrows = graph.get(from) ?? new Map<string, string>();
      if (!arrows.has(to)) arrows.set(to, `${file.path} imports ${specifier}`);
      graph.set(from, arrows);
    }
  }
  return graph;
}

/** Every arrow whose end leads back to its start, with the shortest way: start, end, …, start. */
function arrowsOnCircles(graph: Graph): { from: string; to: string; back: string[]; example: string }[] {
  return [...graph].flatMap(([from, arrows]) =>
    [...arrows].flatMap(([to, example]) => {
      const way = wayBetween(graph, to, from);
      return way === undefined ? [] : [{ from, to, back: [from, ...way], example }];
    }),
  );
}

function wayBetween(graph: Graph, start: string, end: string): string[] | undefined {
  const cameFrom = new Map<string, string | undefined>([[start, undefined]]);
  for (const node of cameFrom.keys()) {
    if (node === end) {
      const way: string[] = [];
      for (let at: string | undefined = end; at !== undefined; at = cameFrom.get(at)) way.unshift(at);
      return way;
    }
    for (const next of graph.get(node)?.keys() ?? []) if (!cameFrom.has(next)) cameFrom.set(next, node);
  }
  return undefined;
}
