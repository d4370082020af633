import { cpus } from 'node:os';
import { generateChain } from '@packhouse/replay-node';
import { expect, it } from 'vitest';
import { measureFloor } from './floor.js';

it('adds up the four parts of a block to the blocks a second of all cores', async () => {
  const floor = await measureFloor(generateChain({ length: 2, txsPerBlock: 20 }), 2);
  const { parseMs, stringifyMs, deflateMs, proveMs } = floor;
  expect(Math.min(parseMs, stringifyMs, deflateMs)).toBeGreaterThan(0);
  expect(proveMs).toBeGreaterThanOrEqual(0);
  const cpuMs = parseMs + stringifyMs + deflateMs + proveMs;
  expect(floor.blocksPerSecond).toBeCloseTo((cpus().length * 1000) / cpuMs);
});
