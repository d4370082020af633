import { expect, it } from 'vitest';
import { createOutages } from './outages.js';

it('an outage lasts from the last good answer to the next one', () => {
  const outages = createOutages();
  outages.told(false);
  outages.told(true, 100);
  outages.told(true, 200);
  outages.told(false);
  outages.told(false);
  outages.told(true, 900);
  outages.told(true, 1_000);
  outages.told(false);
  expect(outages.list()).toEqual([{ from: 200, to: 900 }]);
});
