import { readFile } from 'node:fs/promises';
import type { AbiInput } from '@packhouse/rows';
import { abiColumns, compileAbi, toSchema } from '@packhouse/rows';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { getMatch } from '../client/match-of.js';
import { gatewayAddress } from '../fetch/gateway-address.js';
import { createHttp } from '../fetch/http.js';
import { openMirror, planMirror } from '../mirror/mirror.js';
import { pullRows } from '../rows/pull-rows.js';
import { makePullFolder, type PullFolder } from '../testing/open-folder.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';
import { openSink } from './open-sink.js';

const ERC20 = 'event Transfer(address indexed from, address indexed to, uint256 value)';
const ERC721 = 'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)';
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const word = (value: number): string => `0x${value.toString(16).padStart(64, '0')}`;
const account = (value: number): string => `0x${value.toString(16).padStart(40, '0')}`;
let gateway: TestGateway;
let folder: PullFolder;
beforeEach(async () => {
  gateway = await startTestGateway();
  folder = await makePullFolder();
  const logs = [
    { topics: [TRANSFER, word(1), word(2)], data: word(500) },
    { topics: [TRANSFER, word(1), word(2), word(77)], data: '0x' },
    { topics: [TRANSFER, word(1), word(2)], data: '0x' },
    { topics: [word(9)], data: '0x' },
  ].map((log, index) => ({
    removed: false,
    logIndex: `0x${index}`,
    transactionIndex: '0x0',
    transactionHash: word(3),
    blockHash: word(4),
    blockNumber: '0x0',
    address: account(5),
    ...log,
  }));
  gateway.publish(0, 0, {}, JSON.stringify([logs]));
});
afterEach(async () => {
  await gateway.close();
  await folder.remove();
});

async function pull(abi: AbiInput): Promise<number> {
  const { url, apiKey, kind } = gateway;
  const http = createHttp({ apiKey });
  const address = gatewayAddress(url, apiKey);
  const signal = new AbortController().signal;
  const decoder = await compileAbi(abi);
  const match = await getMatch({ topics: ['Transfer'] }, decoder);
  const columns = abiColumns(decoder, match);
  const mirror = await openMirror({ folder: folder.at('work'), kind, address, http, signal });
  try {
    const schema = columns.schema(toSchema(kind));
    const origin = { base: address.base, kind, schema: schema.name, match };
    const target = { format: 'jsonl' as const, folder: folder.at('out') };
    const sink = await openSink(target, { schema, origin, network: 'ethereum' });
    const plan = await planMirror(mirror, { has: sink.state.done });
    for await (const _ of pullRows({ mirror, plan, sink, match, keep: true, extend: columns.extend }));
    await sink.close();
    return columns.undecoded;
  } finally {
    await mirror.close();
    await http.close();
  }
}

it('arguments reach the target beside the columns of the log, and a log that does not fit keeps its row', async () => {
  expect(await pull([ERC20, ERC721])).toBe(1);
  const text = await readFile(folder.at('out', 'logs-0000000000-0000000000.jsonl'), 'utf8');
  const rows = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  const people = { event: 'Transfer', arg_from: account(1), arg_to: account(2) };
  expect(rows).toEqual([
    expect.objectContaining({
      ...people,
      log_index: 0,
      arg_value: '500',
      arg_value_double: 500,
      arg_value_text: '500',
      arg_token_id: null,
    }),
    expect.objectContaining({
      ...people,
      log_index: 1,
      arg_value: null,
      arg_token_id: '77',
      arg_token_id_text: '77',
    }),
    expect.objectContaining({ event: null, log_index: 2, arg_from: null, data: '0x', topic0: TRANSFER }),
  ]);
});

it('a target of one ABI takes no rows of another, though its columns are called the same', async () => {
  await pull([ERC20]);
  await expect(
    pull(['event Transfer(address indexed from, address to, uint256 value)']),
  ).rejects.toMatchObject({
    code: 'TARGET_MISMATCH',
  });
  expect(await pull(ERC20)).toBe(0);
});
