import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { freePort, type Program } from '@packhouse/local';
import { createReplayNode, generateChain, type ReplayNode } from '@packhouse/replay-node';
import { afterAll, expect, inject, test } from 'vitest';
import { isOnPath, root } from './pasted.js';
import { startLocal } from './start-local.js';
import { end, makeWorkspace, type Workspace } from './workspace.js';

const WAIT = { timeout: 120_000, interval: 200 };
const FIRST = 1_000;
/** Panels that have no series before something is wrong, or is audited; all others have one. */
const MAY_BE_EMPTY = [
  'Gateway, Damaged files',
  'Overview, Holes by reason',
  'Overview, Open alarms',
  'Overview, Quarantined blocks by cause',
  'Packing, Failed proofs',
  'Packing, Reorganisations',
  'Store, Bundles audited',
  'Store, Bundles without a signed entry',
  'Upstreams, Invalid responses',
];

let workspace: Workspace;
let node: ReplayNode;
let cli: Program | undefined;
let prometheus: ChildProcess | undefined;
afterAll(async () => {
  if (prometheus !== undefined && prometheus.exitCode === null) {
    const ended = once(prometheus, 'exit');
    prometheus.kill('SIGKILL');
    await ended;
  }
  await end(cli);
  await node?.close();
  await workspace?.remove();
});

/** Every expression of the dashboards, as Grafana would ask it of all networks. */
async function getPanels(): Promise<{ title: string; expr: string }[]> {
  const folder = path.join(root, 'infra/grafana');
  const files = (await readdir(folder)).filter((name) => name.endsWith('.json'));
  const panels = [];
  for (const file of files) {
    const dashboard = JSON.parse(await readFile(path.join(folder, file), 'utf8')) as {
      title: string;
      panels: { title: string; targets: { expr: string }[] }[];
    };
    for (const panel of dashboard.panels)
      for (const { expr } of panel.targets)
        panels.push({
          title: `${dashboard.title.replace('Packhouse: ', '')}, ${panel.title}`,
          expr: expr.replaceAll('$__rate_interval', '1m').replaceAll('$network', '.*'),
        });
  }
  return panels;
}

/** Starts a Prometheus that scrapes these addresses, a job each, with the alerts; returns its address. */
async function startPrometheus(metrics: Record<string, string>): Promise<string> {
  const port = await freePort();
  const config = path.join(workspace.directory, 'prometheus.yml');
  const jobs = Object.entries(metrics).map(([name, url]) => ({
    job_name: `packhouse-${name}`,
    static_configs: [{ targets: [new URL(url).host] }],
  }));
  // JSON is YAML.
  const text = JSON.stringify({
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [path.join(root, 'infra/alerts/packhouse.rules.yaml')],
    scrape_configs: jobs,
  });
  await writeFile(config, text);
  const options = [
    `--config.file=${config}`,
    `--storage.tsdb.path=${path.join(workspace.directory, 'prometheus')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--log.level=warn',
  ];
  prometheus = spawn('prometheus', options, { stdio: ['ignore', 'inherit', 'inherit'] });
  return `http://127.0.0.1:${port}/api/v1/`;
}

test.skipIf(!isOnPath('prometheus'))(
  'Prometheus scrapes every process, evaluates every alert, and draws every panel of the dashboards (needs prometheus)',
  async () => {
    workspace = await makeWorkspace(inject('postgresUrl'));
    const blocks = generateChain({ length: 40, startNumber: FIRST, txsPerBlock: 2, logsPerTx: 1 });
    node = await createReplayNode({ blocks });
    cli = startLocal(workspace, { rpc: [node.url], from: FIRST, to: FIRST + 39, once: false });
    const ready = (await cli.event('ready')) as unknown as {
      baseUrl: string;
      apiKey: string;
      metrics: Record<string, string>;
    };
    const api = await startPrometheus(ready.metrics);
    const get = async <T>(what: string): Promise<T> => {
      const answer = (await (await fetch(api + what)).json()) as {
        data: T;
        error?: string;
        warnings?: string[];
      };
      expect(answer.error ?? answer.warnings, what).toBeUndefined();
      return answer.data;
    };
    const query = async (expr: string): Promise<unknown[]> =>
      (await get<{ result: unknown[] }>(`query?query=${encodeURIComponent(expr)}`)).result;
    const answers = (expr: string): Promise<number> =>
      query(expr).then(
        ({ length }) => length,
        () => 0,
      );
    await expect.poll(() => answers('up == 1'), WAIT).toBe(Object.keys(ready.metrics).length);
    const call = async (): Promise<number> => {
      const response = await fetch(`${ready.baseUrl}${ready.apiKey}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}',
      });
      expect(response.status).toBe(200);
      return answers('sum(rate(packhouse_rpc_calls_total[1m])) > 0');
    };
    await expect.poll(call, WAIT).toBe(1);
    await expect.poll(() => answers('packhouse_index_blocks > 0'), WAIT).toBeGreaterThan(0);
    const empty: string[] = [];
    for (const { title, expr } of await getPanels()) {
      // Grafana asks for a range, Prometheus evaluates it at every step.
      const now = Date.now() / 1_000;
      await get(`query_range?start=${now - 60}&end=${now}&step=5&query=${encodeURIComponent(expr)}`);
      if ((await answers(expr)) === 0) empty.push(title);
    }
    expect(empty.filter((title) => !MAY_BE_EMPTY.includes(title))).toEqual([]);
    const unhealthy = async (): Promise<string[]> => {
      const { groups } = await get<{
        groups: { rules: { name: string; health: string; lastError?: string }[] }[];
      }>('rules');
      const rules = groups.flatMap((group) => group.rules);
      expect(rules.length).toBeGreaterThan(20);
      return rules
        .filter(({ health }) => health !== 'ok')
        .map(({ name, health, lastError }) => `${name}: ${lastError ?? health}`);
    };
    await expect.poll(unhealthy, WAIT).toEqual([]);
  },
);
