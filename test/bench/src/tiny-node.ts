/** A program: `node tiny-node.js <length> <latency in ms>` serves generated blocks without transactions. */
import { createReplayNode, extendChain, generateChain } from '@packhouse/replay-node';

const [length = 1_000, latencyMs = 0] = process.argv.slice(2).map(Number);
const recorded = generateChain({ length: Math.min(length, 16), txsPerBlock: 0 });
const node = await createReplayNode({ blocks: extendChain(recorded, { length }), latencyMs });
process.stdout.write(`${node.url} serves blocks 1 to ${length}\n`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void node.close());
