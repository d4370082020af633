import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerOf, answerOfPieces, type ReadAnswer } from './read-answer.js';
import { findValue, type ValueStart } from './split-envelope.js';

const MAX_BYTES = 2_000;

/** The same bytes cut at these places; the first piece holds where the value begins. */
function piecesOf(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const at = [...new Set([0, ...cuts.filter((cut) => cut > 100 && cut < bytes.length)])].sort(
    (a, b) => a - b,
  );
  return at.map((from, index) => bytes.subarray(from, at[index + 1] ?? bytes.length));
}

function said(answer: ReadAnswer): unknown {
  if (answer.kind === 'result') return { kind: 'result', text: answer.body.bytes.toString('utf8') };
  return answer.kind === 'error' ? { kind: 'error', text: answer.error.toString('utf8') } : answer;
}

describe('an answer in pieces', () => {
  it('is read as if it had come in one, wherever it is cut', () => {
    const value = fc.oneof(
      fc.record({ result: fc.string({ maxLength: 2_500 }) }),
      fc.record({ error: fc.record({ code: fc.integer(), message: fc.string({ maxLength: 500 }) }) }),
    );
    const tail = fc.constantFrom('', '\n', ',"id":1}', ' , "id" : 1 , "jsonrpc" : "2.0" }\r\n', '}', 'x');
    fc.assert(
      fc.property(value, tail, fc.array(fc.nat(3_000), { maxLength: 20 }), (of, end, cuts) => {
        const text = JSON.stringify({ jsonrpc: '2.0', ...of });
        const bytes = Buffer.from(end.includes('}') ? text.slice(0, -1) + end : text + end);
        const found = findValue(bytes) as ValueStart;
        const pieces = piecesOf(bytes, cuts);
        expect(said(answerOfPieces(pieces, found, MAX_BYTES))).toEqual(said(answerOf(bytes, MAX_BYTES)));
      }),
      { numRuns: 500 },
    );
  });

  it('is joined when somebody wants it so, and otherwise stays as it came', () => {
    const bytes = Buffer.from(`{"id":1,"result":"${'ab'.repeat(400)}"}`);
    const answer = answerOfPieces(piecesOf(bytes, [200, 500]), findValue(bytes) as ValueStart, MAX_BYTES);
    if (answer.kind !== 'result') throw new Error('no result');
    expect(answer.body.pieces?.map(({ length }) => length)).toEqual([183, 300, 319]);
    expect(answer.body.bytes.toString()).toBe(`"${'ab'.repeat(400)}"`);
  });
});
