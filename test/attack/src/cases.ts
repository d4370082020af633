import { attackBackfills } from './cases/backfills.js';
import { attackBatches } from './cases/batches.js';
import { attackBodies } from './cases/bodies.js';
import { attackBombs } from './cases/bombs.js';
import { attackClock } from './cases/clock.js';
import { attackConnections } from './cases/connections.js';
import { attackFairness } from './cases/fairness.js';
import { attackGuessing } from './cases/guessing.js';
import { attackNodes } from './cases/nodes.js';
import { attackObjects } from './cases/objects.js';
import { attackPipes } from './cases/pipes.js';
import { attackPostgres } from './cases/postgres.js';
import { attackReaders } from './cases/readers.js';
import { attackRepair } from './cases/repair.js';
import type { AttackCase } from './ground/case.js';

/** Every case by its name on the command line, in the order in which they are run. */
export const CASES: Readonly<Record<string, AttackCase>> = {
  bodies: attackBodies,
  connections: attackConnections,
  fairness: attackFairness,
  batches: attackBatches,
  readers: attackReaders,
  backfills: attackBackfills,
  pipes: attackPipes,
  objects: attackObjects,
  nodes: attackNodes,
  guessing: attackGuessing,
  bombs: attackBombs,
  postgres: attackPostgres,
  clock: attackClock,
  repair: attackRepair,
};
