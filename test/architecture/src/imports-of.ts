/** One import of a source file. */
export interface Import {
  specifier: string;
  /** Erased when compiled: `import type` and `export type`. */
  typeOnly: boolean;
}

const FROM =
  /(?:^|[;}\n])\s*(?<keyword>import|export)\s+(?<type>type\s+)?(?:[\w*\s{},$]+?\sfrom\s*)?['"](?<specifier>[^'"\n]+)['"]/g;
const CALLED = /\b(?<keyword>import|import\.meta\.resolve|require)\s*\(\s*['"](?<specifier>[^'"\n]+)['"]/g;

/** The imports of a TypeScript source, static and dynamic. What stands in comments and strings does not count. */
export function importsOf(source: string): Import[] {
  const text = withoutComments(source);
  const code = codeOnly(source);
  const found: Import[] = [];
  for (const pattern of [FROM, CALLED]) {
    for (const match of text.matchAll(pattern)) {
      const { keyword = '', type, specifier = '' } = match.groups ?? {};
      const at = match.index + match[0].indexOf(keyword);
      if (code[at] === keyword[0]) found.push({ specifier, typeOnly: type !== undefined });
    }
  }
  return found;
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
