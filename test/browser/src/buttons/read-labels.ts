import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCES = fileURLToPath(new URL('../../../../apps/console/web/src/', import.meta.url));

/** A constant label of something to press, and the file that has it, below the sources of the pages. */
export interface Label {
  label: string;
  file: string;
}

/** The labels that the sources of the console give to buttons, to what opens and to links that look like buttons. */
export function readLabels(): Label[] {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.tsx'),
  );
  const labels = files.flatMap((file) =>
    findLabels(readFileSync(path.join(SOURCES, file), 'utf8')).map((label) => ({ label, file })),
  );
  return [...new Map(labels.map((each) => [`${each.file} ${each.label}`, each])).values()];
}

/** Those of one file, in its order; a choice between two constants is both of them. */
function findLabels(source: string): string[] {
  const elements = [...source.matchAll(/<([bB]utton|summary|ActionButton|a)\b/g)].flatMap(
    ({ 0: tag, 1: name, index }) => {
      const start = index + tag.length;
      const end = findEnd(source, start);
      const attributes = source.slice(start, end);
      if (attributes.endsWith('/') || (name === 'a' && !/\bclass="(button|main)"/.test(attributes)))
        return [];
      const label = /\baria-label="([^"]+)"/.exec(attributes)?.[1];
      // An expression is the name, whatever the button shows.
      if (attributes.includes('aria-label={')) return [];
      return label === undefined
        ? toLabels(source.slice(end + 1, source.indexOf(`</${name}>`, end)))
        : [label];
    },
  );
  const forms = source.matchAll(
    /(?:\bsubmit|<(?:NewForm|EditForm|ButtonLink)\s+(?:title|label))=(?:"([^"]+)"|\{([^}]*)\})/g,
  );
  const labels = [...forms].flatMap(([, text, choice]) =>
    text === undefined ? findChoice(choice ?? '') : [text],
  );
  return [...elements, ...labels];
}

/** The index of the `>` of a tag: not one inside of braces or quotes. */
function findEnd(source: string, start: number): number {
  let depth = 0;
  let quote = '';
  for (let at = start; at < source.length; at++) {
    const char = source.charAt(at);
    if (quote !== '') quote = char === quote ? '' : quote;
    else if (char === '"' || char === "'" || char === '`') quote = char;
    else if (char === '{') depth++;
    else if (char === '}') depth--;
    else if (char === '>' && depth === 0) return at;
  }
  return source.length;
}

/** The text of a button without its icons, or the constants of the expression that is all of it; else none. */
function toLabels(content: string): string[] {
  const text = content
    .replace(/<[^>{}]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  if (text === '') return [];
  if (!text.includes('{')) return [text];
  return /^\{[^{}]*\}$/.test(text) ? findChoice(text) : [];
}

/** The constants of `a ? 'One' : 'Two'`. */
const findChoice = (expression: string): string[] =>
  [...expression.matchAll(/[?:]\s*'([^']+)'/g)].map(([, text = '']) => text);
