import { posix } from 'node:path';

/** A Markdown file by its path from the root. */
interface Document {
  path: string;
  text: string;
}

/** Words of all documents together, as `wc -w` counts them, if they are more than `most`. */
export function checkLength(documents: readonly Document[], most: number): string[] {
  const lengths = documents.map(({ path, text }) => ({ path, words: text.match(/\S+/g)?.length ?? 0 }));
  const words = lengths.reduce((sum, each) => sum + each.words, 0);
  if (words <= most) return [];
  const longest = lengths.toSorted((a, b) => b.words - a.words).slice(0, 3);
  const named = longest.map((each) => `${each.path} ${each.words}`).join(', ');
  return [`the documents have ${words} words, ${words - most} more than ${most}: ${named} …`];
}

/** A bullet of fewer words may be said twice: a command, a name. */
const MIN_WORDS = 8;

/** Bullets that are written twice, in one document or in two, and where they were first. */
export function checkBullets(documents: readonly Document[]): string[] {
  const places = new Map<string, string>();
  return documents.flatMap(({ path, text }) =>
    getBullets(text).flatMap(({ line, bullet }) => {
      const first = places.get(bullet);
      if (first === undefined) places.set(bullet, `${path}:${line}`);
      return first === undefined ? [] : [`${path}:${line} repeats the bullet of ${first}: ${bullet}`];
    }),
  );
}

/** The bullets of a document with all their lines; those of few words left out. */
function getBullets(text: string): { line: number; bullet: string }[] {
  const found: { line: number; bullet: string }[] = [];
  let open = false;
  for (const [at, line] of withoutBlocks(text).split('\n').entries()) {
    const begin = /^\s*(?:[-*+]|\d+\.)\s+(.*)$/.exec(line)?.[1];
    const last = found.at(-1);
    if (begin !== undefined) found.push({ line: at + 1, bullet: begin.trim() });
    else if (open && last !== undefined && /^\s+\S/.test(line)) last.bullet += ` ${line.trim()}`;
    open = begin !== undefined || (open && line.trim() !== '');
  }
  return found.filter(({ bullet }) => bullet.split(/\s+/).length >= MIN_WORDS);
}

/** Links and paths in backticks that lead nowhere: to a file that is not there, or to a heading that a page does not have. */
export function checkLinks(documents: readonly Document[], exists: (path: string) => boolean): string[] {
  const headings = new Map(documents.map(({ path, text }) => [path, getAnchors(text)]));
  return documents.flatMap(({ path, text }) => {
    const code = withoutBlocks(text);
    const links = [...code.replace(/`[^`\n]*`/g, '').matchAll(/\]\(([^)\s]+)\)/g)].map(
      ([, link]) => link ?? '',
    );
    const dead = links.filter((link) => {
      if (/^[a-z]+:/.test(link)) return false;
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? path : posix.join(posix.dirname(path), file);
      if (!exists(target)) return true;
      return anchor !== undefined && headings.get(target)?.includes(anchor) === false;
    });
    const gone = getPaths(code).filter(
      (named) => ![named, posix.join(posix.dirname(path), named)].some((target) => exists(target)),
    );
    return [
      ...dead.map((link) => `${path} links to ${link}`),
      ...gone.map((named) => `${path} names ${named}`),
    ].map((breach) => `${breach}, which is not there`);
  });
}

/** Paths of files in backticks: from the root of the repository, or from the folder of the document. */
function getPaths(text: string): string[] {
  const paths =
    /`((?:apps|packages|infra|test|docs|migrations|src)\/[\w./-]*\.(?:tsx?|mjs|md|sql|json|ya?ml))`/g;
  return [...text.matchAll(paths)].map(([, named]) => named ?? '');
}

/** The anchors of the headings, as pages of Markdown make them. */
function getAnchors(text: string): string[] {
  return [...withoutBlocks(text).matchAll(/^#+ +(.+)$/gm)].map(([, heading]) =>
    (heading ?? '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  );
}

/** The text with blocks of code blanked out. */
function withoutBlocks(text: string): string {
  return text.replace(/^ *(```+|~~~+).*\n[\s\S]*?^ *\1 *$/gm, (block) => block.replace(/[^\n]/g, ''));
}
