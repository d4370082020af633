import { CallController } from '@packhouse/runtime';
import { expect, it } from 'vitest';
import { createPacer, FREE_BYTES, type Pacer, PIECE_BYTES, paced } from './paced-pieces.js';

/** A pacer of 100 bytes a turn, whose turns are begun by hand, and the order in which work was done. */
function byHand() {
  let next: (() => void) | undefined;
  const done: string[] = [];
  const pacer = createPacer(100, (begin) => {
    if (next !== undefined) throw new Error('the next turn is asked for twice');
    next = begin;
  });
  return {
    pacer,
    done,
    /** Begins the next turn, and resolves when those whose turn it was have worked. */
    async turn(): Promise<boolean> {
      const begin = next;
      next = undefined;
      begin?.();
      await settled();
      return begin !== undefined;
    },
  };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Works on so many pieces of 10 bytes, one after the other. */
async function work(pacer: Pacer, name: string, pieces: number, done: string[]): Promise<void> {
  for (let at = 0; at < pieces; at++) {
    await pacer.turn(name[0] as string, 10);
    done.push(name);
  }
}

it('gives what a turn of the event loop has at once, and the rest in the turns that follow', async () => {
  const { pacer, done, turn } = byHand();
  void work(pacer, 'a', 25, done);
  await settled();
  expect(done).toHaveLength(10);
  await turn();
  expect(done).toHaveLength(20);
  await turn();
  expect(done).toHaveLength(25);
  // Then there is nothing to wait for.
  expect([await turn(), await turn()]).toEqual([true, false]);
  expect(pacer.turn('a', 10)).toBeUndefined();
});

it('gives 200 answers of one key as much as one answer of another', async () => {
  const { pacer, done, turn } = byHand();
  for (let answer = 0; answer < 200; answer++) void work(pacer, `a${answer}`, 5, done);
  void work(pacer, 'b', 50, done);
  await settled();
  // The first turn went to who came first.
  for (let turns = 0; turns < 6; turns++) await turn();
  const last = done.slice(20);
  expect(last.filter((name) => name === 'b')).toHaveLength(last.length / 2);
  for (let turns = 0; turns < 200; turns++) await turn();
  expect(done).toHaveLength(1_050);
});

it('serves the answers of one owner in their order', async () => {
  const { pacer, done, turn } = byHand();
  for (const name of ['a1', 'a2', 'a3']) void pacer.turn('a', 100)?.then(() => done.push(name));
  await settled();
  expect(done).toEqual([]);
  for (const name of ['a2', 'a3']) {
    await turn();
    expect(done.at(-1)).toBe(name);
  }
});

it('frees the place of who is gone, and says so', async () => {
  const { pacer, done, turn } = byHand();
  expect(pacer.turn('a', 100)).toBeUndefined();
  const leaves = new CallController();
  const refused = Promise.resolve(pacer.turn('a', 100, leaves)).catch((error: Error) => error.message);
  const left = Promise.resolve(pacer.turn('c', 100, leaves)).catch((error: Error) => error.message);
  void pacer.turn('b', 100)?.then(() => done.push('b'));
  leaves.abort(new Error('gone'));
  expect(await Promise.all([refused, left])).toEqual(['gone', 'gone']);
  await turn();
  expect(done).toEqual(['b']);
  await expect(pacer.turn('a', 10, leaves)).rejects.toThrow('gone');
});

it('asks for no turn for a small answer, and cuts long pieces of others', async () => {
  const asked: number[] = [];
  const turn = (bytes: number): undefined => void asked.push(bytes);
  const lengths = async (...pieces: Buffer[]): Promise<number[]> => {
    const parts: number[] = [];
    for await (const part of paced(pieces, turn)) parts.push(part.length);
    return parts;
  };
  expect(await lengths(Buffer.alloc(FREE_BYTES - 1), Buffer.alloc(1))).toEqual([FREE_BYTES - 1, 1]);
  expect(asked).toEqual([]);
  const long = [PIECE_BYTES, PIECE_BYTES, 7];
  expect(await lengths(Buffer.alloc(2 * PIECE_BYTES + 7))).toEqual(long);
  expect(asked).toEqual(long);
});

it('goes on with others when an answer fails in its turn', async () => {
  const { pacer, done, turn } = byHand();
  async function* failing(): AsyncGenerator<Buffer> {
    yield Buffer.alloc(FREE_BYTES + 1);
    throw new Error('broken');
  }
  const read = async (): Promise<void> => {
    for await (const _ of paced(failing(), (bytes) => pacer.turn('a', bytes))) done.push('a');
  };
  expect(pacer.turn('b', 100)).toBeUndefined();
  const failed = read().catch((error: Error) => error.message);
  void work(pacer, 'b', 2, done);
  await settled();
  await turn();
  expect(await failed).toBe('broken');
  while (await turn());
  expect(done.toSorted()).toEqual(['a', 'b', 'b']);
});
