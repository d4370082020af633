import { expect, it } from 'vitest';
import * as door from './index.js';

it('lets out no more than the source and the forwarder', () => {
  expect(Object.keys(door)).toEqual(['createBlockSource', 'createForwarder']);
});
