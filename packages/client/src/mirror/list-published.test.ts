import { afterEach, describe, expect, it } from 'vitest';
import { gatewayAddress } from '../fetch/gateway-address.js';
import { API_KEY, answer, type BadGateway, impatientHttp, startBadGateway } from '../testing/bad-gateway.js';
import { listFiles } from './list-published.js';

let gateway: BadGateway;
afterEach(() => gateway.close());

/** Lists the logs of a gateway that answers with these pages. */
async function list(...pages: object[]) {
  gateway = await startBadGateway(...pages.map((page) => answer('200 OK', JSON.stringify(page))));
  const { http } = impatientHttp();
  const address = gatewayAddress(`${gateway.url}/ethereum`, API_KEY);
  try {
    return await listFiles({ address, http }, { kind: 'logs' });
  } finally {
    await http.close();
  }
}

const file = (start: number, end: number) => ({ from: start, to: end, bytes: 7, version: 1 });

it('joins pages, and knows where the plan ends', async () => {
  const limited = { maxBlock: 25 };
  const first = { files: [file(0, 9)], next: '10', limited };
  const { rows, limitedTo } = await list(first, { files: [file(10, 19)], next: null, limited });
  expect({ count: rows.count, limitedTo }).toEqual({ count: 2, limitedTo: 25 });
  expect(gateway.heads[1]).toContain('&cursor=10 ');
});

describe('a list without end, or out of order, is refused', () => {
  it.each<[string, object[]]>([
    ['the same page again', [{ files: [file(0, 9)], next: '0' }]],
    ['pages of nothing', [{ files: [], next: '0' }]],
    [
      'a page that goes back',
      [
        { files: [file(10, 19)], next: '20' },
        { files: [file(0, 9)], next: null },
      ],
    ],
    ['files that overlap', [{ files: [file(0, 9), file(9, 12)], next: null }]],
    ['files out of order', [{ files: [file(10, 19), file(0, 9)], next: null }]],
    ['a file that ends before it begins', [{ files: [file(9, 0)], next: null }]],
    ['a cursor that is no text', [{ files: [file(0, 9)], next: 10 }]],
    ['no list', [{}]],
  ])('%s', async (_, pages) => {
    await expect(list(...pages)).rejects.toMatchObject({
      code: 'DOWNLOAD_FAILED',
      message: "The gateway's list of files cannot be read.",
    });
  });
});
