/** Paths of the repository that a document names in backticks, folders without their last slash. */
function pathsNamed(document: string): string[] {
  return [...document.matchAll(/`((?:apps|packages|infra|test|migrations|\.ci)(?:\/[\w.-]+)*)\/?`/g)].map(
    ([, path]) => path ?? '',
  );
}

/** Folders without a line in ARCHITECTURE.md, and paths there that do not exist. */
export function checkArchitecture(
  document: string,
  folders: readonly string[],
  exists: (path: string) => boolean,
): string[] {
  const named = pathsNamed(document);
  return [
    ...folders
      .filter((folder) => !named.includes(folder))
      .map((folder) => `ARCHITECTURE.md has no line for ${folder}`),
    ...named
      .filter((path) => !exists(path))
      .map((path) => `ARCHITECTURE.md names ${path}, which does not exist`),
  ];
}

/** Runtime dependencies without their reason in ARCHITECTURE.md, and reasons for what nobody depends on. */
export function checkDependencies(document: string, dependencies: readonly string[]): string[] {
  const section = document.split('## Runtime dependencies\n')[1]?.split('\n## ')[0] ?? '';
  const named = [...section.matchAll(/^- (.*?):/gm)].flatMap(([, names]) =>
    [...(names ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? ''),
  );
  const wanted = [...new Set(dependencies)];
  return [
    ...wanted
      .filter((name) => !named.includes(name))
      .map((name) => `ARCHITECTURE.md gives no reason for ${name}`),
    ...named
      .filter((name) => !wanted.includes(name))
      .map((name) => `ARCHITECTURE.md excuses ${name}, which nobody needs`),
  ];
}

/** The numbered entries under the heading `Invariants`, each with all its lines. */
export function getInvariants(specification: string): Map<number, string> {
  const section = /^## Invariants\n([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(specification)?.[1] ?? '';
  const entries = section.split(/^(?=\d+\. )/m).filter((entry) => /^\d+\. /.test(entry));
  return new Map(entries.map((entry) => [Number.parseInt(entry, 10), entry]));
}

/**
 * Invariants of SPEC.md that name no test, or one that is not there.
 *
 * A test is named as a file in backticks, which has to name the invariant back, or as a file with a title behind it,
 * `file` ("title"), which has to be in the file. `readTest` gives the text of a file, or undefined where there is none.
 */
export function checkInvariants(
  specification: string,
  readTest: (path: string) => string | undefined,
): string[] {
  const invariants = getInvariants(specification);
  if (invariants.size === 0) return ['SPEC.md lists no invariants under "## Invariants"'];
  return [...invariants].flatMap(([number, entry]) => {
    const tests = [...entry.matchAll(/`([\w./-]+\.test\.ts)`(?:\s+\("([^"]+)"\))?/g)];
    if (tests.length === 0) return [`SPEC.md names no test for invariant ${number}`];
    return tests.flatMap(([, path = '', title]) => {
      const text = readTest(path);
      if (text === undefined) return [`SPEC.md names ${path} for invariant ${number}, which does not exist`];
      if (title !== undefined) {
        return text.includes(title)
          ? []
          : [`${path} has no test "${title}", which SPEC.md names for invariant ${number}`];
      }
      return new RegExp(`invariants? (\\d+(, | and ))*${number}\\b`, 'i').test(text)
        ? []
        : [`${path} does not name invariant ${number}, which SPEC.md says it proves`];
    });
  });
}

/**
 * The tests that SPEC.md names for each invariant and that `npm test` runs in a clone with Node alone: those of the files
 * that are not in `cut`, but for titles that say what they need. An invariant without one is in the list with none.
 */
export function listTestsOfStrangers(
  specification: string,
  cut: readonly string[],
  readTest: (path: string) => string | undefined,
): Map<number, string[]> {
  const runs = (path: string, title: string | undefined): boolean => {
    if (cut.includes(path)) return false;
    if (title === undefined) return true;
    const text = readTest(path) ?? '';
    const at = text.indexOf(title);
    return !/\blonger\(\s*['`"]$/.test(text.slice(0, at)) && !/^[^\n]*\(needs /.test(text.slice(at));
  };
  return new Map(
    [...getInvariants(specification)].map(([number, entry]) => {
      const named = entry.matchAll(/`([\w./-]+\.test\.ts)`(?:\s+\("([^"]+)"\))?/g);
      const run = [...named].filter(([, path = '', title]) => runs(path, title));
      return [number, run.map(([text]) => text.replace(/\s+/g, ' '))];
    }),
  );
}

/** Places that mean something on one machine only: absolute folders that a stranger does not have, and package hosts. */
const FOREIGN: readonly { pattern: RegExp; what: string }[] = [
  { pattern: /(?<![\w.$}])\/(?:work|root|home|Users)\/[\w.]/, what: "a folder of somebody's machine" },
  { pattern: /(?<![\w.$}])\/tmp\/[\w.]/, what: 'a temporary folder of some machine' },
  { pattern: /\/\/[\w.-]*registry[\w.-]*\.[a-z]{2,}/i, what: 'the host of a package registry' },
];

/** Mentions of places that no stranger has. */
export function checkPlaces(path: string, text: string): string[] {
  return FOREIGN.flatMap(({ pattern, what }) => {
    const found = pattern.exec(text);
    return found === null ? [] : [`${path} names ${what}: ${found[0]}`];
  });
}

/**
 * Commands that make npm install `packhouse` where it is not installed: the package of that name belongs to somebody
 * else. The form is `--no -- packhouse`: without the `--`, npm takes `--help` and `--version` for its own.
 */
export function checkNpx(path: string, text: string): string[] {
  return [...text.matchAll(/\bnpx (?!--no -- )(?:-\S+ )*packhouse\b/g)].map(
    ([found]) => `${path} says "${found}", which may run a stranger's package: write npx --no -- packhouse`,
  );
}

/**
 * Lines of shell blocks that cannot be pasted: a prompt, and a comment or an answer behind `#`, which zsh takes for
 * words where it reads from a terminal.
 */
export function checkPasting(path: string, text: string): string[] {
  return [...text.matchAll(/^```(?:sh|bash|zsh|shell|console)\n(.*?)^```$/gms)].flatMap(([, block = '']) =>
    block
      .split('\n')
      .filter((line) => /^\s*[$%>] |(^|\s)#/.test(line))
      .map((line) => `${path} has a line in a shell block that cannot be pasted: ${line.trim()}`),
  );
}

/** Variables that the sources read and `.env.example` or docs/settings.md does not explain, and those explained twice. */
export function checkVariables(example: string, settings: string, sources: readonly string[]): string[] {
  const read = new Set<string>();
  for (const source of sources) {
    for (const [, name] of source.matchAll(/^\s+([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*): (?:z\b|\w+Setting\()/gm)) {
      read.add(name ?? '');
    }
    for (const [, name] of source.matchAll(/\benv\.([A-Z][A-Z0-9_]+)\b/g)) read.add(name ?? '');
  }
  const explained = [...example.matchAll(/^#? ?([A-Z][A-Z0-9_]*)=/gm)].map(([, name]) => name ?? '');
  return [
    ...[...read]
      .filter((name) => !explained.includes(name))
      .map((name) => `.env.example does not explain ${name}`),
    ...[...read]
      .filter((name) => !settings.includes(`\`${name}\``))
      .map((name) => `docs/settings.md does not explain ${name}`),
    ...explained
      .filter((name, at) => explained.indexOf(name) !== at)
      .map((name) => `.env.example explains ${name} twice`),
  ];
}

/** Codes of the catalogue that no source throws. */
export function checkCodes(catalogue: string, sources: readonly string[]): string[] {
  const codes = [...catalogue.matchAll(/^ {2}([A-Z][A-Z_]+): (?:final|retryable)\(/gm)].map(
    ([, code]) => code ?? '',
  );
  if (codes.length === 0) return ['the catalogue of error codes was not understood'];
  return codes
    .filter((code) => !sources.some((source) => source.includes(`'${code}'`)))
    .map((code) => `the error code ${code} is used nowhere`);
}
