import { isBuiltin } from 'node:module';
import { posix } from 'node:path';
import type { Repository, SourceFile, Workspace } from './repository.js';
import { FILE_MAY_IMPORT, MAY_IMPORT, PAGES, STARTS, TESTS_MAY_IMPORT } from './rules.js';

const SCOPE = '@packhouse/';
const short = (name: string): string => name.slice(SCOPE.length);

/** Breaches of who may import whom, of doors and windows, and of what package.json declares. */
export function checkImports(repository: Repository): string[] {
  return repository.workspaces.flatMap((workspace) =>
    workspace.files.flatMap((file) =>
      file.imports.flatMap(({ specifier, typeOnly }) =>
        specifier.startsWith('.')
          ? relativeBreaches(workspace, file, specifier)
          : specifier.startsWith(SCOPE)
            ? isOfPages(file) && !typeOnly
              ? pageBreaches(file, specifier)
              : workspaceBreaches(workspace, file, specifier)
            : outsideBreaches(workspace, file, specifier, file.isTest || typeOnly ? repository.tools : []),
      ),
    ),
  );
}

/** Whether a bundler builds it for browsers. */
const isOfPages = (file: SourceFile): boolean => file.path.startsWith(PAGES.folder) && !file.isTest;

/** Types cost a browser nothing: pages take these as the server beside them does. */
function pageBreaches(file: SourceFile, specifier: string): string[] {
  const allowed = PAGES.values.includes(short(specifier));
  return allowed ? [] : [`${file.path} imports values of ${specifier}: pages take only its types`];
}

function relativeBreaches(workspace: Workspace, file: SourceFile, specifier: string): string[] {
  const target = posix.join(posix.dirname(file.path), specifier);
  if (!target.startsWith(`${workspace.folder}/`)) {
    return [`${file.path} imports ${specifier}, which lies outside of ${workspace.name}`];
  }
  if (!file.isTest && file.path.startsWith(PAGES.folder) !== target.startsWith(PAGES.folder)) {
    return [`${file.path} imports ${specifier}: pages and their server share no file`];
  }
  const own = `${workspace.folder}/src/index`;
  if (
    /^\.(js|ts)$/.test(target.slice(own.length)) &&
    target.startsWith(own) &&
    !/\/index\.test\.ts$/.test(file.path)
  ) {
    return [`${file.path} imports its own package's index: import the file that has it`];
  }
  return [];
}

function workspaceBreaches(workspace: Workspace, file: SourceFile, specifier: string): string[] {
  const [, room = '', ...rest] = specifier.split('/');
  const own = short(workspace.name);
  if (rest.length > 0) {
    if (rest.join('/') === 'main' && STARTS[own]?.includes(room) === true) return [];
    if (rest[0] === 'testing' && file.isTest) return mayImport(workspace, file, specifier);
    return [`${file.path} reaches into ${specifier}: a package's door is its index`];
  }
  return mayImport(workspace, file, specifier);
}

function mayImport(workspace: Workspace, file: SourceFile, specifier: string): string[] {
  const [, room = ''] = specifier.split('/');
  const allowed = [
    ...(MAY_IMPORT[short(workspace.name)] ?? []),
    ...(file.isTest ? TESTS_MAY_IMPORT : []),
    ...(FILE_MAY_IMPORT[file.path]?.names ?? []),
  ];
  if (!allowed.includes(room)) return [`${file.path} imports ${specifier}, which ${workspace.name} may not`];
  if (file.isTest || workspace.dependencies.includes(`${SCOPE}${room}`)) return [];
  return [`${file.path} imports ${specifier}, which its package.json does not declare`];
}

function outsideBreaches(
  workspace: Workspace,
  file: SourceFile,
  specifier: string,
  tools: readonly string[],
): string[] {
  if (isBuiltin(specifier)) {
    if (isOfPages(file)) return [`${file.path} imports ${specifier}, which browsers do not have`];
    return specifier.startsWith('node:')
      ? []
      : [`${file.path} imports ${specifier}: write node:${specifier}`];
  }
  const parts = specifier.split('/');
  const name = specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? '');
  // What is bundled, and the settings of the bundler, need nothing where the package is installed.
  const isBundled = isOfPages(file) || /\.config\.ts$/.test(file.path);
  const { dependencies, devDependencies } = workspace;
  const declared = (isBundled ? devDependencies : dependencies).includes(name) || tools.includes(name);
  return declared ? [] : [`${file.path} imports ${name}, which its package.json does not declare`];
}
