import { parseNetworks } from '@packhouse/networks';
import { expect, it } from 'vitest';
import { rpcLines } from './announce.js';

it('a line of JSON-RPC to paste for each network, without the key where none is wanted', () => {
  const upstreams = "upstreams: [{url: 'http://node:1'}]";
  const networks = parseNetworks(
    `networks:
  - {id: main, family: evm, chainId: 1, ${upstreams}}
  - {id: hosted, family: cell, baseUrl: 'https://cell.example.com/v1/', ${upstreams}}
  - {id: names, family: registry, ${upstreams}}`,
    { source: 'test', env: {} },
  );
  const lines = rpcLines('http://127.0.0.1:8080', 'KEY', networks);
  expect(lines[1]).toBe(
    `curl -s http://127.0.0.1:8080/main/v1/KEY -H 'Content-Type: application/json' -d '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}'`,
  );
  expect(lines[2]).toMatch(/^curl -s https:\/\/cell\.example\.com\/v1\/KEY .*get_consensus/);
  expect(lines[3]).toMatch(/^curl -s http:\/\/127\.0\.0\.1:8080\/names\/v1\/ .*registry_accountList/);
  expect(lines.join('')).not.toContain('node:1');
});
