import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Program } from '@packhouse/local';
import { callNode } from '@packhouse/local';
import { createReplayNode, generateChain, type ReplayNode } from '@packhouse/replay-node';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type DuckDb, duckDbModules, hasDuckDb, NEEDS_DUCKDB, openDuckDb, type Row } from './duckdb.js';
import { type GatewayReader, gatewayReader } from './gateway-reader.js';
import { getBlocks, isOnPath, paste, root, shells } from './pasted.js';
import { startLocal } from './start-local.js';
import { end, makeWorkspace, type Workspace } from './workspace.js';

// The blocks that docs/downloads.md shows, with the addresses of this gateway.
const FIRST = 17_000_100;
const LAST = 17_000_141;
const LAKE_ENGINE = 'duckdb, duckdb_extension_avro, duckdb_extension_httpfs, duckdb_extension_iceberg';
const hasLakeEngine = spawnSync('python3', ['-c', `import ${LAKE_ENGINE}`]).status === 0;
let workspace: Workspace;
let node: ReplayNode;
let cli: Program | undefined;
let gateway: GatewayReader;
let range: string;
let duckDb: DuckDb | undefined;

beforeAll(async () => {
  workspace = await makeWorkspace(inject('postgresUrl'));
  const blocks = generateChain({
    length: LAST - FIRST + 1,
    txsPerBlock: 4,
    logsPerTx: 2,
    startNumber: FIRST,
  });
  node = await createReplayNode({ blocks });
  cli = startLocal(workspace, { rpc: [node.url], from: FIRST, to: LAST, once: false, env: { LAKE: 'on' } });
  gateway = await gatewayReader(cli);
  await cli.event('progress', (event) => event.published === LAST - FIRST + 1);
  ({ range } = await gateway.pointer('logs', 17_000_123));
});
afterAll(async () => {
  duckDb?.close();
  await end(cli);
  await node?.close();
  await workspace?.remove();
});

/** What each block of a page prints, those that neither call the gateway nor say where it is left out. */
async function outputs(page: string, shell: string): Promise<string[]> {
  const script = (await getBlocks(page))
    .map(({ text }) => text)
    .filter((text) => /^(HOST=|curl )/.test(text))
    .join('echo; echo next-block\n')
    .replaceAll('http://127.0.0.1:8080', new URL(gateway.baseUrl).origin)
    .replaceAll('17000100-17000141', range)
    .replaceAll(/\bmine\b/g, `mine-${shell}`)
    // This folder is not the project's.
    .replace('npx --no -- packhouse', `node ${path.join(root, 'apps/cli/dist/main.js')}`);
  const { output } = paste(shell, script, { KEY: gateway.apiKey }, workspace.directory);
  return (await output).split('next-block\n');
}

for (const shell of shells) {
  test.skipIf(!isOnPath(shell))(
    `what docs/downloads.md says can be pasted into ${shell} (needs ${shell})`,
    async () => {
      const [pointer = '', file = '', list, coverage, whole] = await outputs('docs/downloads.md', shell);
      const link = `${gateway.downloadUrl}/logs/${range}.json.gz`;
      expect(JSON.parse(pointer)).toEqual({ type: 'logs', range, download_link: link });
      expect(JSON.parse(file)).toEqual(await gateway.records(link));
      expect(JSON.parse(list as string)).toMatchObject({ files: [{ link }], next: null });
      expect(JSON.parse(coverage as string)).toMatchObject({
        network: 'ethereum',
        kinds: [{ kind: 'logs' }],
      });
      expect(whole).toMatch(/^\d+ valid files? \(.*\), no damage, 0 missing; /m);
    },
  );
}

describe.skipIf(!hasLakeEngine)(`docs/lake.md (needs duckdb)`, () => {
  /** Attaches as the page does, but for its extensions, which are packages here; prints the rows of each query. */
  const RUN = `import glob, importlib, json, sys, duckdb
c = duckdb.connect()
for name in ('avro', 'httpfs', 'iceberg'):
    folder = importlib.import_module('duckdb_extension_' + name).__path__[0]
    c.execute("LOAD '" + glob.glob(folder + '/extensions/*/*.duckdb_extension')[0] + "'")
for line in sys.argv[1].splitlines():
    rows = c.execute(line).fetchall()
    if line.startswith('SELECT'): print(json.dumps(rows))`;

  test('its lines attach the tables with a key, and count and group what is published', async () => {
    const records = await gateway.records(`${gateway.downloadUrl}/logs/${range}.json.gz`);
    const all = (records as { address: string; blockNumber: string }[][]).flat();
    await gatewayHasTable('logs', LAST);
    const text = await readFile(path.join(root, 'docs/lake.md'), 'utf8');
    const [, block = ''] = /^```sql\n(.*?)^```$/ms.exec(text) ?? [];
    const lines = block
      .replace(/^INSTALL.*\n/, '')
      .replaceAll('http://127.0.0.1:8080', new URL(gateway.baseUrl).origin)
      .replaceAll("'KEY'", `'${gateway.apiKey}'`)
      .trim();
    const { stdout, stderr } = spawnSync('python3', ['-c', RUN, lines], { encoding: 'utf8' });
    expect(stderr).toBe('');
    const [counts, top] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    const blocks = all.map(({ blockNumber }) => Number(blockNumber));
    expect(counts).toEqual([[all.length, Math.min(...blocks), Math.max(...blocks)]]);
    const byAddress = new Map<string, number>();
    for (const { address } of all.filter((_, at) => (blocks[at] as number) <= 17_000_120))
      byAddress.set(address, (byAddress.get(address) ?? 0) + 1);
    const sorted = [...byAddress].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
    expect(top).toEqual(sorted.slice(0, 3));
  });

  /** Waits until a table has a block: it is written some seconds after its bundle. */
  async function gatewayHasTable(kind: string, lastBlock: number): Promise<void> {
    const url = `${new URL(gateway.baseUrl).origin}/iceberg/v1/namespaces/ethereum/tables/${kind}`;
    await expect
      .poll(
        async () => {
          const answer = await fetch(url, { headers: { authorization: `Bearer ${gateway.apiKey}` } });
          const table = (await answer.json()) as { metadata?: { properties: Record<string, string> } };
          return table.metadata?.properties['packhouse.complete'];
        },
        { timeout: 60_000 },
      )
      .toMatch(new RegExp(`-${lastBlock}$`));
  }
});

describe('docs/analysts.md', () => {
  const PAGE = 'docs/analysts.md';
  const USDT = '0xdac17f958d2ee523a2206206994597c13d831ec7';
  const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
  let logs: NodeLog[];
  /** What stands for the token of the page: a log with a topic behind the first, and an amount alone. */
  let token: NodeLog;
  let sql: string[];

  beforeAll(async () => {
    logs = await nodeLogs({});
    token = logs.find(({ topics, data }) => topics.length > 1 && data.length === 66) as NodeLog;
    const [parquet = '', files = ''] = await scripts();
    await pasteHere(parquet + files);
    const text = await readFile(path.join(root, PAGE), 'utf8');
    sql = [...text.matchAll(/^```sql\n(.*?)^```$/gms)].map(([, block = '']) => here(block));
    if (!hasDuckDb) return;
    duckDb = await openDuckDb();
    for (const statement of sql) if (/^CREATE|^COPY/.test(statement)) await duckDb.rows(statement);
  });

  interface NodeLog {
    address: string;
    topics: string[];
    data: string;
    blockNumber: string;
    transactionHash: string;
    logIndex: string;
  }

  const call = <T>(method: string, ...params: unknown[]): Promise<T> => callNode(node.url, method, params);
  const hex = (block: number): string => `0x${block.toString(16)}`;
  const nodeLogs = (filter: object): Promise<NodeLog[]> =>
    call('eth_getLogs', { fromBlock: hex(FIRST), toBlock: hex(LAST), ...filter });

  /** A text of the page for this gateway, this chain and this folder. */
  function here(text: string): string {
    return text
      .replaceAll('https://data.example.com/ethereum', gateway.baseUrl.replace(/\/v1\/$/, ''))
      .replaceAll('17000000', String(FIRST))
      .replaceAll('17999999', String(LAST))
      .replaceAll('ph_…', gateway.apiKey)
      .replaceAll('npx --no -- packhouse', `node ${path.join(root, 'apps/cli/dist/main.js')}`)
      .replaceAll(USDT, token.address)
      .replaceAll(TRANSFER, token.topics[0] as string)
      .replaceAll("'ethereum-", `'${workspace.directory}/ethereum-`)
      .replaceAll("'usdt/", `'${workspace.directory}/usdt/`)
      .replaceAll("'logs.parquet'", `'${workspace.directory}/logs.parquet'`);
  }

  const scripts = async (): Promise<string[]> => (await getBlocks(PAGE)).map(({ text }) => here(text));
  const pasteHere = (script: string): Promise<string> => {
    const env = {
      DATABASE_URL: workspace.databaseUrl,
      URL: gateway.baseUrl.replace(/\/v1\/$/, ''),
      PACKHOUSE_API_KEY: gateway.apiKey,
      NODE_PATH: duckDbModules,
    };
    return paste('bash', script, env, workspace.directory).output;
  };
  const toRows = (beginning: RegExp): Promise<Row[]> => {
    const [query = '', ...others] = sql.filter((each) => beginning.test(each));
    expect(others).toEqual([]);
    return (duckDb as DuckDb).rows(query);
  };
  const toAmount = ({ data }: NodeLog): bigint => BigInt(data.slice(0, 66));
  const transfers = (): NodeLog[] =>
    logs.filter(({ address, topics }) => address === token.address && topics[0] === token.topics[0]);

  test.skipIf(!isOnPath('jq'))(
    'its line for gunzip and jq writes the logs of a contract (needs jq)',
    async () => {
      const script = (await scripts()).find((text) => text.startsWith('gunzip'));
      await pasteHere(script as string);
      const lines = (await readFile(path.join(workspace.directory, 'usdt.jsonl'), 'utf8')).trim().split('\n');
      expect(lines.map((line) => JSON.parse(line))).toEqual(await nodeLogs({ address: token.address }));
    },
  );

  test.skipIf(!isOnPath('psql'))('its lines for Postgres make a table of all logs (needs psql)', async () => {
    const [pulled = '', read = ''] = (await scripts()).filter((text) => text.includes('DATABASE_URL'));
    await pasteHere(pulled + read);
    const client = new pg.Client({ connectionString: workspace.databaseUrl });
    await client.connect();
    try {
      const { rows } = await client.query('SELECT * FROM log ORDER BY block_number, log_index');
      expect(rows).toEqual(
        logs.map(({ address, topics, data, blockNumber, logIndex, transactionHash }) => ({
          block_number: String(Number(blockNumber)),
          log_index: Number(logIndex),
          transaction_hash: transactionHash,
          address,
          topics,
          data,
        })),
      );
      const joined = await client.query(
        'SELECT count(*)::int FROM log JOIN logs USING (block_number, log_index, data)',
      );
      expect(joined.rows).toEqual([{ count: logs.length }]);
    } finally {
      await client.end();
    }
  });

  describe.skipIf(!hasDuckDb)(`in DuckDB ${NEEDS_DUCKDB}`, () => {
    test('counts what there is', async () => {
      expect(await toRows(/^SELECT count\(\*\) AS logs/)).toEqual([
        { logs: String(logs.length), first: String(FIRST), last: String(LAST) },
      ]);
    });

    test('the logs of a contract are those of eth_getLogs, for twenty contracts', async () => {
      const order = (address: string): string => createHash('sha256').update(address).digest('hex');
      const all = [...new Set(logs.map(({ address }) => address))];
      const some = all.sort((a, b) => order(a).localeCompare(order(b))).slice(0, 20);
      expect(some).toHaveLength(20);
      const query = sql.find((each) => each.startsWith('SELECT * FROM logs')) as string;
      for (const address of some) {
        const rows = await (duckDb as DuckDb).rows(query.replace(token.address, address));
        const found = rows.map((row) => ({
          address: row.address,
          topics: [row.topic0, row.topic1, row.topic2, row.topic3].filter((topic) => topic !== null),
          data: row.data,
          blockNumber: hex(Number(row.block_number)),
          transactionHash: row.transaction_hash,
          transactionIndex: hex(Number(row.transaction_index)),
          logIndex: hex(Number(row.log_index)),
        }));
        const expected = await nodeLogs({ address });
        expect(expected.length).toBeGreaterThan(0);
        expect(found).toEqual(
          expected.map((log) =>
            Object.fromEntries(
              Object.keys(found[0] as object).map((key) => [key, log[key as keyof NodeLog]]),
            ),
          ),
        );
      }
    });

    test('the Parquet files have the logs of the contract, and its query runs', async () => {
      const rows = await (duckDb as DuckDb).rows(
        `SELECT * FROM '${workspace.directory}/usdt/*.parquet' ORDER BY block_number, log_index`,
      );
      const found = logs.filter(({ address }) => address === token.address);
      expect(rows).toMatchObject(
        found.map(({ address, data, transactionHash }) => ({
          address,
          data,
          transaction_hash: transactionHash,
        })),
      );
      // Generated logs are no events of the page's ABI.
      expect(rows[0]).toMatchObject({ event: null, arg_value: null });
      expect(await toRows(/^SELECT arg_to/)).toEqual([]);
    });

    test('a table of a DuckDB file has all logs', async () => {
      await pasteHere((await scripts()).find((text) => text.includes('--format duckdb')) as string);
      const db = duckDb as DuckDb;
      await db.rows(`ATTACH '${workspace.directory}/logs.duckdb' AS pulled (READ_ONLY)`);
      const joined = 'SELECT count(*) AS n FROM pulled.logs JOIN logs USING (block_number, log_index, data)';
      expect(await db.rows(joined)).toEqual([{ n: String(logs.length) }]);
    });

    test('numbers of 256 bits are exact, and what is no number is refused', async () => {
      const numbers = [
        0n,
        1n,
        2n ** 64n - 1n,
        2n ** 64n,
        2n ** 127n,
        2n ** 128n - 1n,
        2n ** 128n,
        2n ** 256n - 1n,
      ];
      const digits = Array.from({ length: 65 }, (_, n) =>
        createHash('sha256').update(`${n}`).digest('hex').slice(0, n),
      );
      numbers.push(...digits.slice(1).map((text) => BigInt(`0x${text}`)));
      const texts = numbers.flatMap((n) => [`0x${n.toString(16)}`, `0x${n.toString(16).padStart(64, '0')}`]);
      const list = texts.map((text) => `('${text}')`).join();
      const db = duckDb as DuckDb;
      const read = await db.rows(`SELECT h, uint(h) AS n FROM (VALUES ${list}) t(h)`);
      expect(read).toEqual(texts.map((h) => ({ h, n: BigInt(h).toString() })));
      const sum = texts.reduce((all, text) => all + BigInt(text), 0n);
      expect(await db.rows(`SELECT sum(uint(h)) AS n FROM (VALUES ${list}) t(h)`)).toEqual([
        { n: sum.toString() },
      ]);
      for (const wrong of ['0x', '', '12', '0xg', `0x${'0'.repeat(65)}`]) {
        await expect(db.rows(`SELECT uint('${wrong}')`), wrong).rejects.toThrow('is not a number');
      }
    });

    test('transfers have exact amounts, also in sums', async () => {
      const expected = transfers();
      expect(expected.length).toBeGreaterThan(0);
      const account = (topic: string | undefined): string | null =>
        topic === undefined ? null : `0x${topic.slice(26)}`;
      expect(
        await (duckDb as DuckDb).rows('SELECT * FROM transfers ORDER BY block_number, log_index'),
      ).toEqual(
        expected.map((log) => ({
          block_number: String(Number(log.blockNumber)),
          log_index: Number(log.logIndex),
          sender: account(log.topics[1]),
          receiver: account(log.topics[2]),
          amount: toAmount(log).toString(),
        })),
      );
      const total = expected.reduce((sum, log) => sum + toAmount(log), 0n);
      for (const [rows, column] of [
        [await toRows(/^SELECT block_timestamp/), 'amount'],
        [await toRows(/^SELECT receiver/), 'received'],
      ] as const) {
        expect(rows.reduce((sum, row) => sum + BigInt(row[column] as string), 0n)).toBe(total);
      }
    });

    test('the largest payments and the busiest contracts are those of the node', async () => {
      const values: [bigint, string, number][] = [];
      for (let block = FIRST; block <= LAST; block += 1) {
        const { transactions } = await call<{ transactions: { hash: string; value: string }[] }>(
          'eth_getBlockByNumber',
          hex(block),
          true,
        );
        for (const { hash, value } of transactions) values.push([BigInt(value), hash, block]);
      }
      values.sort(([a, x], [b, y]) => (a === b ? (x < y ? -1 : 1) : a < b ? 1 : -1));
      expect(await toRows(/^SELECT block_number, hash/)).toEqual(
        values.slice(0, 10).map(([value, hash, block]) => ({
          block_number: String(block),
          hash,
          ether: expect.closeTo(Number(value) / 1e18, 9),
        })),
      );
      const counts = new Map<string, number>();
      for (const { address } of logs) counts.set(address, (counts.get(address) ?? 0) + 1);
      const busiest = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, 10);
      expect(await toRows(/^SELECT "address", count/)).toEqual(
        busiest.map(([address, count]) => ({ address, logs: String(count) })),
      );
    });

    for (const library of ['polars', 'pandas']) {
      const installed = spawnSync('python3', ['-c', `import ${library}, pyarrow`]).status === 0;
      test.skipIf(!installed)(
        `its lines for ${library} read the Parquet file (needs ${library} and pyarrow)`,
        async () => {
          const text = await readFile(path.join(root, PAGE), 'utf8');
          const script = [...text.matchAll(/^```python\n(.*?)^```$/gms)]
            .map(([, block = '']) => here(block))
            .find((block) => block.includes(`import ${library}`));
          const { stdout, stderr } = spawnSync('python3', ['-c', script as string], {
            cwd: workspace.directory,
          });
          const found = logs.filter(({ address }) => address === token.address);
          expect(`${stdout}${stderr}`).toBe(`${found.length} ${BigInt((found[0] as NodeLog).data)}\n`);
        },
      );
    }
  });
});
