import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type ScriptedNode, withId } from '../../test/scripted-node.js';
import { call, forwarders, getText, until } from '../../test/test-forwarder.js';

const { forwarderTo, node } = forwarders();

/** The Accept-Encoding of each request. */
const asked = ({ requests }: ScriptedNode): (string | undefined)[] =>
  requests.map(({ headers }) => headers['accept-encoding'] as string | undefined);

/** Answers with this text, as it is packed, as gzip. */
function sends(one: ScriptedNode, text: string, pack: (text: Buffer) => Buffer = gzipSync): void {
  one.intercept = (request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' });
    return Boolean(response.end(pack(withId(text, request))));
  };
}
const envelope = (value: string): string => `{"jsonrpc":"2.0","id":1,"result":"${value}"}`;

describe('a compressed answer', () => {
  it.each([
    ['short', 10],
    ['whole', 200_000],
    ['streamed', 4_000_000],
  ])('that is %s is handed on as it was', async (_, length) => {
    const one = await node();
    const value = randomBytes(length / 2).toString('hex');
    sends(one, envelope(value), (text) => gzipSync(text, { level: 1 }));
    const { forwarder } = forwarderTo([one]);
    expect((await getText(await call(forwarder))) === `"${value}"`).toBe(true);
    expect((await getText(await call(forwarder, { whole: true }))) === `"${value}"`).toBe(true);
  });

  it('beyond the limit is too large, which is no fault of the node', async () => {
    const one = await node();
    sends(one, envelope(randomBytes(20_000).toString('hex')));
    const { forwarder } = forwarderTo([one]);
    for (let n = 0; n < 6; n++) {
      expect(await call(forwarder, { maxBytes: 10_000 })).toMatchObject({ reason: 'too-large' });
    }
    expect(forwarder.status()[0]?.healthy).toBe(true);
  });

  it('is given up with its reader', async () => {
    const one = await node();
    const large = envelope(randomBytes(10_000_000).toString('hex'));
    sends(one, large, (text) => gzipSync(text, { level: 0 }));
    const { forwarder } = forwarderTo([one]);
    const answer = await call(forwarder);
    if (answer.kind !== 'result') throw new Error('unreachable');
    for await (const _ of answer.body.rest ?? []) break;
    await one.when(() => one.sockets.size === 0);
    const stop = new AbortController();
    const second = await call(forwarder, { signal: stop.signal });
    stop.abort(new Error('gone'));
    await expect(getText(second)).rejects.toThrow('gone');
    await one.when(() => one.sockets.size === 0);
  });
});

describe('a node that sends', () => {
  const bomb = envelope(' '.repeat(30_000_000));

  it.each<[string, string, (text: Buffer) => Buffer]>([
    ['a bomb', bomb, gzipSync],
    [
      'half of an answer',
      envelope(randomBytes(5_000).toString('hex')),
      (text) => gzipSync(text).subarray(0, 4_000),
    ],
    ['what is no gzip', envelope('0x1'), (text) => text],
  ])('%s is not believed, and rests when it goes on', async (_, body, pack) => {
    const [one, two] = [await node(), await node(() => 'two')];
    sends(one, body, pack);
    const asking = { whole: true, maxBytes: 1_000_000 };
    expect(await getText(await call(forwarderTo([one, two]).forwarder, asking))).toBe('"two"');
    // Alone, it is not overtaken.
    const { forwarder } = forwarderTo([one]);
    for (let n = 0; n < 5; n++) {
      expect(await call(forwarder, asking)).toMatchObject({ kind: 'failed', reason: 'unavailable' });
    }
    expect(forwarder.status()[0]?.healthy).toBe(false);
  });

  it('a bomb into a stream is cut off at the limit, and rests when it goes on', async () => {
    const one = await node();
    sends(one, bomb);
    const { forwarder } = forwarderTo([one]);
    for (let n = 0; n < 5; n++) {
      let bytes = 0;
      const read = async (): Promise<void> => {
        const answer = await call(forwarder, { maxBytes: 1_000_000 });
        if (answer.kind !== 'result') throw new Error(answer.kind);
        for await (const piece of answer.body.rest ?? []) bytes += piece.length;
      };
      await expect(read()).rejects.toThrow(/gzip/);
      expect(bytes).toBeLessThan(1_000_000);
    }
    await until(() => forwarder.status()[0]?.healthy === false);
  });
});

describe('a node is asked for gzip', () => {
  const LARGE = 'ab'.repeat(50_000);
  /** Measured without and with gzip, before one is chosen. */
  const SAMPLES = 4;

  it('never on this machine, nor for small answers, else to see whether it is faster', async () => {
    const one = await node(({ method }) => (method === 'm' ? LARGE : '0x1'));
    const near = forwarderTo([one]).forwarder;
    for (let n = 0; n < SAMPLES + 2; n++) await call(near);
    expect(new Set(asked(one))).toEqual(new Set([undefined]));
    one.requests.length = 0;
    // An address that leads here and does not look so.
    const far = forwarderTo([one], {
      upstreams: [{ url: one.url.replace('127.0.0.1', '0.0.0.0') }],
    }).forwarder;
    for (let n = 0; n < SAMPLES + 1; n++) await call(far);
    expect(asked(one)).toEqual([...Array<undefined>(SAMPLES).fill(undefined), 'gzip']);
    one.requests.length = 0;
    for (let n = 0; n < SAMPLES + 2; n++) await call(far, { method: 'small' });
    expect(new Set(asked(one))).toEqual(new Set([undefined]));
  });
});
