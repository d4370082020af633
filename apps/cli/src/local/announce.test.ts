import { parseNetworks } from '@packhouse/networks';
import { expect, it } from 'vitest';
import { startLines } from './announce.js';

it('the first screen has addresses, key and logs, and JSON-RPC for each network, without the key where none is needed', () => {
  const upstreams = "upstreams: [{url: 'http://node:1'}]";
  const networks = parseNetworks(
    `networks:
  - {id: main, family: evm, chainId: 1, ${upstreams}}
  - {id: hosted, family: cell, baseUrl: 'https://cell.example.com/v1/', ${upstreams}}
  - {id: names, family: registry, ${upstreams}}`,
    { source: 'test', env: {} },
  );
  const screen = startLines({
    gateway: 'http://127.0.0.1:8080',
    portInUse: null,
    consoleLink: 'http://127.0.0.1:8090/#/link/x',
    apiKey: 'KEY',
    logs: '/here/.packhouse/logs',
    cwd: '/here',
    isDemo: false,
    networks,
  });
  expect(screen.slice(0, 8)).toEqual([
    '',
    'Packhouse is running.',
    '',
    '  Gateway  http://127.0.0.1:8080',
    '  Console  http://127.0.0.1:8090/#/link/x (one-time link, valid for 10 minutes)',
    '  API key  KEY',
    '  Logs     .packhouse/logs',
    '',
  ]);
  const lines = screen.slice(8);
  expect(lines[1]).toBe(
    `curl -s http://127.0.0.1:8080/main/v1/KEY -H 'Content-Type: application/json' -d '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}'`,
  );
  expect(lines[2]).toMatch(/^curl -s https:\/\/cell\.example\.com\/v1\/KEY .*get_consensus/);
  expect(lines[3]).toMatch(/^curl -s http:\/\/127\.0\.0\.1:8080\/names\/v1\/ .*registry_accountList/);
  expect(lines.join('')).not.toContain('node:1');
});

it('the first screen says why the gateway has another port than the one asked for', () => {
  const given = { gateway: 'http://127.0.0.1:8081', consoleLink: null, apiKey: 'KEY', logs: '/l', cwd: '/' };
  const screen = startLines({ ...given, portInUse: 8080, isDemo: true, networks: [] });
  expect(screen[3]).toBe('  Gateway  http://127.0.0.1:8081 (port 8080 is in use)');
});
