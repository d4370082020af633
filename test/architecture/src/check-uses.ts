import { importedPath, isDoor, type Repository, type SourceFile, type Workspace } from './repository.js';
import {
  FOR_STRANGERS,
  FOR_TESTS_ONLY,
  MIN_LINES,
  SHORT_FILES,
  TESTS_MAY_IMPORT,
  USED_BY_TOOLS,
} from './rules.js';

/** Names that one file takes from another. */
interface Use {
  by: SourceFile;
  names: readonly string[];
}

/** Test code may be there for tests alone; of everything else something that runs has to need it. */
const isTestCode = (file: SourceFile): boolean => file.isTest || file.path.startsWith('test/');
const takes = (use: Use, name: string): boolean => use.names.includes(name) || use.names.includes('*');
const getRoom = ({ name }: Workspace): string => name.replace('@packhouse/', '');
const isIndex = (file: SourceFile): boolean => /^[^/]+\/[^/]+\/src\/index\.ts$/.test(file.path);

/** Exports that nobody outside of their file uses, and names in an index that no other workspace imports. */
export function checkExports(repository: Repository): string[] {
  const ofPackages = usesOfPackages(repository);
  return repository.workspaces.flatMap((workspace) => {
    const ofFiles = usesOfFiles(workspace);
    return workspace.files.flatMap((file) =>
      isIndex(file)
        ? indexBreaches(workspace, file, ofPackages.get(workspace.name) ?? [])
        : fileBreaches(workspace, file, ofFiles.get(file.path) ?? []),
    );
  });
}

function fileBreaches(workspace: Workspace, file: SourceFile, uses: readonly Use[]): string[] {
  const forTests = FOR_TESTS_ONLY[getRoom(workspace)] ?? [];
  return file.exports
    .filter((name) => USED_BY_TOOLS[file.path]?.includes(name) !== true)
    .flatMap((name) => {
      const users = uses.filter((use) => takes(use, name)).map(({ by }) => by);
      if (users.some((user) => isTestCode(file) || !isTestCode(user))) return [];
      if (users.length > 0 && forTests.includes(name)) return [];
      const who = users.length === 0 ? 'nobody else uses' : 'only tests use';
      return [`${workspace.folder}: ${who} the export ${name} — ${file.path}`];
    });
}

function indexBreaches(workspace: Workspace, file: SourceFile, uses: readonly Use[]): string[] {
  const room = getRoom(workspace);
  if (FOR_STRANGERS.includes(room)) return [];
  const forTests = workspace.folder.startsWith('test/') || TESTS_MAY_IMPORT.includes(room);
  return file.exports.flatMap((name) => {
    const users = uses.filter((use) => takes(use, name)).map(({ by }) => by);
    if (users.some((user) => forTests || !isTestCode(user))) return [];
    if (users.length === 0) return [`${workspace.folder}: its index exports ${name}, which nobody imports`];
    if (FOR_TESTS_ONLY[room]?.includes(name) === true) return [];
    return [`${workspace.folder}: its index exports ${name}, which only tests import`];
  });
}

/** Names that rules.ts lists as exported for tests and that are not, or not for tests alone, any more. */
export function checkForTestsOnly(repository: Repository): string[] {
  const ofPackages = usesOfPackages(repository);
  return repository.workspaces.flatMap((workspace) => {
    const room = getRoom(workspace);
    const index = workspace.files.find(isIndex)?.exports ?? [];
    const ofFiles = usesOfFiles(workspace);
    return (FOR_TESTS_ONLY[room] ?? []).flatMap((name) => {
      const exporting = workspace.files.filter((file) => !isIndex(file) && file.exports.includes(name));
      const uses = index.includes(name)
        ? (ofPackages.get(workspace.name) ?? [])
        : exporting.flatMap((file) => ofFiles.get(file.path) ?? []);
      const needed = uses.some((use) => takes(use, name) && !isTestCode(use.by));
      if ((exporting.length > 0 || index.includes(name)) && !needed) return [];
      return [`rules.ts says that ${room} exports ${name} for tests only, which is not so`];
    });
  });
}

/** Files that are too short to be opened for themselves. */
export function checkShortFiles(
  repository: Repository,
  allowed: Readonly<Record<string, string>> = SHORT_FILES,
): string[] {
  return repository.workspaces.flatMap((workspace) => {
    const ofFiles = usesOfFiles(workspace);
    return workspace.files.flatMap((file) => {
      const importers = new Set(
        (ofFiles.get(file.path) ?? [])
          .map(({ by }) => by)
          .filter((by) => isTestCode(file) || !isTestCode(by))
          .map(({ path }) => path),
      );
      const [importer] = importers;
      const lines = file.text.split('\n').length - 1;
      if (lines >= MIN_LINES || importers.size !== 1 || isDoor(file.path) || isDoor(importer as string))
        return [];
      if (allowed[file.path] !== undefined) return [];
      const name = file.path.slice(file.path.lastIndexOf('/') + 1);
      return [
        `${workspace.folder}: ${name} has fewer than ${MIN_LINES} lines and one importer — ${file.path} belongs into ${importer}`,
      ];
    });
  });
}

function usesOfFiles(workspace: Workspace): Map<string, Use[]> {
  const uses = new Map<string, Use[]>();
  const paths = new Set(workspace.files.map(({ path }) => path));
  for (const by of workspace.files) {
    for (const { specifier, names } of by.imports) {
      const target = importedPath(by, specifier, paths);
      if (target !== undefined) uses.set(target, [...(uses.get(target) ?? []), { by, names }]);
    }
  }
  return uses;
}

function usesOfPackages(repository: Repository): Map<string, Use[]> {
  const uses = new Map<string, Use[]>();
  for (const by of repository.workspaces.flatMap((workspace) => workspace.files)) {
    for (const { specifier, names } of by.imports) {
      uses.set(specifier, [...(uses.get(specifier) ?? []), { by, names }]);
    }
  }
  return uses;
}
