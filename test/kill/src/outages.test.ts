import { expect, it } from 'vitest';
import { createOutages } from './outages.js';

it('an outage lasts from the last good answer to the next one', () => {
  const outages = createOutages();
  outages.bad();
  outages.good(100);
  outages.good(200);
  outages.bad();
  outages.bad();
  outages.good(900);
  outages.good(1_000);
  outages.bad();
  expect(outages.list()).toEqual([{ from: 200, to: 900 }]);
});
