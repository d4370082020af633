import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PackhouseError } from '@packhouse/runtime';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadNetworks, parseNetworks } from './parse-networks.js';

const MINIMAL = `networks:
  - id: demo
    family: evm
    chainId: 31337
    upstreams:
      - url: http://localhost:8545
`;
const parse = (text: string, env: Record<string, string> = {}) =>
  parseNetworks(text, { source: 'networks.yaml', env });
function refusal(text: string, env: Record<string, string> = {}): PackhouseError {
  try {
    parse(text, env);
  } catch (error) {
    if (error instanceof PackhouseError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('a good file', () => {
  it('may name the address for WebSocket of a node, and refuses one of another kind', () => {
    const url = MINIMAL.match(/url: .*/)?.[0] as string;
    const withWs = (ws: string) => parse(MINIMAL.replace(url, `${url}\n        ws: ${ws}`));
    expect(withWs('wss://node.example/ws')[0]?.upstreams[0]?.ws).toBe('wss://node.example/ws');
    expect(() => withWs('http://node.example')).toThrow(/ws .*ws:\/\/host or wss:\/\/host/);
  });

  it('names whose budget a node is paid from: its host, unless the file says otherwise', () => {
    const provider = (line: string) => parse(MINIMAL.replace(/url: .*/, line))[0]?.upstreams[0]?.provider;
    expect(provider('url: https://eth.example.com:8443/v2/key')).toBe('eth.example.com');
    expect(provider("url: 'http://[::1]:8545'")).toBe('::1');
    expect(provider('url: https://eth.example.com\n        provider: example-team')).toBe('example-team');
    expect(() => provider('url: https://eth.example.com\n        provider: "a b"')).toThrow(/provider/);
  });

  it('gets the defaults', () => {
    expect(parse(MINIMAL)).toEqual([
      {
        id: 'demo',
        family: 'evm',
        chainId: 31337,
        upstreams: [
          {
            name: 'upstream-1',
            url: 'http://localhost:8545',
            provider: 'localhost',
            headers: {},
            priority: 1,
            maxInFlight: 16,
          },
        ],
        finality: { tag: true, depth: 64 },
        pollIntervalMs: 500,
        proofs: {
          chainId: 31337,
          header: 'recompute',
          transactions: 'recompute',
          receipts: 'recompute',
          senders: 'all',
          extraFields: 'keep',
        },
        bundles: {
          enabled: true,
          kinds: ['blocks', 'transactions', 'receipts', 'logs', 'traces'],
          maxBytes: 1_000_000,
          maxBlocks: 100_000,
        },
        rpc: {
          profile: 'wallets',
          integrity: 'off',
          quorum: { agree: 2, of: 3, methods: expect.arrayContaining(['eth_call', 'eth_getLogs']) },
          costs: {},
          allow: [],
          deny: [],
          aliases: {},
          timeoutMs: 30_000,
          callTimeoutMs: 10_000,
          maxCallsInFlight: 64,
          gasCap: 550_000_000,
          aboveGasCap: 'lower',
          maxAnswerBytes: 67_108_864,
          maxLogs: 20_000,
          logLimit: null,
          httpErrors: 'status',
          open: false,
        },
      },
    ]);
  });

  it('has networks of every family, those without blocks without bundles', () => {
    const networks = parse(`networks:
  - {id: evm, family: evm, chainId: 1, upstreams: [{url: 'http://a'}]}
  - {id: core, family: core, chainId: 1029, upstreams: [{url: 'http://a'}]}
  - {id: cell, family: cell, upstreams: [{url: 'http://a'}]}
  - {id: names, family: registry, upstreams: [{url: 'http://a'}]}
`);
    expect(
      networks.map(({ family, chainId, bundles, rpc }) => [
        family,
        chainId,
        bundles.enabled,
        rpc.aliases,
        rpc.open,
      ]),
    ).toEqual([
      ['evm', 1, true, {}, false],
      ['core', 1029, false, { core_: 'cfx_' }, false],
      ['cell', 0, false, {}, false],
      ['registry', 0, false, { registry_: 'das_' }, true],
    ]);
  });

  it('keeps what it says', () => {
    const [network] = parse(
      `${MINIMAL}      - url: https://u:p@node.example/\${KEY}
        headers: {X-Key: "\${KEY}"}
        requestsPerSecond: 2.5
    baseUrl: https://demo.example/v1/
    downloadUrl: https://files.example/demo
    finality: {tag: false, depth: 0}
    pollIntervalMs: 100
    bundles: {kinds: [logs, blocks, logs], maxBytes: 50000}
    proofs: {header: trust, receipts: trust, rules: arbitrum, senders: true}
`,
      { KEY: 's3cret' },
    );
    expect(network).toMatchObject({
      baseUrl: 'https://demo.example/v1/',
      downloadUrl: 'https://files.example/demo',
      finality: { tag: false, depth: 0 },
      pollIntervalMs: 100,
      bundles: { enabled: true, kinds: ['blocks', 'logs'], maxBytes: 50_000, maxBlocks: 100_000 },
      proofs: {
        header: 'trust',
        transactions: 'recompute',
        receipts: 'trust',
        rules: 'arbitrum',
        senders: 'all',
      },
    });
    expect(network?.upstreams[1]).toMatchObject({
      name: 'upstream-2',
      url: 'https://u:p@node.example/s3cret',
      headers: { 'X-Key': 's3cret' },
      requestsPerSecond: 2.5,
    });
  });

  it('may be JSON', () => {
    const network = { id: 'a', family: 'evm', chainId: 1, upstreams: [{ url: 'http://localhost:1' }] };
    expect(parse(JSON.stringify({ networks: [network] }, null, '\t'))).toHaveLength(1);
  });

  it('is the example at the root, whose uncommented values are the defaults where they are optional', () => {
    const text = readFileSync(new URL('../../../networks.example.yaml', import.meta.url), 'utf8');
    const [example] = parse(text, { PROVIDER_KEY: 'k', PROVIDER_PROJECT: 'p' });
    const [minimal] = parse(MINIMAL.replace('31337', '1'));
    for (const field of ['finality', 'pollIntervalMs', 'proofs', 'bundles', 'rpc'] as const) {
      expect(example?.[field]).toEqual(minimal?.[field]);
    }
    const all = parse(text, { PROVIDER_KEY: 'k', PROVIDER_PROJECT: 'p' });
    expect(new Set(all.map(({ family }) => family))).toEqual(new Set(['evm', 'core', 'cell', 'registry']));
    for (const family of ['core', 'cell', 'registry']) {
      const bare = parse(
        `networks: [{id: a, family: ${family}, chainId: 1029, upstreams: [{url: 'http://a'}]}]`.replace(
          family === 'core' ? '' : ' chainId: 1029,',
          '',
        ),
      );
      expect(all.find((network) => network.family === family)?.rpc).toEqual(bare[0]?.rpc);
    }
    const commentedOut = text.replace(/^(\s*)# ((baseUrl|downloadUrl): )/gm, '$1$2');
    expect(parse(commentedOut, { PROVIDER_KEY: 'k', PROVIDER_PROJECT: 'p' })[0]?.baseUrl).toMatch(/\/v1\/$/);
  });
});

describe('a bad file', () => {
  it.each<[string, string, RegExp]>([
    ['nothing', '', /line 1: the file/],
    ['a list', '- 1', /line 1: the file/],
    ['no networks', 'networks: []', /line 1: networks .*at least one entry/],
    ['broken YAML', 'networks:\n  - id: [a\n', /line [23]: /],
    ['one key twice', `${MINIMAL}    chainId: 2\n`, /line 7: .*unique/],
    [
      'an id that is a path of the gateway',
      MINIMAL.replace('id: demo', 'id: iceberg'),
      /id is taken: \/iceberg\/v1\//,
    ],
    [
      'an unknown field',
      `${MINIMAL}    chainid: 2\n`,
      /line 7: networks\[0\]\.chainid is an unknown field \(did you mean "chainId"\?\)/,
    ],
    [
      'an unknown field further down',
      `${MINIMAL}    finality:\n      dept: 2\n`,
      /line 8: networks\[0\]\.finality\.dept .*"depth"/,
    ],
    [
      'a field at the wrong level',
      `${MINIMAL}        depth: 2\n`,
      /line 7: networks\[0\]\.upstreams\[0\]\.depth is an unknown field/,
    ],
    [
      'a missing field',
      MINIMAL.replace('    chainId: 31337\n', ''),
      /line 2: networks\[0\]\.chainId is missing \(expected a?.*number/,
    ],
    ['a missing family', MINIMAL.replace('    family: evm\n', ''), /networks\[0\]\.family is missing/],
    [
      'another family',
      MINIMAL.replace('family: evm', 'family: conflux'),
      /line 3: networks\[0\]\.family .*"evm".*got "conflux"/,
    ],
    [
      'a bad id',
      MINIMAL.replace('id: demo', 'id: Demo_1'),
      /line 2: networks\[0\]\.id is not 1 to 32 lower-case letters.*got "Demo_1"/,
    ],
    [
      'a chain id in words',
      MINIMAL.replace('31337', 'one'),
      /line 4: networks\[0\]\.chainId .*number.*got "one"/,
    ],
    [
      'no upstreams',
      MINIMAL.replace(/upstreams:\n.*\n/, 'upstreams: []\n'),
      /line 5: networks\[0\]\.upstreams .*at least one/,
    ],
    [
      'an address that is none',
      MINIMAL.replace('http://localhost:8545', 'localhost'),
      /line 6: .*\.url is not an address of the form http:\/\/host/,
    ],
    ['a websocket', MINIMAL.replace('http://', 'ws://'), /line 6: .*\.url is not an address/],
    [
      'a poll interval too short',
      `${MINIMAL}    pollIntervalMs: 99\n`,
      /line 7: networks\[0\]\.pollIntervalMs .*at least 100, got 99/,
    ],
    ['a poll interval too long', `${MINIMAL}    pollIntervalMs: 60001\n`, /at most 60000, got 60001/],
    [
      'an unknown kind',
      `${MINIMAL}    bundles:\n      kinds:\n        - blobs\n`,
      /line 9: networks\[0\]\.bundles\.kinds\[0\] .*"blocks" or .*got "blobs"/,
    ],
    [
      'a base address without version',
      `${MINIMAL}    baseUrl: https://x.example/v2/\n`,
      /line 7: .*baseUrl does not end in \/v1\//,
    ],
    [
      'a download address with a slash',
      `${MINIMAL}    downloadUrl: https://x.example/f/\n`,
      /line 7: .*downloadUrl ends in a slash/,
    ],
    [
      'the same id twice',
      MINIMAL + MINIMAL.replace('networks:\n', ''),
      /line 7: networks\[1\]\.id is "demo", already used on line 2/,
    ],
    [
      'the same upstream twice',
      `${MINIMAL}        name: a\n      - url: http://b.example\n        name: a\n`,
      /line 9: networks\[0\]\.upstreams\[1\]\.name is "a", already used/,
    ],
    ['an alias bomb', `a: &a [1]\nb: &b [${'*a,'.repeat(200)}]\nc: [${'*b,'.repeat(200)}]\n`, /line 1: /],
    ['a file that is no configuration', 'x'.repeat(1_000_001), /1000001 characters/],
  ])('is refused with line and field: %s', (_, text, message) => {
    const error = refusal(text);
    expect(error.code).toBe('NETWORKS_FILE_INVALID');
    expect(error.message).toMatch(/^networks\.yaml is not a valid networks file: line /);
    expect(error.message).toMatch(message);
    expect(error.hint).toContain('networks.example.yaml');
  });

  it('is told all its problems at once, in the order of its lines', () => {
    const { message, data } = refusal(
      `${MINIMAL.replace('31337', '-1')}        maxInflight: 3\n    finality: {depth: x}\n    pollIntervalMs: 1\n`,
    );
    expect(message).toMatch(
      /line 4:.*chainId.*line 7:.*maxInFlight.*line 8:.*depth.*line 9:.*pollIntervalMs/,
    );
    expect(data.problems).toHaveLength(4);
  });

  it('names the variables that are missing, and does not complain about the address besides', () => {
    const text = MINIMAL.replace('http://localhost:8545', '${NODE_URL}');
    const { data } = refusal(`${text}        headers:\n          X-Key: \${NODE_KEY}\n`);
    expect(data.problems).toEqual([
      {
        line: 6,
        text: 'networks[0].upstreams[0].url needs the environment variable NODE_URL, which is not set',
      },
      {
        line: 8,
        text: 'networks[0].upstreams[0].headers.X-Key needs the environment variable NODE_KEY, which is not set',
      },
    ]);
  });

  it('is never quoted with its secrets', () => {
    const { message } = refusal(
      `${MINIMAL.replace('http://localhost:8545', 'ws://user:hunter2@node.example/${KEY}')}        headers: {X-Key: [hunter2]}\n`,
      { KEY: 'hunter2' },
    );
    expect(message).toContain('node.example');
    expect(message).not.toContain('hunter2');
  });

  it('is refused by this error and no other, whatever it is', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.jsonValue().map((value) => JSON.stringify({ networks: [value] })),
        ),
        (text) => {
          expect(refusal(text).code).toBe('NETWORKS_FILE_INVALID');
        },
      ),
    );
  });
});

describe('loadNetworks', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'networks-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('reads a file', async () => {
    const path = join(folder, 'networks.yaml');
    await writeFile(path, 'networks: [{id: a, family: evm, chainId: 5, upstreams: [{url: "${URL}"}]}]');
    const [network] = await loadNetworks(path, { URL: 'http://localhost:1' });
    expect(network?.upstreams[0]?.url).toBe('http://localhost:1');
  });

  it('names the file that is not there', async () => {
    await expect(loadNetworks(join(folder, 'gone.yaml'), {})).rejects.toMatchObject({
      code: 'NETWORKS_FILE_INVALID',
      message: expect.stringMatching(/gone\.yaml cannot be used: there is no such file/),
    });
  });

  it('says that a folder is no file', async () => {
    await expect(loadNetworks(folder, {})).rejects.toThrow(/it is a folder/);
  });
});

it('keeps what is declared of the history of an upstream', () => {
  const upstreams = '[{url: "http://a:1", oldest: {state: 5, logs: 0}}, {url: "http://b:1", archive: true}]';
  const [network] = parseNetworks(
    `networks:\n  - {id: main, family: evm, chainId: 1, upstreams: ${upstreams}}`,
    { source: 'test', env: {} },
  );
  expect(network?.upstreams[0]).toMatchObject({ oldest: { state: 5, logs: 0 } });
  expect(network?.upstreams[0]).not.toHaveProperty('archive');
  expect(network?.upstreams[1]).toMatchObject({ archive: true });
});
