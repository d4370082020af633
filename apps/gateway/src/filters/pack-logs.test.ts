import { expect, it } from 'vitest';
import { packLogs, unpackLogs } from './filter-state.js';

const log = (n: number): string =>
  JSON.stringify({
    address: `0x${'ab'.repeat(20)}`,
    topics: [`0x${'00'.repeat(31)}0${n}`],
    data: `0x${'00'.repeat(32)}`,
    blockNumber: `0x${n}`,
    removed: false,
  });

it('logs come out byte for byte, whatever a node writes', () => {
  for (const logs of [[], [log(1)], [log(1), log(2), log(3)], ['{"data":"],[é\\""}', '{ "a" : [ {} ] }']]) {
    expect(unpackLogs(packLogs(logs))).toEqual(logs);
  }
});

it('logs that are alike take little room', () => {
  const logs = Array.from({ length: 9 }, (_, n) => log(n));
  expect(packLogs(logs).length).toBeLessThan(logs.join().length / 5);
});
