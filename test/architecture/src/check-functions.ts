import { posix } from 'node:path';
import { codeOnly } from './imports-of.js';
import type { SourceFile } from './repository.js';

/** A function of a formatted file: it ends at the brace that stands as far in as its first line. */
interface FunctionLines {
  path: string;
  /** Of its first line, from 1. */
  line: number;
  lines: number;
}

const CONTROL = /^(?:\} )?(?:if|else|for|while|switch|catch|try|do|finally|with)\b/;
const OPENS = /(?:=>|\)(?:: .+)?|^\s*\}+>*) \{$/;

/** The functions of a source with a body of more than one line: functions, methods and arrow functions. */
export function getFunctions({ path, text }: Pick<SourceFile, 'path' | 'text'>): FunctionLines[] {
  const lines = codeOnly(text).split('\n');
  return lines.flatMap((line, at) => {
    if (!OPENS.test(line.trimEnd())) return [];
    const depth = getDepth(line);
    let first = at;
    // The end of a head that goes over several lines.
    while (first > 0 && /^\s*[)}\]]/.test(lines[first] ?? '')) {
      do first -= 1;
      while (first > 0 && ((lines[first] ?? '').trim() === '' || getDepth(lines[first] ?? '') > depth));
    }
    if (CONTROL.test((lines[first] ?? '').trim())) return [];
    const end = lines.findIndex(
      (other, index) => index > at && getDepth(other) === depth && /^\s*\}/.test(other),
    );
    return end === -1 ? [] : [{ path, line: first + 1, lines: end - first + 1 }];
  });
}

function getDepth(line: string): number {
  return line.length - line.trimStart().length;
}

interface FunctionLimits {
  max: number;
  long: number;
  maxLong: number;
  /** Names of files whose functions may be over `max`. */
  excused?: readonly string[];
}

/** Functions over `max` lines, and over `long` ones where they are more than `maxLong`. */
export function checkFunctions(
  files: readonly Pick<SourceFile, 'path' | 'text'>[],
  { max, long, maxLong, excused = [] }: FunctionLimits,
): string[] {
  const found = files.flatMap(getFunctions).sort((a, b) => b.lines - a.lines);
  const over = found.filter(({ path, lines }) => lines > max && !excused.includes(posix.basename(path)));
  const longer = found.filter(({ lines }) => lines > long);
  return [
    ...over.map(({ path, line, lines }) => `${path}:${line} is a function of ${lines} lines, over ${max}`),
    ...(longer.length <= maxLong
      ? []
      : [
          `${longer.length} functions have more than ${long} lines, ${maxLong} may: ` +
            longer.map(({ path, line, lines }) => `${path}:${line} (${lines})`).join(', '),
        ]),
  ];
}

/** Literals that are spread into literals: `{ ...{ a }, b }`, also in parentheses. Write the members out. */
export function checkSpreads({ path, text }: Pick<SourceFile, 'path' | 'text'>): string[] {
  const code = codeOnly(text);
  return [...code.matchAll(/\.\.\.\s*(\(?)\s*(?=[{[])/g)].flatMap(({ 0: found, 1: bracket, index }) => {
    const end = findClosing(code, bracket === '(' ? index + found.indexOf('(') : index + found.length);
    const inside = bracket === '(' ? findClosing(code, index + found.length) : end;
    const isLiteral =
      /^\s*(?:as [\w.]+\s*)?$/.test(code.slice(inside + 1, end)) && /^\s*[,}\]]/.test(code.slice(end + 1));
    // What is spread into the arguments of a call is no literal.
    if (!isLiteral || findOpening(code, index) === '(') return [];
    return [`${path}:${code.slice(0, index).split('\n').length} spreads a literal into a literal`];
  });
}

function findClosing(code: string, opener: number): number {
  let depth = 0;
  for (let at = opener; at < code.length; at += 1) {
    if ('([{'.includes(code[at] as string)) depth += 1;
    else if (')]}'.includes(code[at] as string)) depth -= 1;
    if (depth === 0) return at;
  }
  return code.length;
}

function findOpening(code: string, from: number): string | undefined {
  let depth = 0;
  for (let at = from - 1; at >= 0; at -= 1) {
    if (')]}'.includes(code[at] as string)) depth += 1;
    else if ('([{'.includes(code[at] as string)) {
      if (depth === 0) return code[at];
      depth -= 1;
    }
  }
  return undefined;
}

/** Folders with more than `max` source files of their own, tests aside. */
export function checkFolders(paths: readonly string[], max: number): string[] {
  const counts = new Map<string, number>();
  for (const path of paths) {
    if (!/\.tsx?$/.test(path) || /\.test\.tsx?$/.test(path)) continue;
    const folder = path.slice(0, path.lastIndexOf('/'));
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, files]) => files > max)
    .map(([folder, files]) => `${folder} has ${files} source files, over ${max}: make rooms`);
}
