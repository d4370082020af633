import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Program } from '@packhouse/local';
import { callNode } from '@packhouse/local';
import { CLONE, GIVEN } from '@packhouse/recordings';
import { createReplayNode, type RecordedBlock, type ReplayNode } from '@packhouse/replay-node';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { type GatewayReader, gatewayReader } from '../gateway-reader.js';
import { openDatabase } from '../open-database.js';
import { isOnPath, root } from '../pasted.js';
import { startLocal } from '../start-local.js';
import { end, makeWorkspace, type Workspace } from '../workspace.js';
import { contractsOf, type Records, toAnswers, toQueries } from './questions.js';

const FIRST = 17_686_110;
const LAST = 17_686_121;
/** One source, the real one if it is there. */
const source = GIVEN ?? CLONE;
/** `npm run nightly` installs the first; each engine is skipped that it has not. */
const python = isOnPath('lake-python') ? 'lake-python' : 'python3';
const JARS = "import pyspark, glob; glob.glob(pyspark.__path__[0] + '/jars/iceberg-spark-runtime-*.jar')[0]";

/** By the heading in docs/lake.md. */
const ENGINES = [
  { engine: 'duckdb', heading: 'DuckDB', needs: 'import duckdb, duckdb_extension_iceberg' },
  { engine: 'pyiceberg', heading: 'pyiceberg with polars', needs: 'import pyiceberg, polars' },
  { engine: 'spark', heading: 'Spark', needs: JARS },
  { engine: 'clickhouse', heading: 'ClickHouse', needs: 'import chdb' },
];

describe(`five questions over twelve blocks in a row (${source.title})`, () => {
  let workspace: Workspace;
  let node: ReplayNode;
  let cli: Program | undefined;
  let gateway: GatewayReader;
  let answers: string[][][];
  let queries: string[];

  beforeAll(async () => {
    workspace = await makeWorkspace(inject('postgresUrl'));
    node = await createReplayNode({ blocks: source.blocks<RecordedBlock>('row') });
    const run = { rpc: [node.url], from: FIRST, to: LAST, once: false, env: { LAKE: 'on' } };
    cli = startLocal(workspace, run);
    gateway = await gatewayReader(cli);
    await cli.event('progress', (event) => event.published === LAST - FIRST + 1);
    const records = {
      transactions: await recordsOf('transactions'),
      receipts: await recordsOf('receipts'),
      blocks: await recordsOf('blocks'),
      logs: await recordsOf('logs'),
    } as Records;
    answers = toAnswers(records);
    queries = toQueries(records);
    // The node itself says what the last question finds.
    const found = (await call('eth_getLogs', {
      address: contractsOf(records),
      fromBlock: `0x${FIRST.toString(16)}`,
      toBlock: `0x${LAST.toString(16)}`,
    })) as Records['logs'];
    expect(found.length).toBeGreaterThan(20);
    expect(answers.at(-1)).toEqual(
      found.map(({ blockNumber, logIndex, address, topics: [topic0 = ''], data }) => [
        String(Number(blockNumber)),
        String(Number(logIndex)),
        address,
        topic0,
        data,
      ]),
    );
    for (const table of ['transactions', 'receipts', 'logs', 'transfers']) await lakeHas(table);
  });
  afterAll(async () => {
    await end(cli);
    await node?.close();
    await workspace?.remove();
  });

  /** The records of all published files of a kind. */
  async function recordsOf(kind: 'blocks' | 'transactions' | 'receipts' | 'logs'): Promise<unknown[]> {
    const all: unknown[] = [];
    for (let block = FIRST; block <= LAST; ) {
      const { range } = await gateway.pointer(kind, block);
      all.push(...(await gateway.records(`${gateway.downloadUrl}/${kind}/${range}.json.gz`)));
      block = Number(range.split('-')[1]) + 1;
    }
    return all.flat();
  }

  const call = (method: string, ...params: unknown[]): Promise<unknown> => callNode(node.url, method, params);

  /** Waits until a table has all blocks. */
  async function lakeHas(table: string): Promise<void> {
    const url = `${new URL(gateway.baseUrl).origin}/iceberg/v1/namespaces/ethereum/tables/${table}`;
    await vi.waitFor(
      async () => {
        const answer = await fetch(url, { headers: { authorization: `Bearer ${gateway.apiKey}` } });
        const { metadata } = (await answer.json()) as {
          metadata?: { properties: Record<string, string> };
        };
        expect(metadata?.properties['packhouse.complete']).toBe(`${FIRST}-${LAST}`);
      },
      { timeout: 120_000 },
    );
  }

  /** The lines below a heading of the page, for this gateway and these blocks. */
  async function linesOf(heading: string, key = gateway.apiKey): Promise<string> {
    const text = await readFile(path.join(root, 'docs/lake.md'), 'utf8');
    const section = text.slice(text.indexOf(`\n## ${heading}\n`));
    const [, lines = ''] = /^```\w+\n(.*?)^```$/ms.exec(section) ?? [];
    expect(lines.trim().split('\n').length).toBeLessThanOrEqual(7);
    return (
      lines
        .replaceAll('http://127.0.0.1:8080', new URL(gateway.baseUrl).origin)
        .replaceAll(/\bKEY\b/g, key)
        .replaceAll('17000100', String(FIRST))
        .replaceAll('17000120', String(FIRST + 5))
        // Its libraries are there already.
        .replace(/\.config\('spark\.jars\.packages'.*?'\)/, '')
    );
  }

  for (const { engine, heading, needs } of ENGINES) {
    const missing = spawnSync(python, ['-c', needs]).status !== 0;
    const ask = async (key?: string): Promise<void> => {
      const input = JSON.stringify({ engine, lines: await linesOf(heading, key), queries });
      const program = path.join(root, 'test/e2e/src/lake/engine.py');
      const ran = spawnSync(python, [program], { input, encoding: 'utf8', maxBuffer: 1 << 28 });
      expect(ran.status, ran.stderr).toBe(0);
      const rows = ran.stdout.split('\n').filter((line) => line.startsWith('rows '));
      const [top, ...results] = rows.map((line) => JSON.parse(line.slice(5)) as string[][]);
      expect(top).toHaveLength(3);
      expect(results).toEqual(answers);
    };
    test.skipIf(missing)(`${heading} answers them as the bundles do (needs ${engine})`, () => ask());
    test.skipIf(missing)(`${heading} does with 4 units a second, too (needs ${engine})`, async () => {
      const database = openDatabase(workspace.databaseUrl);
      const plan = `small-${engine}`;
      await database.plans.set(plan, { requestsPerSecond: 4 }, { make: true });
      const { key } = await database.keys.create({ application: engine, network: null, plan });
      await database.close();
      await ask(key);
    });
  }
});
