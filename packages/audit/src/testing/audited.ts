import { hash } from 'node:crypto';
import {
  deflatePiece,
  type Fragment,
  type FragmentInfo,
  objectKey,
  readBundle,
  spliceMember,
  toFragment,
} from '@packhouse/bundle';
import { KINDS, type Kind } from '@packhouse/chain';
import type { BundleRow } from '@packhouse/database';
import { runSql } from '@packhouse/local';
import type { ObjectStore } from '@packhouse/object-store';
import type { World } from '@packhouse/pipeline/testing/world.js';
import { type AuditEvents, type AuditRequest, type AuditSummary, audit } from '../audit/audit.js';
import type { Finding } from '../audit/finding.js';
import { type AuditOutcome, runAudit } from '../audit/run-audit.js';

const EVERYTHING: AuditRequest = {
  networks: ['main'],
  kinds: [...KINDS],
  range: { firstBlock: 0, lastBlock: Number.MAX_SAFE_INTEGER },
  sample: 1,
  seed: 'test',
  objects: true,
};

/** Audits the network `main` of a world, all of it unless `request` says less. */
export async function auditWorld(
  world: Pick<World, 'context' | 'database'> & { objectStore: ObjectStore },
  request: Partial<AuditRequest> = {},
  events: AuditEvents = {},
): Promise<{ summary: AuditSummary; findings: Finding[] }> {
  const findings: Finding[] = [];
  const kept = { ...events, onFinding: (finding: Finding) => findings.push(finding) };
  return { summary: await audit(world, { ...EVERYTHING, ...request }, kept, world.context.signal), findings };
}

/** Audits the network `main`, and repairs it from the world's nodes. */
export async function auditAndRepair(
  world: Pick<World, 'context' | 'database' | 'parts'> & { objectStore: ObjectStore },
  request: Partial<AuditRequest> = {},
): Promise<{ outcome: AuditOutcome; findings: Finding[] }> {
  const findings: Finding[] = [];
  const { source, prover } = world.parts;
  const outcome = await runAudit(
    world,
    { ...EVERYTHING, ...request },
    {
      onFinding: (finding) => findings.push(finding),
      openRepair: async () => ({ source, prover, close: async () => {} }),
    },
    world.context.signal,
  );
  return { outcome, findings };
}

/** Writes an object unchecked, as a broken disk or producer would leave it. */
export async function putRaw(store: ObjectStore, key: string, body: Buffer): Promise<void> {
  await store.put(key, body, { sha256: hash('sha256', body), contentType: 'application/gzip', metadata: {} });
}

/** Fragments of the given records, a block each. */
async function fragmentsFrom(start: number, records: readonly string[]): Promise<Fragment[]> {
  return Promise.all(
    records.map(async (text, i) =>
      toFragment(
        { firstBlock: start + i, lastBlock: start + i },
        await deflatePiece(Buffer.from(text, 'latin1')),
      ),
    ),
  );
}

/** The bytes of the bundle of these fragments. */
function toBundle(fragments: readonly Fragment[]): Buffer {
  return Buffer.concat(
    spliceMember(
      fragments,
      fragments.map(({ body }) => body),
    ).chunks,
  );
}

/** The records of a bundle, as texts. */
export async function getRecords(store: ObjectStore, row: BundleRow): Promise<string[]> {
  const { records } = await readBundle(await store.read(row.objectKey));
  return records.map((record) => record.toString('latin1'));
}

/**
 * Publishes other records in the place of a bundle, as a producer with a fault would: object and row agree, only the
 * content is wrong. `changes` overrides fields of the row, `bytes` the object's content, `table` the row's fragment
 * table. Returns a function that restores the bundle.
 */
export async function republish(
  world: Pick<World, 'database'> & { objectStore: ObjectStore },
  row: BundleRow,
  records: readonly string[],
  changes: Partial<BundleRow> & {
    bytes?: (bundle: Buffer) => Buffer;
    table?: (fragments: FragmentInfo[]) => FragmentInfo[];
  } = {},
): Promise<{ row: BundleRow; undo(): Promise<void> }> {
  const { bytes, table = (same) => same, ...columns } = changes;
  const fragments = await fragmentsFrom(row.firstBlock, records);
  const sound = toBundle(fragments);
  const body = bytes === undefined ? sound : bytes(sound);
  const { publishedAt: _, version, ...same } = row;
  const altered = {
    ...same,
    byteLength: body.length,
    rawLength: fragments.reduce((sum, { rawLength }) => sum + rawLength + 1, 1),
    sha256: hash('sha256', body),
    fragments: table(fragments.map(({ body: __, ...info }) => info)),
    ...columns,
    objectKey: objectKey({ ...row, version: version + 1 }),
  };
  const { database, objectStore } = world;
  await putRaw(objectStore, altered.objectKey, body);
  const published = await database.network('main').bundles.supersede(altered, {
    replaces: row.sha256,
    reason: 'a faulty producer',
  });
  return {
    row: published,
    undo: async () => {
      const key = objectKey({ ...row, version: version + 2 });
      await putRaw(objectStore, key, await objectStore.read(row.objectKey));
      const current = { ...same, objectKey: key };
      await database
        .network('main')
        .bundles.supersede(current, { replaces: published.sha256, reason: 'the test is over' });
    },
  };
}

/** The row of the bundle that holds a block. */
export async function rowAt(world: Pick<World, 'database'>, kind: Kind, number: number): Promise<BundleRow> {
  const row = await world.database.network('main').bundles.covering(kind, number);
  if (row === null) throw new Error(`no ${kind} bundle holds block ${number}`);
  return row;
}

/** The superseded versions of a bundle, oldest first. */
export function getSuperseded(
  { databaseUrl }: Pick<World, 'databaseUrl'>,
  { kind, firstBlock }: Pick<BundleRow, 'kind' | 'firstBlock'>,
): Promise<{ version: number; objectKey: string; reason: string }[]> {
  return runSql(
    databaseUrl,
    `SELECT version, object_key AS "objectKey", reason FROM packhouse.superseded_bundle
     WHERE kind = ${KINDS.indexOf(kind)} AND first_block = ${firstBlock} ORDER BY version`,
  );
}
