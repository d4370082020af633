import { toQuantity } from '@packhouse/chain';
import { type AttackCase, openTarget, smallCall } from '../ground/case.js';
import { counted, type Finding } from '../ground/finding.js';

const TRIES = 12;
/** Final, so that an answer would be kept. */
const FINAL = '0x1';
const RIGHT = `0x${'00'.repeat(31)}2a`;

interface Answer {
  id?: unknown;
  result?: unknown;
}

/** A node that cuts its answers, and one that puts an answer of another id behind its own. */
export const attackNodes: AttackCase = async (options) => {
  const target = await openTarget(options);
  const key = target.ground.keys.unlimited;
  const findings: Finding[] = [];
  for (const [way, what] of [
    ['cut', 'a node that cuts its answers'],
    ['forged', 'a node that forges ids'],
  ] as const) {
    const wrong = { single: 0, batch: 0, kept: 0, small: 0, large: 0 };
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const slot = toQuantity(attempt + 1);
      const single = smallCall(slot, FINAL);
      if (!isRight(await post(target.rpc(way, key), single), [1])) wrong.single += 1;
      // Asked again it comes from memory, if it was kept.
      if (!isRight(await post(target.rpc(way, key), single), [1])) wrong.kept += 1;
      const ids = [1, 2, 3];
      const batch = `[${ids.map((id) => smallCall(`0x${attempt}${id}`, FINAL, id)).join(',')}]`;
      if (!isRight(await post(target.rpc(way, key), batch), ids)) wrong.batch += 1;
      for (const [size, number] of [
        ['small', slot],
        ['large', `0x2${attempt.toString(16)}`],
      ] as const) {
        const block = `{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber","params":["${number}",false]}`;
        if (!isRight(await post(target.rpc(way, key), block), [1], true)) wrong[size] += 1;
      }
    }
    for (const [where, count] of Object.entries(wrong)) {
      const names: Record<string, string> = {
        single: 'answers to single calls',
        kept: 'the same asked again',
        batch: 'batches',
        small: 'blocks',
        large: 'blocks of 2 MB, which are streamed',
      };
      findings.push(
        counted('nodes', `${what}: wrong whole answers, ${names[where]}`, {
          got: `${count} of ${TRIES}`,
          bound: 'none',
          held: count === 0,
        }),
      );
    }
  }
  const honest = await post(target.rpc('main', key), smallCall('0x1', FINAL));
  findings.push(
    counted('nodes', 'an honest node beside them', {
      got: honest?.slice(0, 60) ?? 'broken off',
      bound: 'is answered',
      held: honest?.includes(RIGHT) ?? false,
    }),
  );
  return findings;
};

/** The whole body, or undefined if the connection broke before its end. */
async function post(url: string, body: string): Promise<string | undefined> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    return await response.text();
  } catch {
    return undefined;
  }
}

/** Whether a body is no complete answer, or one in which each id has its own right answer or an error. */
function isRight(text: string | undefined, ids: readonly number[], block = false): boolean {
  if (text === undefined) return true;
  try {
    const parsed = JSON.parse(text) as Answer | Answer[];
    const answers = Array.isArray(parsed) ? parsed : [parsed];
    return (
      answers.length === ids.length &&
      answers.every(
        ({ id, result }, at) => id === ids[at] && (result === undefined || block || result === RIGHT),
      )
    );
  } catch {
    return false;
  }
}
