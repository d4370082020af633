import { afterEach, beforeEach, expect, it } from 'vitest';
import { makePullFolder, type PullFolder } from '../testing/open-folder.js';
import { makeFilter, serveFilters } from '../testing/serve-filters.js';
import { refuse, startTestGateway, type TestGateway } from '../testing/test-gateway.js';

const GENESIS = Date.UTC(2020, 0, 1) / 1_000;
let gateway: TestGateway;
let folder: PullFolder;
beforeEach(async () => {
  gateway = await startTestGateway();
  const filters = new Map<number, Uint8Array>();
  for (let start = 100; start < 400; start += 10) {
    gateway.publish(start, start + 9);
    const times = Array.from({ length: 10 }, (_, i) => GENESIS + 12 * (start + i));
    filters.set(start, await makeFilter({ firstBlock: start, lastBlock: start + 9 }, [], times));
  }
  serveFilters(gateway, filters);
  folder = await makePullFolder();
});
afterEach(async () => {
  await gateway.close();
  await folder.remove();
});

const at = (block: number): string => new Date((GENESIS + 12 * block) * 1_000).toISOString();
const asked = (part: string): number => gateway.requests.filter((path) => path.includes(part)).length;

it('finds published blocks by their dates without a node', async () => {
  const { plan } = await folder.pull(gateway, { from: at(123), to: at(340) });
  expect(plan.range).toEqual({ firstBlock: 123, lastBlock: 339 });
  expect(gateway.requests).not.toContain('/ethereum/v1');
  expect(asked('/filters?')).toBeLessThan(20);
});

it('asks a node for others, and says what to do if it does not have them', async () => {
  const { plan } = await folder.pull(gateway, { from: '390', to: at(450), partial: true });
  expect(plan.range).toEqual({ firstBlock: 390, lastBlock: 449 });
  const { fault } = gateway;
  gateway.fault = (path, response, request) =>
    path === '/ethereum/v1'
      ? refuse(response, 200, { error: { message: 'missing trie node' } })
      : fault?.(path, response, request) === true;
  await expect(folder.pull(gateway, { from: at(50) })).rejects.toMatchObject({
    code: 'DOWNLOAD_FAILED',
    message: 'The gateway does not tell the date of block 0x32: missing trie node.',
    hint: 'No node has it. Give a block, or a date within the published blocks.',
  });
});
