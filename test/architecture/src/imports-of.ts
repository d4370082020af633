/** One import of a source file. */
export interface Import {
  specifier: string;
  /** Erased when compiled: `import type` and `export type`. */
  typeOnly: boolean;
  /** What is imported, by the names that the other file exports; `['*']` if it may be anything. */
  names: string[];
}

const FROM =
  /(?:^|[;}\n])\s*(?<keyword>import|export)\s+(?<type>type\s+)?(?:(?<clause>[\w*\s{},$]+?)\sfrom\s*)?['"](?<specifier>[^'"\n]+)['"]/g;
const CALLED = /\b(?<keyword>import|import\.meta\.resolve|require)\s*\(\s*['"](?<specifier>[^'"\n]+)['"]/g;

/** The imports of a TypeScript source, static and dynamic; comments and strings do not count. */
export function getImports(source: string): Import[] {
  const text = withoutComments(source);
  const code = codeOnly(source);
  const found: Import[] = [];
  for (const pattern of [FROM, CALLED]) {
    for (const match of text.matchAll(pattern)) {
      const { keyword = '', type, clause, specifier = '' } = match.groups ?? {};
      const at = match.index + match[0].indexOf(keyword);
      if (code[at] !== keyword[0]) continue;
      const names = pattern === CALLED ? ['*'] : namesIn(clause ?? '');
      found.push({ specifier, typeOnly: type !== undefined, names });
    }
  }
  return found;
}

/** The names that an import clause takes: `a, { b as c }` takes `default` and `b`. */
function namesIn(clause: string): string[] {
  if (clause.includes('*')) return ['*'];
  const listed = /\{([^}]*)\}/.exec(clause)?.[1] ?? '';
  const standing = clause
    .replace(/\{[^}]*\}/, '')
    .replaceAll(',', '')
    .trim();
  const names = toEntries(listed).map(([name]) => name);
  return standing === '' ? names : ['default', ...names];
}

/** `a, type B as C` as `[['a', 'a'], ['B', 'C']]`. */
function toEntries(list: string): [name: string, as: string][] {
  return list
    .split(',')
    .map((entry) => entry.trim().replace(/^type\s+/, ''))
    .filter((entry) => entry !== '')
    .map((entry) => {
      const [name = '', as = name] = entry.split(/\s+as\s+/);
      return [name, as];
    });
}

const DECLARED =
  /^export\s+(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\s*\*?|const\s+enum|const|let|class|interface|type|enum)\s+(?<name>[\w$]+)/gm;
const LISTED = /^export\s+(?:type\s+)?\{(?<list>[^}]*)\}/gm;

/** The names that a TypeScript source exports, re-exports included. */
export function getExports(source: string): string[] {
  const code = codeOnly(source);
  const declared = [...code.matchAll(DECLARED)].map(({ groups }) => groups?.name ?? '');
  const listed = [...code.matchAll(LISTED)].flatMap(({ groups }) =>
    toEntries(groups?.list ?? '').map(([, as]) => as),
  );
  return [...new Set([...declared, ...listed])];
}

/** Strings and template texts are kept, so that `//` inside an address is no comment; comments become blanks. */
const TOKEN = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;

/** The source with its comments blanked out. */
export function withoutComments(source: string): string {
  return source.replace(TOKEN, (token) => (token.startsWith('/') ? token.replace(/[^\n]/g, ' ') : token));
}

/** The source with comments and the insides of strings blanked out: what remains is code. */
export function codeOnly(source: string): string {
  return source.replace(TOKEN, (token) => token.replace(/[^\n]/g, ' '));
}
