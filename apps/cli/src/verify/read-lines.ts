import { StringDecoder } from 'node:string_decoder';
import { PackhouseError } from '@packhouse/runtime';

/** A line of a text. */
export interface Line {
  text: string;
  /** From 1. */
  number: number;
  /** Whether a line break follows it. */
  ended: boolean;
}

/** Characters of a line; an entry has some 1,100. */
const MAX_LINE = 65_536;

/** The lines of a text that comes in pieces, one in memory at a time. Throws MANIFEST_INVALID where one is endless. */
export async function* readLines(source: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Line> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let number = 0;
  for await (const chunk of source) {
    rest += decoder.write(Buffer.from(chunk));
    let from = 0;
    for (let at = rest.indexOf('\n'); at !== -1; at = rest.indexOf('\n', from)) {
      number += 1;
      yield { text: rest.slice(from, at), number, ended: true };
      from = at + 1;
    }
    rest = rest.slice(from);
    if (rest.length > MAX_LINE) {
      throw new PackhouseError({
        code: 'MANIFEST_INVALID',
        message: `Line ${number + 1} of ${name} has more than ${MAX_LINE} characters: this is no manifest.`,
      });
    }
  }
  rest += decoder.end();
  if (rest !== '') yield { text: rest, number: number + 1, ended: false };
}
