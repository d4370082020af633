import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { canonicalRecord, type Kind } from '@packhouse/chain';
import { describe, expect, it } from 'vitest';
import { createItemCollector } from './filter-items.js';
import { scanItems } from './scan-items.js';

const CHAIN_DATA = new URL('../../../../shared/chain-data/', import.meta.url);
const RECORDINGS = ['mainnet-17686110-17686121', 'mainnet-forks', 'optimism'];

const found = async (kind: Kind) => {
  const { found: empty } = await createItemCollector(kind);
  return empty;
};
const account = `0x${'ab'.repeat(20)}`;
const topic = `0x${'cd'.repeat(32)}`;

describe.skipIf(!existsSync(CHAIN_DATA))('in real blocks (skipped without ../shared/chain-data)', () => {
  it.each(['logs', 'traces'] as const)('finds of %s what parsing finds', async (kind) => {
    for (const recording of RECORDINGS) {
      const lines = gunzipSync(readFileSync(new URL(`${recording}.jsonl.gz`, CHAIN_DATA)));
      for (const line of lines.toString('latin1').split('\n').filter(Boolean)) {
        const { receipts = [], traces = [] } = JSON.parse(line) as Record<string, { logs: unknown[] }[]>;
        const elements: unknown[] = kind === 'logs' ? receipts.flatMap(({ logs }) => logs) : traces;
        const parsed = await createItemCollector(kind);
        for (const element of elements) parsed.add(element);
        const scanned = await found(kind);
        expect(scanItems(kind, canonicalRecord(kind, elements), scanned)).toBe(true);
        expect(scanned).toEqual(parsed.found);
      }
    }
  });
});

it.each([
  ['logs', `{"address":"${account.toUpperCase()}","topics":[]}`],
  ['logs', `{"address":"${account}","topics":["${topic}","0x1"]}`],
  ['logs', `{"address":"${account}","topics":["${topic}"`],
  ['logs', `{"address": "${account}","topics":[]}`],
  ['logs', `{"topics":[],"address":"${account}"}`],
  ['logs', `{"address":"${account}"}`],
  ['logs', `{"address":"${account}","extra":{"address":"${account}"},"topics":[]}`],
  ['traces', `{"action":{"from":"${account}","to":5}}`],
  ['traces', `{"action":{"from":"${account.slice(0, -1)}"}}`],
  ['transactions', '{}'],
] as const)('declines %s that are not canonical: %s', async (kind, text) => {
  expect(scanItems(kind, text, await found(kind))).toBe(false);
});

it('finds pairs of addresses and first topics alone, and no topics of others', async () => {
  const other = `0x${'ef'.repeat(32)}`;
  const items = await found('logs');
  const text = `[[{"address":"${account}","data":"0x","topics":["${topic}","${other}"]}],[{"address":"${account}","topics":[]}]]`;
  expect(scanItems('logs', text, items)).toBe(true);
  expect(items).toEqual({
    addresses: new Set([account]),
    topics: new Set([topic, other]),
    firsts: new Map([[account, new Set([topic])]]),
  });
});
