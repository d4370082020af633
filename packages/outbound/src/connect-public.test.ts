import { createSocket, type Socket } from 'node:dgram';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createResolve } from './connect-public.js';

let dns: Socket;
let asked: string[];

/** Answers every A question with 93.184.216.34 and every AAAA question with ::1; those for `none` with nothing. */
function answered(question: Buffer): Buffer {
  const labels: string[] = [];
  let at = 12;
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = question.readUInt16BE(at + 1);
  asked.push(`${labels.join('.')} ${type}`);
  const address = type === 1 ? Buffer.from([93, 184, 216, 34]) : Buffer.from([...Array(15).fill(0), 1]);
  const found = labels[0] === 'none' ? 0 : 1;
  const head = Buffer.from([...question.subarray(0, 2), 0x81, 0x80, 0, 1, 0, found, 0, 0, 0, 0]);
  const record = Buffer.from([0xc0, 0x0c, 0, type, 0, 1, 0, 0, 0, 60, 0, address.length, ...address]);
  return Buffer.concat([head, question.subarray(12, at + 5), ...(found ? [record] : [])]);
}

beforeEach(async () => {
  asked = [];
  dns = createSocket('udp4');
  dns.on('message', (question, from) => dns.send(answered(question), from.port, from.address));
  await new Promise<void>((resolve) => dns.bind(0, '127.0.0.1', resolve));
});
afterEach(() => new Promise<void>((resolve) => dns.close(resolve)));

it('resolves a name to all addresses that DNS has for it, and to none where it has none', async () => {
  const resolve = createResolve([`127.0.0.1:${dns.address().port}`]);
  expect(await resolve('a.example')).toEqual(['93.184.216.34', '::1']);
  expect(asked.sort()).toEqual(['a.example 1', 'a.example 28']);
  expect(await resolve('none.example')).toEqual([]);
});
