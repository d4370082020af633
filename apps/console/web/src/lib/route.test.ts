import { expect, test } from 'vitest';
import { routeOf } from './route.js';

test.each([
  ['#/backfills/7?network=main', 'backfills/7', 'main'],
  ['#/quarantine/a%2Fb', 'quarantine/a/b', null],
  ['#/%', '%', null],
  ['', '', null],
])('the address %j is the path %j', (hash, path, network) => {
  const route = routeOf(hash);
  expect(route.path).toBe(path);
  expect(route.query.get('network')).toBe(network);
});
