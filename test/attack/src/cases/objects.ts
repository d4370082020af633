import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { startGateway } from '@packhouse/rig';
import type { AttackCase } from '../ground/case.js';
import { counted, type Finding } from '../ground/finding.js';
import { openGround, publishChain, replayedChain, serviceEnvironment } from '../ground/ground.js';

const PATIENCE_MS = 10_000;
/** A download of a damaged file is tried so often: what is remembered of the first try may not make the next one whole. */
const TRIES = 2;

/** How bytes of an object are damaged. */
const DAMAGE: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  'a flipped bit': (bytes) => {
    const damaged = Buffer.from(bytes);
    const at = damaged.length >> 1;
    damaged[at] = (damaged[at] as number) ^ 0x10;
    return damaged;
  },
  'cut in the middle': (bytes) => bytes.subarray(0, bytes.length >> 1),
  'one byte short': (bytes) => bytes.subarray(0, -1),
  empty: () => Buffer.alloc(0),
};

/** Objects that are not what was published, downloaded from memory and streamed from the store. */
export const attackObjects: AttackCase = async (options) => {
  const { scope } = options;
  const ground = await openGround(scope, options.postgresUrl);
  const chain = await replayedChain(scope, 24, { network: { proofs: { senders: 'off' } } });
  await publishChain(scope, ground, chain);
  const env = await serviceEnvironment(ground, [chain.network]);
  const rows = await ground.database.network('main').bundles.list('traces', 0, 100);
  const findings: Finding[] = [];
  for (const [way, cache] of [
    ['held in memory', '64MiB'],
    ['streamed', '16KiB'],
  ] as const) {
    const damages = Object.entries(DAMAGE).slice(0, options.short ? 2 : undefined);
    for (const [name, damage] of damages) {
      const [row] = rows;
      if (row === undefined) throw new Error('nothing was published');
      const file = path.join(ground.objects, row.objectKey);
      const sound = await readFile(file);
      const gateway = await startGateway({ ...env, FILE_CACHE: cache }, scope);
      const url = `${gateway.url}/main/files/${row.objectKey.slice('main/'.length)}`;
      const get = (): Promise<Got> => download(url, ground.keys.unlimited, row.sha256);
      await writeFile(file, damage(sound));
      const got: Got[] = [];
      for (let attempt = 0; attempt < TRIES; attempt++) got.push(await get());
      await writeFile(file, sound);
      findings.push(
        counted('objects', `${name}, ${way}: ${TRIES} downloads`, {
          got: got.join(', '),
          bound: 'refused or broken off',
          held: got.every((each) => each !== 'wrong and whole' && each !== 'without end'),
        }),
      );
      await gateway.process.stop();
    }
  }
  return findings;
};

type Got = 'right' | 'wrong and whole' | 'broken off' | 'without end' | `refused with ${number}`;

async function download(url: string, key: string, sha256: string): Promise<Got> {
  const late = AbortSignal.timeout(PATIENCE_MS);
  try {
    const response = await fetch(url, { headers: { authorization: `Bearer ${key}` }, signal: late });
    const bytes = Buffer.from(await response.arrayBuffer());
    if (response.status !== 200) return `refused with ${response.status}`;
    return createHash('sha256').update(bytes).digest('hex') === sha256 ? 'right' : 'wrong and whole';
  } catch {
    return late.aborted ? 'without end' : 'broken off';
  }
}
