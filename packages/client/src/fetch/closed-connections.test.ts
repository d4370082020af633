import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { API_KEY, answer, type BadGateway, impatientHttp, startBadGateway } from '../testing/bad-gateway.js';

/** More than undici reads ahead, in whole pieces of its sockets: what pauses an answer exactly at its last byte. */
const BODY = 'a'.repeat(65_536);

let gateway: BadGateway;
let store: BadGateway;
afterEach(() => Promise.all([gateway.close(), store.close()]));

/** The connections of the client, in order; the last one is the store's. */
const connections: Socket[] = [];
const note = (message: unknown): void => void connections.push((message as { socket: Socket }).socket);
beforeEach(() => {
  connections.length = 0;
  subscribe('undici:client:connected', note);
});
afterEach(() => void unsubscribe('undici:client:connected', note));

/** Resolves when the client has seen the end of its newest connection. */
function ended(): Promise<void> {
  return new Promise((resolve) => {
    for (const event of ['end', 'error', 'close']) {
      connections.at(-1)?.prependOnceListener(event, () => setImmediate(resolve));
    }
  });
}

describe('a store, to which the gateway leads, that closes its connections', () => {
  const whole = `content-length: ${BODY.length}`;
  const lines = {
    'with its whole answer': { head: whole, body: BODY, lost: false },
    'within its answer': { head: `content-length: ${BODY.length * 2}`, body: BODY, lost: true },
    'behind its head': { head: whole, body: '', lost: true },
    'with an answer whose length only the end tells': { head: 'x-nothing: 0', body: BODY, lost: false },
  };

  describe.each(Object.entries(lines))('%s', (_, { head, body, lost }) => {
    it.each([
      ['end', 'keep-alive'],
      ['end', 'close'],
      ['reset', 'keep-alive'],
      ['reset', 'close'],
    ] as const)('by %s, connection: %s, while the reader is busy', async (after, connection) => {
      const closing = {
        send: `HTTP/1.1 200 OK\r\nconnection: ${connection}\r\n${head}\r\n\r\n${body}`,
        after,
      };
      store = await startBadGateway(closing, answer('200 OK', BODY));
      gateway = await startBadGateway(answer('302 Found', '', `location: ${store.url}/object?signed`));
      const { http } = impatientHttp();
      try {
        const read = await http.get(
          `${gateway.url}/ethereum/logs/0-9.json.gz`,
          async (answered) => {
            if (store.heads.length === 1) await ended();
            return (await buffer(answered.body)).length;
          },
          { bearer: true },
        );
        expect(read).toBe(BODY.length);
        // What came whole before a proper end is not asked for again.
        const once = !lost && after === 'end' && connection === 'close';
        expect(store.heads.length).toBeLessThanOrEqual(once ? 1 : 2);
        expect(store.heads.join()).not.toContain(API_KEY);
      } finally {
        await http.close();
      }
    });
  });

  it('between two requests', async () => {
    store = await startBadGateway({ ...answer('200 OK', 'one'), after: 'end' });
    gateway = await startBadGateway(answer('302 Found', '', `location: ${store.url}/object?signed`));
    const { http, waits } = impatientHttp();
    try {
      for (let file = 0; file < 3; file++) {
        expect(await http.text(`${gateway.url}/${file}`, 10, { bearer: true })).toBe('one');
        await new Promise((resolve) => {
          if (connections.at(-1)?.closed) resolve(null);
          else connections.at(-1)?.once('close', resolve);
        });
      }
      expect(waits).toEqual([]);
    } finally {
      await http.close();
    }
  });
});
