import { StringDecoder } from 'node:string_decoder';
import { PackhouseError } from '@packhouse/runtime';

/** Characters of a line; an entry of a manifest has about 1,100. */
const MAX_LINE = 65_536;

/**
 * The lines of a manifest, each with its line break, one in memory at a time; `name` is for messages. A chunk is not
 * used any more once the next is asked for. Throws MANIFEST_INVALID if a line is too long, or if the last one does not
 * end.
 */
export async function* readLines(source: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let number = 1;
  const invalid = (what: string): PackhouseError =>
    new PackhouseError({
      code: 'MANIFEST_INVALID',
      message: `Line ${number} of ${name} ${what}.`,
      hint: 'Download it again; if it stays so, ask its publisher.',
    });
  for await (const chunk of source) {
    rest += decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    let from = 0;
    for (let at = rest.indexOf('\n'); at !== -1; at = rest.indexOf('\n', from)) {
      yield rest.slice(from, at + 1);
      from = at + 1;
      number += 1;
    }
    rest = rest.slice(from);
    if (rest.length > MAX_LINE) throw invalid(`has more than ${MAX_LINE} characters and is not a manifest`);
  }
  if (rest + decoder.end() !== '') {
    throw invalid('does not end with a line break: the manifest is truncated');
  }
}
