import { expect, test } from 'vitest';
import { getRoute } from './route.js';

test.each([
  ['#/backfills/7?network=main', 'backfills/7', 'main'],
  ['#/quarantine/a%2Fb', 'quarantine/a/b', undefined],
  ['#/%', '%', undefined],
  ['', '', undefined],
])('the address %j is the path %j', (hash, path, network) => {
  const route = getRoute(hash);
  expect(route.path).toBe(path);
  expect(route.query.network).toBe(network);
});
