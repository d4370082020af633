import { openScope } from '@packhouse/runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { testUpstream } from '../../test/test-source.js';
import type { Fault } from '../upstream/fault.js';
import { createNodeLabel } from '../upstream/label.js';
import { readHttpAnswer } from './answers.js';
import type { Answer, Call } from './call.js';

const FIRST_ID = 40;
const label = createNodeLabel(testUpstream('http://127.0.0.1:1'));
const PAD = `0x${'ab'.repeat(1_500)}`;
const block = (hash: string): object => ({
  hash,
  extraData: PAD,
  transactions: [
    { hash: '0x1', input: '"\\}]' },
    { hash: '0x2', accessList: [{ storageKeys: [] }] },
  ],
  uncles: [],
});

/** What a body is read as, by calls that may be handed bytes and by others. */
async function readBoth(
  body: string | Buffer,
  count: number,
): Promise<{ raw: Answer[]; parsed: Answer[]; late: Fault[] }> {
  const late: Fault[] = [];
  const read = async (raw: boolean): Promise<Answer[]> => {
    const calls = Array.from({ length: count }, (_, block): Call => {
      return { method: 'trace_block', params: [], block, weight: 1, ...(raw ? { raw } : {}) };
    });
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    return readHttpAnswer(
      { status: 200, retryAfter: undefined, location: undefined, body: { whole: true, bytes } },
      calls,
      {
        label,
        scope: openScope(),
        firstId: FIRST_ID,
        maxBodyBytes: 1e9,
        timeoutMs: 1_000,
        now: 0,
        foundLate: (fault) => late.push(fault),
      },
    );
  };
  return { raw: await read(true), parsed: await read(false), late };
}

/** An answer as its reader sees it. */
function seen(answer: Answer): unknown {
  if (!answer.ok) return toWords(answer.fault);
  try {
    return { value: getDepth(answer.value) ?? answer.value, bytes: answer.bytes };
  } catch (error) {
    return { code: (error as Fault['error']).code, message: (error as Error).message };
  }
}

/** How deep lists of one list nest that are too deep to be compared. */
function getDepth(value: unknown): number | undefined {
  let depth = 0;
  for (let at = value; Array.isArray(at); at = at[0]) depth += 1;
  return depth > 100 ? depth : undefined;
}

function toWords({ error: { code, message } }: Fault): unknown {
  return { code, message };
}

const envelope = (id: unknown, result: string, more = ''): string =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)}${more},"result":${result}}`;
const isRaw = (answers: Answer[]): boolean =>
  answers.every((answer) => answer.ok && answer.raw !== undefined);

describe('an answer whose bytes are handed on', () => {
  const one = JSON.stringify(block('0xa'));

  it('has the bytes of its result, and the same value as a parsed one', async () => {
    const { raw, parsed } = await readBoth(envelope(FIRST_ID, one), 1);
    expect(isRaw(raw)).toBe(true);
    const [answer] = raw as [Extract<Answer, { ok: true }>];
    expect(answer.raw?.bytes.toString()).toBe(one);
    expect(raw.map(seen)).toEqual(parsed.map(seen));
    expect(answer.value).toBe(answer.value);
  });

  it('is found in a batch by its id, in any order', async () => {
    const ids = [2, 0, 1].map((at) => FIRST_ID + at);
    const body = `[${ids.map((id) => envelope(id, JSON.stringify(block(`0x${id}`)))).join(' ,\n')}]`;
    const { raw, parsed } = await readBoth(body, 3);
    expect(isRaw(raw)).toBe(true);
    expect(raw.map(seen)).toEqual(parsed.map(seen));
    expect(raw.map((answer) => answer.ok && (answer.value as { hash: string }).hash)).toEqual([
      '0x40',
      '0x41',
      '0x42',
    ]);
  });

  const blank = (text: string): string => text.replaceAll('"id"', '"id" \n').replaceAll(':', ' :\t');
  const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  it.each<[string, boolean, string]>([
    ['white space', true, ` ${blank(envelope(FIRST_ID, one))}\n`],
    ['members in another order', true, `{"result":${one},"id":${FIRST_ID}}`],
    ['members that nobody knows', true, envelope(FIRST_ID, one, ',"usage":{"credits":[{"a":1}]}')],
    ['lists before it', true, `{"extra":[{"result":[{}]},"]"],"id":${FIRST_ID},"result":${one}}`],
    ['capitals', true, envelope(FIRST_ID, one.toUpperCase())],
    ['no error, in words', true, envelope(FIRST_ID, one, ',"error":null')],
    ['names that are escaped', false, envelope(FIRST_ID, one).replace('"hash"', '"h\\u0061sh"')],
    ['an escaped result', false, envelope(FIRST_ID, one).replace('"result"', '"r\\u0065sult"')],
    ['two results', false, envelope(FIRST_ID, one, ',"result":[]')],
    ['two transactions', true, envelope(FIRST_ID, one.replace('"uncles":', '"transactions":'))],
    ['an error', false, envelope(FIRST_ID, one, ',"error":{"code":-32000,"message":"no"}')],
    ['an error and null', false, envelope(FIRST_ID, 'null', `,"error":{"code":-1,"message":"${PAD}"}`)],
    ['null', false, envelope(FIRST_ID, 'null', `,"pad":"${PAD}"`)],
    ['a number with an exponent', false, envelope(FIRST_ID, '1e5', `,"pad":"${PAD}"`)],
    ['numbers within', true, envelope(FIRST_ID, `[1e5,-0.5E-7,{"a":1e999}, "${PAD}"]`)],
    ['another id', false, envelope(41, one)],
    ['an id as text', false, envelope(String(FIRST_ID), one)],
    ['an id twice', true, envelope(FIRST_ID, one, `,"id":${FIRST_ID}`)],
    ['two ids', true, envelope(41, one, `,"id":${FIRST_ID}`)],
    ['no id', false, `{"jsonrpc":"2.0","result":${one}}`],
    ['no result', false, `{"jsonrpc":"2.0","id":${FIRST_ID},"pad":"${PAD}"}`],
    ['a list instead', false, `[${envelope(FIRST_ID, one)}]`],
    ['nothing but nesting', true, envelope(FIRST_ID, nested(5_000))],
    ['deeper nesting', false, envelope(FIRST_ID, nested(10_001))],
    ['other than ASCII', false, envelope(FIRST_ID, one.replace('0x1', 'é'))],
    ['text behind it', false, `${envelope(FIRST_ID, one)}x`],
    ['HTML', false, `<html>${PAD}`],
    ['a broken envelope', false, envelope(FIRST_ID, one).replace('"2.0"', 'two')],
    ['a broken result', true, envelope(FIRST_ID, one.replace('"0x1"', '"0x1" 5'))],
    ['brackets of another kind', true, envelope(FIRST_ID, one.replace('Keys":[]', 'Keys":[}'))],
    ['a control character', true, envelope(FIRST_ID, one.replace('"0x1"', '"\u0001"'))],
    ['little text', false, envelope(FIRST_ID, '{"hash":"0x1"}')],
    ['a name that is none', true, envelope(FIRST_ID, one.replace('"0x1"', '"0x1","__proto__":{"a":1}'))],
  ])('is read as ever with %s (bytes: %s)', async (_, raw, body) => {
    const both = await readBoth(body, 1);
    expect(isRaw(both.raw)).toBe(raw);
    expect(both.raw.map(seen)).toEqual(both.parsed.map(seen));
  });

  it('is read as ever if it is cut off anywhere, or not UTF-8', async () => {
    const single = envelope(FIRST_ID, one);
    const batch = `[${envelope(FIRST_ID, one)},${envelope(FIRST_ID + 1, one)}]`;
    for (const [body, count] of [[single, 1] as const, [batch, 2] as const]) {
      for (let length = 0; length < body.length; length += 10) {
        const { raw, parsed } = await readBoth(body.slice(0, length), count);
        expect(raw).toEqual(parsed);
        expect(raw.every(({ ok }) => !ok)).toBe(true);
      }
    }
    const broken = Buffer.from(single);
    broken[100] = 0xff;
    const { raw, parsed } = await readBoth(broken, 1);
    expect(raw).toEqual(parsed);
  });

  it.each<[string, string]>([
    ['an answer too few', `[${envelope(FIRST_ID, one)}]`],
    ['an answer twice', `[${envelope(FIRST_ID, one)},${envelope(FIRST_ID, one)}]`],
    ['another’s answer', `[${envelope(FIRST_ID, one)},${envelope(99, one)}]`],
    ['one answer too many', `[${[0, 1, 2].map((at) => envelope(FIRST_ID + at, one)).join()}]`],
    ['an error', `[${envelope(FIRST_ID, one)},{"id":${FIRST_ID + 1},"error":{"code":1,"message":"no"}}]`],
    ['a null', `[${envelope(FIRST_ID, one)},${envelope(FIRST_ID + 1, 'null')}]`],
    ['no envelope', `[${envelope(FIRST_ID, one)},${one}]`],
    ['one object', envelope(FIRST_ID, one)],
  ])('of a batch is read as ever with %s', async (_, body) => {
    const { raw, parsed } = await readBoth(body, 2);
    expect(isRaw(raw)).toBe(false);
    expect(raw).toEqual(parsed);
  });

  it('is read as ever whatever bytes of it are changed', async () => {
    const odd = fc.constantFrom(...Buffer.from('"\\{}[]:,0 \n\u0001x'));
    const changes = fc.array(fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), byte: odd }), {
      minLength: 1,
      maxLength: 3,
    });
    const short = one.replace(PAD, `0x${'ab'.repeat(900)}`);
    const bodies = [
      envelope(FIRST_ID, short),
      `[${envelope(FIRST_ID, short)},${envelope(FIRST_ID + 1, short)}]`,
    ];
    let handedOn = 0;
    const check = async (which: number, changed: { at: number; byte: number }[]): Promise<void> => {
      const bytes = Buffer.from(bodies[which] as string);
      // Most within the part that has a form: the text of the data is long.
      const from = bytes.indexOf('transactions');
      for (const { at, byte } of changed) bytes[Math.floor(from + at * (bytes.length - from))] = byte;
      const { raw, parsed } = await readBoth(bytes, which + 1);
      if (isRaw(raw)) handedOn += 1;
      if (which === 0 || parsed.every(({ ok }) => ok)) expect(raw.map(seen)).toEqual(parsed.map(seen));
      else expect(raw.map(seen).some((each) => (each as { code?: string }).code !== undefined)).toBe(true);
    };
    await fc.assert(fc.asyncProperty(fc.nat(1), changes, check), { numRuns: 1_000 });
    expect(handedOn).toBeGreaterThan(100);
  });

  it('that is malformed says so once, however often it is read, and only it of its batch', async () => {
    const wrong = one.replace('"0x1"', '0x1');
    const body = `[${envelope(FIRST_ID, one)},${envelope(FIRST_ID + 1, wrong)}]`;
    const { raw, late } = await readBoth(body, 2);
    expect(isRaw(raw)).toBe(true);
    expect(late).toEqual([]);
    const [right, broken] = raw as [Extract<Answer, { ok: true }>, Extract<Answer, { ok: true }>];
    expect(right.value).toEqual(JSON.parse(one));
    const said = `answered with JSON that is cut off or malformed after ${body.length} bytes when asked trace_block for block 1.`;
    for (let times = 0; times < 2; times++) expect(() => broken.value).toThrow(said);
    expect(late).toHaveLength(1);
    expect(late[0]?.error).toMatchObject({ code: 'NODE_NOT_JSON_RPC', data: { upstream: 'main', block: 1 } });
  });
});
