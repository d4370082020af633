import { canonicalRecord, type Kind } from '@packhouse/chain';
import { type RecordedBlock, sentBy } from '@packhouse/replay-node';

const known = new WeakMap<RecordedBlock, Map<Kind, string>>();

/** The text that has to be staged and published for a block: what the honest node has, in canonical form. */
export function canonicalText(block: RecordedBlock, kind: Kind): string {
  let texts = known.get(block);
  if (texts === undefined) {
    texts = new Map();
    known.set(block, texts);
  }
  let text = texts.get(kind);
  if (text === undefined) {
    text = canonicalRecord(kind, sentBy(block, kind));
    texts.set(kind, text);
  }
  return text;
}
