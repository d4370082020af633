import { hash } from 'node:crypto';
import {
  createSigner,
  createVerifier,
  lakeEntryLine,
  makeSigningKey,
  parseEntry,
  parseLogEntry,
  readSigningKey,
  type SealedLakeEntry,
  toPublicKey,
} from '@packhouse/manifest';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ask } from '../../testing/ask.js';
import { startTestGateway, type TestGateway } from '../../testing/test-gateway.js';

let at: TestGateway;
let key: string;
const signer = createSigner(readSigningKey(makeSigningKey(), 'test'), 'packhouse/0.0.0');
const parse = (line: string): SealedLakeEntry => parseLogEntry(line, 'line') as SealedLakeEntry;
const get = (query: string) => ask(at.url, `/ethereum/v1/${key}/bundle-api/lake-manifest${query}`);
const file = (firstBlock: number, lastBlock: number, text = `${firstBlock}`) => {
  const sha256 = hash('sha256', text);
  const objectKey = `_lake/ethereum/logs/${firstBlock}-${lastBlock}-${sha256.slice(0, 16)}.parquet`;
  return {
    firstBlock,
    lastBlock,
    rows: 7,
    bytes: 90,
    sha256,
    sources: sha256,
    objectKey,
    stats: {},
    lacks: {},
  };
};

beforeAll(async () => {
  at = await startTestGateway();
  ({ key } = await at.makeKey());
  await at.database.manifest.registerKey(signer.publicKey);
  const { lake } = at.database.network('ethereum');
  const commit = (remove: number[], add: ReturnType<typeof file>[]): Promise<void> =>
    lake.commit('logs', { fields: [], heads: {}, remove, add, signer }, undefined);
  await commit([], [file(0, 9), file(10, 19)]);
  await commit([0, 10], [file(0, 19)]);
});
afterAll(() => at.close());

it('gives a line per file that a snapshot adds or removes, chained and signed', async () => {
  const answer = await get('?table=logs');
  expect(answer.status).toBe(200);
  expect(answer.headers).toMatchObject({
    'content-type': 'application/x-ndjson',
    'packhouse-manifest-next': '4',
    'packhouse-manifest-entries': '5',
  });
  const verifier = createVerifier(new Map([[signer.keyId, toPublicKey(signer.publicKey)]]));
  const lines = answer.text.trimEnd().split('\n');
  const entries = lines.map(parse);
  for (const entry of entries) verifier.push(entry);
  expect(entries.map(({ change, snapshot, from, to }) => `${change} ${snapshot} ${from}-${to}`)).toEqual([
    'add 1 0-9',
    'add 1 10-19',
    'remove 2 0-9',
    'remove 2 10-19',
    'add 2 0-19',
  ]);
  expect(entries.map(lakeEntryLine)).toEqual(lines);
  expect(verifier.logs()).toMatchObject([{ network: 'ethereum', kind: 'table logs', entries: 5 }]);
});

it('is refused as another format by a reader of bundles', async () => {
  const [line = ''] = (await get('?table=logs')).text.split('\n');
  expect(() => parseEntry(line, 'Line 1')).toThrow(
    'Line 1 has the format "packhouse-lake-1", and this program reads "packhouse-manifest-1".',
  );
});

it('goes on after an entry, and refuses what is no table or no entry', async () => {
  const rest = await get('?table=logs&after=3');
  expect(rest.text.trimEnd().split('\n')).toHaveLength(1);
  expect((await get('?table=logs&after=4')).text).toBe('');
  const reasons = await Promise.all(
    ['?table=logs&after=9', '?table=logs&after=x', '', '?table=nothing'].map(
      async (query) => ((await get(query)).json() as { reason: string }).reason,
    ),
  );
  expect(reasons).toEqual(['cursor-invalid', 'query-invalid', 'query-invalid', 'kind-unknown']);
});

it('names the newest entry in the properties of the snapshot', async () => {
  const answer = await fetch(`${at.url}/iceberg/v1/namespaces/ethereum/tables/logs`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const { metadata } = (await answer.json()) as {
    metadata: { snapshots: { summary: Record<string, string> }[] };
  };
  const newest = parse((await get('?table=logs&after=3')).text.trimEnd());
  expect(metadata.snapshots.at(-1)?.summary).toMatchObject({
    'packhouse.files': `${newest.sequence}:${newest.hash}`,
    'packhouse.files.signature': newest.signature,
  });
});
