import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { createHonestChain, type HonestChain } from '../chain/honest-chain.js';
import { createRandom } from '../random.js';
import { startFollower } from './follower.js';

type Step = Readonly<Record<string, unknown>>;

const chain = createHonestChain({ seed: 1, first: 1, length: 3, txsPerBlock: 0 });
let server: Server | undefined;
afterEach(() => void server?.close());

/** A block as the feed tells of it; `branch` makes it another one. */
function toNew(number: number, branch = ''): Step {
  const files = { blocks: 'http://nowhere/blocks', logs: 'http://nowhere/logs' };
  return {
    step: 'new',
    block: number,
    hash: `${chain.block(number)?.block.hash}${branch}`,
    parent: '',
    files,
  };
}
const hashOf = (number: number): string => chain.block(number)?.block.hash ?? '';
const WAITING: Step = { step: 'waiting', block: 4, reason: 'not-produced', detail: '', kinds: [] };

/** What a follower says of a gateway that answers with these steps, one at a time. */
async function followed(of: HonestChain, steps: readonly Step[]): Promise<readonly string[]> {
  server = createServer((request, response) => {
    const at = Number(new URL(request.url ?? '', 'http://x').searchParams.get('cursor') ?? 0);
    const step = steps[Math.min(at, steps.length - 1)];
    response.end(`${JSON.stringify({ ...step, cursor: String(at + 1) })}\n`);
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const follower = startFollower({ baseUrl, apiKey: 'key', chain: of, random: createRandom(1) });
  return (await follower.finish()).violations;
}

it('finds nothing where each block comes once, and is undone before another comes in its place', async () => {
  const undo = { step: 'undo', block: 2, hash: '', to: { block: 1, hash: hashOf(1) } };
  const final = { step: 'final', block: 2, hash: hashOf(2) };
  const steps = [toNew(1), toNew(2, 'f'), undo, toNew(2), final, toNew(3), WAITING];
  expect(await followed(chain, steps)).toEqual([]);
});

it.each<[string, readonly Step[], string]>([
  ['comes twice', [toNew(1), toNew(1), toNew(2), toNew(3)], 'block 1 of blocks comes twice'],
  ['is left out', [toNew(1), toNew(3)], 'blocks of 3 come before those of 2'],
  [
    'is of an abandoned branch',
    [toNew(1), toNew(2, 'f'), toNew(3)],
    `blocks of 2: expected ${hashOf(2)}, got ${hashOf(2)}f`,
  ],
  [
    'is undone though it was final',
    [
      toNew(1),
      { step: 'final', block: 1, hash: hashOf(1) },
      { step: 'undo', block: 1, hash: '', to: { block: 0, hash: '' } },
      toNew(1),
      toNew(2),
      toNew(3),
    ],
    '0 is undone to, and 1 was final',
  ],
])('finds a block that %s', async (_, steps, violation) => {
  expect(await followed(chain, [...steps, WAITING])).toContain(violation);
});
